/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/swarm_agents.h"

#include <arpa/inet.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/base64.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_ask.h"
#include "scheduler/engine/docker_wire.h"

/* ---- reading ---- */

void swarm_agents_deinit(struct swarm_agents *agents)
{
	free(agents->items);
	*agents = (struct swarm_agents){ 0 };
}

static struct swarm_agent *agent_find(const struct swarm_agents *agents, const char *node)
{
	for (size_t i = 0; i < agents->count; i++)
		if (strcmp(agents->items[i].node, node) == 0)
			return &agents->items[i];
	return NULL;
}

const struct swarm_agent *swarm_agent_of(const struct swarm_agents *agents, const char *node)
{
	return agent_find(agents, node);
}

/* Whether @text is not empty, fits, and has only @letters: it becomes part of request paths. */
static bool is_of(const char *text, const char *letters, size_t size)
{
	return text && *text && strlen(text) < size && !text[strspn(text, letters)];
}

/* "10.0.1.5/24" */
static bool address_read(const json_t *task, uint32_t *ret_address)
{
	const json_t *attachment = json_array_get(json_object_get(task, "NetworksAttachments"), 0);
	const char *text = json_string_value(json_array_get(json_object_get(attachment, "Addresses"), 0));
	char plain[INET_ADDRSTRLEN] = "";
	struct in_addr address;

	if (!text || strcspn(text, "/") >= sizeof(plain))
		return false;
	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(text, "/"), text);
	if (inet_pton(AF_INET, plain, &address) != 1)
		return false;
	*ret_address = ntohl(address.s_addr);
	return true;
}

/* Updates a node's agent by one of its tasks; tasks are read from the oldest to the newest. */
static void task_read(const json_t *task, struct swarm_agent *agent)
{
	const json_t *status = json_object_get(task, "Status");
	const char *state = json_text_at(status, "State"), *problem = json_text_at(status, "Err");
	const char *wanted = json_text_at(task, "DesiredState");
	const char *container = json_text_at(json_object_get(status, "ContainerStatus"), "ContainerID");
	const bool is_wanted = wanted && (strcmp(wanted, "running") == 0 || strcmp(wanted, "ready") == 0);
	const char *created = json_text_at(task, "CreatedAt");
	uint32_t address;

	if (!state || agent->state == AGENT_RUNS)
		return;
	if (is_wanted && strcmp(state, "running") == 0 &&
	    is_of(container, "0123456789abcdef", sizeof(agent->container)) && address_read(task, &address)) {
		snprintf(agent->container, sizeof(agent->container), "%s", container);
		agent->address = address;
		agent->state = AGENT_RUNS;
	} else if (strcmp(state, "rejected") == 0 || strcmp(state, "failed") == 0) {
		snprintf(agent->problem, sizeof(agent->problem), "%s", problem ? problem : state);
		snprintf(agent->failed, sizeof(agent->failed), "%s", created ? created : "");
		agent->state = AGENT_FAILS;
	} else if (is_wanted && agent->state == AGENT_NONE) {
		agent->state = AGENT_STARTS;
	}
}

static int by_creation(const void *one, const void *other)
{
	const char *created = json_text_at(*(const json_t *const *)one, "CreatedAt");
	const char *after = json_text_at(*(const json_t *const *)other, "CreatedAt");

	return strcmp(created ? created : "", after ? after : "");
}

static bool is_of_version(const json_t *task, const struct swarm_version *version)
{
	const json_t *container = json_object_get(json_object_get(task, "Spec"), "ContainerSpec");
	const char *image = json_text_at(container, "Image");
	const char *socket = json_text_at(json_array_get(json_object_get(container, "Mounts"), 0), "Source");

	return !version || (image && strcmp(image, version->image) == 0 && socket && strcmp(socket, version->socket) == 0);
}

/* Tasks are sorted by their creation, so that a node's later failure replaces an earlier one. */
void swarm_agents_read(const json_t *tasks, const struct swarm_version *version, struct swarm_agents *ret_agents)
{
	const size_t count = json_array_size(tasks);
	const json_t **sorted = memory_calloc(count + 1, sizeof(*sorted));
	struct swarm_agents agents = { 0 };

	for (size_t i = 0; i < count; i++)
		sorted[i] = json_array_get(tasks, i);
	qsort(sorted, count, sizeof(*sorted), by_creation);
	agents.items = memory_calloc((count < SWARM_NODES_MAX ? count : SWARM_NODES_MAX) + 1,
				     sizeof(*agents.items));
	for (size_t i = 0; i < count; i++) {
		const char *node = json_text_at(sorted[i], "NodeID");
		struct swarm_agent *agent;

		if (!is_of(node, "0123456789abcdefghijklmnopqrstuvwxyz", SWARM_ID_SIZE) ||
		    !is_of_version(sorted[i], version))
			continue;
		agent = agent_find(&agents, node);
		if (!agent && agents.count == SWARM_NODES_MAX)
			continue;
		if (!agent) {
			agent = &agents.items[agents.count++];
			snprintf(agent->node, sizeof(agent->node), "%s", node);
		}
		task_read(sorted[i], agent);
	}
	free(sorted);
	*ret_agents = agents;
}

/* ---- asking the engine ---- */

enum status swarm_agents_ask(struct http *http, const struct swarm_version *version, struct swarm_agents *ret_agents,
			     struct error *err)
{
	char filter[DOCKER_PATH_SIZE], path[DOCKER_PATH_SIZE + 64];

	docker_query_encode("{\"service\":[\"" SWARM_AGENT "\"]}", filter, sizeof(filter));
	snprintf(path, sizeof(path), "/tasks?filters=%s", filter);
	struct reply reply AUTO_REPLY = docker_ask(http, "GET", path, NULL);

	if (reply.status || (reply.code != 200 && reply.code != 404))
		return reply_failure(&reply, err);
	swarm_agents_read(reply.code == 200 ? reply.value : NULL, version, ret_agents);
	return STATUS_OK;
}

static bool keys_decode(const char *data, struct wire_keys *ret_keys)
{
	const size_t size = strlen(data);
	AUTO(string) char *plain = memory_calloc(1, size + 1);
	size_t length = 0;
	const bool decoded = base64_decode(data, size, NULL, sodium_base64_VARIANT_ORIGINAL, plain, size,
					   &length) &&
			     wire_keys_read(plain, length, ret_keys);

	sodium_memzero(plain, size);
	return decoded;
}

enum status swarm_keys_ask(struct http *http, struct wire_keys *ret_keys, struct error *err)
{
	struct reply reply AUTO_REPLY = docker_ask(http, "GET", "/configs/" SWARM_AGENT, NULL);
	const char *data = json_text_at(json_object_get(reply.value, "Spec"), "Data");

	if (reply.status || (reply.code >= 300 && reply.code != 404))
		return reply_failure(&reply, err);
	if (reply.code == 404)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "the swarm has no agents: `trainyard swarm up` starts one on each node");
	return data && keys_decode(data, ret_keys)
		       ? STATUS_OK
		       : error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				   "the swarm's config " SWARM_AGENT " holds no keys: `trainyard swarm down` and "
				   "`swarm up` make new ones");
}
