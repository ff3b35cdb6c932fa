/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_core.h"
#include "scheduler/engine/docker_emit.h"
#include "scheduler/engine/docker_history.h"
#include "scheduler/engine/docker_inspection.h"
#include "scheduler/engine/docker_orphans.h"
#include "scheduler/engine/docker_reports.h"
#include "scheduler/engine/docker_self.h"
#include "scheduler/engine/docker_throttle.h"
#include "scheduler/engine/docker_tunnel.h"

/* A listing takes several answers, and events go out between them. What an event says is newer than
 * any of the answers, so it is noted and applied before the listing goes out: no listing contradicts
 * an event that came before it. */

enum {
	AGAIN_US = 1 * SECOND_US,
	HISTORY_TIMEOUT_S = 10,
	REFUSALS_MOST = 3,
};

struct listing {
	struct docker *docker;
	unsigned epoch;
	struct replica_status *replicas;
	size_t replica_count, replica_size;
	struct network_status *networks;
	size_t network_count, network_size;
	size_t waiting;         /* the number of answers that have not come yet */
	bool refused;           /* the engine could not inspect one of the containers */
	struct outcome outcome; /* the first failure */
};

struct replica_inspection {
	struct listing *listing;
	struct replica_status listed; /* the container's status in the list of containers */
};

static void grow(void **items, size_t count, size_t *size, size_t item_bytes)
{
	if (count < *size)
		return;
	*size = *size ? *size * 2 : 16;
	*items = memory_resize(*items, *size, item_bytes);
}

static void listing_fail(struct listing *listing, enum status status, const char *text)
{
	if (listing->outcome.status)
		return;
	listing->outcome.status = status;
	snprintf(listing->outcome.text, sizeof(listing->outcome.text), "%s", text);
}

static void replica_add(struct listing *listing, const struct replica_status *replica)
{
	grow((void **)&listing->replicas, listing->replica_count, &listing->replica_size, sizeof(*replica));
	listing->replicas[listing->replica_count++] = *replica;
}

static void network_add(struct listing *listing, const struct network_status *network)
{
	grow((void **)&listing->networks, listing->network_count, &listing->network_size, sizeof(*network));
	listing->networks[listing->network_count++] = *network;
}

static struct replica_status *replica_find(struct listing *listing, const struct replica_key *key)
{
	for (size_t i = 0; i < listing->replica_count; i++)
		if (docker_key_equal(&listing->replicas[i].key, key))
			return &listing->replicas[i];
	return NULL;
}

static void replica_apply(struct listing *listing, const struct replica_status *replica, bool gone)
{
	struct replica_status *found = replica_find(listing, &replica->key);

	if (found && gone)
		*found = listing->replicas[--listing->replica_count];
	else if (found && replica->observed > found->observed)
		*found = *replica;
	else if (found && replica->observed == REPLICA_RUNNING && found->observed == REPLICA_RUNNING)
		found->paused = replica->paused;
	else if (!found && !gone)
		replica_add(listing, replica);
}

static void network_apply(struct listing *listing, const struct network_status *network, bool gone)
{
	for (size_t i = 0; i < listing->network_count; i++) {
		if (listing->networks[i].job != network->job)
			continue;
		if (gone)
			listing->networks[i] = listing->networks[--listing->network_count];
		return;
	}
	if (!gone)
		network_add(listing, network);
}

static void listing_again(void *arg)
{
	struct docker *docker = arg;

	if (!docker->closing && link_is_up(docker))
		listing_ask(docker);
}

static void listing_emit(struct listing *listing)
{
	struct docker *docker = listing->docker;

	for (size_t i = 0; i < docker->note_count; i++) {
		const struct note *note = &docker->notes[i];

		if (note->is_network)
			network_apply(listing, &note->network, note->gone);
		else
			replica_apply(listing, &note->replica, note->gone);
	}
	tunnels_compare(docker, listing->networks, listing->network_count);
	emit_listing(docker, listing->replicas, listing->replica_count, listing->networks,
		     listing->network_count);
}

static void listing_end(struct listing *listing)
{
	struct docker *docker = listing->docker;
	bool again = docker->list_again;

	docker->listing = NULL;
	docker->list_again = false;
	docker->refusals = listing->refused ? docker->refusals + 1 : 0;
	if (listing->outcome.status == STATUS_OK && link_is_up(docker) &&
	    listing->epoch == docker->link.epoch) {
		listing_emit(listing);
		if (!docker->others_looked)
			orphans_look(docker);
		docker->others_looked = true;
	} else if (!docker->closing) {
		log_event(LOG_WARNING, "listing-failed", "status=%s error=\"%s\"",
			  status_name(listing->outcome.status), listing->outcome.text);
		docker_after(docker, &docker->listing_again, AGAIN_US, listing_again, docker);
		/* An engine that accepts calls and does not answer them counts as lost. */
		if (listing->outcome.status == STATUS_UNAVAILABLE && listing->epoch == docker->link.epoch)
			link_lose(docker, listing->outcome.text);
	}
	free(listing->replicas);
	free(listing->networks);
	free(listing);
	if (again && !docker->closing && link_is_up(docker))
		listing_ask(docker);
}

/* Marks the ends that the engine's history proves. Without a history, no end counts as witnessed. */
static void history_answered(void *arg, const struct http_answer *answer)
{
	struct listing *listing = arg;
	struct outcome outcome;

	docker_outcome(listing->docker, answer, &outcome);
	if (outcome.status)
		log_event(LOG_WARNING, "history-failed", "error=\"%s\"", outcome.text);
	else
		history_read(answer->body, answer->body_length, listing->replicas, listing->replica_count);
	listing->docker->history_epoch = listing->epoch;
	listing_end(listing);
}

/* Whether the listing has ended containers, although the engine is up: their ends were not observed by this daemon, but
 * perhaps by the engine. */
static bool listing_needs_history(const struct listing *listing)
{
	const struct docker *docker = listing->docker;
	bool ended = false;

	for (size_t i = 0; i < listing->replica_count; i++)
		ended = ended || listing->replicas[i].observed == REPLICA_EXITED;
	return ended && listing->outcome.status == STATUS_OK && link_is_up(docker) &&
	       docker->link.engine_ns && docker->history_epoch != listing->epoch;
}

static void ask_history(struct listing *listing)
{
	struct docker *docker = listing->docker;
	char path[DOCKER_PATH_SIZE + 64];

	history_path(docker->instance, docker->link.engine_ns, path);
	http_start(docker->http, &(struct http_request){ .method = "GET",
							 .path = path,
							 .timeout_s = HISTORY_TIMEOUT_S,
							 .body_max = DOCKER_HISTORY_MAX,
							 .done = history_answered,
							 .arg = listing });
}

/* To be called after each answer; after the last one, the listing is complete. */
static void listing_step(struct listing *listing)
{
	if (--listing->waiting > 0)
		return;
	if (listing_needs_history(listing))
		ask_history(listing);
	else
		listing_end(listing);
}

/* Whether the answer is a success; otherwise the listing fails. Also ends the link if the engine is gone. */
static bool answer_is_good(struct listing *listing, const struct http_answer *answer)
{
	struct outcome outcome;

	docker_outcome(listing->docker, answer, &outcome);
	if (outcome.status)
		listing_fail(listing, outcome.status, outcome.text);
	return outcome.status == STATUS_OK;
}

/* One container that the engine cannot inspect, for example because its layers are lost, must not block all others for
 * good: after some tries the list's entry is used. It has no end time, as if the container had ended unobserved. */
static void inspection_fail(struct replica_inspection *inspection, const struct http_answer *answer,
			    const struct outcome *outcome)
{
	const char *problem =
		outcome->status ? outcome->text : "the engine's account of a container cannot be understood";
	const bool refused = answer->status == STATUS_OK && outcome->status != STATUS_UNAVAILABLE;
	struct listing *listing = inspection->listing;
	struct replica_status *listed = &inspection->listed;
	char name[32];

	listing->refused |= refused;
	if (!refused || listing->docker->refusals < REFUSALS_MOST) {
		listing_fail(listing, outcome->status ? outcome->status : STATUS_INTERNAL, problem);
		return;
	}
	docker_replica_name(&listed->key, name);
	log_event(LOG_WARNING, "inspection-failed", "job=%lld replica=%s error=\"%s\"",
		  (long long)listed->key.job, name, problem);
	if (listed->observed == REPLICA_EXITED)
		listed->finished_ns = listing->docker->link.engine_ns;
	replica_add(listing, listed);
}

/* Adds a container that has exited to the listing, after its report files were fetched. */
static void exited_add(void *arg, bool is_lost)
{
	struct replica_inspection *inspection = arg;
	struct listing *listing = inspection->listing;

	if (is_lost)
		listing_fail(listing, STATUS_UNAVAILABLE,
			     "the engine does not hand a container's files over");
	else
		replica_add(listing, &inspection->listed);
	free(inspection);
	listing_step(listing);
}

static void inspected(void *arg, const struct http_answer *answer)
{
	struct replica_inspection *inspection = arg;
	struct listing *listing = inspection->listing;
	AUTO(json) json_t *container = docker_parse(answer->body, answer->body_length, JSON_OBJECT);
	const bool went = answer->status == STATUS_OK && answer->code == 404; /* it was removed after it was listed */
	struct replica_status status;
	struct outcome outcome;

	docker_outcome(listing->docker, answer, &outcome);
	if (!outcome.status && docker_container_inspected(container, &status)) {
		inspection->listed = status;
		if (status.observed == REPLICA_EXITED) {
			reports_finish(listing->docker, &status.key, exited_add, inspection);
			return;
		}
		replica_add(listing, &status);
	} else if (!went)
		inspection_fail(inspection, answer, &outcome);
	free(inspection);
	listing_step(listing);
}

/* A step of the listing: the daemon's own container joins a network that it has to be in and is not yet in, for
 * example because the container was made anew. */
struct membership_step {
	struct listing *listing;
	struct network_status network;
};

static void network_joined(void *arg, const struct outcome *outcome)
{
	struct membership_step *step = arg;
	struct listing *listing = step->listing;

	if (outcome->status)
		log_event(LOG_WARNING, "network-not-joined", "job=%lld error=\"%s\"",
			  (long long)step->network.job, outcome->text);
	network_add(listing, &step->network);
	free(step);
	listing_step(listing);
}

static void network_take(struct listing *listing, const json_t *json)
{
	struct network_status network;
	struct membership_step *step;

	if (listing->docker->makes == ENGINE_GUEST || !docker_network_read(json, &network))
		return;
	if (network.reach.is_carried)
		tunnel_keep(listing->docker, &network);
	if (docker_network_reach(json) == REACH_JOINED)
		self_device(network.reach.address, network.reach.device);
	if (docker_network_reach(json) != REACH_JOINED || network.reach.device[0] ||
	    !listing->docker->link.self[0]) {
		network_add(listing, &network);
		return;
	}
	step = memory_alloc(sizeof(*step));
	*step = (struct membership_step){ listing, network };
	listing->waiting++;
	self_join(listing->docker, &step->network, network_joined, step);
}

/* Hands each object of the list to @take. @named: the kind of object, for an error text. */
static void list_take(struct listing *listing, const struct http_answer *answer, const char *named,
		      void (*take)(struct listing *listing, const json_t *json))
{
	AUTO(json) json_t *list = docker_parse(answer->body, answer->body_length, JSON_ARRAY);

	if (!list) {
		AUTO(string) char *text =
			memory_printf("the engine's list of %s is not a JSON list: check that its address "
				      "leads to Docker or Podman", named);

		listing_fail(listing, STATUS_INTERNAL, text);
	}
	for (size_t i = 0; i < json_array_size(list); i++)
		take(listing, json_array_get(list, i));
}

static void networks_listed(void *arg, const struct http_answer *answer)
{
	struct listing *listing = arg;

	if (answer_is_good(listing, answer))
		list_take(listing, answer, "networks", network_take);
	listing_step(listing);
}

static struct replica_inspection *inspection_new(struct listing *listing, const struct replica_status *listed)
{
	struct replica_inspection *inspection = memory_alloc(sizeof(*inspection));

	*inspection = (struct replica_inspection){ listing, *listed };
	listing->waiting++;
	return inspection;
}

static void inspect_send(struct replica_inspection *inspection)
{
	docker_container_call(
		inspection->listing->docker, &inspection->listed.key, "/json",
		(struct http_request){
			.method = "GET", .timeout_s = CALL_TIMEOUT_S, .done = inspected, .arg = inspection });
}

static void inspect(struct listing *listing, const struct replica_status *listed)
{
	inspect_send(inspection_new(listing, listed));
}

static void named_again(void *arg, const struct http_answer *answer)
{
	struct replica_inspection *inspection = arg;
	struct outcome outcome;
	char name[32];

	docker_outcome(inspection->listing->docker, answer, &outcome);
	docker_replica_name(&inspection->listed.key, name);
	log_event(outcome.status ? LOG_WARNING : LOG_INFO, "container-renamed",
		  "job=%lld replica=%s error=\"%s\"", (long long)inspection->listed.key.job, name,
		  outcome.text);
	inspect_send(inspection);
}

/* Gives a renamed container its name back, and then inspects it by that name. Containers are identified by their
 * names: a renamed one would count as removed, and would never be removed. */
static void rename_back(struct listing *listing, const struct replica_status *listed, const json_t *container)
{
	struct replica_inspection *inspection = inspection_new(listing, listed);
	char name[DOCKER_NAME_SIZE], path[DOCKER_PATH_SIZE];

	if (!inspection)
		return;
	docker_container_name(listing->docker->instance, &listed->key, name);
	snprintf(path, sizeof(path), "/containers/%.128s/rename?name=%s",
		 json_text_at(container, "Id") ? json_text_at(container, "Id") : "", name);
	http_start(listing->docker->http, &(struct http_request){ .method = "POST",
								  .path = path,
								  .timeout_s = CALL_TIMEOUT_S,
								  .done = named_again,
								  .arg = inspection });
}

static bool has_its_name(const struct listing *listing, const struct replica_key *key,
			 const json_t *container)
{
	const json_t *names = json_object_get(container, "Names");
	char name[DOCKER_NAME_SIZE];

	docker_container_name(listing->docker->instance, key, name);
	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *one = json_string_value(json_array_get(names, i));

		if (one && strcmp(one + (one[0] == '/'), name) == 0)
			return true;
	}
	return json_array_size(names) == 0; /* a container without names is being removed */
}

static void ask_networks(struct listing *listing)
{
	char filter[DOCKER_PATH_SIZE], path[DOCKER_PATH_SIZE + 32];

	docker_label_filter(listing->docker->instance, NULL, filter);
	snprintf(path, sizeof(path), "/networks?filters=%s", filter);
	listing->waiting++;
	http_start(listing->docker->http, &(struct http_request){ .method = "GET",
								  .path = path,
								  .timeout_s = CALL_TIMEOUT_S,
								  .done = networks_listed,
								  .arg = listing });
}

static void replica_take(struct listing *listing, const struct replica_status *status, const json_t *labels,
			 bool needs_inspection)
{
	reports_follow(listing->docker, labels, &status->key);
	if (needs_inspection)
		inspect(listing, status);
	else
		replica_add(listing, status);
}

static void left_removed(void *arg, const struct http_answer *answer)
{
	struct outcome outcome;

	docker_outcome(arg, answer, &outcome);
	log_event(LOG_INFO, "inspection-left", "error=\"%s\"", outcome.text);
}

/* Removes a container that the inspection of an image has left. */
static void inspection_sweep(struct listing *listing, const json_t *container)
{
	const char *id = json_text_at(container, "Id");
	char path[DOCKER_PATH_SIZE];

	if (!id || !docker_inspection_is_left(container))
		return;
	snprintf(path, sizeof(path), "/containers/%.128s?force=1&v=1", id);
	http_start(listing->docker->http, &(struct http_request){ .method = "DELETE",
								  .path = path,
								  .timeout_s = START_TIMEOUT_S,
								  .done = left_removed,
								  .arg = listing->docker });
}

static void container_take(struct listing *listing, const json_t *container)
{
	struct replica_status status;
	bool needs_inspection;

	if (!docker_container_listed(container, &status, &needs_inspection)) {
		throttle_sweep(listing->docker, container);
		inspection_sweep(listing, container);
	} else if (!has_its_name(listing, &status.key, container) && docker_container_is_made_here(container))
		rename_back(listing, &status, container);
	else if (!has_its_name(listing, &status.key, container))
		return; /* a user's container with our labels, from an image made of one of our containers */
	else
		replica_take(listing, &status, json_object_get(container, "Labels"), needs_inspection);
}

static void containers_listed(void *arg, const struct http_answer *answer)
{
	struct listing *listing = arg;

	if (answer_is_good(listing, answer)) {
		list_take(listing, answer, "containers", container_take);
		ask_networks(listing);
	}
	listing_step(listing);
}

void listing_ask(struct docker *docker)
{
	char filter[DOCKER_PATH_SIZE], path[DOCKER_PATH_SIZE + 64];
	struct listing *listing;

	if (docker->listing) {
		docker->list_again = true;
		return;
	}
	listing = memory_calloc(1, sizeof(*listing));
	listing->docker = docker;
	listing->epoch = docker->link.epoch;
	listing->waiting = 1;
	docker->listing = listing;
	docker->note_count = 0;
	docker_label_filter(docker->instance, NULL, filter);
	snprintf(path, sizeof(path), "/containers/json?all=1&filters=%s", filter);
	http_start(docker->http, &(struct http_request){ .method = "GET",
							 .path = path,
							 .timeout_s = CALL_TIMEOUT_S,
							 .body_max = DOCKER_LISTING_MAX,
							 .done = containers_listed,
							 .arg = listing });
}
