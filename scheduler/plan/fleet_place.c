/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/deviation.h"
#include "scheduler/plan/devices.h"
#include "scheduler/plan/fleet_parts.h"
#include "scheduler/plan/limits.h"

DEFINE_AUTO(bins, struct pack_bin *, free)
DEFINE_AUTO(nodes, unsigned *, free)

/* One job to be placed. */
struct request {
	const struct fleet *fleet;
	const struct plan *plan;
	unsigned *nodes; /* of each replica */
	bool attaches;
};

/* ---- trials ---- */

enum { NOW, EVER }; /* what is free now on nodes that are up; the whole of all nodes that are known */

/* Whether replicas of the pool may share devices of the node: an unshared one is nothing to them. */
static bool has_open_devices(const struct fleet *fleet, const struct fleet_node *node, int64_t wanted)
{
	const struct device_choice choice = { .host = node->host, .uses = node->uses, .sharing = true };
	const int64_t there = (int64_t)node->host->device_count;

	return fleet->total.capacity.accelerators != ACCELERATORS_SHARE ||
	       devices_open(&choice) >= (wanted < there ? wanted : there);
}

static unsigned shapes_of(const struct request *request, const struct demand *demand, size_t index, int when)
{
	const struct fleet *fleet = request->fleet;
	const struct fleet_node *node = &fleet->nodes[index];
	unsigned shapes = 0;

	if (!node->host->known || (when == NOW && fleet_node_closed(node)))
		return 0;
	for (int role = 0; role < ROLE_COUNT; role++) {
		const int64_t wanted = demand->shapes[role].size[PACK_DEVICES];

		if (demand->shapes[role].count && !fleet_bars(fleet, demand, index, (enum role)role).lack &&
		    (when == EVER || !wanted || has_open_devices(fleet, node, wanted)))
			shapes |= 1U << role;
	}
	return shapes;
}

/* @counted  a bit for each dimension; the others are taken to be free */
static enum pack_outcome trial(struct request *request, const struct demand *demand, int when,
			       unsigned counted)
{
	const struct fleet *fleet = request->fleet;
	AUTO(bins) struct pack_bin *bins = memory_calloc(fleet->count + 1, sizeof(*bins));
	struct packing packing = { .bins = bins, .soft = fleet_soft(fleet) };

	memcpy(packing.shapes, demand->shapes, sizeof(packing.shapes));
	for (int role = 0; role < ROLE_COUNT; role++)
		for (int k = 0; k < PACK_DIMENSIONS; k++)
			if (!(counted >> k & 1))
				packing.shapes[role].size[k] = 0;
	for (size_t i = 0; i < fleet->count; i++) {
		bins[i] = fleet_bin(fleet, i, when == EVER);
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

/* ---- what is given ---- */

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

/* Each node that the job gets has its uses copied once, so that the fleet stays as it is. */
static void devices_give(const struct request *request, const struct demand *demand,
			 struct assignment *assignment)
{
	const struct fleet *fleet = request->fleet;
	struct device_choice *choices = memory_calloc(fleet->count + 1, sizeof(*choices));
	const unsigned *nodes = request->nodes;
	unsigned replica = 0, fewest = UINT_MAX;
	bool doubled = false;

	assignment->shared = fleet->total.capacity.accelerators == ACCELERATORS_SHARE;
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

/* ---- what is not given ---- */

static enum status refuse(const struct request *request, enum status status, enum shortage shortage,
			  const char *what, enum shortage *ret_shortage, struct error *err)
{
	AUTO(string) char *text = fleet_text(request->fleet, request->plan, NULL);

	*ret_shortage = shortage;
	return error_set(err, status, NULL, "%s %s", what, text);
}

/* The pools' replicas may go to no node, now or later. */
static bool is_barred(const struct request *request, const struct demand *demand)
{
	unsigned shapes = 0;

	for (size_t i = 0; i < request->fleet->count; i++)
		shapes |= shapes_of(request, demand, i, EVER);
	for (int role = 0; role < ROLE_COUNT; role++)
		if (demand->shapes[role].count && !(shapes >> role & 1))
			return true;
	return false;
}

/* Not even on empty nodes. */
static enum status refuse_ever(struct request *request, const struct demand *demand,
			       enum shortage *ret_shortage, struct error *err)
{
	const enum accelerator_policy policy = request->fleet->total.capacity.accelerators;
	const bool devices = request->attaches && trial(request, demand, EVER, COUNT_DEVICES) == PACK_NONE;

	if (!devices && !is_barred(request, demand))
		return refuse(request, STATUS_FAILED_PRECONDITION, SHORTAGE_ROOM,
			      "The nodes are too small for the job.", ret_shortage, err);
	if (devices && policy == ACCELERATORS_REQUIRE)
		return refuse(request, STATUS_FAILED_PRECONDITION, SHORTAGE_HOST,
			      "The nodes do not have the GPUs that the job asks for.", ret_shortage, err);
	return refuse(request, STATUS_RESOURCE_EXHAUSTED, SHORTAGE_HOST,
		      "The job waits for nodes that it may run on.", ret_shortage, err);
}

static bool some_is_open(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++)
		if (!fleet_node_closed(&fleet->nodes[i]))
			return true;
	return false;
}

static enum status refuse_now(struct request *request, const struct demand *demand,
			      enum shortage *ret_shortage, struct error *err)
{
	if (!some_is_open(request->fleet))
		return refuse(request, STATUS_RESOURCE_EXHAUSTED, SHORTAGE_ENGINE, "No node takes jobs now.",
			      ret_shortage, err);
	if (request->attaches && !is_placed(trial(request, demand, NOW, COUNT_DEVICES)))
		return refuse(request, STATUS_RESOURCE_EXHAUSTED, SHORTAGE_DEVICES,
			      "Too few GPUs are free now.", ret_shortage, err);
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
	if (request->attaches && request->fleet->total.capacity.accelerators == ACCELERATORS_PRETEND &&
	    trial(request, &demand, EVER, COUNT_DEVICES) == PACK_NONE) {
		request->attaches = false;
		return seek(request, plan, assignment, ret_shortage, err);
	}
	return refuse_ever(request, &demand, ret_shortage, err);
}

enum status fleet_place(const struct fleet *fleet, const struct plan *plan,
			struct assignment **ret_assignment, unsigned **ret_nodes, enum shortage *ret_shortage,
			struct error *err)
{
	AUTO(nodes) unsigned *nodes = memory_calloc(plan_replica_count(plan) + 1, sizeof(*nodes));
	struct request request = {
		.fleet = fleet, .plan = plan, .nodes = nodes, .attaches = fleet_attaches(fleet, plan)
	};
	const struct placer placer = { .fit = fleet_fit, .place = seek, .arg = &request };
	const enum status rc =
		placement_find_by(&placer, plan, &fleet->total, ret_assignment, ret_shortage, err);

	if (!rc)
		*ret_nodes = TAKE(nodes);
	return rc;
}
