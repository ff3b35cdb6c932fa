/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/placement.h"

#include <limits.h>
#include <stdio.h>

#include "scheduler/plan/devices.h"
#include "scheduler/plan/limits.h"
#include "scheduler/plan/machine.h"
#include "scheduler/plan/place_rule.h"

void room_deinit(struct room *room)
{
	host_deinit(&room->capacity.host);
	leases_free(room->usage.leases, room->usage.lease_count);
	*room = (struct room){ 0 };
}

void engine_lack_set(struct room *room, const char *text)
{
	snprintf(room->engine_lack, sizeof(room->engine_lack), "The container engine does not answer: %s",
		 text);
}

static int64_t plus(int64_t sum, int64_t value, unsigned times)
{
	int64_t product;

	if (__builtin_mul_overflow(value, times, &product) || __builtin_add_overflow(sum, product, &sum))
		return INT64_MAX;
	return sum;
}

static void sizes_add(const struct plan *plan, const struct assignment *assignment, struct usage *usage)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct limits *limits = &assignment->limits[role];
		const unsigned count = plan->pools[role].count;

		usage->nano_cpus = plus(usage->nano_cpus, limits->nano_cpus, count);
		usage->memory_bytes = plus(usage->memory_bytes, limits->memory_bytes, count);
	}
}

void plan_usage_add(const struct plan *plan, const struct assignment *assignment, struct usage *usage)
{
	usage->jobs++;
	usage->containers += plan_replica_count(plan);
	if (assignment)
		sizes_add(plan, assignment, usage);
}

unsigned plan_vcpus(const struct plan *plan)
{
	uint64_t vcpus = 0;

	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct pool *pool = &plan->pools[role];
		struct machine machine;

		if (pool->count && pool->machine_type && machine_find(pool->machine_type, &machine))
			vcpus += (uint64_t)pool->count * machine.vcpus;
	}
	return vcpus < UINT_MAX ? (unsigned)vcpus : UINT_MAX;
}

bool placement_wants_devices(unsigned accelerators, const struct capacity *capacity)
{
	return accelerators &&
	       (accelerators <= capacity->host.device_count || capacity->accelerators == ACCELERATORS_SHARE);
}

/* The state of placing one job. */
struct placement {
	const struct plan *plan;
	const struct room *room;
	const struct placer *placer;
	struct assignment *assignment;
	struct usage wanted; /* what this job needs */
};

/* The limit for all jobs together; INT64_MAX: none. */
static int64_t bound_of(const struct capacity *capacity, int64_t configured, int64_t host)
{
	if (capacity->fit == FIT_NONE)
		return INT64_MAX;
	if (configured)
		return configured;
	return capacity->fit == FIT_CLOUD && host ? host : INT64_MAX;
}

static int64_t cpu_bound(const struct capacity *capacity)
{
	return bound_of(capacity, capacity->max_vcpus * NANO_PER_CPU, capacity->host.cpus * NANO_PER_CPU);
}

static int64_t memory_bound(const struct capacity *capacity)
{
	return bound_of(capacity, capacity->max_memory_bytes, capacity->host.memory_bytes);
}

static enum status place_possible(const struct placement *placement, struct error *err)
{
	const struct capacity *capacity = &placement->room->capacity;
	const struct place_rules *placing = capacity->placing;

	for (int role = 0; placing && role < ROLE_COUNT; role++) {
		const struct pool *pool = &placement->plan->pools[role];
		const struct place_rule *rule = place_rule_broken(
			placing->rules, placing->rule_count, capacity->node,
			place_labels(placing, capacity->node, capacity->labels), pool, (enum role)role);

		if (pool->count && rule)
			return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
					 "The job may not run on %s, which lacks the label %s:%s "
					 "(--place %s=%s:%s).",
					 capacity->node, rule->label, rule->value, rule->subject, rule->label,
					 rule->value);
	}
	return STATUS_OK;
}

static enum status containers_possible(const struct placement *placement, struct error *err)
{
	const unsigned max = placement->room->capacity.max_containers;

	if (placement->wanted.containers <= max)
		return STATUS_OK;
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
			 "The job has %u replicas; at most %u containers may run at once here "
			 "(--max-containers).",
			 placement->wanted.containers, max);
}

static enum status cpus_possible(const struct placement *placement, struct error *err)
{
	const struct capacity *capacity = &placement->room->capacity;

	if (capacity->fit != FIT_CLOUD || placement->wanted.nano_cpus <= cpu_bound(capacity))
		return STATUS_OK;
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
			 "The job takes %lld vCPUs in all; at most %lld may be in use at once here "
			 "(--machine-fit cloud, --max-vcpus %u).",
			 (long long)(placement->wanted.nano_cpus / NANO_PER_CPU),
			 (long long)(cpu_bound(capacity) / NANO_PER_CPU), capacity->max_vcpus);
}

static enum status memory_possible(const struct placement *placement, struct error *err)
{
	const struct capacity *capacity = &placement->room->capacity;
	char wanted[GIB_TEXT_SIZE], bound[GIB_TEXT_SIZE];

	if (capacity->fit != FIT_CLOUD || placement->wanted.memory_bytes <= memory_bound(capacity))
		return STATUS_OK;
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
			 "The job takes %s GiB of memory in all; at most %s GiB may be in use at once here "
			 "(--machine-fit cloud, --max-memory %lld).",
			 gib_text(placement->wanted.memory_bytes, wanted),
			 gib_text(memory_bound(capacity), bound),
			 (long long)(capacity->max_memory_bytes >> 20));
}

static enum status project_possible(const struct placement *placement, struct error *err)
{
	const unsigned max = placement->room->capacity.project_vcpus;

	if (!max || placement->wanted.project_vcpus <= max)
		return STATUS_OK;
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
			 "The job asks for %u vCPUs; project %s may use at most %u at once.",
			 placement->wanted.project_vcpus, placement->plan->project, max);
}

static enum status accelerators_possible(const struct placement *placement, struct error *err)
{
	return devices_possible(placement->plan, &placement->room->capacity, err);
}

static enum status project_has_room(const struct placement *placement, struct error *err)
{
	const unsigned max = placement->room->capacity.project_vcpus;
	const unsigned used = placement->room->usage.project_vcpus;

	if (!max || (uint64_t)used + placement->wanted.project_vcpus <= max)
		return STATUS_OK;
	return error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL,
			 "The job asks for %u vCPUs; project %s uses %u of %u now.",
			 placement->wanted.project_vcpus, placement->plan->project, used, max);
}

static enum status counts_have_room(const struct placement *placement, struct error *err)
{
	const struct capacity *capacity = &placement->room->capacity;
	const struct usage *usage = &placement->room->usage;

	if (usage->jobs >= capacity->max_jobs)
		return error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL, "%u of %u jobs run now.", usage->jobs,
				 capacity->max_jobs);
	if ((uint64_t)usage->containers + placement->wanted.containers <= capacity->max_containers)
		return STATUS_OK;
	return error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL,
			 "The job has %u replicas; %u of %u containers run now.",
			 placement->wanted.containers, usage->containers, capacity->max_containers);
}

static bool is_within(int64_t wanted, int64_t used, int64_t bound)
{
	return !wanted || (used <= bound && wanted <= bound - used);
}

/* A job larger than the limit (FIT_HOST only) runs alone. */
static enum status sizes_have_room(const struct placement *placement, struct error *err)
{
	const struct capacity *capacity = &placement->room->capacity;
	const struct usage *usage = &placement->room->usage;
	const struct usage *wanted = &placement->wanted;
	char memory_wanted[GIB_TEXT_SIZE], memory_used[GIB_TEXT_SIZE];

	if (!usage->jobs || (is_within(wanted->nano_cpus, usage->nano_cpus, cpu_bound(capacity)) &&
			     is_within(wanted->memory_bytes, usage->memory_bytes, memory_bound(capacity))))
		return STATUS_OK;
	return error_set(
		err, STATUS_RESOURCE_EXHAUSTED, NULL,
		"The job takes %lld vCPUs and %s GiB of memory; other jobs use %lld and %s now.",
		(long long)(wanted->nano_cpus / NANO_PER_CPU), gib_text(wanted->memory_bytes, memory_wanted),
		(long long)(usage->nano_cpus / NANO_PER_CPU), gib_text(usage->memory_bytes, memory_used));
}

static enum status lack_none(const char *lack, struct error *err)
{
	return lack[0] ? error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL, "%s", lack) : STATUS_OK;
}

static enum status engine_is_there(const struct placement *placement, struct error *err)
{
	return lack_none(placement->room->engine_lack, err);
}

static enum status network_is_there(const struct placement *placement, struct error *err)
{
	return lack_none(placement->room->network_lack, err);
}

/* The checks in order: first those that no waiting can change, and of these first the ones that do not need the host;
 * then the engine, without which nothing else is certain; then the shortages, beginning with the one that makes the
 * fewest other jobs wait. */
static const struct check {
	/* NULL: the placer is called */
	enum status (*check)(const struct placement *placement, struct error *err);
	enum shortage shortage; /* unless the placer reports another one */
} checks[] = {
	{ place_possible, SHORTAGE_HOST },
	{ containers_possible, SHORTAGE_ROOM },
	{ project_possible, SHORTAGE_PROJECT },
	{ cpus_possible, SHORTAGE_ROOM },
	{ memory_possible, SHORTAGE_ROOM },
	{ accelerators_possible, SHORTAGE_HOST },
	{ engine_is_there, SHORTAGE_ENGINE },
	{ project_has_room, SHORTAGE_PROJECT },
	{ NULL, SHORTAGE_DEVICES },
	{ counts_have_room, SHORTAGE_ROOM },
	{ sizes_have_room, SHORTAGE_ROOM },
	{ network_is_there, SHORTAGE_NETWORK },
};
enum { CHECKS_WITHOUT_HOST = 3 };

static enum status run_checks(const struct placement *placement, const struct check *first, size_t count,
			      enum shortage *ret_shortage, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct placer *placer = placement->placer;
		enum shortage shortage = first[i].shortage;
		enum status rc = first[i].check ? first[i].check(placement, err)
						: placer->place(placer->arg, placement->plan,
								placement->assignment, &shortage, err);

		if (rc) {
			*ret_shortage = rc == STATUS_INTERNAL ? SHORTAGE_NONE : shortage;
			return rc;
		}
	}
	return STATUS_OK;
}

enum status placement_find_by(const struct placer *placer, const struct plan *plan, const struct room *room,
			      struct assignment **ret_assignment, enum shortage *ret_shortage,
			      struct error *err)
{
	AUTO(assignment) struct assignment *assignment = NULL;
	struct placement placement = { .plan = plan, .room = room, .placer = placer };
	enum status rc;

	*ret_shortage = SHORTAGE_NONE;
	plan_usage_add(plan, NULL, &placement.wanted);
	placement.wanted.project_vcpus = plan_vcpus(plan);
	rc = run_checks(&placement, checks, CHECKS_WITHOUT_HOST, ret_shortage, err);
	if (rc)
		return rc;
	if (!room->capacity.host.known)
		return error_set(
			err, STATUS_UNAVAILABLE, NULL, "%s",
			room->engine_lack[0]
				? room->engine_lack
				: "The container engine has not reported its host's CPUs and memory yet.");
	assignment = assignment_new();
	placer->fit(placer->arg, plan, assignment);
	placement.assignment = assignment;
	sizes_add(plan, assignment, &placement.wanted);
	rc = run_checks(&placement, checks + CHECKS_WITHOUT_HOST,
			sizeof(checks) / sizeof(checks[0]) - CHECKS_WITHOUT_HOST, ret_shortage, err);
	if (rc)
		return rc;
	*ret_assignment = TAKE(assignment);
	return STATUS_OK;
}

struct host_placer {
	const struct capacity *capacity;
	const struct device_use *uses;
};

static void host_fit(void *arg, const struct plan *plan, struct assignment *assignment)
{
	const struct host_placer *host = arg;

	limits_fit(plan, host->capacity, assignment);
}

static enum status host_place(void *arg, const struct plan *plan, struct assignment *assignment,
			      enum shortage *ret_shortage, struct error *err)
{
	const struct host_placer *host = arg;

	(void)ret_shortage; /* it stays SHORTAGE_DEVICES */
	return devices_place(plan, host->capacity, host->uses, assignment, err);
}

enum status placement_find(const struct plan *plan, const struct room *room, const struct device_use *uses,
			   struct assignment **ret_assignment, enum shortage *ret_shortage, struct error *err)
{
	struct host_placer host = { &room->capacity, uses };
	const struct placer placer = { .fit = host_fit, .place = host_place, .arg = &host };

	return placement_find_by(&placer, plan, room, ret_assignment, ret_shortage, err);
}
