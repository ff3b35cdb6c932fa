/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/fleet.h"

#include "tests/unit/scheduler/plan/fleet_testing.h"
#include "tests/unit/testing.h"

#define A100  "NVIDIA_TESLA_A100"
#define SMALL "n1-standard-4"  /* 4 vCPUs, 15 GiB */
#define LARGE "n1-standard-16" /* 16 vCPUs, 60 GiB */

/* A job with one master and workers. */
struct row {
	const char *title;
	enum machine_fit fit;
	enum accelerator_policy accelerators;
	struct test_node nodes[4];
	const char *rule;            /* the placement rule; NULL: none */
	const char *master, *worker; /* machine types */
	unsigned workers;
	const char *accelerator; /* accelerator of each worker */
	unsigned gpus;
	enum status status;
	enum shortage shortage;
	const char *text; /* the error's text, or where the replicas are placed */
};

static const struct row rows[] = {
	{ "the smallest node that takes all",
	  FIT_CLOUD,
	  ACCELERATORS_REQUIRE,
	  { { "a", HOST_UP, 64, 256, 0, NULL },
	    { "b", HOST_UP, 12, 48, 0, NULL },
	    { "c", HOST_UP, 8, 32, 0, NULL } },
	  NULL,
	  SMALL,
	  SMALL,
	  2,
	  NULL,
	  0,
	  STATUS_OK,
	  SHORTAGE_NONE,
	  "On b: master-0, worker-0 to worker-1." },
	{ "two nodes where one is not enough",
	  FIT_CLOUD,
	  ACCELERATORS_REQUIRE,
	  { { "a", HOST_UP, 8, 32, 0, NULL },
	    { "b", HOST_UP, 8, 32, 0, NULL },
	    { "c", HOST_UP, 8, 32, 0, NULL } },
	  NULL,
	  SMALL,
	  SMALL,
	  2,
	  NULL,
	  0,
	  STATUS_OK,
	  SHORTAGE_NONE,
	  "On a: master-0, worker-0; on b: worker-1." },
	{ "nodes that are down, drained or unknown get nothing",
	  FIT_CLOUD,
	  ACCELERATORS_REQUIRE,
	  { { "d", HOST_UP, 8, 32, 0, NULL },
	    { "a", HOST_DOWN, 8, 32, 0, NULL },
	    { "b", HOST_DRAINED, 8, 32, 0, NULL },
	    { "c", HOST_UP, 0, 0, 0, NULL } },
	  NULL,
	  SMALL,
	  SMALL,
	  1,
	  NULL,
	  0,
	  STATUS_OK,
	  SHORTAGE_NONE,
	  "On d: master-0, worker-0. a is down. b is drained. c has not reported its size." },
	{ "no node takes jobs",
	  FIT_HOST,
	  ACCELERATORS_REQUIRE,
	  { { "a", HOST_DOWN, 8, 32, 0, NULL }, { "b", HOST_DOWN, 8, 32, 0, NULL } },
	  NULL,
	  SMALL,
	  SMALL,
	  1,
	  NULL,
	  0,
	  STATUS_RESOURCE_EXHAUSTED,
	  SHORTAGE_ENGINE,
	  "The job needs nodes that do not answer. a, b are down." },
	{ "too large for every node, now and later",
	  FIT_CLOUD,
	  ACCELERATORS_REQUIRE,
	  { { "a", HOST_UP, 8, 128, 0, NULL }, { "b", HOST_UP, 12, 128, 0, NULL } },
	  NULL,
	  SMALL,
	  LARGE,
	  1,
	  NULL,
	  0,
	  STATUS_FAILED_PRECONDITION,
	  SHORTAGE_ROOM,
	  "The nodes are too small for the job. a, b have too few free CPUs (12 at most; each worker takes 16)." },
	{ "the first node makes the networks",
	  FIT_CLOUD,
	  ACCELERATORS_REQUIRE,
	  { { "a", HOST_DOWN, 8, 32, 0, NULL }, { "b", HOST_UP, 8, 32, 0, NULL } },
	  NULL,
	  SMALL,
	  SMALL,
	  1,
	  NULL,
	  0,
	  STATUS_RESOURCE_EXHAUSTED,
	  SHORTAGE_ENGINE,
	  "The job needs nodes that do not answer. a is down. b waits for the first node, which makes the networks." },
	{ "a node that is down may come back",
	  FIT_CLOUD,
	  ACCELERATORS_REQUIRE,
	  { { "b", HOST_UP, 12, 48, 0, NULL }, { "a", HOST_DOWN, 64, 256, 0, NULL } },
	  NULL,
	  SMALL,
	  LARGE,
	  1,
	  NULL,
	  0,
	  STATUS_RESOURCE_EXHAUSTED,
	  SHORTAGE_ENGINE,
	  "The job needs nodes that do not answer. b has too few free CPUs (12; each worker takes 16). a is down." },
	{ "a fitted replica is the size of its node at most",
	  FIT_HOST,
	  ACCELERATORS_REQUIRE,
	  { { "a", HOST_UP, 8, 32, 0, NULL } },
	  NULL,
	  SMALL,
	  LARGE,
	  2,
	  NULL,
	  0,
	  STATUS_OK,
	  SHORTAGE_NONE,
	  "On a: master-0, worker-0 to worker-1." },
	{ "GPUs of a model go where the label says it",
	  FIT_NONE,
	  ACCELERATORS_REQUIRE,
	  { { "a", HOST_UP, 8, 32, 8, "v100" },
	    { "b", HOST_UP, 8, 32, 4, "A100" },
	    { "c", HOST_UP, 8, 32, 8, NULL } },
	  NULL,
	  SMALL,
	  NULL,
	  2,
	  A100,
	  2,
	  STATUS_OK,
	  SHORTAGE_NONE,
	  "On b: master-0, worker-0 to worker-1. a, c have other GPUs than " A100 ", which a worker takes." },
	{ "without any label of the model all GPUs are alike",
	  FIT_NONE,
	  ACCELERATORS_REQUIRE,
	  { { "a", HOST_UP, 8, 32, 2, NULL }, { "b", HOST_UP, 8, 32, 4, "v100" } },
	  NULL,
	  SMALL,
	  NULL,
	  2,
	  A100,
	  2,
	  STATUS_OK,
	  SHORTAGE_NONE,
	  "On b: master-0, worker-0 to worker-1." },
	{ "a replica's GPUs are of one node",
	  FIT_NONE,
	  ACCELERATORS_REQUIRE,
	  { { "a", HOST_UP, 8, 32, 4, NULL }, { "b", HOST_UP, 8, 32, 4, NULL } },
	  NULL,
	  SMALL,
	  NULL,
	  1,
	  A100,
	  8,
	  STATUS_FAILED_PRECONDITION,
	  SHORTAGE_HOST,
	  "The nodes do not have the GPUs that the job asks for. a, b have too few free GPUs (4 at most; each "
	  "worker takes 8)." },
	{ "or it waits for such a node",
	  FIT_NONE,
	  ACCELERATORS_WAIT,
	  { { "a", HOST_UP, 8, 32, 4, NULL }, { "b", HOST_UP, 8, 32, 4, NULL } },
	  NULL,
	  SMALL,
	  NULL,
	  1,
	  A100,
	  8,
	  STATUS_RESOURCE_EXHAUSTED,
	  SHORTAGE_HOST,
	  "The job waits for nodes with the GPUs that it asks for." },
	{ "or it runs without",
	  FIT_NONE,
	  ACCELERATORS_PRETEND,
	  { { "a", HOST_UP, 8, 32, 4, NULL }, { "b", HOST_UP, 8, 32, 4, NULL } },
	  NULL,
	  SMALL,
	  NULL,
	  1,
	  A100,
	  8,
	  STATUS_OK,
	  SHORTAGE_NONE,
	  "On a: master-0, worker-0." },
	{ "or it has fewer, shared ones",
	  FIT_NONE,
	  ACCELERATORS_SHARE,
	  { { "a", HOST_UP, 8, 32, 0, NULL }, { "b", HOST_UP, 8, 32, 4, NULL } },
	  NULL,
	  SMALL,
	  NULL,
	  3,
	  A100,
	  8,
	  STATUS_OK,
	  SHORTAGE_NONE,
	  "on b: worker-0 to worker-2." },
	{ "a rule of a role",
	  FIT_CLOUD,
	  ACCELERATORS_REQUIRE,
	  { { "a", HOST_UP, 64, 256, 0, NULL }, { "b", HOST_UP, 64, 256, 0, NULL } },
	  "worker=node:b",
	  SMALL,
	  SMALL,
	  2,
	  NULL,
	  0,
	  STATUS_OK,
	  SHORTAGE_NONE,
	  "On b: master-0, worker-0 to worker-1. a lacks the label node:b (--place worker=node:b)." },
	{ "a rule of a machine type",
	  FIT_CLOUD,
	  ACCELERATORS_REQUIRE,
	  { { "a", HOST_UP, 20, 80, 0, NULL }, { "b", HOST_UP, 20, 80, 0, "a100" } },
	  LARGE "=gpu:a100",
	  SMALL,
	  LARGE,
	  1,
	  NULL,
	  0,
	  STATUS_OK,
	  SHORTAGE_NONE,
	  "On b: master-0, worker-0." },
	{ "a rule that no node fulfils",
	  FIT_HOST,
	  ACCELERATORS_REQUIRE,
	  { { "a", HOST_UP, 20, 80, 0, NULL }, { "b", HOST_UP, 20, 80, 0, "a100" } },
	  SMALL "=gpu:h100",
	  SMALL,
	  LARGE,
	  1,
	  NULL,
	  0,
	  STATUS_FAILED_PRECONDITION,
	  SHORTAGE_HOST,
	  "No node may run the job. a, b lack the label gpu:h100 (--place " SMALL "=gpu:h100)." },
};

static void check_row(const struct row *row)
{
	AUTO(plan) struct plan *plan = test_plan_new();
	AUTO(assignment) struct assignment *assignment = NULL;
	AUTO(string) char *text = NULL;
	struct test_fleet test AUTO_TEST_FLEET;
	struct place_rule rule = { 0 };
	struct error err AUTO_ERROR = { 0 };
	enum shortage shortage = SHORTAGE_PROJECT;
	unsigned *nodes = NULL;

	if (row->rule)
		assert_int_equal(place_rule_parse(row->rule, &rule, NULL), STATUS_OK);
	test_fleet_init(&test, row->nodes, COUNT_OF(row->nodes), row->fit, row->accelerators, &rule,
			row->rule != NULL);
	test_pool_set(plan, ROLE_MASTER, 1, row->master, NULL, 0);
	test_pool_set(plan, ROLE_WORKER, row->workers, row->worker, row->accelerator, row->gpus);
	if (fleet_place(&test.fleet, plan, &assignment, &nodes, &shortage, &err) != row->status)
		fail_msg("%s: another outcome: %s", row->title, err.text);
	text = nodes ? fleet_text(&test.fleet, plan, nodes) : strdup(err.text);
	if (shortage != row->shortage || !strstr(text, row->text))
		fail_msg("%s: shortage %d, %s", row->title, shortage, text);
	free(nodes);
	place_rule_deinit(&rule);
}

static void a_job_goes_where_the_table_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		check_row(&rows[i]);
}

static const struct test_node two_nodes[] = { { "a", HOST_UP, 8, 32, 2, NULL },
					      { "b", HOST_UP, 8, 32, 2, NULL } };

/* Places a job of one replica that needs @gpus. */
static enum status place_one(struct test_fleet *test, unsigned gpus, enum shortage *ret_shortage,
			     unsigned *ret_node, bool use)
{
	AUTO(plan) struct plan *plan = test_plan_new();
	AUTO(assignment) struct assignment *assignment = NULL;
	unsigned *nodes = NULL;
	enum status rc;

	test_pool_set(plan, ROLE_MASTER, 1, SMALL, gpus ? A100 : NULL, gpus);
	rc = fleet_place(&test->fleet, plan, &assignment, &nodes, ret_shortage, NULL);
	if (!rc) {
		*ret_node = nodes[0];
		if (use)
			fleet_use(&test->fleet, plan, assignment, nodes);
	}
	free(nodes);
	return rc;
}

static void what_is_placed_is_taken(void **state)
{
	struct test_fleet test AUTO_TEST_FLEET;
	enum shortage shortage;
	unsigned node = 9;

	(void)state;
	test_fleet_init(&test, two_nodes, COUNT_OF(two_nodes), FIT_CLOUD, ACCELERATORS_REQUIRE, NULL, 0);
	assert_int_equal(place_one(&test, 2, &shortage, &node, true), STATUS_OK);
	assert_int_equal(node, 0);
	assert_int_equal(test.fleet.total.usage.containers, 1);
	/* A job without GPUs is placed on the node without free ones. */
	assert_int_equal(place_one(&test, 0, &shortage, &node, false), STATUS_OK);
	assert_int_equal(node, 0);
	/* A device that another process holds is not used. */
	fleet_hold(&test.fleet, 1, "0");
	assert_int_equal(place_one(&test, 2, &shortage, &node, true), STATUS_RESOURCE_EXHAUSTED);
	assert_int_equal(shortage, SHORTAGE_DEVICES);
	assert_int_equal(place_one(&test, 1, &shortage, &node, true), STATUS_OK);
	assert_int_equal(node, 1);
	/* Each node has 4 of 8 CPUs left. */
	assert_int_equal(place_one(&test, 0, &shortage, &node, true), STATUS_OK);
	assert_int_equal(place_one(&test, 0, &shortage, &node, true), STATUS_OK);
	assert_int_equal(place_one(&test, 0, &shortage, &node, true), STATUS_RESOURCE_EXHAUSTED);
	assert_int_equal(shortage, SHORTAGE_ROOM);
}

/* If each job is fitted to the host, a full machine still accepts jobs, the least used one first. */
static void fitted_jobs_share_what_is_used_up(void **state)
{
	struct test_fleet test AUTO_TEST_FLEET;
	enum shortage shortage;
	unsigned node = 9;
	unsigned counts[2] = { 0 };

	(void)state;
	test_fleet_init(&test, two_nodes, COUNT_OF(two_nodes), FIT_HOST, ACCELERATORS_REQUIRE, NULL, 0);
	for (unsigned i = 0; i < 12; i++) {
		assert_int_equal(place_one(&test, 0, &shortage, &node, true), STATUS_OK);
		counts[node]++;
	}
	assert_int_equal(counts[0], 6);
	assert_int_equal(counts[1], 6);
}

/* The replicas of a pool have equal limits, which the smallest node of the job can hold. */
static void limits_are_those_of_the_smallest_node(void **state)
{
	const struct test_node nodes[] = { { "a", HOST_UP, 6, 20, 1, NULL },
					   { "b", HOST_UP, 8, 32, 1, NULL } };
	AUTO(plan) struct plan *plan = test_plan_new();
	AUTO(assignment) struct assignment *assignment = NULL;
	struct test_fleet test AUTO_TEST_FLEET;
	enum shortage shortage;
	unsigned *placed = NULL;

	(void)state;
	test_fleet_init(&test, nodes, COUNT_OF(nodes), FIT_HOST, ACCELERATORS_REQUIRE, NULL, 0);
	test_pool_set(plan, ROLE_WORKER, 2, LARGE, A100, 1);
	assert_int_equal(fleet_place(&test.fleet, plan, &assignment, &placed, &shortage, NULL), STATUS_OK);
	assert_int_not_equal(placed[0], placed[1]);
	assert_true(assignment->limits[ROLE_WORKER].nano_cpus == 6 * CPU);
	assert_true(assignment->limits[ROLE_WORKER].memory_bytes == 20 * GIB / 10 * 9);
	assert_non_null(test_deviation(assignment->deviations, "machine-fitted"));
	assert_non_null(test_deviation(assignment->deviations, "gpu-model"));
	free(placed);
}

static void a_rule_has_three_parts(void **state)
{
	static const char *const bad[] = { "", "a", "a=", "a=b", "a=b:", "=b:c", "a=:c", "a:b=c" };
	struct place_rule rule;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(place_rule_parse(bad[i], &rule, &err), STATUS_INVALID_ARGUMENT);
		assert_non_null(err.text);
	}
	assert_int_equal(place_rule_parse("ps=zone:a:b=c", &rule, NULL), STATUS_OK);
	assert_string_equal(rule.subject, "ps");
	assert_string_equal(rule.label, "zone");
	assert_string_equal(rule.value, "a:b=c");
	place_rule_deinit(&rule);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_goes_where_the_table_says),
		cmocka_unit_test(what_is_placed_is_taken),
		cmocka_unit_test(fitted_jobs_share_what_is_used_up),
		cmocka_unit_test(limits_are_those_of_the_smallest_node),
		cmocka_unit_test(a_rule_has_three_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
