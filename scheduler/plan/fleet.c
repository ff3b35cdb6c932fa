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

/* The assumed room of a node that has not reported its size: the node may become large enough for every job. */
#define UNKNOWN_ROOM (INT64_C(1) << 40)

DEFINE_AUTO(used, bool *, free)

/* ---- nodes ---- */

void fleet_init(struct fleet *fleet, const struct room *common, const struct place_rule *rules,
		size_t rule_count)
{
	struct capacity *total = &fleet->total.capacity;

	*fleet = (struct fleet){ .rules = rules, .rule_count = rule_count, .limits = common->capacity };
	fleet->limits.host = (struct host){ .known = false };
	*total = fleet->limits;
	fleet->total.usage.project_vcpus = common->usage.project_vcpus;
	/* The limits apply to each node by itself, not to the sum: fleet_bin(), fleet_node_closed(). */
	total->max_jobs = total->max_containers = total->max_vcpus = 0;
	total->max_memory_bytes = 0;
	total->placing = NULL;
}

void rooms_deinit(struct rooms *rooms)
{
	for (size_t i = 0; i < rooms->count; i++)
		room_deinit(&rooms->nodes[i].room);
	free(rooms->nodes);
	*rooms = (struct rooms){ 0 };
}

static unsigned plus(unsigned sum, unsigned value)
{
	return sum < UINT_MAX - value ? sum + value : UINT_MAX;
}

/* Adds all members but the project's. */
static void usage_add(struct usage *sum, const struct usage *usage)
{
	sum->jobs += usage->jobs;
	sum->containers += usage->containers;
	sum->nano_cpus += usage->nano_cpus;
	sum->memory_bytes += usage->memory_bytes;
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
				     .uses = device_uses(room),
				     .engine_lack = room->engine_lack,
				     .network_lack = room->network_lack };
	for (size_t i = 0; i < host->device_count; i++)
		node->free_devices += !node->uses[i].holders;
	node->usage.leases = NULL;
	node->usage.lease_count = 0;
	usage_add(&fleet->total.usage, &room->usage);
	fleet->total.capacity.max_jobs = plus(fleet->total.capacity.max_jobs, fleet->limits.max_jobs);
	fleet->total.capacity.max_containers =
		plus(fleet->total.capacity.max_containers, fleet->limits.max_containers);
	fleet->has_unknown = fleet->has_unknown || !host->known;
	if (!host->known)
		return;
	total->known = true;
	total->cpus = plus(total->cpus, host->cpus);
	total->memory_bytes += host->memory_bytes;
	/* Without a network over all nodes a job uses the GPUs of one node only. */
	if (fleet->spans)
		total->device_count += host->device_count;
	else if (host->device_count > total->device_count)
		total->device_count = host->device_count;
	fleet->total.capacity.said = fleet->spans ? "all nodes together have" : "the largest node has";
}

static void node_empty(struct fleet_node *node)
{
	node->usage = (struct usage){ 0 };
	node->free_devices = (unsigned)node->host->device_count;
	memset(node->uses, 0, node->host->device_count * sizeof(*node->uses));
	node->engine_lack = node->network_lack = "";
	node->state = HOST_UP;
}

struct fleet fleet_of(const struct rooms *rooms, bool emptied)
{
	const struct room *first = &rooms->nodes->room;
	const struct place_rules *placing = first->capacity.placing;
	struct fleet fleet;

	fleet_init(&fleet, first, placing ? placing->rules : NULL, placing ? placing->rule_count : 0);
	fleet.spans = rooms->span;
	for (size_t i = 0; i < rooms->count; i++) {
		const struct node_room *node = &rooms->nodes[i];

		fleet_add(&fleet, node->name, node->room.engine_lack[0] ? HOST_DOWN : HOST_UP,
			  place_labels(placing, node->name, node->room.capacity.labels), &node->room);
		if (emptied)
			node_empty(&fleet.nodes[i]);
	}
	if (emptied)
		fleet.total.usage = (struct usage){ 0 };
	return fleet;
}

/* ---- resources of jobs ---- */

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
	AUTO(used) bool *used = memory_calloc(fleet->count, sizeof(*used));

	for (int role = 0; role < ROLE_COUNT; role++)
		for (unsigned i = 0; i < plan->pools[role].count; i++, nodes++) {
			struct fleet_node *node = &fleet->nodes[*nodes];

			replica_use(node, assignment, (enum role)role, i, returns);
			node->usage.jobs += used[*nodes] ? 0 : returns ? -1U : 1;
			used[*nodes] = true;
		}
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

/* ---- nodes for each replica ---- */

static bool texts_alike(const char *one, const char *other)
{
	for (; *one && *other; one++, other++) {
		const char a = *one == '_' ? '-' : *one, b = *other == '_' ? '-' : *other;

		if ((a | 0x20) != (b | 0x20))
			return false;
	}
	return *one == *other;
}

/* Returns the model in an accelerator's type: "A100" for "NVIDIA_TESLA_A100", "L4" for "NVIDIA_L4". */
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

	const unsigned wanted = plan_accelerator_count(plan);

	return wanted && (fleet->has_unknown ||
			  (placement_wants_devices(wanted, capacity) && capacity->host.device_count > 0));
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
		shape->size[PACK_CONTAINERS] = 1;
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
	else if (reason.wanted && node->host->known && !node->host->device_count)
		reason.lack = NODE_LACKS_DEVICES;
	return reason;
}

static const struct fleet_node *network_node(const struct fleet *fleet, const struct fleet_node *node)
{
	return fleet->spans ? fleet->nodes : node;
}

size_t fleet_home(const struct fleet *fleet, const unsigned *nodes)
{
	return (size_t)(network_node(fleet, &fleet->nodes[nodes[0]]) - fleet->nodes);
}

enum node_lack fleet_node_closed(const struct fleet *fleet, const struct fleet_node *node)
{
	if (node->state == HOST_DOWN)
		return NODE_IS_DOWN;
	if (network_node(fleet, node)->state == HOST_DOWN)
		return NODE_LACKS_MANAGER;
	if (node->state == HOST_DRAINED)
		return NODE_IS_DRAINED;
	if (!node->host->known)
		return NODE_IS_UNKNOWN;
	if (node->usage.jobs >= fleet->limits.max_jobs)
		return NODE_IS_FULL;
	if (network_node(fleet, node)->network_lack[0])
		return NODE_LACKS_NETWORK;
	return node->is_kept ? NODE_IS_KEPT : NODE_LACKS_NOTHING;
}

unsigned fleet_clamped(const struct fleet *fleet)
{
	const struct capacity *limits = &fleet->limits;

	return (limits->fit == FIT_HOST ? 1U << PACK_CPU | 1U << PACK_MEMORY : 0) |
	       (limits->accelerators == ACCELERATORS_SHARE ? 1U << PACK_DEVICES : 0);
}

unsigned fleet_soft(const struct fleet *fleet)
{
	return fleet_clamped(fleet) & ~(fleet->limits.max_vcpus ? 1U << PACK_CPU : 0) &
	       ~(fleet->limits.max_memory_bytes ? 1U << PACK_MEMORY : 0);
}

struct pack_bin fleet_bin(const struct fleet *fleet, size_t index, bool empty)
{
	const struct fleet_node *node = &fleet->nodes[index];
	const struct host *host = node->host;
	const struct capacity *limits = &fleet->limits;
	const bool counts = limits->fit != FIT_NONE;
	const int64_t fitted = limits->fit == FIT_HOST ? host->memory_bytes / 10 * 9 : host->memory_bytes;
	const int64_t memory_bytes = limits->max_memory_bytes ? limits->max_memory_bytes : fitted;
	const unsigned cpus = limits->max_vcpus ? limits->max_vcpus : host->cpus;
	struct pack_bin bin = { .load = node->usage.containers };

	bin.room[PACK_CPU] = !counts ? 0 : host->known ? cpus * INT64_C(1000) : UNKNOWN_ROOM;
	bin.room[PACK_MEMORY] = !counts ? 0 : host->known ? memory_bytes / MIB : UNKNOWN_ROOM;
	bin.room[PACK_DEVICES] = host->known ? (int64_t)host->device_count : UNKNOWN_ROOM;
	bin.room[PACK_CONTAINERS] = limits->max_containers;
	memcpy(bin.free, bin.room, sizeof(bin.free));
	if (empty)
		return bin;
	bin.free[PACK_DEVICES] = node->free_devices;
	bin.free[PACK_CONTAINERS] -= node->usage.containers;
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
		{ PACK_CONTAINERS, NODE_LACKS_CONTAINERS },
	};
	const struct pack_bin bin = fleet_bin(fleet, index, false);
	struct packing packing = { .clamped = fleet_clamped(fleet), .soft = fleet_soft(fleet) };

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
	struct node_reason reason = { .lack = fleet_node_closed(fleet, &fleet->nodes[index]) };

	for (int role = 0; !reason.lack && role < ROLE_COUNT; role++) {
		if (!demand->shapes[role].count)
			continue;
		reason = fleet_bars(fleet, demand, index, (enum role)role);
		if (!reason.lack && fleet->nodes[index].keeps_devices &&
		    demand->shapes[role].size[PACK_DEVICES])
			reason.lack = NODE_IS_KEPT;
		if (!reason.lack)
			room_compare(fleet, demand, index, &reason);
	}
	return reason;
}

/* Whether a replica of some pool may go to the node at @index. @of_devices: only pools with GPUs are considered. */
static bool may_use(const struct fleet *fleet, const struct demand *demand, size_t index, bool of_devices)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct pack_shape *shape = &demand->shapes[role];

		if (shape->count && (!of_devices || shape->size[PACK_DEVICES]) &&
		    !fleet_bars(fleet, demand, index, (enum role)role).lack)
			return true;
	}
	return false;
}

bool fleet_keep(struct fleet *fleet, const struct plan *plan, enum shortage shortage)
{
	AUTO(assignment) struct assignment *assignment = assignment_new();
	const struct demand demand = fleet_demand(fleet, plan, assignment, fleet_attaches(fleet, plan));
	const bool of_devices = shortage == SHORTAGE_DEVICES;
	bool left = false;

	for (size_t i = 0; i < fleet->count; i++) {
		struct fleet_node *node = &fleet->nodes[i];

		if (may_use(fleet, &demand, i, of_devices)) {
			node->keeps_devices = node->keeps_devices || of_devices;
			node->is_kept = node->is_kept || !of_devices;
		}
		left = left || (of_devices ? node->host->device_count && !node->keeps_devices
					   : !fleet_node_closed(fleet, node));
	}
	return !left;
}
