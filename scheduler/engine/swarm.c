/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/swarm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_ask.h"

enum { DEVICES_MAX = 1024, CPUS_MAX = 65536, NAME_BYTES_MAX = 128, LABEL_BYTES_MAX = 1024 };
#define NANO_PER_CPU INT64_C(1000000000)

/* ---- reading ---- */

static void node_deinit(struct swarm_node *node)
{
	free(node->name);
	json_decref(node->labels);
	host_deinit(&node->host);
}

void swarm_deinit(struct swarm *swarm)
{
	for (size_t i = 0; i < swarm->count; i++)
		node_deinit(&swarm->nodes[i]);
	free(swarm->nodes);
	*swarm = (struct swarm){ 0 };
}

/* Reads a node's id. Only lowercase letters and digits are accepted, because ids become part of paths. */
static bool id_read(const json_t *node, char ret_id[SWARM_ID_SIZE])
{
	const char *id = json_text_at(node, "ID");

	if (!id || !*id || strlen(id) >= SWARM_ID_SIZE ||
	    id[strspn(id, "0123456789abcdefghijklmnopqrstuvwxyz")])
		return false;
	snprintf(ret_id, SWARM_ID_SIZE, "%s", id);
	return true;
}

/* Returns the node's host name. Returns the id instead if the host name is missing, too long, or has other
 * characters: names are written to logs and options. */
static char *name_read(const json_t *node, const char *id)
{
	const char *name = json_text_at(json_object_get(node, "Description"), "Hostname");

	if (!name || !*name || strlen(name) > NAME_BYTES_MAX ||
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")])
		name = id;
	return memory_strdup(name);
}

static enum host_state state_read(const json_t *node)
{
	const char *state = json_text_at(json_object_get(node, "Status"), "State");
	const char *availability = json_text_at(json_object_get(node, "Spec"), "Availability");

	if (!state || strcmp(state, "ready") != 0) /* down, disconnected, unknown */
		return HOST_DOWN;
	return availability && strcmp(availability, "active") == 0 ? HOST_UP
								   : HOST_DRAINED; /* pause, drain */
}

/* Unlike a paused node, a drained one loses its tasks, and so its agent. A manager that has just started knows a node's
 * state as "unknown" for a moment: that says nothing. */
static bool is_gone_read(const json_t *node)
{
	const char *state = json_text_at(json_object_get(node, "Status"), "State");
	const char *availability = json_text_at(json_object_get(node, "Spec"), "Availability");

	return (state && strcmp(state, "down") == 0) || (availability && strcmp(availability, "drain") == 0);
}

static json_t *labels_read(const json_t *node)
{
	json_t *labels = json_object();
	const json_t *from = json_object_get(json_object_get(node, "Spec"), "Labels"), *value;
	const char *name;

	json_object_foreach((json_t *)from, name, value) {
		if (json_object_size(labels) == SWARM_LABELS_MAX)
			break;
		if (json_is_string(value) && *name && strlen(name) <= LABEL_BYTES_MAX &&
		    json_string_length(value) <= LABEL_BYTES_MAX)
			json_object_set(labels, name, (json_t *)value);
	}
	return labels;
}

static bool is_gpu(const json_t *spec)
{
	const char *kind = json_text_at(spec, "Kind");

	return kind && strcasestr(kind, "gpu");
}

static void device_add(struct host *host, const char *id)
{
	for (size_t i = 0; i < host->device_count; i++)
		if (strcmp(host->devices[i], id) == 0)
			return;
	if (host->device_count < DEVICES_MAX && device_id_valid(id, strlen(id)))
		host->devices[host->device_count++] = memory_strdup(id);
}

static void devices_count_add(struct host *host, int64_t count)
{
	char id[16];

	for (int i = 0; i < count && i < DEVICES_MAX; i++) {
		snprintf(id, sizeof(id), "%d", i);
		device_add(host, id);
	}
}

static void host_read(const json_t *node, struct host *host)
{
	const json_t *resources = json_object_get(json_object_get(node, "Description"), "Resources");
	const json_t *generic = json_object_get(resources, "GenericResources"), *item;
	const int64_t cpus = json_int_at(resources, "NanoCPUs", 0) / NANO_PER_CPU;
	const int64_t memory_bytes = json_int_at(resources, "MemoryBytes", 0);
	size_t i;

	host->cpus = cpus > 0 && cpus <= CPUS_MAX ? (unsigned)cpus : 0;
	host->memory_bytes = memory_bytes > 0 ? memory_bytes : 0;
	host->known = host->cpus > 0 && host->memory_bytes > 0;
	host->devices = memory_calloc(DEVICES_MAX, sizeof(*host->devices));
	json_array_foreach((json_t *)generic, i, item) {
		const json_t *named = json_object_get(item, "NamedResourceSpec");
		const json_t *counted = json_object_get(item, "DiscreteResourceSpec");
		const char *id = json_text_at(named, "Value");

		if (is_gpu(named) && id)
			device_add(host, id);
		else if (is_gpu(counted))
			devices_count_add(host, json_int_at(counted, "Value", 0));
	}
	host->devices = memory_resize(host->devices, host->device_count + 1, sizeof(*host->devices));
}

static int by_id(const void *one, const void *other)
{
	return strcmp(((const struct swarm_node *)one)->id, ((const struct swarm_node *)other)->id);
}

static int by_name(const void *one, const void *other)
{
	return strcmp(((const struct swarm_node *)one)->name, ((const struct swarm_node *)other)->name);
}

static void ids_part(struct swarm *swarm)
{
	size_t kept = 0;

	qsort(swarm->nodes, swarm->count, sizeof(*swarm->nodes), by_id);
	for (size_t i = 0; i < swarm->count; i++) {
		if (kept && by_id(&swarm->nodes[kept - 1], &swarm->nodes[i]) == 0)
			node_deinit(&swarm->nodes[i]);
		else
			swarm->nodes[kept++] = swarm->nodes[i];
	}
	swarm->count = kept;
}

static void name_set(struct swarm_node *node, char *name)
{
	free(node->name);
	node->name = name;
}

/* Gives nodes with equal names different ones: name and id, or with @by_ids_alone the id. False: no names were
 * equal. */
static bool names_part(struct swarm *swarm, bool by_ids_alone)
{
	size_t end;
	bool were_same = false;

	qsort(swarm->nodes, swarm->count, sizeof(*swarm->nodes), by_name);
	for (size_t i = 0; i < swarm->count; i = end) {
		for (end = i + 1; end < swarm->count && by_name(&swarm->nodes[i], &swarm->nodes[end]) == 0;)
			end++;
		were_same |= end - i > 1;
		for (size_t k = i; end - i > 1 && !by_ids_alone && k < end; k++)
			name_set(&swarm->nodes[k],
				 memory_printf("%s-%s", swarm->nodes[k].name, swarm->nodes[k].id));
	}
	for (size_t i = 0; were_same && by_ids_alone && i < swarm->count; i++)
		name_set(&swarm->nodes[i], memory_strdup(swarm->nodes[i].id));
	qsort(swarm->nodes, swarm->count, sizeof(*swarm->nodes), by_name);
	return were_same;
}

void swarm_nodes_read(const json_t *nodes, struct swarm *ret_swarm)
{
	const size_t most =
		json_array_size(nodes) < SWARM_NODES_MAX ? json_array_size(nodes) : SWARM_NODES_MAX;
	struct swarm swarm = { .nodes = memory_calloc(most + 1, sizeof(*swarm.nodes)) };

	for (size_t i = 0; i < most; i++) {
		const json_t *from = json_array_get(nodes, i);
		const char *address = json_text_at(json_object_get(from, "Status"), "Addr");
		struct swarm_node node = { .state = state_read(from), .is_gone = is_gone_read(from) };

		if (!id_read(from, node.id))
			continue;
		if (address && strlen(address) < SWARM_ADDRESS_SIZE)
			snprintf(node.address, sizeof(node.address), "%s", address);
		node.name = name_read(from, node.id);
		node.is_manager = json_object_get(from, "ManagerStatus") != NULL;
		node.labels = labels_read(from);
		host_read(from, &node.host);
		swarm.nodes[swarm.count++] = node;
	}
	ids_part(&swarm);
	/* A new name may be equal to the host name of another node; then only ids are used. */
	if (names_part(&swarm, false))
		names_part(&swarm, true);
	*ret_swarm = swarm;
}

enum status swarm_manager_check(const json_t *info, struct error *err)
{
	const json_t *swarm = json_object_get(info, "Swarm");
	const char *state = json_text_at(swarm, "LocalNodeState"), *problem = json_text_at(swarm, "Error");

	if (!state || strcmp(state, "inactive") == 0)
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"the engine is in no swarm: `docker swarm init` makes one, of which it is the manager");
	if (strcmp(state, "locked") == 0)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "the engine's swarm is locked: `docker swarm unlock` unlocks it");
	if (strcmp(state, "active") != 0)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "the engine is not an active node of its swarm: it is %.32s%s%.256s", state,
				 problem && *problem ? ": " : "", problem ? problem : "");
	if (!json_true_at(swarm, "ControlAvailable"))
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"the engine is a worker of its swarm: name a manager's engine, or make it one with `docker "
			"node promote`, at a manager");
	return STATUS_OK;
}

/* ---- asking the engine ---- */

static enum status ask(struct http *http, const char *path, json_t **ret_value, struct error *err)
{
	struct reply reply AUTO_REPLY = docker_ask(http, "GET", path, NULL);

	if (reply.status || reply.code != 200 || !reply.value)
		return reply_failure(&reply, err);
	*ret_value = TAKE(reply.value);
	return STATUS_OK;
}

enum status swarm_ask(struct http *http, struct swarm *ret_swarm, struct error *err)
{
	AUTO(json) json_t *info = NULL;
	AUTO(json) json_t *nodes = NULL;
	const char *own;
	enum status rc = ask(http, "/info", &info, err);

	if (!rc)
		rc = swarm_manager_check(info, err);
	if (!rc)
		rc = ask(http, "/nodes", &nodes, err);
	if (rc)
		return rc;
	swarm_nodes_read(nodes, ret_swarm);
	own = json_text_at(json_object_get(info, "Swarm"), "NodeID");
	snprintf(ret_swarm->own, sizeof(ret_swarm->own), "%s", own ? own : "");
	return STATUS_OK;
}
