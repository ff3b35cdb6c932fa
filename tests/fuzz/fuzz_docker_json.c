/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine says in JSON: containers, networks, events, its own description, refusals, the stream of a pull, nodes.
 *
 * What must hold beside not crashing: what is taken as one of ours has a key that can name a container again, a status
 * that is in itself right, and texts that end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/engine/docker_event.h"
#include "scheduler/engine/docker_history.h"
#include "scheduler/engine/docker_host.h"
#include "scheduler/engine/docker_json.h"
#include "scheduler/engine/docker_progress.h"
#include "scheduler/engine/swarm.h"
#include "scheduler/engine/swarm_agents.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void key_check(const struct replica_key *key)
{
	char name[DOCKER_NAME_SIZE];

	expect(key->job >= 0 && key->role < ROLE_COUNT);
	docker_container_name("i", key, name);
	expect(strlen(name) < sizeof(name) - 1);
	expect(docker_key_equal(key, key));
}

static void status_check(const struct replica_status *status)
{
	key_check(&status->key);
	expect(status->finished_ns >= 0);
	expect(status->observed == REPLICA_EXITED || !status->out_of_memory);
}

static void container_try(const json_t *container)
{
	struct replica_status status;
	bool inspect;

	if (docker_container_listed(container, &status, &inspect))
		status_check(&status);
	if (docker_container_inspected(container, &status)) {
		status_check(&status);
		expect(docker_container_is_of(container, json_object_get(container, "Config")));
	}
}

static void network_try(const json_t *network)
{
	struct network_status status;

	if (!docker_network_read(network, &status))
		return;
	expect(status.job >= 0 && strlen(status.reach.device) < sizeof(status.reach.device));
	expect(memchr(status.id, '\0', sizeof(status.id)) != NULL);
	expect((uint64_t)status.reach.address + status.capacity <= UINT32_MAX);
	docker_network_is_of(network, "i", status.job);
}

static void host_try(const json_t *info)
{
	struct host host = { .known = false };

	docker_host_read(info, "/nowhere", &host);
	expect(!host.known || (host.cpus > 0 && host.memory_bytes > 0));
	for (size_t i = 0; i < host.device_count; i++)
		for (size_t k = 0; k < i; k++)
			expect(strcmp(host.devices[i], host.devices[k]) != 0);
	host_deinit(&host);
}

static void listing_try(const json_t *list)
{
	struct subnet_list taken AUTO_SUBNET_LIST = { 0 };
	struct subnet pool = { .address = 10u << 24, .bits = 8 }, chosen;

	for (size_t i = 0; i < json_array_size(list); i++) {
		container_try(json_array_get(list, i));
		network_try(json_array_get(list, i));
	}
	docker_networks_taken(list, &taken);
	if (!subnet_choose(pool, 24, &taken, &chosen))
		return;
	for (size_t i = 0; i < taken.count; i++)
		expect(!subnet_overlaps(chosen, taken.items[i]));
}

/* Nodes have distinct names, and the resources of their hosts are consistent. */
static void swarm_try(const json_t *object, const json_t *list)
{
	struct swarm swarm AUTO_SWARM = { 0 };

	swarm_nodes_read(list, &swarm);
	expect(swarm.count <= SWARM_NODES_MAX);
	for (size_t i = 0; i < swarm.count; i++) {
		const struct swarm_node *node = &swarm.nodes[i];

		expect(*node->id && *node->name && json_is_object(node->labels));
		expect(i == 0 || strcmp(swarm.nodes[i - 1].name, node->name) < 0);
		expect(!node->host.known || (node->host.cpus > 0 && node->host.memory_bytes > 0));
		for (size_t k = 0; k < node->host.device_count; k++)
			expect(device_id_valid(node->host.devices[k], strlen(node->host.devices[k])));
	}
	swarm_manager_check(object, NULL);
}

static void agents_try(const json_t *list)
{
	struct swarm_agents agents AUTO_AGENTS = { 0 };

	swarm_agents_read(list, NULL, &agents);
	expect(agents.count <= SWARM_NODES_MAX);
	for (size_t i = 0; i < agents.count; i++) {
		const struct swarm_agent *agent = &agents.items[i];

		expect(*agent->node && swarm_agent_of(&agents, agent->node) == agent);
		expect((agent->state == AGENT_RUNS) == (*agent->container != '\0'));
	}
}

/* The stream of a pull, fed in two pieces. */
static void pull_try(const char *data, size_t size)
{
	struct progress progress = { .line = { 0 } };
	struct text text AUTO_TEXT = { 0 };

	progress_feed(&progress, data, size / 2);
	progress_feed(&progress, data + size / 2, size - size / 2);
	progress_end(&progress);
	expect(progress.layer_count <= PROGRESS_LAYERS_MAX);
	expect(memchr(progress.problem, '\0', sizeof(progress.problem)) != NULL);
	progress_print(&progress, "image", &text);
	progress_deinit(&progress);
}

/* Only ended containers may be witnessed. */
static void history_try(const char *data, size_t size)
{
	struct replica_status replicas[2] = {
		{ .key = { .job = 1, .attempt = 1, .role = ROLE_MASTER }, .observed = REPLICA_EXITED },
		{ .key = { .job = 1, .attempt = 1, .role = ROLE_MASTER }, .observed = REPLICA_RUNNING },
	};

	history_read(data, size, replicas, 2);
	expect(!replicas[1].witnessed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(string) char *body = malloc(size + 1);
	AUTO(json) json_t *object = NULL;
	AUTO(json) json_t *list = NULL;
	char message[DOCKER_TEXT_SIZE];
	struct docker_event event;

	if (!body)
		return 0;
	if (size)
		memcpy(body, data, size);
	body[size] = '\0';
	object = docker_parse(body, size, JSON_OBJECT);
	list = docker_parse(body, size, JSON_ARRAY);
	container_try(object);
	network_try(object);
	host_try(object);
	listing_try(list);
	swarm_try(object, list);
	agents_try(list);
	if (docker_event_read(body, size, &event))
		key_check(&event.status.key);
	docker_message(body, size, message);
	expect(strlen(message) < sizeof(message));
	history_try(body, size);
	pull_try(body, size);
	return 0;
}
