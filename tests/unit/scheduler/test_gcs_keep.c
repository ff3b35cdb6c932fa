/* SPDX-License-Identifier: Apache-2.0 */
/* Which replicas have Cloud Storage as files, and what is logged for a job that cannot have it. */
#include "tests/unit/scheduler/scheduler_testing.h"

static struct {
	unsigned calls; /* atomic */
	bool fails;
} place;

static enum status gcs_place(void *arg, size_t node, const char **ret_directory, struct error *err)
{
	(void)arg, (void)node;
	__atomic_fetch_add(&place.calls, 1, __ATOMIC_RELAXED);
	if (place.fails)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "no such device");
	*ret_directory = "/state/gcs/gcs";
	return STATUS_OK;
}

static int gcs_setup(void **state)
{
	struct bench *bench;

	bench_setup(state);
	bench = *state;
	daemon_stop(bench);
	bench->gcs = (struct gcs_ops){ gcs_place, NULL };
	place.calls = 0;
	place.fails = false;
	daemon_start(bench);
	return 0;
}

static bool binds_have(struct bench *bench, const struct replica_key *key, const char *part)
{
	AUTO(string) char *text = fake_engine_surroundings(bench->fake, key);

	return strstr(text, part);
}

static bool is_reported(struct bench *bench, int64_t id)
{
	AUTO(job) struct job *job = NULL;

	assert_int_equal(job_get_by_id(bench->store, id, &job, NULL), STATUS_OK);
	return job->assignment && strstr(job->assignment, "gcs-missing");
}

static void every_replica_of_a_job_that_asks_has_it(void **state)
{
	struct bench *bench = *state;
	const struct shape shape = { .project = "p", .workers = 1, .mounts_gcs = true };
	int64_t id = shape_submit(bench, "asks", &shape), other = bench_submit(bench, "other", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0), worker = key_of(id, ROLE_WORKER, 0);
	struct replica_key others = key_of(other, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	job_await(bench, other, JOB_RUNNING);
	assert_true(binds_have(bench, &master, "/state/gcs/gcs:/gcs\n"));
	assert_true(binds_have(bench, &worker, "/state/gcs/gcs:/gcs\n"));
	assert_false(binds_have(bench, &others, "/gcs"));
	assert_false(binds_have(bench, &master, "empty:"));
	assert_false(is_reported(bench, id));
	assert_int_equal(place.calls, 2); /* before the containers are made, and before they are started */
}

static void one_that_cannot_have_it_does_without_and_is_told(void **state)
{
	struct bench *bench = *state;
	const struct shape shape = { .project = "p", .workers = 1, .mounts_gcs = true };
	int64_t id = shape_submit(bench, "without", &shape);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);
	static const char words[] = "Cloud Storage is not there as files at /gcs: no such device. "
				    "/gcs is empty and read-only: a program that writes there fails.\n";
	AUTO(string) char *log = NULL;

	place.fails = true;
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	assert_false(binds_have(bench, &master, "/state/gcs/gcs"));
	assert_true(binds_have(bench, &master, "empty:/gcs\n"));
	line_await(bench, "without", words);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	assert_true(is_reported(bench, id));
	log = service_log(bench, "without");
	assert_null(strstr(strstr(log, words) + 1, words)); /* logged once */
}

static void a_daemon_without_files_says_so(void **state)
{
	struct bench *bench = *state;
	const struct shape shape = { .project = "p", .mounts_gcs = true };
	int64_t id;

	daemon_stop(bench);
	bench->gcs = (struct gcs_ops){ 0 };
	daemon_start(bench);
	id = shape_submit(bench, "never", &shape);
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	line_await(bench, "never",
		   "Cloud Storage is not there as files at /gcs: this daemon does not offer them. "
		   "/gcs is empty and read-only: a program that writes there fails.\n");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_replica_of_a_job_that_asks_has_it, gcs_setup,
						bench_teardown),
		cmocka_unit_test_setup_teardown(one_that_cannot_have_it_does_without_and_is_told, gcs_setup,
						bench_teardown),
		cmocka_unit_test_setup_teardown(a_daemon_without_files_says_so, gcs_setup, bench_teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests_name("gcs_keep", tests, NULL, NULL);
}
