/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/fleet.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/devices.h"
#include "scheduler/plan/fleet_parts.h"
#include "scheduler/plan/limits.h"

/* ---- nodes ---- */

void fleet_init(struct fleet *fleet, const struct room *common, const struct place_rule *rules,
		size_t rule_count)
{
	*fleet = (struct fleet){ .rules = rules, .rule_count = rule_count, .total = *common };
	fleet->total.capacity.host = (struct host){ .known = false };
	fleet->total.usage.leases = NULL;
	fleet->total.usage.lease_count = 0;
}

void fleet_deinit(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++)
		free(fleet->nodes[i].uses);
	free(fleet->nodes);
	*fleet = (struct fleet){ 0 };
}

void fleet_add(struct fleet *fleet, const char *name, enum host_state state, const json_t *labels,
	       const struct room *room)
{
	const struct host *host = &room->capacity.host;
	struct host *total = &fleet->total.capacity.host;
	struct fleet_node *node;

	if (!(fleet->count & (fleet->count - 1)))
		fleet->nodes = memory_resize(fleet->nodes, fleet->count ? fleet->count * 2 : 1,
					     sizeof(*fleet->nodes));
	node = &fleet->nodes[fleet->count++];
	*node = (struct fleet_node){ .name = name,
				     .state = state,
				     .labels = labels,
				     .model = json_text_at(labels, "gpu"),
				     .host = host,
				     .usage = room->usage,
				     .uses = device_uses(room) };
	for (size_t i = 0; i < host->device_count; i++)
		node->free_devices += !node->uses[i].holders;
	node->usage.leases = NULL;
	node->usage.lease_count = 0;
	if (!host->known)
		return;
	total->known = true;
	total->cpus = total->cpus < UINT_MAX - host->cpus ? total->cpus + host->cpus : UINT_MAX;
	total->memory_bytes += host->memory_bytes;
	total->device_count += host->device_count;
}

/* ---- what jobs take ---- */

static void device_hold(struct fleet_node *node, const char *id, bool shared, bool returns)
{
	for (size_t i = 0; i < node->host->device_count; i++) {
		struct device_use *use = &node->uses[i];

		if (strcmp(node->host->devices[i], id) != 0)
			continue;
		node->free_devices -= !use->holders;
		use->holders = returns ? use->holders - 1 : use->holders + 1;
		node->free_devices += !use->holders;
		use->exclusive = returns ? use->exclusive && use->holders : use->exclusive || !shared;
		return;
	}
}

void fleet_hold(struct fleet *fleet, size_t node, const char *device)
{
	device_hold(&fleet->nodes[node], device, false, false);
}

static void replica_use(struct fleet_node *node, const struct assignment *assignment, enum role role,
			unsigned index, bool returns)
{
	const struct limits *limits = &assignment->limits[role];
	const json_t *ids = assignment_devices(assignment, role, index), *id;
	const int sign = returns ? -1 : 1;
	size_t i;

	node->usage.containers = returns ? node->usage.containers - 1 : node->usage.containers + 1;
	node->usage.nano_cpus += sign * limits->nano_cpus;
	node->usage.memory_bytes += sign * limits->memory_bytes;
	json_array_foreach((json_t *)ids, i, id) {
		device_hold(node, json_string_value(id), assignment->shared, returns);
	}
}

static void replicas_use(struct fleet *fleet, const struct plan *plan, const struct assignment *assignment,
			 const unsigned *nodes, bool returns)
{
	for (int role = 0; role < ROLE_COUNT; role++)
		for (unsigned i = 0; i < plan->pools[role].count; i++)
			replica_use(&fleet->nodes[*nodes++], assignment, (enum role)role, i, returns);
}

void fleet_use(struct fleet *fleet, const struct plan *plan, const struct assignment *assignment,
	       const unsigned *nodes)
{
	plan_usage_add(plan, assignment, &fleet->total.usage);
	replicas_use(fleet, plan, assignment, nodes, false);
}

void fleet_return(struct fleet *fleet, const struct plan *plan, const struct assignment *assignment,
		  const unsigned *nodes)
{
	struct usage used = { 0 }, *total = &fleet->total.usage;

	plan_usage_add(plan, assignment, &used);
	total->jobs -= used.jobs;
	total->containers -= used.containers;
	total->nano_cpus -= used.nano_cpus;
	total->memory_bytes -= used.memory_bytes;
	replicas_use(fleet, plan, assignment, nodes, true);
}

/* ---- which replicas may go where ---- */

static bool texts_alike(const char *one, const char *other)
{
	for (; *one && *other; one++, other++) {
		const char a = *one == '_' ? '-' : *one, b = *other == '_' ? '-' : *other;

		if ((a | 0x20) != (b | 0x20))
			return false;
	}
	return *one == *other;
}

/* "A100" for "NVIDIA_TESLA_A100", "L4" for "NVIDIA_L4". */
static const char *model_of(const char *accelerator_type)
{
	static const char *const prefixes[] = { "NVIDIA_", "TESLA_" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(accelerator_type, prefixes[i], strlen(prefixes[i])) == 0)
			accelerator_type += strlen(prefixes[i]);
	return accelerator_type;
}

static bool has_model(const struct fleet_node *node, const char *model)
{
	return node->model && texts_alike(node->model, model);
}

static bool some_has_model(const struct fleet *fleet, const char *model)
{
	for (size_t i = 0; i < fleet->count; i++)
		if (has_model(&fleet->nodes[i], model))
			return true;
	return false;
}

bool fleet_attaches(const struct fleet *fleet, const struct plan *plan)
{
	const struct capacity *capacity = &fleet->total.capacity;

	return placement_wants_devices(plan_accelerator_count(plan), capacity) &&
	       capacity->host.device_count > 0;
}

struct demand fleet_demand(const struct fleet *fleet, const struct plan *plan,
			   const struct assignment *assignment, bool attaches)
{
	struct demand demand = { .plan = plan };

	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct pool *pool = &plan->pools[role];
		const struct limits *limits = &assignment->limits[role];
		struct pack_shape *shape = &demand.shapes[role];

		shape->count = pool->count;
		shape->size[PACK_CPU] = limits->nano_cpus / NANO_PER_MILLI;
		shape->size[PACK_MEMORY] = (limits->memory_bytes + MIB - 1) / MIB;
		shape->size[PACK_DEVICES] = attaches ? pool_gpu_count(pool) : 0;
		if (pool->count && shape->size[PACK_DEVICES] &&
		    some_has_model(fleet, model_of(pool->accelerator_type)))
			demand.models[role] = model_of(pool->accelerator_type);
	}
	return demand;
}

struct node_reason fleet_bars(const struct fleet *fleet, const struct demand *demand, size_t index,
			      enum role role)
{
	const struct fleet_node *node = &fleet->nodes[index];
	const struct pool *pool = &demand->plan->pools[role];
	struct node_reason reason = { .role = role, .wanted = demand->shapes[role].size[PACK_DEVICES] };

	reason.rule =
		place_rule_broken(fleet->rules, fleet->rule_count, node->name, node->labels, pool, role);
	if (reason.rule)
		reason.lack = NODE_LACKS_LABEL;
	else if (demand->models[role] && !has_model(node, demand->models[role]))
		reason.lack = NODE_LACKS_MODEL;
	else if (reason.wanted && !node->host->device_count)
		reason.lack = NODE_LACKS_DEVICES;
	return reason;
}

enum node_lack fleet_node_closed(const struct fleet_node *node)
{
	switch (node->state) {
	case HOST_DOWN:
		return NODE_IS_DOWN;
	case HOST_DRAINED:
		return NODE_IS_DRAINED;
	case HOST_UP:
		break;
	}
	return node->host->known ? NODE_LACKS_NOTHING : NODE_IS_UNKNOWN;
}

unsigned fleet_soft(const struct fleet *fleet)
{
	const struct capacity *capacity = &fleet->total.capacity;

	return (capacity->fit == FIT_HOST ? 1U << PACK_CPU | 1U << PACK_MEMORY : 0) |
	       (capacity->accelerators == ACCELERATORS_SHARE ? 1U << PACK_DEVICES : 0);
}

struct pack_bin fleet_bin(const struct fleet *fleet, size_t index, bool empty)
{
	const struct fleet_node *node = &fleet->nodes[index];
	const struct host *host = node->host;
	const bool counts = fleet->total.capacity.fit != FIT_NONE;
	const int64_t memory_bytes =
		fleet->total.capacity.fit == FIT_HOST ? host->memory_bytes / 10 * 9 : host->memory_bytes;
	struct pack_bin bin = { .load = node->usage.containers };

	if (!host->known)
		return bin;
	bin.room[PACK_CPU] = counts ? host->cpus * INT64_C(1000) : 0;
	bin.room[PACK_MEMORY] = counts ? memory_bytes / MIB : 0;
	bin.room[PACK_DEVICES] = (int64_t)host->device_count;
	memcpy(bin.free, bin.room, sizeof(bin.free));
	if (empty)
		return bin;
	bin.free[PACK_DEVICES] = node->free_devices;
	if (!counts)
		return bin;
	bin.free[PACK_CPU] -= node->usage.nano_cpus / NANO_PER_MILLI;
	bin.free[PACK_MEMORY] -= (node->usage.memory_bytes + MIB - 1) / MIB;
	return bin;
}

void fleet_sizes_fit(const struct fleet *fleet, const struct plan *plan, struct assignment *assignment)
{
	struct capacity capacity = fleet->total.capacity;
	AUTO(assignment) struct assignment *scratch = assignment_new();

	capacity.host = (struct host){ .known = true };
	for (size_t i = 0; i < fleet->count; i++) {
		const struct host *host = fleet->nodes[i].host;

		if (host->cpus > capacity.host.cpus)
			capacity.host.cpus = host->cpus;
		if (host->memory_bytes > capacity.host.memory_bytes)
			capacity.host.memory_bytes = host->memory_bytes;
	}
	limits_fit(plan, &capacity, scratch);
	memcpy(assignment->limits, scratch->limits, sizeof(assignment->limits));
}

static void room_compare(const struct fleet *fleet, const struct demand *demand, size_t index,
			 struct node_reason *reason)
{
	static const struct {
		int dimension;
		enum node_lack lack;
	} rows[] = {
		{ PACK_DEVICES, NODE_LACKS_DEVICES },
		{ PACK_CPU, NODE_LACKS_CPUS },
		{ PACK_MEMORY, NODE_LACKS_MEMORY },
	};
	const struct pack_bin bin = fleet_bin(fleet, index, false);
	struct packing packing = { .soft = fleet_soft(fleet) };

	memcpy(packing.shapes, demand->shapes, sizeof(packing.shapes));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !reason->lack; i++) {
		if (packing.soft >> rows[i].dimension & 1)
			continue;
		reason->wanted = pack_size(&packing, &bin, reason->role, rows[i].dimension);
		reason->free = bin.free[rows[i].dimension] > 0 ? bin.free[rows[i].dimension] : 0;
		if (reason->wanted > reason->free)
			reason->lack = rows[i].lack;
	}
}

struct node_reason fleet_reason(const struct fleet *fleet, const struct demand *demand, size_t index)
{
	struct node_reason reason = { .lack = fleet_node_closed(&fleet->nodes[index]) };

	for (int role = 0; !reason.lack && role < ROLE_COUNT; role++) {
		if (!demand->shapes[role].count)
			continue;
		reason = fleet_bars(fleet, demand, index, (enum role)role);
		if (!reason.lack)
			room_compare(fleet, demand, index, &reason);
	}
	return reason;
}
