/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/placement.h"

#include "tests/unit/scheduler/plan/placement_testing.h"
#include "tests/unit/testing.h"

/* The host has 8 CPUs and 32 GiB; the job has this many workers of n1-standard-4 (4 vCPUs, 15 GiB). */
struct row {
	unsigned workers;
	enum machine_fit fit;
	unsigned max_vcpus, max_gib; /* 0: none */
	unsigned jobs, used_vcpus, used_gib;
	enum status status;
	const char *text; /* the error's text; NULL: not checked */
};

static const struct row rows[] = {
	/* The sum may exceed the host. */
	{ 1, FIT_HOST, 0, 0, 0, 0, 0, STATUS_OK, NULL },
	{ 100, FIT_HOST, 0, 0, 9, 1000, 4000, STATUS_OK, NULL },
	/* Up to the configured limits; other jobs use nothing of those yet. */
	{ 2, FIT_HOST, 8, 0, 1, 0, 0, STATUS_OK, NULL },
	{ 2, FIT_HOST, 9, 0, 1, 1, 0, STATUS_OK, NULL },
	{ 2, FIT_HOST, 8, 0, 1, 1, 0, STATUS_RESOURCE_EXHAUSTED,
	  "The job takes 8 vCPUs and 30 GiB of memory; other jobs use 1 and 0 now." },
	{ 2, FIT_HOST, 0, 40, 1, 4, 10, STATUS_OK, NULL },
	{ 2, FIT_HOST, 0, 40, 1, 4, 11, STATUS_RESOURCE_EXHAUSTED,
	  "The job takes 8 vCPUs and 30 GiB of memory; other jobs use 4 and 11 now." },
	/* A job that is larger than the host runs alone, and others wait. */
	{ 3, FIT_HOST, 8, 20, 0, 0, 0, STATUS_OK, NULL },
	{ 3, FIT_HOST, 8, 0, 1, 1, 0, STATUS_RESOURCE_EXHAUSTED, NULL },
	{ 1, FIT_HOST, 8, 0, 1, 12, 0, STATUS_RESOURCE_EXHAUSTED, NULL },
	/* Sizes as in the cloud are limited by the host or the configuration. */
	{ 2, FIT_CLOUD, 0, 0, 0, 0, 0, STATUS_OK, NULL },
	{ 1, FIT_CLOUD, 0, 0, 1, 4, 15, STATUS_OK, NULL },
	{ 1, FIT_CLOUD, 0, 0, 1, 5, 15, STATUS_RESOURCE_EXHAUSTED, NULL },
	{ 1, FIT_CLOUD, 0, 0, 1, 4, 18, STATUS_RESOURCE_EXHAUSTED, NULL },
	{ 3, FIT_CLOUD, 0, 100, 0, 0, 0, STATUS_FAILED_PRECONDITION,
	  "The job takes 12 vCPUs in all; at most 8 may be in use at once here (--machine-fit cloud, "
	  "--max-vcpus 0)." },
	{ 3, FIT_CLOUD, 12, 0, 0, 0, 0, STATUS_FAILED_PRECONDITION,
	  "The job takes 45 GiB of memory in all; at most 32 GiB may be in use at once here (--machine-fit "
	  "cloud, --max-memory 0)." },
	{ 3, FIT_CLOUD, 12, 45, 0, 0, 0, STATUS_OK, NULL },
	{ 3, FIT_CLOUD, 12, 44, 0, 0, 0, STATUS_FAILED_PRECONDITION,
	  "The job takes 45 GiB of memory in all; at most 44 GiB may be in use at once here (--machine-fit "
	  "cloud, --max-memory 45056)." },
	{ 2, FIT_CLOUD, 4, 0, 0, 0, 0, STATUS_FAILED_PRECONDITION,
	  "The job takes 8 vCPUs in all; at most 4 may be in use at once here (--machine-fit cloud, --max-vcpus "
	  "4)." },
	/* Without limits, nothing is counted. */
	{ 100, FIT_NONE, 8, 20, 9, 100, 100, STATUS_OK, NULL },
	/* Sums that would overflow. */
	{ 1000000, FIT_HOST, 1000000, 0, 1, 0, 0, STATUS_RESOURCE_EXHAUSTED, NULL },
	{ 1000000, FIT_CLOUD, 1000000, 0, 0, 0, 0, STATUS_FAILED_PRECONDITION, NULL },
};

static void check_row(const struct row *row)
{
	AUTO(plan) struct plan *plan = test_plan_new();
	AUTO(assignment) struct assignment *assignment = NULL;
	struct room room AUTO_ROOM = test_room(8, 32 * GIB, 0);
	struct error err AUTO_ERROR = { 0 };
	enum shortage shortage = SHORTAGE_HOST;

	test_pool_set(plan, ROLE_WORKER, row->workers, "n1-standard-4", NULL, 0);
	room.capacity.fit = row->fit;
	room.capacity.max_vcpus = row->max_vcpus;
	room.capacity.max_memory_bytes = row->max_gib * GIB;
	room.usage.jobs = row->jobs;
	room.usage.nano_cpus = row->used_vcpus * CPU;
	room.usage.memory_bytes = row->used_gib * GIB;
	assert_int_equal(test_place(plan, &room, &assignment, &shortage, &err), row->status);
	assert_int_equal(shortage, row->status ? SHORTAGE_ROOM : SHORTAGE_NONE);
	assert_int_equal(assignment != NULL, row->status == STATUS_OK);
	if (row->text)
		assert_string_equal(err.text, row->text);
}

static void sizes_are_bounded_as_the_fit_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		check_row(&rows[i]);
}

/* A job without a known size fits beside any other. */
static void what_takes_nothing_waits_for_nothing(void **state)
{
	AUTO(plan) struct plan *plan = test_plan_new();
	AUTO(assignment) struct assignment *assignment = NULL;
	struct room room AUTO_ROOM = test_room(8, 32 * GIB, 0);
	enum shortage shortage;

	(void)state;
	test_pool_set(plan, ROLE_MASTER, 1, "e2-medium", NULL, 0);
	room.capacity.max_vcpus = 1;
	room.usage.jobs = 1;
	room.usage.nano_cpus = 100 * CPU;
	assert_int_equal(test_place(plan, &room, &assignment, &shortage, NULL), STATUS_OK);
}

/* A job of three replicas, 12 vCPUs in the cloud's sizes, and two GPUs on a host that has two. */
/* The first device is held where @HELD. */
#define SHORTAGE(MAX_JOBS, MAX_CONTAINERS, PROJECT_VCPUS, POLICY, DEVICES, HELD, USAGE, STATUS, WHAT, TEXT)  \
	{                                                                                                    \
		MAX_JOBS, MAX_CONTAINERS, PROJECT_VCPUS, ACCELERATORS_##POLICY, DEVICES, HELD, USAGE,        \
			STATUS_##STATUS, SHORTAGE_##WHAT, TEXT                                               \
	}
#define USED(JOBS, CONTAINERS, VCPUS)                                                                        \
	{                                                                                                    \
		.jobs = (JOBS), .containers = (CONTAINERS), .project_vcpus = (VCPUS)                         \
	}

static const struct {
	unsigned max_jobs, max_containers, project_vcpus;
	enum accelerator_policy accelerators;
	unsigned devices;
	bool held;
	struct usage usage;
	enum status status;
	enum shortage shortage;
	const char *text;
} shortages[] = {
	SHORTAGE(1, 3, 12, REQUIRE, 2, false, USED(0, 0, 0), OK, NONE, NULL),
	SHORTAGE(2, 10, 20, REQUIRE, 2, false, USED(1, 7, 8), OK, NONE, NULL),
	/* Never. */
	SHORTAGE(1, 2, 0, REQUIRE, 2, false, USED(0, 0, 0), FAILED_PRECONDITION, ROOM,
		 "The job has 3 replicas; at most 2 containers may run at once here (--max-containers)."),
	SHORTAGE(1, 3, 11, REQUIRE, 2, false, USED(0, 0, 0), FAILED_PRECONDITION, PROJECT,
		 "The job asks for 12 vCPUs; project p may use at most 11 at once."),
	SHORTAGE(1, 3, 0, REQUIRE, 1, false, USED(0, 0, 0), FAILED_PRECONDITION, HOST, NULL),
	/* Not now. */
	SHORTAGE(1, 3, 0, WAIT, 1, false, USED(0, 0, 0), RESOURCE_EXHAUSTED, HOST,
		 "The job waits for 2 GPUs; this host has 1."),
	SHORTAGE(2, 10, 19, REQUIRE, 2, false, USED(1, 7, 8), RESOURCE_EXHAUSTED, PROJECT,
		 "The job asks for 12 vCPUs; project p uses 8 of 19 now."),
	SHORTAGE(2, 10, 0, REQUIRE, 2, true, USED(1, 7, 0), RESOURCE_EXHAUSTED, DEVICES,
		 "The job needs 2 GPUs; 1 of this host's 2 are free now."),
	SHORTAGE(2, 9, 0, REQUIRE, 2, false, USED(1, 7, 0), RESOURCE_EXHAUSTED, ROOM,
		 "The job has 3 replicas; 7 of 9 containers run now."),
	SHORTAGE(2, 10, 0, REQUIRE, 2, false, USED(2, 2, 0), RESOURCE_EXHAUSTED, ROOM,
		 "2 of 2 jobs run now."),
	/* If there are several shortages, the one that most jobs can pass is reported. */
	SHORTAGE(1, 3, 12, WAIT, 1, true, USED(1, 3, 12), RESOURCE_EXHAUSTED, HOST, NULL),
	SHORTAGE(1, 3, 12, WAIT, 2, true, USED(1, 3, 12), RESOURCE_EXHAUSTED, PROJECT, NULL),
	SHORTAGE(1, 3, 0, WAIT, 2, true, USED(1, 3, 0), RESOURCE_EXHAUSTED, DEVICES, NULL),
	/* Sums that would overflow. */
	SHORTAGE(UINT32_MAX, UINT32_MAX, 12, WAIT, 2, false, USED(1, UINT32_MAX, UINT32_MAX),
		 RESOURCE_EXHAUSTED, PROJECT, NULL),
	SHORTAGE(UINT32_MAX, UINT32_MAX, 0, WAIT, 2, false, USED(1, UINT32_MAX, 0), RESOURCE_EXHAUSTED, ROOM,
		 NULL),
};

static void what_is_short_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(shortages); i++) {
		AUTO(plan) struct plan *plan = test_plan_new();
		AUTO(assignment) struct assignment *assignment = NULL;
		struct room room AUTO_ROOM = test_room(8, 32 * GIB, shortages[i].devices);
		struct error err AUTO_ERROR = { 0 };
		enum shortage shortage = SHORTAGE_ROOM;

		test_pool_set(plan, ROLE_MASTER, 1, "n1-standard-4", NULL, 0);
		test_pool_set(plan, ROLE_WORKER, 2, "n1-standard-4", K80, 1);
		room.capacity.max_jobs = shortages[i].max_jobs;
		room.capacity.max_containers = shortages[i].max_containers;
		room.capacity.project_vcpus = shortages[i].project_vcpus;
		room.capacity.accelerators = shortages[i].accelerators;
		room.usage = shortages[i].usage;
		if (shortages[i].held)
			test_lease_add(&room, 1, "0", false);
		assert_int_equal(test_place(plan, &room, &assignment, &shortage, &err),
				 shortages[i].status);
		assert_int_equal(shortage, shortages[i].shortage);
		if (shortages[i].text)
			assert_string_equal(err.text, shortages[i].text);
	}
}

/* Without the engine nothing starts. The network is considered last, because its lack holds back all jobs. */
static void what_starts_nothing_is_told_in_its_words(void **state)
{
	static const struct {
		const char *engine, *network;
		unsigned jobs; /* of two that may run */
		enum shortage shortage;
		const char *text;
	} lacks[] = {
		{ "", "", 0, SHORTAGE_NONE, NULL },
		{ "away", "none free", 2, SHORTAGE_ENGINE, "away" },
		{ "", "none free", 2, SHORTAGE_ROOM, "2 of 2 jobs run now." },
		{ "", "none free", 1, SHORTAGE_NETWORK, "none free" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lacks); i++) {
		AUTO(plan) struct plan *plan = test_plan_new();
		AUTO(assignment) struct assignment *assignment = NULL;
		struct room room AUTO_ROOM = test_room(8, 32 * GIB, 0);
		struct error err AUTO_ERROR = { 0 };
		enum shortage shortage = SHORTAGE_HOST;

		snprintf(room.engine_lack, sizeof(room.engine_lack), "%s", lacks[i].engine);
		snprintf(room.network_lack, sizeof(room.network_lack), "%s", lacks[i].network);
		room.capacity.max_jobs = 2;
		room.usage.jobs = lacks[i].jobs;
		assert_int_equal(test_place(plan, &room, &assignment, &shortage, &err),
				 lacks[i].text ? STATUS_RESOURCE_EXHAUSTED : STATUS_OK);
		assert_int_equal(shortage, lacks[i].shortage);
		if (lacks[i].text)
			assert_string_equal(err.text, lacks[i].text);
	}
}

static void a_host_that_is_not_known_takes_nobody(void **state)
{
	AUTO(plan) struct plan *plan = test_plan_new();
	AUTO(assignment) struct assignment *assignment = NULL;
	struct room room AUTO_ROOM = test_room(8, 32 * GIB, 0);
	enum shortage shortage = SHORTAGE_ROOM;

	(void)state;
	test_pool_set(plan, ROLE_MASTER, 1, "n1-standard-4", NULL, 0);
	room.capacity.host.known = false;
	assert_int_equal(test_place(plan, &room, &assignment, &shortage, NULL), STATUS_UNAVAILABLE);
	assert_int_equal(shortage, SHORTAGE_NONE);
	assert_null(assignment);
	room.capacity.project_vcpus = 3;
	assert_int_equal(test_place(plan, &room, &assignment, &shortage, NULL),
			 STATUS_FAILED_PRECONDITION);
	assert_int_equal(shortage, SHORTAGE_PROJECT);
	room.capacity.project_vcpus = 0;
	room.capacity.max_containers = 0;
	assert_int_equal(test_place(plan, &room, &assignment, &shortage, NULL),
			 STATUS_FAILED_PRECONDITION);
	assert_int_equal(shortage, SHORTAGE_ROOM);
}

static void a_whole_assignment_is_told(void **state)
{
	AUTO(plan) struct plan *plan = test_plan_new();
	AUTO(assignment) struct assignment *assignment = NULL;
	struct room room AUTO_ROOM = test_room(2, 20 * GIB, 1);
	AUTO(string) char *text = NULL;
	enum shortage shortage;

	(void)state;
	test_pool_set(plan, ROLE_MASTER, 1, "n1-standard-8", K80, 1);
	assert_int_equal(test_place(plan, &room, &assignment, &shortage, NULL), STATUS_OK);
	text = assignment_to_text(assignment);
	assert_string_equal(
		text,
		"{\"limits\":{\"master\":{\"nano_cpus\":2000000000,\"memory_bytes\":19327352832,"
		"\"shm_bytes\":9663676416},\"worker\":{\"nano_cpus\":0,\"memory_bytes\":0,\"shm_bytes\":0},"
		"\"ps\":{\"nano_cpus\":0,\"memory_bytes\":0,\"shm_bytes\":0},"
		"\"evaluator\":{\"nano_cpus\":0,\"memory_bytes\":0,\"shm_bytes\":0}},"
		"\"devices\":{\"master\":[[\"0\"]]},\"shared\":false,\"differences\":["
		"{\"kind\":\"DONE_OTHERWISE\",\"code\":\"machine-fitted\","
		"\"field\":\"pools.master.machine_type\",\"text\":\"The master has 2 vCPUs and 18 GiB of "
		"memory at most here; n1-standard-8 has 8 and 30.\"},"
		"{\"kind\":\"DONE_OTHERWISE\",\"code\":\"gpu-model\",\"text\":\"The GPUs are this host's own: "
		"the accelerator type is only a label here.\"}]}");
}

static void usage_adds_up(void **state)
{
	AUTO(plan) struct plan *plan = test_plan_new();
	AUTO(assignment) struct assignment *assignment = assignment_new();
	struct usage usage = { .project_vcpus = 5 };

	(void)state;
	test_pool_set(plan, ROLE_MASTER, 1, "n1-standard-8", NULL, 0);
	test_pool_set(plan, ROLE_WORKER, 3, "n1-standard-4", NULL, 0);
	test_pool_set(plan, ROLE_PS, 2, "e2-medium", NULL, 0);
	assert_int_equal(plan_vcpus(plan), 20);
	assignment->limits[ROLE_MASTER] = (struct limits){ 2 * CPU, 5 * GIB, GIB };
	assignment->limits[ROLE_WORKER] = (struct limits){ 1 * CPU, 1 * GIB, GIB };
	/* A pool without replicas does not count. */
	assignment->limits[ROLE_EVALUATOR] = (struct limits){ 100 * CPU, 100 * GIB, GIB };
	plan_usage_add(plan, assignment, &usage);
	plan_usage_add(plan, NULL, &usage);
	assert_int_equal(usage.jobs, 2);
	assert_int_equal(usage.containers, 12);
	assert_true(usage.nano_cpus == 5 * CPU);
	assert_true(usage.memory_bytes == 8 * GIB);
	assert_int_equal(usage.project_vcpus, 5);
	assert_int_equal(usage.lease_count, 0);
}

static void sums_stop_at_the_largest_number(void **state)
{
	AUTO(plan) struct plan *plan = test_plan_new();
	AUTO(assignment) struct assignment *assignment = assignment_new();
	struct usage usage = { 0 };

	(void)state;
	for (int role = 0; role < ROLE_COUNT; role++) {
		test_pool_set(plan, (enum role)role, 1000000, "m1-ultramem-160", NULL, 0);
		assignment->limits[role] = (struct limits){ 160000 * CPU, 4000 * GIB, GIB };
	}
	plan_usage_add(plan, assignment, &usage);
	plan_usage_add(plan, assignment, &usage);
	assert_true(usage.nano_cpus == INT64_MAX);
	assert_true(usage.memory_bytes == INT64_MAX);
	assert_int_equal(plan_vcpus(plan), 640000000);
	for (int role = 0; role < ROLE_COUNT; role++)
		plan->pools[role].count = 1000000000;
	assert_true(plan_vcpus(plan) == UINT32_MAX);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_bounded_as_the_fit_says),
		cmocka_unit_test(what_takes_nothing_waits_for_nothing),
		cmocka_unit_test(what_is_short_is_told),
		cmocka_unit_test(what_starts_nothing_is_told_in_its_words),
		cmocka_unit_test(a_host_that_is_not_known_takes_nobody),
		cmocka_unit_test(a_whole_assignment_is_told),
		cmocka_unit_test(usage_adds_up),
		cmocka_unit_test(sums_stop_at_the_largest_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
