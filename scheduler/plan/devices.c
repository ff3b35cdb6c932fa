/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/devices.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/accelerator.h"
#include "scheduler/plan/deviation.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/placement.h"

static unsigned type_count(const struct plan *plan, const char *type)
{
	uint64_t count = 0;

	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct pool *pool = &plan->pools[role];

		if (pool_gpu_count(pool) && strcmp(pool->accelerator_type, type) == 0)
			count += (uint64_t)pool->count * pool_gpu_count(pool);
	}
	return count < UINT_MAX ? (unsigned)count : UINT_MAX;
}

static enum status quota_fault(const struct plan *plan, const char *type, unsigned there, struct error *err)
{
	unsigned maxima[ACCELERATOR_COUNT] = { 0 };
	AUTO(string) char *text = NULL;

	for (int i = 0; i < ACCELERATOR_COUNT; i++)
		if (!accelerator_is_tpu(accelerator_name((enum accelerator)i)))
			maxima[i] = there;
	text = accelerator_quota_text(plan->project, type, type_count(plan, type), maxima);
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%s", text);
}

/* Returns the service's quota error: for the first type of which the job wants more than @there, or else for all types
 * together. */
static enum status quota_check(const struct plan *plan, unsigned there, struct error *err)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct pool *pool = &plan->pools[role];

		if (pool_gpu_count(pool) && type_count(plan, pool->accelerator_type) > there)
			return quota_fault(plan, pool->accelerator_type, there, err);
	}
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
			 "Quota failure for project %s. The request for %u accelerators of several types "
			 "exceeds the allowed maximum of %u accelerators of all types together.",
			 plan->project, plan_accelerator_count(plan), there);
}

enum status devices_possible(const struct plan *plan, const struct capacity *capacity, struct error *err)
{
	const unsigned wanted = plan_accelerator_count(plan);
	const unsigned there = (unsigned)capacity->host.device_count;

	if (wanted <= there || capacity->accelerators == ACCELERATORS_PRETEND)
		return STATUS_OK;
	if (capacity->accelerators == ACCELERATORS_WAIT)
		return error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL, "The job waits for %u GPU%s; %s %u.",
				 wanted, wanted == 1 ? "" : "s", capacity->said ? capacity->said : "this host has", there);
	if (capacity->accelerators == ACCELERATORS_SHARE && there)
		return STATUS_OK;
	return quota_check(plan, there, err);
}

static bool has_device(const struct host *host, const char *id)
{
	for (size_t i = 0; i < host->device_count; i++)
		if (strcmp(host->devices[i], id) == 0)
			return true;
	return false;
}

/* Whether two names may mean the same GPU: "0", "GPU-8a5…", or either after "nvidia.com/gpu=". It is unknown which
 * index belongs to "GPU-8a5…". */
static bool may_be_same(const char *one, const char *other)
{
	const char *one_class = strrchr(one, '='), *other_class = strrchr(other, '=');

	one = one_class ? one_class + 1 : one;
	other = other_class ? other_class + 1 : other;
	return strcmp(one, other) == 0 ||
	       !one[strspn(one, "0123456789")] != !other[strspn(other, "0123456789")];
}

static void use_add(struct device_use *use, const struct lease *lease)
{
	use->holders++;
	use->exclusive |= !lease->shared;
}

/* Counts each lease as a use of its device. The host's GPUs may have had other names when the job was admitted (--gpus
 * was changed, the engine is newer, the driver did not know their UUIDs yet): in that case every device that may be the
 * leased one counts as taken. */
struct device_use *device_uses(const struct room *room)
{
	const struct host *host = &room->capacity.host;
	struct device_use *uses = memory_calloc(host->device_count, sizeof(*uses));

	for (size_t i = 0; i < room->usage.lease_count; i++) {
		const struct lease *lease = &room->usage.leases[i];
		bool named = has_device(host, lease->device);

		for (size_t j = 0; j < host->device_count; j++)
			if (named ? strcmp(lease->device, host->devices[j]) == 0
				  : may_be_same(lease->device, host->devices[j]))
				use_add(&uses[j], lease);
	}
	return uses;
}

static bool is_open(const struct device_choice *choice, size_t device)
{
	const struct device_use *use = &choice->uses[device];

	return choice->sharing ? !use->exclusive : !use->holders;
}

unsigned devices_open(const struct device_choice *choice)
{
	unsigned count = 0;

	for (size_t i = 0; i < choice->host->device_count; i++)
		count += is_open(choice, i);
	return count;
}

/* Takes the device with the fewest holders, the first of equal ones, among those that the replica does not have yet;
 * NULL: none is left. */
static const char *device_take(struct device_choice *choice)
{
	struct device_use *best = NULL;

	for (size_t i = 0; i < choice->host->device_count; i++) {
		struct device_use *use = &choice->uses[i];

		if (is_open(choice, i) && use->last_taker != choice->replica &&
		    (!best || use->holders < best->holders))
			best = use;
	}
	if (!best)
		return NULL;
	choice->doubled |= best->holders > 0;
	best->holders++;
	best->last_taker = choice->replica;
	return choice->host->devices[best - choice->uses];
}

json_t *replica_devices(struct device_choice *choice, unsigned count)
{
	json_t *ids = json_array();

	choice->replica++;
	for (unsigned i = 0; i < count; i++)
		json_array_append_new(ids, json_string(device_take(choice)));
	return ids;
}

static json_t *pool_devices(struct device_choice *choice, const struct pool *pool, unsigned each)
{
	json_t *lists = json_array();

	for (unsigned i = 0; i < pool->count; i++)
		json_array_append_new(lists, replica_devices(choice, each));
	return lists;
}

/* Adds one deviation for all pools that request equally many GPUs, in the call for the first of them. @each: GPUs per
 * replica here. */
static void fewer_add(json_t *deviations, const struct plan *plan, enum role role, unsigned each)
{
	const unsigned wanted = pool_gpu_count(&plan->pools[role]);
	char field[64], pools[POOLS_TEXT_SIZE];
	unsigned roles = 0;

	for (int other = 0; other < ROLE_COUNT; other++)
		if (pool_gpu_count(&plan->pools[other]) == wanted)
			roles |= 1U << other;
	if (roles & ((1U << role) - 1))
		return;
	snprintf(field, sizeof(field), "pools.%s.accelerator_count", role_name(role));
	deviation_add(deviations, DONE_OTHERWISE, "gpu-fewer", field,
		      "%s ha%s %u GPU%s here; %u were asked for.", pools_text(plan, roles, pools),
		      roles == 1U << role ? "s" : "ve", each, each == 1 ? "" : "s", wanted);
}

static void attached_add(json_t *deviations, const struct device_choice *choice, unsigned wanted)
{
	const size_t there = choice->host->device_count;

	deviation_add(deviations, DONE_OTHERWISE, "gpu-model", NULL,
		      "The GPUs are this host's own: the accelerator type is only a label here.");
	if (choice->doubled)
		deviation_add(deviations, DONE_OTHERWISE, "gpu-shared", NULL,
			      "The job asked for %u GPU%s; several replicas share this host's %zu.", wanted,
			      wanted == 1 ? "" : "s", there);
}

/* Assigns the devices, of which enough are free. */
static void devices_fill(const struct plan *plan, struct device_choice *choice, struct assignment *assignment)
{
	const unsigned there = (unsigned)choice->host->device_count;

	assignment->shared = choice->sharing;
	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct pool *pool = &plan->pools[role];
		const unsigned wanted = pool_gpu_count(pool);
		const unsigned each = wanted < there ? wanted : there;

		if (!wanted)
			continue;
		assignment->devices[role] = pool_devices(choice, pool, each);
		if (each < wanted)
			fewer_add(assignment->deviations, plan, (enum role)role, each);
	}
	attached_add(assignment->deviations, choice, plan_accelerator_count(plan));
}

/* How many open devices (devices_open()) the job needs to be placed. */
static unsigned open_wanted(const struct plan *plan, const struct device_choice *choice)
{
	unsigned most = 0;

	if (!choice->sharing)
		return plan_accelerator_count(plan);
	for (int role = 0; role < ROLE_COUNT; role++)
		if (pool_gpu_count(&plan->pools[role]) > most)
			most = pool_gpu_count(&plan->pools[role]);
	return most < choice->host->device_count ? most : (unsigned)choice->host->device_count;
}

enum status devices_place(const struct plan *plan, const struct capacity *capacity,
			  const struct device_use *uses, struct assignment *assignment, struct error *err)
{
	const struct host *host = &capacity->host;
	const unsigned wanted = plan_accelerator_count(plan);
	AUTO(uses) struct device_use *own = NULL;
	struct device_choice choice = { .host = host,
					.sharing = capacity->accelerators == ACCELERATORS_SHARE };

	if (!wanted)
		return STATUS_OK;
	if (wanted > host->device_count && !choice.sharing) {
		deviation_add(assignment->deviations, WITHOUT_EFFECT, "gpu-pretended", NULL,
			      "The job asked for %u GPU%s and this host has %zu: it runs without any.",
			      wanted, wanted == 1 ? "" : "s", host->device_count);
		return STATUS_OK;
	}
	own = memory_calloc(host->device_count, sizeof(*own));
	if (host->device_count)
		memcpy(own, uses, host->device_count * sizeof(*own));
	choice.uses = own;
	if (devices_open(&choice) < open_wanted(plan, &choice))
		return error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL,
				 "The job needs %u GPUs; %u of this host's %zu are free now.", wanted,
				 devices_open(&choice), host->device_count);
	devices_fill(plan, &choice, assignment);
	return STATUS_OK;
}
