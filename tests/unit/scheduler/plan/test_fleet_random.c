/* SPDX-License-Identifier: Apache-2.0 */
/* Properties that hold for any jobs on several nodes, in any order: random jobs come and go, from a fixed seed. */
#include "tests/unit/scheduler/plan/fleet_testing.h"
#include "tests/unit/testing.h"

#define A100 "NVIDIA_TESLA_A100"

enum { NODES = 8, JOBS = 40, ROUNDS = 4000 };

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
	unsigned *nodes;
};

static const struct test_node nodes[NODES] = {
	{ "a", HOST_UP, 96, 360, 8, "a100" }, { "b", HOST_UP, 96, 360, 8, "a100" },
	{ "c", HOST_UP, 32, 120, 4, "v100" }, { "d", HOST_UP, 64, 512, 0, NULL },
	{ "e", HOST_UP, 16, 60, 0, NULL },    { "f", HOST_DRAINED, 96, 360, 8, "a100" },
	{ "g", HOST_DOWN, 96, 360, 8, NULL }, { "h", HOST_UP, 8, 30, 2, NULL },
};

static struct plan *random_plan(void)
{
	static const char *const machines[] = { "n1-standard-4", "n1-standard-16", "n1-highmem-8",
						"n1-highcpu-32", NULL };
	static const char *const types[] = { A100, V100, K80, NULL, NULL };
	static const unsigned counts[] = { 1, 1, 2, 4, 8 };
	struct plan *plan = test_plan_new();

	test_pool_set(plan, ROLE_MASTER, 1, machines[random_below(COUNT_OF(machines))],
		      types[random_below(COUNT_OF(types))], counts[random_below(COUNT_OF(counts))]);
	for (int role = ROLE_WORKER; role < ROLE_COUNT; role++)
		if (random_below(2))
			test_pool_set(plan, (enum role)role, random_below(5),
				      machines[random_below(COUNT_OF(machines))],
				      types[random_below(COUNT_OF(types))], counts[random_below(3)]);
	return plan;
}

static void running_end(struct test_fleet *test, struct running *running)
{
	fleet_return(&test->fleet, running->plan, running->assignment, running->nodes);
	plan_free(running->plan);
	assignment_free(running->assignment);
	free(running->nodes);
	*running = (struct running){ 0 };
}

/* Counts the resources and devices that the jobs use on one node. */
static struct usage usage_of(const struct running *running, size_t node, unsigned holders[8])
{
	struct usage usage = { 0 };

	for (unsigned job = 0; job < JOBS; job++) {
		const struct running *one = &running[job];

		for (int role = 0; one->plan && role < ROLE_COUNT; role++) {
			for (unsigned i = 0; i < one->plan->pools[role].count; i++) {
				const json_t *ids = assignment_devices(one->assignment, (enum role)role, i);

				if (one->nodes[plan_replica_ordinal(one->plan, (enum role)role, i)] != node)
					continue;
				usage.containers++;
				usage.nano_cpus += one->assignment->limits[role].nano_cpus;
				usage.memory_bytes += one->assignment->limits[role].memory_bytes;
				for (size_t k = 0; k < json_array_size(ids); k++)
					holders[strtoul(json_string_value(json_array_get(ids, k)), NULL,
							10)]++;
			}
		}
	}
	return usage;
}

static void check_nodes(const struct test_fleet *test, const struct running *running)
{
	const struct capacity *capacity = &test->fleet.total.capacity;

	for (size_t i = 0; i < NODES; i++) {
		unsigned holders[8] = { 0 };
		const struct usage usage = usage_of(running, i, holders),
				   *counted = &test->fleet.nodes[i].usage;

		assert_int_equal(usage.containers, counted->containers);
		assert_true(usage.nano_cpus == counted->nano_cpus);
		assert_true(usage.memory_bytes == counted->memory_bytes);
		if (nodes[i].state != HOST_UP)
			assert_int_equal(usage.containers, 0);
		if (capacity->fit == FIT_CLOUD)
			assert_true(usage.nano_cpus <= nodes[i].cpus * CPU &&
				    usage.memory_bytes <= nodes[i].gib * GIB);
		for (unsigned k = 0; k < 8; k++) {
			assert_true(k < nodes[i].devices || !holders[k]);
			assert_true(holders[k] <= 1 || capacity->accelerators == ACCELERATORS_SHARE);
		}
	}
}

/* Checks that each replica has what its pool requests, on a node where it may run. */
static void check_job(const struct test_fleet *test, const struct running *job)
{
	const bool pretends = test_deviation(job->assignment->deviations, "gpu-pretended") != NULL;

	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct pool *pool = &job->plan->pools[role];

		for (unsigned i = 0; i < pool->count; i++) {
			const unsigned node = job->nodes[plan_replica_ordinal(job->plan, (enum role)role, i)];
			unsigned wanted = pretends ? 0 : pool_gpu_count(pool);

			assert_true(node < NODES);
			if (role == ROLE_PS)
				assert_string_equal(nodes[node].name, "d");
			if (wanted && strcmp(pool->accelerator_type, K80) != 0)
				assert_true(nodes[node].gpu &&
					    strcmp(nodes[node].gpu, strcmp(pool->accelerator_type, A100) == 0
									    ? "a100"
									    : "v100") == 0);
			if (test->fleet.total.capacity.accelerators == ACCELERATORS_SHARE &&
			    wanted > nodes[node].devices)
				wanted = nodes[node].devices;
			assert_int_equal(
				json_array_size(assignment_devices(job->assignment, (enum role)role, i)),
				wanted);
		}
	}
}

static void job_begin(struct test_fleet *test, struct running *job, unsigned *placed, unsigned *waited)
{
	AUTO(plan) struct plan *plan = random_plan();
	struct error err AUTO_ERROR = { 0 };
	enum shortage shortage = SHORTAGE_PROJECT;
	const enum status rc =
		fleet_place(&test->fleet, plan, &job->assignment, &job->nodes, &shortage, &err);

	if (rc) {
		assert_true(rc == STATUS_RESOURCE_EXHAUSTED || rc == STATUS_FAILED_PRECONDITION);
		assert_true(shortage != SHORTAGE_NONE && err.text && !job->assignment && !job->nodes);
		*waited += rc == STATUS_RESOURCE_EXHAUSTED;
		/* A job can be short of room only if other jobs hold some. */
		assert_true(test->fleet.total.usage.jobs > 0 || rc == STATUS_FAILED_PRECONDITION ||
			    shortage == SHORTAGE_HOST || nodes[6].state == HOST_DOWN);
		return;
	}
	assert_int_equal(shortage, SHORTAGE_NONE);
	job->plan = TAKE(plan);
	fleet_use(&test->fleet, job->plan, job->assignment, job->nodes);
	check_job(test, job);
	++*placed;
}

static void play(enum machine_fit fit, enum accelerator_policy accelerators)
{
	struct running running[JOBS] = { 0 };
	struct test_fleet test AUTO_TEST_FLEET;
	struct place_rule rule = { 0 };
	unsigned placed = 0, waited = 0;

	assert_int_equal(place_rule_parse("ps=node:d", &rule, NULL), STATUS_OK);
	test_fleet_init(&test, nodes, NODES, fit, accelerators, &rule, 1);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct running *job = &running[random_below(JOBS)];

		if (!job->plan)
			job_begin(&test, job, &placed, &waited);
		else if (!random_below(3))
			running_end(&test, job);
		if (round % 10 == 0)
			check_nodes(&test, running);
	}
	assert_true(placed > ROUNDS / 20);
	assert_true(waited > ROUNDS / 20 || accelerators == ACCELERATORS_SHARE || fit != FIT_CLOUD);
	for (unsigned i = 0; i < JOBS; i++)
		if (running[i].plan)
			running_end(&test, &running[i]);
	check_nodes(&test, running);
	assert_int_equal(test.fleet.total.usage.jobs, 0);
	place_rule_deinit(&rule);
}

static void whatever_comes_and_goes_no_node_gives_more_than_it_has(void **state)
{
	static const enum machine_fit fits[] = { FIT_HOST, FIT_CLOUD, FIT_NONE };
	static const enum accelerator_policy policies[] = { ACCELERATORS_PRETEND, ACCELERATORS_REQUIRE,
							    ACCELERATORS_WAIT, ACCELERATORS_SHARE };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(fits); i++) {
		for (size_t k = 0; k < COUNT_OF(policies); k++) {
			seed = UINT64_C(88172645463325252) + i * 10 + k;
			play(fits[i], policies[k]);
		}
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_comes_and_goes_no_node_gives_more_than_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
