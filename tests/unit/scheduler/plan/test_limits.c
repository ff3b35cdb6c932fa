/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/limits.h"

#include "tests/unit/scheduler/plan/placement_testing.h"
#include "tests/unit/testing.h"

#define MIB ((int64_t)1 << 20)

static const struct {
	enum machine_fit fit;
	const char *machine;
	unsigned cpus;
	int64_t host_bytes;
	struct limits limits;
	const char *code; /* code of the only deviation; NULL: none */
} rows[] = {
	/* The host has enough. */
	{ FIT_HOST, "n1-standard-4", 8, 64 * GIB, { 4 * CPU, 15 * GIB, 15 * GIB / 2 }, NULL },
	{ FIT_HOST, "n1-standard-4", 4, 17 * GIB, { 4 * CPU, 15 * GIB, 15 * GIB / 2 }, NULL },
	/* Too few CPUs, too little memory, too little of both. */
	{ FIT_HOST, "n1-standard-4", 2, 64 * GIB, { 2 * CPU, 15 * GIB, 15 * GIB / 2 }, "machine-fitted" },
	{ FIT_HOST, "n1-standard-4", 4, 10 * GIB, { 4 * CPU, 9 * GIB, 9 * GIB / 2 }, "machine-fitted" },
	{ FIT_HOST, "m1-ultramem-160", 1, 10 * GIB, { CPU, 9 * GIB, 9 * GIB / 2 }, "machine-fitted" },
	{ FIT_HOST, "standard_gpu", 1, 10 * GIB, { CPU, 9 * GIB, 9 * GIB / 2 }, "machine-fitted" },
	{ FIT_HOST, "n1-highcpu-8", 8, 10 * GIB, { 8 * CPU, 7372 * MIB, 3686 * MIB }, NULL },
	/* Unknown sizes of the host set no bound. */
	{ FIT_HOST, "n1-standard-4", 0, 0, { 4 * CPU, 15 * GIB, 15 * GIB / 2 }, NULL },
	/* /dev/shm has a minimum. */
	{ FIT_HOST, "n1-standard-4", 4, 100 * MIB, { 4 * CPU, 90 * MIB, 64 * MIB }, "machine-fitted" },
	{ FIT_HOST, "n1-standard-4", 4, 200 * MIB, { 4 * CPU, 180 * MIB, 90 * MIB }, "machine-fitted" },
	{ FIT_CLOUD, "n1-standard-4", 1, 1 * GIB, { 4 * CPU, 15 * GIB, 15 * GIB / 2 }, NULL },
	{ FIT_NONE, "n1-standard-4", 8, 16 * GIB, { 0, 0, 8 * GIB }, "machine-unlimited" },
	{ FIT_NONE, NULL, 8, 100 * MIB, { 0, 0, 64 * MIB }, "machine-unlimited" },
	/* Machine types of unknown size. */
	{ FIT_HOST, "e2-medium", 8, 16 * GIB, { 0, 0, 8 * GIB }, "machine-unknown" },
	{ FIT_CLOUD, "n2-custom-6", 8, 16 * GIB, { 0, 0, 8 * GIB }, "machine-unknown" },
	{ FIT_HOST, "no-machine", 8, 16 * GIB, { 0, 0, 8 * GIB }, "machine-unknown" },
	{ FIT_NONE, "no-machine", 8, 16 * GIB, { 0, 0, 8 * GIB }, "machine-unlimited" },
	{ FIT_HOST, NULL, 8, 16 * GIB, { 0, 0, 8 * GIB }, NULL },
};

static void a_machine_type_becomes_limits(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(plan) struct plan *plan = test_plan_new();
		AUTO(assignment) struct assignment *assignment = assignment_new();
		struct room room AUTO_ROOM = test_room(rows[i].cpus, rows[i].host_bytes, 0);

		room.capacity.fit = rows[i].fit;
		test_pool_set(plan, ROLE_WORKER, 2, rows[i].machine, NULL, 0);
		limits_fit(plan, &room.capacity, assignment);
		assert_true(assignment->limits[ROLE_WORKER].nano_cpus == rows[i].limits.nano_cpus);
		assert_true(assignment->limits[ROLE_WORKER].memory_bytes == rows[i].limits.memory_bytes);
		assert_true(assignment->limits[ROLE_WORKER].shm_bytes == rows[i].limits.shm_bytes);
		assert_true(assignment->limits[ROLE_MASTER].nano_cpus == 0);
		assert_int_equal(json_array_size(assignment->deviations), rows[i].code != NULL);
		if (rows[i].code)
			assert_non_null(test_deviation(assignment->deviations, rows[i].code));
	}
}

/* Kind, code, field and text of each deviation. */
static void check_deviations(enum machine_fit fit, const struct plan *plan, const char *wanted)
{
	AUTO(assignment) struct assignment *assignment = assignment_new();
	struct room room AUTO_ROOM = test_room(2, 24 * GIB, 0);
	AUTO(string) char *text = NULL;

	room.capacity.fit = fit;
	limits_fit(plan, &room.capacity, assignment);
	text = json_dump_compact(assignment->deviations);
	assert_string_equal(text, wanted);
}

/* Fails with: roles_alike() that is the role itself: one for each pool. */
static void pools_on_the_same_machines_are_told_together(void **state)
{
	AUTO(plan) struct plan *plan = test_plan_new();

	(void)state;
	test_pool_set(plan, ROLE_MASTER, 1, "n1-standard-8", NULL, 0);
	test_pool_set(plan, ROLE_WORKER, 3, "n1-standard-8", NULL, 0);
	test_pool_set(plan, ROLE_PS, 2, "n1-standard-8", NULL, 0);
	check_deviations(
		FIT_HOST, plan,
		"[{\"kind\":\"DONE_OTHERWISE\",\"code\":\"machine-fitted\",\"field\":\"pools.master."
		"machine_type\",\"text\":\"The master, each worker and each parameter server have 2 vCPUs "
		"and 21.6 GiB of memory at most here; n1-standard-8 has 8 and 30.\"}]");
}

static void each_pool_that_differs_is_told_in_one_sentence(void **state)
{
	AUTO(plan) struct plan *plan = test_plan_new();

	(void)state;
	test_pool_set(plan, ROLE_MASTER, 1, "n1-standard-8", NULL, 0);
	test_pool_set(plan, ROLE_WORKER, 3, "n1-highcpu-16", NULL, 0);
	test_pool_set(plan, ROLE_PS, 2, "n1-highmem-2", NULL, 0);
	test_pool_set(plan, ROLE_EVALUATOR, 1, "e2-medium", NULL, 0);
	check_deviations(
		FIT_HOST, plan,
		"[{\"kind\":\"DONE_OTHERWISE\",\"code\":\"machine-fitted\",\"field\":\"pools.master."
		"machine_type\",\"text\":\"The master has 2 vCPUs and 21.6 GiB of memory at most here; "
		"n1-standard-8 has 8 and 30.\"},"
		"{\"kind\":\"DONE_OTHERWISE\",\"code\":\"machine-fitted\",\"field\":\"pools.worker."
		"machine_type\",\"text\":\"Each worker has 2 vCPUs and 14.4 GiB of memory at most here; "
		"n1-highcpu-16 has 16 and 14.4.\"},"
		"{\"kind\":\"DONE_OTHERWISE\",\"code\":\"machine-unknown\",\"field\":\"pools.evaluator."
		"machine_type\",\"text\":\"The evaluator runs without limits: the size of e2-medium is not "
		"known.\"}]");
	check_deviations(
		FIT_NONE, plan,
		"[{\"kind\":\"DONE_OTHERWISE\",\"code\":\"machine-unlimited\",\"text\":\"Machine types "
		"set no limits here: each replica may use all 2 CPUs of the host.\"}]");
}

static void gibibytes_are_written_shortly(void **state)
{
	static const struct {
		int64_t bytes;
		const char *text;
	} texts[] = {
		{ 0, "0" },
		{ 15 * GIB, "15" },
		{ 7372 * MIB, "7.2" },
		{ 14745 * MIB, "14.4" },
		{ 100 * GIB, "100" },
		{ 512 * MIB, "0.5" },
		{ GIB - 1, "1" },
		{ 1468006 * MIB, "1433.6" },
		{ INT64_MAX, "8589934592" },
	};
	char text[GIB_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		assert_string_equal(gib_text(texts[i].bytes, text), texts[i].text);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_type_becomes_limits),
		cmocka_unit_test(each_pool_that_differs_is_told_in_one_sentence),
		cmocka_unit_test(pools_on_the_same_machines_are_told_together),
		cmocka_unit_test(gibibytes_are_written_shortly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
