/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/deviation.h"
#include "scheduler/plan/devices.h"
#include "scheduler/plan/fleet_parts.h"
#include "scheduler/plan/limits.h"

DEFINE_AUTO(bins, struct pack_bin *, free)

/* One job to be placed. */
struct request {
	const struct fleet *fleet;
	const struct plan *plan;
	unsigned *nodes; /* of each replica */
	bool attaches;
};

/* ---- trials ---- */

/* The assumptions of a trial placement: for each enum node_lack a bit, which means that nodes with that lack can be
 * used; and EMPTY, which means that no node has any job. */
enum {
	NOW = 0, /* what is free now on nodes that are open */
	EMPTY = 1 << NODE_LACKS,
	EVER = EMPTY | (EMPTY - 1),
	/* The full size of each node, but only of nodes that answer. */
	ANSWERING = EVER & ~(1 << NODE_IS_DOWN | 1 << NODE_IS_UNKNOWN | 1 << NODE_LACKS_MANAGER),
	WITH_NETWORKS = 1 << NODE_LACKS_NETWORK,
};

/* Whether the node has enough devices that no job holds for itself alone, so that a replica can share @wanted of them.
 * Always true without ACCELERATORS_SHARE. */
static bool has_open_devices(const struct fleet *fleet, const struct fleet_node *node, int64_t wanted)
{
	const struct device_choice choice = { .host = node->host, .uses = node->uses, .sharing = true };
	const int64_t there = (int64_t)node->host->device_count;

	return fleet->limits.accelerators != ACCELERATORS_SHARE ||
	       devices_open(&choice) >= (wanted < there ? wanted : there);
}

static unsigned shapes_of(const struct request *request, const struct demand *demand, size_t index,
			  unsigned when)
{
	const struct fleet *fleet = request->fleet;
	const struct fleet_node *node = &fleet->nodes[index];
	const enum node_lack closed = fleet_node_closed(fleet, node);
	unsigned shapes = 0;

	if (closed && !(when >> closed & 1))
		return 0;
	for (int role = 0; role < ROLE_COUNT; role++) {
		const int64_t wanted = demand->shapes[role].size[PACK_DEVICES];

		if (demand->shapes[role].count && !fleet_bars(fleet, demand, index, (enum role)role).lack &&
		    (when & EMPTY || !wanted ||
		     (!node->keeps_devices && has_open_devices(fleet, node, wanted))))
			shapes |= 1U << role;
	}
	return shapes;
}

/* Tries to pack the job onto the nodes. @when: assumptions, the bits above. @counted: a bit for each dimension; the other
 * dimensions count as unlimited. */
static enum pack_outcome trial(struct request *request, const struct demand *demand, unsigned when,
			       unsigned counted)
{
	const struct fleet *fleet = request->fleet;
	AUTO(bins) struct pack_bin *bins = memory_calloc(fleet->count + 1, sizeof(*bins));
	struct packing packing = { .bins = bins,
				   .clamped = fleet_clamped(fleet),
				   .soft = fleet_soft(fleet),
				   .whole = !fleet->spans };

	memcpy(packing.shapes, demand->shapes, sizeof(packing.shapes));
	for (int role = 0; role < ROLE_COUNT; role++)
		for (int k = 0; k < PACK_DIMENSIONS; k++)
			if (!(counted >> k & 1))
				packing.shapes[role].size[k] = 0;
	for (size_t i = 0; i < fleet->count; i++) {
		bins[i] = fleet_bin(fleet, i, when & EMPTY);
		bins[i].shapes = shapes_of(request, demand, i, when);
	}
	packing.bin_count = fleet->count;
	return pack(&packing, request->nodes);
}

static bool is_placed(enum pack_outcome outcome)
{
	return outcome == PACK_FITS || outcome == PACK_OVERCOMMITS;
}

enum { COUNT_ALL = (1 << PACK_DIMENSIONS) - 1, COUNT_DEVICES = 1 << PACK_DEVICES };

/* ---- the assigned resources ---- */

static void limits_set(const struct request *request, struct assignment *assignment)
{
	const unsigned count = plan_replica_count(request->plan);
	struct capacity capacity = request->fleet->total.capacity;

	for (unsigned i = 0; i < count; i++) {
		const struct host *host = request->fleet->nodes[request->nodes[i]].host;
		struct host *least = &capacity.host;

		if (!i || host->cpus < least->cpus)
			least->cpus = host->cpus;
		if (!i || host->memory_bytes < least->memory_bytes)
			least->memory_bytes = host->memory_bytes;
	}
	limits_fit(request->plan, &capacity, assignment);
}

static void devices_report(const struct request *request, const struct demand *demand, bool doubled,
			   unsigned fewest, json_t *deviations)
{
	const unsigned wanted = plan_accelerator_count(request->plan);

	for (int role = 0; role < ROLE_COUNT; role++) {
		if (demand->shapes[role].size[PACK_DEVICES] && !demand->models[role]) {
			deviation_add(deviations, DONE_OTHERWISE, "gpu-model", NULL,
				      "The GPUs are the nodes' own: without a node labelled with its model, "
				      "the accelerator type is only a name here.");
			break;
		}
	}
	if (fewest < UINT_MAX)
		deviation_add(deviations, DONE_OTHERWISE, "gpu-fewer", NULL,
			      "Some replicas have fewer GPUs than they asked for, but at least %u.", fewest);
	if (doubled)
		deviation_add(deviations, DONE_OTHERWISE, "gpu-shared", NULL,
			      "The job asked for %u GPU%s; several replicas share some of the nodes' %zu.",
			      wanted, wanted == 1 ? "" : "s",
			      request->fleet->total.capacity.host.device_count);
}

/* Chooses the devices of each replica. Uses of devices are copied once for each node of the job, so that the fleet itself
 * does not change. */
static void devices_give(const struct request *request, const struct demand *demand,
			 struct assignment *assignment)
{
	const struct fleet *fleet = request->fleet;
	struct device_choice *choices = memory_calloc(fleet->count + 1, sizeof(*choices));
	const unsigned *nodes = request->nodes;
	unsigned replica = 0, fewest = UINT_MAX;
	bool doubled = false;

	assignment->shared = fleet->limits.accelerators == ACCELERATORS_SHARE;
	for (int role = 0; role < ROLE_COUNT; role++) {
		const unsigned wanted = (unsigned)demand->shapes[role].size[PACK_DEVICES];

		if (request->plan->pools[role].count && wanted)
			assignment->devices[role] = json_array();
		for (unsigned i = 0; i < request->plan->pools[role].count; i++, nodes++, replica++) {
			struct device_choice *choice = &choices[*nodes];
			const struct fleet_node *node = &fleet->nodes[*nodes];
			const unsigned there = (unsigned)node->host->device_count;

			if (!wanted)
				continue;
			if (!choice->uses) {
				choice->host = node->host;
				choice->sharing = assignment->shared;
				choice->uses = memory_calloc(there, sizeof(*choice->uses));
				memcpy(choice->uses, node->uses, there * sizeof(*choice->uses));
			}
			if (there < wanted && there < fewest)
				fewest = there;
			choice->replica = replica;
			json_array_append_new(assignment->devices[role],
					      replica_devices(choice, wanted < there ? wanted : there));
			doubled |= choice->doubled;
		}
	}
	for (size_t i = 0; i < fleet->count; i++)
		free(choices[i].uses);
	free(choices);
	devices_report(request, demand, doubled, fewest, assignment->deviations);
}

static void give(const struct request *request, const struct demand *demand, struct assignment *assignment)
{
	const unsigned wanted = plan_accelerator_count(request->plan);

	limits_set(request, assignment);
	if (request->attaches)
		devices_give(request, demand, assignment);
	else if (wanted)
		deviation_add(
			assignment->deviations, WITHOUT_EFFECT, "gpu-pretended", NULL,
			"The job asked for %u GPU%s, which no nodes here have for its replicas: it runs "
			"without any.",
			wanted, wanted == 1 ? "" : "s");
}

/* ---- refusals ---- */

static enum status refuse(const struct request *request, enum status status, enum shortage shortage,
			  const char *what, enum shortage *ret_shortage, struct error *err)
{
	AUTO(string) char *text = fleet_text(request->fleet, request->plan, NULL);

	*ret_shortage = shortage;
	return error_set(err, status, NULL, "%s %s", what, text);
}

/* True: the nodes' labels leave no node for some replica of the job, however much room there is, now or later. */
static bool is_barred(struct request *request, const struct demand *demand)
{
	struct demand plain = *demand;

	for (int role = 0; role < ROLE_COUNT; role++) {
		plain.shapes[role].size[PACK_DEVICES] = 0;
		plain.models[role] = NULL;
	}
	return trial(request, &plain, EVER, 0) == PACK_NONE;
}

/* Refuses a job that would not fit on empty nodes either. */
static enum status refuse_ever(struct request *request, const struct demand *demand,
			       enum shortage *ret_shortage, struct error *err)
{
	const enum accelerator_policy policy = request->fleet->limits.accelerators;

	if (is_barred(request, demand))
		return refuse(request, STATUS_FAILED_PRECONDITION, SHORTAGE_HOST, "No node may run the job.",
			      ret_shortage, err);
	if (!request->attaches || trial(request, demand, EVER, COUNT_DEVICES) != PACK_NONE)
		return refuse(request, STATUS_FAILED_PRECONDITION, SHORTAGE_ROOM,
			      "The nodes are too small for the job.", ret_shortage, err);
	if (policy == ACCELERATORS_WAIT)
		return refuse(request, STATUS_RESOURCE_EXHAUSTED, SHORTAGE_HOST,
			      "The job waits for nodes with the GPUs that it asks for.", ret_shortage, err);
	return refuse(request, STATUS_FAILED_PRECONDITION, SHORTAGE_HOST,
		      "The nodes do not have the GPUs that the job asks for.", ret_shortage, err);
}

static enum status refuse_now(struct request *request, const struct demand *demand,
			      enum shortage *ret_shortage, struct error *err)
{
	if (trial(request, demand, ANSWERING, COUNT_ALL) == PACK_NONE)
		return refuse(request, STATUS_RESOURCE_EXHAUSTED, SHORTAGE_ENGINE,
			      "The job needs nodes that do not answer.", ret_shortage, err);
	if (request->attaches && !is_placed(trial(request, demand, EVER & ~EMPTY, COUNT_DEVICES)))
		return refuse(request, STATUS_RESOURCE_EXHAUSTED, SHORTAGE_DEVICES,
			      "Too few GPUs are free now.", ret_shortage, err);
	if (is_placed(trial(request, demand, WITH_NETWORKS, COUNT_ALL)))
		return refuse(request, STATUS_RESOURCE_EXHAUSTED, SHORTAGE_NETWORK,
			      "The job needs a network.", ret_shortage, err);
	return refuse(request, STATUS_RESOURCE_EXHAUSTED, SHORTAGE_ROOM,
		      "The nodes have too little room now.", ret_shortage, err);
}

/* ---- placement ---- */

static void fleet_fit(void *arg, const struct plan *plan, struct assignment *assignment)
{
	const struct request *request = arg;

	fleet_sizes_fit(request->fleet, plan, assignment);
}

static enum status seek(void *arg, const struct plan *plan, struct assignment *assignment,
			enum shortage *ret_shortage, struct error *err)
{
	struct request *request = arg;
	struct demand demand = fleet_demand(request->fleet, plan, assignment, request->attaches);

	if (is_placed(trial(request, &demand, NOW, COUNT_ALL))) {
		give(request, &demand, assignment);
		return STATUS_OK;
	}
	if (trial(request, &demand, EVER, COUNT_ALL) != PACK_NONE)
		return refuse_now(request, &demand, ret_shortage, err);
	if (request->attaches && request->fleet->limits.accelerators == ACCELERATORS_PRETEND &&
	    trial(request, &demand, EVER, COUNT_DEVICES) == PACK_NONE) {
		request->attaches = false;
		return seek(request, plan, assignment, ret_shortage, err);
	}
	return refuse_ever(request, &demand, ret_shortage, err);
}

/* Places a job on the only node, exactly as on a machine that is no part of a fleet. */
static enum status place_on_one(const struct fleet *fleet, const struct plan *plan,
				struct assignment **ret_assignment, enum shortage *ret_shortage,
				struct error *err)
{
	const struct fleet_node *node = fleet->nodes;
	struct room room = { .capacity = fleet->limits, .usage = node->usage };

	room.capacity.host = *node->host;
	room.capacity.project_vcpus = fleet->total.capacity.project_vcpus;
	room.usage.project_vcpus = fleet->total.usage.project_vcpus;
	snprintf(room.engine_lack, sizeof(room.engine_lack), "%s", node->engine_lack);
	snprintf(room.network_lack, sizeof(room.network_lack), "%s", node->network_lack);
	return placement_find(plan, &room, node->uses, ret_assignment, ret_shortage, err);
}

static enum status place_on_some(const struct fleet *fleet, const struct plan *plan, unsigned *nodes,
				 struct assignment **ret_assignment, enum shortage *ret_shortage,
				 struct error *err)
{
	struct request request = {
		.fleet = fleet, .plan = plan, .nodes = nodes, .attaches = fleet_attaches(fleet, plan)
	};
	const struct placer placer = { .fit = fleet_fit, .place = seek, .arg = &request };
	struct room total = fleet->total;

	if (fleet->has_unknown) { /* some sizes are unknown: the sum of the sizes limits nothing */
		total.capacity.host.device_count = UINT_MAX;
		total.capacity.host.cpus = 0;
		total.capacity.host.memory_bytes = 0;
	}
	return placement_find_by(&placer, plan, &total, ret_assignment, ret_shortage, err);
}

static const char *stored_name(const struct fleet *fleet, size_t node)
{
	return node ? fleet->nodes[node].name : NULL;
}

/* Writes to the assignment the node of the job's network, and the nodes of replicas that are on other nodes. */
static void nodes_write(const struct fleet *fleet, const struct plan *plan, const unsigned *nodes,
			struct assignment *assignment)
{
	const unsigned count = plan_replica_count(plan);
	const size_t home = count ? fleet_home(fleet, nodes) : 0;
	bool away = false;

	assignment->node = memory_strdup(stored_name(fleet, home));
	for (unsigned i = 0; i < count; i++)
		away = away || nodes[i] != home;
	for (int role = 0; away && role < ROLE_COUNT; role++) {
		if (plan->pools[role].count)
			assignment->nodes[role] = json_array();
		for (unsigned i = 0; i < plan->pools[role].count; i++) {
			const char *name = stored_name(fleet, *nodes++);

			json_array_append_new(assignment->nodes[role], json_string(name ? name : ""));
		}
	}
}

enum status fleet_place(const struct fleet *fleet, const struct plan *plan,
			struct assignment **ret_assignment, unsigned **ret_nodes, enum shortage *ret_shortage,
			struct error *err)
{
	AUTO(nodes) unsigned *nodes = memory_calloc(plan_replica_count(plan) + 1, sizeof(*nodes));
	const enum status rc = fleet->count == 1
				       ? place_on_one(fleet, plan, ret_assignment, ret_shortage, err)
				       : place_on_some(fleet, plan, nodes, ret_assignment, ret_shortage, err);

	if (rc)
		return rc;
	nodes_write(fleet, plan, nodes, *ret_assignment);
	*ret_nodes = TAKE(nodes);
	return STATUS_OK;
}
