/* SPDX-License-Identifier: Apache-2.0 */
/* Properties that hold for any jobs in any order: random jobs come and go, from a fixed seed. */
#include "scheduler/plan/deviation.h"
#include "scheduler/plan/placement.h"
#include "tests/unit/scheduler/plan/placement_testing.h"
#include "tests/unit/testing.h"

enum { DEVICES = 8, JOBS = 200, ROUNDS = 2000 };

static uint64_t seed;

/* xorshift64* */
static unsigned random_below(unsigned bound)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (unsigned)((seed * UINT64_C(2685821657736338717)) >> 33) % bound;
}

struct running {
	struct plan *plan; /* NULL: no job here */
	struct assignment *assignment;
};

static void running_end(struct running *running)
{
	plan_free(running->plan);
	assignment_free(running->assignment);
	*running = (struct running){ 0 };
}

static struct plan *random_plan(void)
{
	static const char *const machines[] = { "n1-standard-4",
						"n1-highmem-96",
						"n1-highcpu-16",
						"standard_gpu",
						"m1-ultramem-160",
						"e2-medium",
						NULL };
	static const char *const types[] = { K80, V100, TPU_V2, NULL };
	static const unsigned counts[] = { 1, 1, 1, 2, 2, 4, 8 };
	struct plan *plan = test_plan_new();

	test_pool_set(plan, ROLE_MASTER, 1, machines[random_below(COUNT_OF(machines))],
		      types[random_below(COUNT_OF(types))], counts[random_below(COUNT_OF(counts))]);
	for (int role = ROLE_WORKER; role < ROLE_COUNT; role++)
		if (random_below(3) == 0)
			test_pool_set(plan, (enum role)role, random_below(random_below(8) ? 4 : 1000),
				      machines[random_below(COUNT_OF(machines))],
				      types[random_below(COUNT_OF(types))],
				      counts[random_below(COUNT_OF(counts))]);
	return plan;
}

static void leases_append(struct usage *usage, const struct assignment *assignment, int64_t job)
{
	size_t count = 0;
	struct lease *leases = assignment_leases(assignment, job, &count);

	if (!count)
		return;
	usage->leases = realloc(usage->leases, (usage->lease_count + count) * sizeof(*leases));
	memcpy(usage->leases + usage->lease_count, leases, count * sizeof(*leases));
	usage->lease_count += count;
	free(leases);
}

/* The resources that the jobs use, added up forwards or backwards. */
static struct usage usage_of(const struct running *running, bool backwards)
{
	struct usage usage = { 0 };

	for (unsigned i = 0; i < JOBS; i++) {
		unsigned job = backwards ? JOBS - 1 - i : i;

		if (!running[job].plan)
			continue;
		plan_usage_add(running[job].plan, running[job].assignment, &usage);
		usage.project_vcpus += plan_vcpus(running[job].plan);
		leases_append(&usage, running[job].assignment, job);
	}
	return usage;
}

static unsigned holders_of(const struct usage *usage, const char *device)
{
	unsigned holders = 0;

	for (size_t i = 0; i < usage->lease_count; i++)
		holders += strcmp(usage->leases[i].device, device) == 0;
	return holders;
}

static void check_usage(const struct running *running, const struct room *room)
{
	const struct capacity *capacity = &room->capacity;
	struct usage usage = usage_of(running, false);
	struct usage same = usage_of(running, true);

	assert_int_equal(usage.jobs, same.jobs);
	assert_int_equal(usage.containers, same.containers);
	assert_true(usage.nano_cpus == same.nano_cpus);
	assert_true(usage.memory_bytes == same.memory_bytes);
	assert_int_equal(usage.lease_count, same.lease_count);
	assert_true(usage.jobs <= capacity->max_jobs && usage.containers <= capacity->max_containers);
	assert_true(!capacity->project_vcpus || usage.project_vcpus <= capacity->project_vcpus);
	if (capacity->fit == FIT_CLOUD) {
		assert_true(usage.nano_cpus <= capacity->host.cpus * CPU);
		assert_true(usage.memory_bytes <= capacity->host.memory_bytes);
	}
	if (capacity->accelerators != ACCELERATORS_SHARE)
		for (unsigned i = 0; i < DEVICES; i++)
			assert_true(holders_of(&usage, capacity->host.devices[i]) <= 1);
	leases_free(usage.leases, usage.lease_count);
	leases_free(same.leases, same.lease_count);
}

/* Checks that there are @count of the host's devices, each once. */
static void check_ids(const json_t *ids, unsigned count)
{
	bool taken[DEVICES] = { false };

	assert_int_equal(json_array_size(ids), count);
	for (size_t i = 0; i < count; i++) {
		const char *id = json_string_value(json_array_get(ids, i));
		unsigned device = (unsigned)strtoul(id, NULL, 10);

		assert_true(device < DEVICES);
		assert_false(taken[device]);
		taken[device] = true;
	}
}

static void check_devices(const struct plan *plan, const struct assignment *assignment,
			  const struct capacity *capacity)
{
	const bool sharing = capacity->accelerators == ACCELERATORS_SHARE;
	const bool attached = sharing || plan_accelerator_count(plan) <= DEVICES;

	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct pool *pool = &plan->pools[role];
		const unsigned wanted = pool_gpu_count(pool);

		if (!attached || !wanted) {
			assert_null(assignment->devices[role]);
			continue;
		}
		assert_int_equal(json_array_size(assignment->devices[role]), pool->count);
		for (unsigned i = 0; i < pool->count; i++)
			check_ids(assignment_devices(assignment, (enum role)role, i),
				  wanted < DEVICES ? wanted : DEVICES);
	}
	if (attached && plan_accelerator_count(plan))
		assert_int_equal(assignment->shared, sharing);
	else
		assert_int_equal(test_deviation(assignment->deviations, "gpu-pretended") != NULL,
				 plan_accelerator_count(plan) > 0);
}

static void check_limits(const struct plan *plan, const struct assignment *assignment,
			 const struct capacity *capacity)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct limits *limits = &assignment->limits[role];

		if (!plan->pools[role].count)
			continue;
		assert_true(limits->shm_bytes >= INT64_C(64) << 20);
		assert_int_equal(limits->nano_cpus == 0, limits->memory_bytes == 0);
		if (capacity->fit == FIT_NONE)
			assert_true(limits->nano_cpus == 0);
		if (capacity->fit != FIT_HOST)
			continue;
		assert_true(limits->nano_cpus <= capacity->host.cpus * CPU);
		assert_true(limits->memory_bytes <= capacity->host.memory_bytes / 10 * 9);
	}
}

/* The assignment after it was written to text and read back. */
static struct assignment *check_text(const struct assignment *assignment)
{
	struct assignment *again = NULL;
	AUTO(string) char *text = assignment_to_text(assignment);
	AUTO(string) char *same = NULL;

	assert_int_equal(assignment_from_text(text, &again, NULL), STATUS_OK);
	same = assignment_to_text(again);
	assert_string_equal(text, same);
	assert_true(deviations_valid(again->deviations));
	return again;
}

static void check_shortage(const struct plan *plan, const struct room *room, enum status rc,
			   enum shortage shortage)
{
	unsigned free_devices = 0;

	for (unsigned i = 0; i < DEVICES; i++)
		free_devices += !holders_of(&room->usage, room->capacity.host.devices[i]);
	assert_true(rc == STATUS_RESOURCE_EXHAUSTED || rc == STATUS_FAILED_PRECONDITION);
	assert_int_not_equal(shortage, SHORTAGE_NONE);
	if (shortage == SHORTAGE_DEVICES)
		assert_true(free_devices < plan_accelerator_count(plan));
	if (shortage == SHORTAGE_HOST)
		assert_true(plan_accelerator_count(plan) > DEVICES);
	/* A job that runs alone waits only if the host is too small. */
	if (!room->usage.jobs && shortage != SHORTAGE_HOST)
		assert_int_equal(rc, STATUS_FAILED_PRECONDITION);
}

/* Tries to place @plan beside the running jobs; their assignments are read back from text. */
static enum status place(const struct running *running, struct room *room, const struct plan *plan,
			 struct assignment **ret_assignment)
{
	AUTO(assignment) struct assignment *assignment = NULL;
	struct error err AUTO_ERROR = { 0 };
	enum shortage shortage = SHORTAGE_NONE;
	enum status rc;

	room->usage = usage_of(running, random_below(2));
	rc = test_place(plan, room, &assignment, &shortage, &err);
	if (rc) {
		assert_non_null(err.text);
		check_shortage(plan, room, rc, shortage);
	} else {
		assert_int_equal(shortage, SHORTAGE_NONE);
		check_devices(plan, assignment, &room->capacity);
		check_limits(plan, assignment, &room->capacity);
		*ret_assignment = check_text(assignment);
	}
	leases_free(room->usage.leases, room->usage.lease_count);
	room->usage = (struct usage){ 0 };
	return rc;
}

/* Ends a random job, if one runs. */
static void any_end(struct running *running)
{
	unsigned first = random_below(JOBS);

	for (unsigned i = 0; i < JOBS; i++) {
		struct running *job = &running[(first + i) % JOBS];

		if (!job->plan)
			continue;
		running_end(job);
		return;
	}
}

/* Random jobs come and go; returns how many were admitted. */
static unsigned play(struct room *room)
{
	struct running running[JOBS] = { 0 };
	unsigned started = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct running *job = &running[random_below(JOBS)];
		AUTO(plan) struct plan *plan = random_plan();

		if (random_below(3) == 0) {
			any_end(running);
		} else if (!job->plan && !place(running, room, plan, &job->assignment)) {
			job->plan = TAKE(plan);
			started++;
		}
		if (round % 20 == 0)
			check_usage(running, room);
	}
	check_usage(running, room);
	for (unsigned i = 0; i < JOBS; i++)
		running_end(&running[i]);
	return started;
}

static void whatever_comes_and_goes_the_room_holds(void **state)
{
	static const struct {
		enum machine_fit fit;
		enum accelerator_policy accelerators;
		unsigned max_jobs, max_containers, max_vcpus, project_vcpus;
	} rooms[] = {
		{ FIT_HOST, ACCELERATORS_PRETEND, 200, 10000, 0, 0 },
		{ FIT_HOST, ACCELERATORS_REQUIRE, 200, 100, 64, 0 },
		{ FIT_CLOUD, ACCELERATORS_WAIT, 200, 10000, 0, 500 },
		{ FIT_NONE, ACCELERATORS_REQUIRE, 10, 1000, 1, 0 },
		{ FIT_HOST, ACCELERATORS_SHARE, 20, 50, 0, 2000 },
		{ FIT_NONE, ACCELERATORS_SHARE, 200, 4000, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rooms); i++) {
		struct room room AUTO_ROOM = test_room(96, 512 * GIB, DEVICES);

		seed = UINT64_C(88172645463325252) + i;
		room.capacity.fit = rooms[i].fit;
		room.capacity.accelerators = rooms[i].accelerators;
		room.capacity.max_jobs = rooms[i].max_jobs;
		room.capacity.max_containers = rooms[i].max_containers;
		room.capacity.max_vcpus = rooms[i].max_vcpus;
		room.capacity.project_vcpus = rooms[i].project_vcpus;
		assert_true(play(&room) > ROUNDS / 20);
	}
}

/* Each device is held by one job at a time, and all jobs have run at the end. */
static void two_hundred_jobs_take_turns_on_eight_devices(void **state)
{
	struct room room AUTO_ROOM = test_room(96, 512 * GIB, DEVICES);
	struct running running[JOBS] = { 0 };
	unsigned placed = 0, waited = 0;

	(void)state;
	seed = 42;
	room.capacity.accelerators = ACCELERATORS_REQUIRE;
	while (placed < JOBS) {
		AUTO(plan) struct plan *plan = test_plan_new();
		enum status rc;

		test_pool_set(plan, ROLE_MASTER, 1, NULL, K80, 1 + random_below(4));
		test_pool_set(plan, ROLE_WORKER, random_below(3), NULL, V100, 1 + random_below(2));
		while ((rc = place(running, &room, plan, &running[placed].assignment))) {
			assert_int_equal(rc, STATUS_RESOURCE_EXHAUSTED);
			any_end(running);
			waited++;
		}
		running[placed++].plan = TAKE(plan);
		check_usage(running, &room);
	}
	assert_true(waited > JOBS / 2);
	for (unsigned i = 0; i < JOBS; i++)
		running_end(&running[i]);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_comes_and_goes_the_room_holds),
		cmocka_unit_test(two_hundred_jobs_take_turns_on_eight_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
