/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_network.h"

#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_core.h"
#include "scheduler/engine/docker_emit.h"
#include "scheduler/engine/docker_self.h"
#include "scheduler/engine/docker_tunnel.h"

enum {
	CREATE_TRIES = 64,
	BRIDGE_TRIES = 32,
	REMOVE_TRIES = 60, /* attempts, RETRY_US apart: a network keeps its endpoints for some time after its containers
			    * ended */
	TUNNEL_WAIT_US = 60 * SECOND_US,
	RETRY_US = 250 * MILLISECOND_US,
};

struct network_task {
	struct network_task *next;
	struct docker *docker;
	int64_t job;
	enum engine_event_kind failed;
	unsigned address_count;
	unsigned tries;
	struct timer again;
	bool waits; /* for a removal: waits until the creation of the same network ends */
	bool chosen;
	bool second_device;
	enum docker_reach_kind reach; /* the kind of reach that the new network is requested with */
	struct subnet choice;         /* the block of the network; reserved while the engine makes the network */
	struct subnet_list refused;   /* blocks that the engine refused */
	struct network_status made;   /* the network that exists now, while the daemon's own container joins it or its
				       * tunnel is made */
	bool awaits_tunnel;
	char id[sizeof(
		((struct network_status *)0)->id)]; /* for a removal: the id of the network that the daemon's container
						     * leaves */
};

static struct network_task *task_begin(struct docker *docker, enum engine_event_kind failed,
				       const struct command *command)
{
	struct network_task *task;

	if (!link_is_up(docker)) {
		emit_network(docker, failed, command->job, STATUS_UNAVAILABLE, docker->link.reason, NULL);
		return NULL;
	}
	task = memory_calloc(1, sizeof(*task));
	task->docker = docker;
	task->job = command->job;
	task->failed = failed;
	task->address_count = command->number;
	task->next = docker->networks;
	docker->networks = task;
	return task;
}

static struct network_task *creation_find(const struct docker *docker, int64_t job)
{
	struct network_task *task = docker->networks;

	while (task && (task->failed != ENGINE_NETWORK_FAILED || task->job != job))
		task = task->next;
	return task;
}

static void remove_look(void *arg);

/* Continues the removals that waited for a creation of @job's network. */
static void waiting_removals_go(struct docker *docker, int64_t job)
{
	struct network_task *task;

	do {
		task = docker->networks;
		while (task && !(task->waits && task->job == job))
			task = task->next;
		if (task) {
			task->waits = false;
			remove_look(task);
		}
	} while (task);
}

static void task_end(struct network_task *task)
{
	struct docker *docker = task->docker;
	struct network_task **at = &docker->networks;
	int64_t job = task->job;

	while (*at != task)
		at = &(*at)->next;
	*at = task->next;
	subnet_list_deinit(&task->refused);
	free(task);
	if (!creation_find(docker, job))
		waiting_removals_go(docker, job);
}

static void task_fail(struct network_task *task, enum status status, const char *text)
{
	emit_network(task->docker, task->failed, task->job, status, text, NULL);
	task_end(task);
}

/* Returns the array in an answer to GET /networks; the caller owns it. NULL: the answer is a failure, and the task
 * was ended. */
static json_t *networks_of(struct network_task *task, const struct http_answer *answer)
{
	json_t *networks = docker_parse(answer->body, answer->body_length, JSON_ARRAY);
	struct outcome outcome;

	docker_outcome(task->docker, answer, &outcome);
	if (!outcome.status && networks)
		return networks;
	json_decref(networks);
	if (outcome.status)
		task_fail(task, outcome.status, outcome.text);
	else
		task_fail(task, STATUS_INTERNAL,
			  "the engine's list of networks is not a JSON list: check that its address "
			  "leads to Docker or Podman");
	return NULL;
}

static json_t *own_find(const struct network_task *task, const json_t *networks)
{
	for (size_t i = 0; i < json_array_size(networks); i++) {
		json_t *network = json_array_get(networks, i);

		if (docker_network_is_of(network, task->docker->instance, task->job))
			return network;
	}
	return NULL;
}

/* ---- create ---- */

static void reserved_add(const struct docker *docker, const struct network_task *but,
			 struct subnet_list *list)
{
	for (size_t i = 0; i < but->refused.count; i++)
		subnet_list_add(list, but->refused.items[i]);
	for (const struct network_task *task = docker->networks; task; task = task->next)
		if (task != but && task->chosen)
			subnet_list_add(list, task->choice);
}

static void create_look(void *arg);

static void ready(struct network_task *task, const struct network_status *network)
{
	emit_network(task->docker, ENGINE_NETWORK_READY, task->job, STATUS_OK, "", network);
	task_end(task);
}

static void joined(void *arg, const struct outcome *outcome)
{
	struct network_task *task = arg;

	if (outcome->status)
		task_fail(task, outcome->status, outcome->text);
	else
		ready(task, &task->made);
}

/* Ends the creation when the tunnel was tried. Jobs also run without the tunnel: docker_carry_network() reports why
 * it does not work. */
static void tunnel_awaited(void *arg)
{
	struct network_task *task = arg;

	ready(task, &task->made);
}

void network_tunnel_tried(struct docker *docker, struct command *command)
{
	struct network_task *task = creation_find(docker, command->job);

	if (task && task->awaits_tunnel)
		docker_after(docker, &task->again, 0, tunnel_awaited, task);
}

bool network_is_made(const struct docker *docker, int64_t job)
{
	return creation_find(docker, job);
}

static void tunnel_make(struct network_task *task)
{
	tunnel_keep(task->docker, &task->made);
	if (tunnel_was_tried(task->docker, task->job)) {
		ready(task, &task->made);
		return;
	}
	task->awaits_tunnel = true;
	docker_after(task->docker, &task->again, TUNNEL_WAIT_US, tunnel_awaited, task);
}

/* ---- a network without a bridge on this machine ---- */

static void far_removed(void *arg, const struct http_answer *answer)
{
	struct network_task *task = arg;

	link_watch(task->docker, answer);
	if (answer->code >= 300 && answer->code != 404) /* the network stays as it is, because a container is connected
							 * to it */
		ready(task, &task->made);
	else
		create_look(task);
}

static bool is_far(const struct network_task *task)
{
	/* Compares the bridge's name and not its address, because a network of another engine on this machine may
	 * have the same address. */
	return task->docker->link.may_be_far && if_nametoindex(task->made.reach.device) == 0;
}

static void far_remove(struct network_task *task)
{
	char path[DOCKER_PATH_SIZE];

	if (!task->docker->link.is_far)
		log_event(
			LOG_INFO, "engine-far", "hint=\"%s\"",
			"its networks are not this machine's: a tunnel in each leads to storage and metadata");
	task->docker->link.is_far = true;
	task->chosen = false;
	snprintf(path, sizeof(path), "/networks/%.128s", task->made.id);
	http_start(task->docker->http, &(struct http_request){ .method = "DELETE",
							       .path = path,
							       .timeout_s = CALL_TIMEOUT_S,
							       .done = far_removed,
							       .arg = task });
}

/* Continues after the network exists: makes the daemon's server reachable at the address that replicas are given. */
static void present(struct network_task *task, const struct network_status *network,
		    enum docker_reach_kind reach)
{
	task->made = *network;
	if (reach == REACH_JOINED && task->docker->link.self[0])
		self_join(task->docker, &task->made, joined, task);
	else if (reach == REACH_TUNNEL)
		tunnel_make(task);
	else if (reach == REACH_BRIDGE && is_far(task))
		far_remove(task);
	else
		ready(task, &task->made);
}

static void adopt(struct network_task *task, const json_t *network)
{
	struct network_status status;
	char text[128];

	if (!docker_network_read(network, &status)) {
		task_fail(task, STATUS_FAILED_PRECONDITION,
			  "the job's network exists without an IPv4 block and gateway");
	} else if (status.capacity < task->address_count) {
		snprintf(text, sizeof(text), "the job's network exists and holds %u replicas, not %u",
			 status.capacity, task->address_count);
		task_fail(task, STATUS_FAILED_PRECONDITION, text);
	} else {
		present(task, &status, docker_network_reach(network));
	}
}

/* Whether the engine refused a network because the name of its bridge is in use. For a conflict with another
 * network, Docker answers 403, and Podman answers 500 to conflicts of each kind.
 * Source: answers of Docker 20.10 and Podman 4.3 */
static bool bridge_is_taken(const struct http_answer *answer, const struct outcome *outcome)
{
	return (answer->code == 403 && strstr(outcome->text, "same bridge name")) ||
	       (answer->code == 500 && strncmp(outcome->text, "bridge name ", strlen("bridge name ")) == 0 &&
		strstr(outcome->text, " already in use"));
}

static bool block_is_taken(const struct http_answer *answer, const struct outcome *outcome)
{
	return (answer->code == 403 && strstr(outcome->text, "overlap")) ||
	       (answer->code == 500 && strstr(outcome->text, "is already used on the host"));
}

/* Whether the engine is making the same network for an earlier request of a daemon that was killed. Either the network
 * exists by now (409), or only its bridge exists, with a name that no other job's network can have. */
static bool made_by_another(const struct http_answer *answer, const struct outcome *outcome)
{
	return answer->code == 409 ||
	       (answer->code == 500 && strstr(outcome->text, "network already exists")) ||
	       bridge_is_taken(answer, outcome);
}

static enum docker_reach_kind reach_wanted(const struct docker *docker)
{
	if (docker->link.self[0])
		return REACH_JOINED;
	/* A manager's machine has no interface in an overlay, so the reach of an overlay is always carried. */
	return docker->link.is_far || docker->makes != ENGINE_BRIDGES ? REACH_TUNNEL : REACH_BRIDGE;
}

static void create_done(void *arg, const struct http_answer *answer)
{
	struct network_task *task = arg;
	AUTO(json) json_t *made = docker_parse(answer->body, answer->body_length, JSON_OBJECT);
	const char *id = json_text_at(made, "Id");
	const enum docker_reach_kind kind = task->reach;
	const uint32_t reach = task->choice.address + (kind == REACH_BRIDGE ? 1 : 2);
	struct network_status status = { .job = task->job,
					 .reach = { .address = reach, .is_carried = kind == REACH_TUNNEL },
					 .first = reach + 1 };
	struct outcome outcome;

	docker_outcome(task->docker, answer, &outcome);
	if (!outcome.status && id && strlen(id) < sizeof(status.id)) {
		snprintf(status.id, sizeof(status.id), "%s", id);
		if (kind == REACH_BRIDGE)
			docker_network_device(task->docker->instance, task->job, task->second_device,
					      status.reach.device);
		status.capacity = subnet_capacity(task->docker->makes == ENGINE_BRIDGES
							  ? task->choice
							  : subnet_half(task->choice, false),
						  status.reach.address);
		present(task, &status, kind);
		return;
	}
	task->chosen = false;
	if (made_by_another(answer, &outcome) && ++task->tries < CREATE_TRIES) {
		/* If the engine is killed while it makes a network, the bridge may exist without a network for good.
		 * So after BRIDGE_TRIES attempts the network gets the second name for its bridge. Choice: this takes
		 * eight seconds. */
		if (bridge_is_taken(answer, &outcome) && task->tries >= BRIDGE_TRIES)
			task->second_device = true;
		docker_after(task->docker, &task->again, RETRY_US, create_look, task);
		return;
	}
	if (block_is_taken(answer, &outcome) && ++task->tries < CREATE_TRIES) {
		subnet_list_add(&task->refused, task->choice);
		create_look(task);
		return;
	}
	if (outcome.status)
		task_fail(task, answer->code == 409 ? STATUS_ALREADY_EXISTS : outcome.status, outcome.text);
	else
		task_fail(task, STATUS_INTERNAL, "the engine's answer to a new network cannot be understood");
}

static void create_send(struct network_task *task)
{
	char device[DOCKER_DEVICE_SIZE];

	docker_network_device(task->docker->instance, task->job, task->second_device, device);
	task->reach = reach_wanted(task->docker);
	AUTO(string)
	char *body = docker_network_body(task->docker->instance, task->job, task->docker->makes, device,
					 task->choice, task->docker->internal, task->reach);

	task->chosen = true;
	http_start(task->docker->http, &(struct http_request){ .method = "POST",
							       .path = "/networks/create",
							       .body = body,
							       .timeout_s = START_TIMEOUT_S,
							       .done = create_done,
							       .arg = task });
}

static void no_room(struct network_task *task, unsigned bits, size_t taken_count)
{
	char pool[SUBNET_TEXT_SIZE], text[256];

	subnet_print(task->docker->pool, pool);
	snprintf(text, sizeof(text),
		 "no free block for %u replicas (a /%u) in the pool %s: %zu networks of the engine, routes "
		 "and "
		 "addresses of this host were looked at",
		 task->address_count, bits, pool, taken_count);
	task_fail(task,
		  bits < task->docker->pool.bits ? STATUS_FAILED_PRECONDITION : STATUS_RESOURCE_EXHAUSTED,
		  text);
}

/* The prefix length of the block that the network needs. The daemon's own container, or the tunnel's, counts as one
 * more replica. In an overlay, half of the block is the swarm's own. */
static unsigned bits_wanted(const struct network_task *task)
{
	const unsigned more = reach_wanted(task->docker) == REACH_BRIDGE ? 0 : 1;
	const unsigned bits = subnet_bits_for(task->address_count + more);

	return bits && task->docker->makes != ENGINE_BRIDGES ? bits - 1 : bits;
}

/* Adds the blocks that a new network must not have: those of other networks, of this machine, and of creations under
 * way. */
static void taken_gather(struct network_task *task, const json_t *networks, struct subnet_list *taken)
{
	docker_networks_taken(networks, taken);
	self_blocks_add(taken);
	reserved_add(task->docker, task, taken);
}

static void create_looked(void *arg, const struct http_answer *answer)
{
	struct network_task *task = arg;
	AUTO(json) json_t *networks = networks_of(task, answer);
	struct subnet_list taken AUTO_SUBNET_LIST = { 0 };
	unsigned bits;

	if (!networks)
		return;
	if (own_find(task, networks)) {
		adopt(task, own_find(task, networks));
		return;
	}
	taken_gather(task, networks, &taken);
	bits = bits_wanted(task);
	if (bits && subnet_choose(task->docker->pool, bits, &taken, &task->choice))
		create_send(task);
	else
		no_room(task, bits, taken.count);
}

static void create_look(void *arg)
{
	struct network_task *task = arg;

	http_start(task->docker->http, &(struct http_request){ .method = "GET",
							       .path = "/networks",
							       .timeout_s = CALL_TIMEOUT_S,
							       .done = create_looked,
							       .arg = task });
}

void network_create_run(struct docker *docker, struct command *command)
{
	struct network_task *task;

	if (docker->makes == ENGINE_GUEST) {
		emit_network(docker, ENGINE_NETWORK_FAILED, command->job, STATUS_FAILED_PRECONDITION,
			     "networks of the swarm are made by its managers", NULL);
		return;
	}
	task = task_begin(docker, ENGINE_NETWORK_FAILED, command);
	if (task)
		create_look(task);
}

/* ---- looking for free blocks ---- */

static void free_looked(void *arg, const struct http_answer *answer)
{
	struct network_task *task = arg;
	AUTO(json) json_t *networks = networks_of(task, answer);
	struct subnet_list taken AUTO_SUBNET_LIST = { 0 };
	unsigned bits, count = 0;

	if (!networks)
		return;
	taken_gather(task, networks, &taken);
	bits = bits_wanted(task);
	for (; bits && count < FREE_BLOCKS_MAX &&
	       subnet_choose(task->docker->pool, bits, &taken, &task->choice);
	     count++)
		subnet_list_add(&taken, task->choice);
	if (count) {
		emit_networks_free(task->docker, count);
		task_end(task);
	} else {
		no_room(task, bits, taken.count);
	}
}

void network_look_run(struct docker *docker, struct command *command)
{
	struct network_task *task = task_begin(docker, ENGINE_NETWORKS_FREE, command);

	if (task)
		http_start(docker->http, &(struct http_request){ .method = "GET",
								 .path = "/networks",
								 .timeout_s = CALL_TIMEOUT_S,
								 .done = free_looked,
								 .arg = task });
}

/* ---- remove ---- */

static void remove_done(void *arg, const struct http_answer *answer)
{
	struct network_task *task = arg;
	struct outcome outcome;

	docker_outcome(task->docker, answer, &outcome);
	if ((!outcome.status || answer->code == 404) && ++task->tries < REMOVE_TRIES)
		remove_look(task); /* the job may have a second network */
	else if ((answer->code == 403 || answer->code == 500) && ++task->tries < REMOVE_TRIES)
		docker_after(task->docker, &task->again, RETRY_US, remove_look, task);
	else
		task_fail(task, outcome.status, outcome.text);
}

static void remove_send(void *arg)
{
	struct network_task *task = arg;
	char path[DOCKER_PATH_SIZE];

	snprintf(path, sizeof(path), "/networks/%.128s", task->id);
	http_start(task->docker->http, &(struct http_request){ .method = "DELETE",
							       .path = path,
							       .timeout_s = CALL_TIMEOUT_S,
							       .done = remove_done,
							       .arg = task });
}

static void tunnel_removed(void *arg, const struct http_answer *answer)
{
	struct network_task *task = arg;

	link_watch(task->docker, answer);
	if (answer->code >= 300 && answer->code != 404 && ++task->tries < REMOVE_TRIES)
		docker_after(task->docker, &task->again, RETRY_US, remove_look, task);
	else
		remove_send(task);
}

static void tunnel_remove(struct network_task *task)
{
	char name[DOCKER_NAME_SIZE], path[DOCKER_PATH_SIZE];

	if (!tunnel_drop(task->docker, task->job)) {
		docker_after(task->docker, &task->again, RETRY_US, remove_look, task);
		return;
	}
	tunnel_container_name(task->docker->instance, task->job, name);
	snprintf(path, sizeof(path), "/containers/%s?force=1&v=1", name);
	http_start(task->docker->http, &(struct http_request){ .method = "DELETE",
							       .path = path,
							       .timeout_s = START_TIMEOUT_S,
							       .done = tunnel_removed,
							       .arg = task });
}

static void remove_looked(void *arg, const struct http_answer *answer)
{
	struct network_task *task = arg;
	AUTO(json) json_t *networks = networks_of(task, answer);
	const json_t *own = networks ? own_find(task, networks) : NULL;
	const char *id = json_text_at(own, "Id");

	if (!networks)
		return;
	if (!id) {
		emit_network(task->docker, ENGINE_NETWORK_REMOVED, task->job, STATUS_OK, "", NULL);
		task_end(task);
		return;
	}
	snprintf(task->id, sizeof(task->id), "%s", id);
	if (docker_network_reach(own) == REACH_TUNNEL)
		tunnel_remove(task);
	else if (docker_network_reach(own) == REACH_JOINED && task->docker->link.self[0])
		self_leave(task->docker, task->id, remove_send, task);
	else
		remove_send(task);
}

static void remove_look(void *arg)
{
	struct network_task *task = arg;
	char filter[DOCKER_PATH_SIZE], path[DOCKER_PATH_SIZE + 32];

	docker_label_filter(task->docker->instance, &task->job, filter);
	snprintf(path, sizeof(path), "/networks?filters=%s", filter);
	http_start(task->docker->http, &(struct http_request){ .method = "GET",
							       .path = path,
							       .timeout_s = CALL_TIMEOUT_S,
							       .done = remove_looked,
							       .arg = task });
}

void network_remove_run(struct docker *docker, struct command *command)
{
	struct network_task *task = task_begin(docker, ENGINE_FAILED, command);

	if (!task)
		return;
	/* While a creation of the network is under way, the removal has to wait: it would find no network, and the
	 * network would be made after it. */
	task->waits = creation_find(docker, command->job) != NULL;
	if (!task->waits)
		remove_look(task);
}
