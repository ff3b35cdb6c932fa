/* SPDX-License-Identifier: Apache-2.0 */
/* Trials of a tuning job reuse each other's networks; when their containers are removed. */
#include "tests/unit/scheduler/search/search_testing.h"

static void trials_take_over_networks_across_restarts(void **state)
{
	struct bench *bench = *state;
	size_t most;
	int64_t job;

	bench->pooled_network_ms = 60000;
	fake_engine_up(bench->fake);
	daemon_restart(bench);
	job = search_submit(bench, &(struct search){ .job_id = "t", .trials = 8, .parallel = 2 });
	trials_drive(bench, job, true, &most);
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
	assert_int_equal(fake_engine_shared(bench->fake), 0);
	check_trials(bench, job, 8, OUTCOME_COMPLETED);
}

static void the_next_trial_does_not_wait_for_containers_to_go_but_the_end_does(void **state)
{
	struct bench *bench = *state;
	AUTO(job) struct job *row = NULL;
	int64_t job, first, second;

	bench->pooled_network_ms = 60000;
	fake_engine_up(bench->fake);
	daemon_restart(bench);
	job = search_submit(bench, &(struct search){ .job_id = "t", .trials = 2, .parallel = 1 });
	first = trial_await(bench, job, 1, JOB_RUNNING);
	fake_engine_hold_removals(bench->fake, true);
	reports_write(bench, first, 3, 0.1, 0.01);
	run_exit(bench, first, 0);
	second = trial_await(bench, job, 2, JOB_RUNNING);
	assert_int_equal(fake_engine_container_count(bench->fake), 2);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_NETWORK), 1);
	reports_write(bench, second, 3, 0.1, 0.01);
	run_exit(bench, second, 0);
	line_await(bench, "t", "Tearing down training program.");
	while (fake_engine_calls(bench->fake, FAKE_REMOVE) < 2)
		usleep(1000);
	assert_int_equal(job_get_by_id(bench->store, job, &row, NULL), STATUS_OK);
	assert_false(job_state_is_final(row->state));
	fake_engine_hold_removals(bench->fake, false);
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
	assert_int_equal(fake_engine_shared(bench->fake), 0);
	check_trials(bench, job, 2, OUTCOME_COMPLETED);
}

/* The next four use the networks of the first four while the engine still removes those trials' containers. */
static void the_next_four_start_before_four_that_ended_at_once_are_removed(void **state)
{
	struct bench *bench = *state;
	int64_t job, runs[4];

	bench->pooled_network_ms = 60000;
	fake_engine_up(bench->fake);
	daemon_restart(bench);
	job = search_submit(bench, &(struct search){ .job_id = "t", .trials = 8, .parallel = 4 });
	for (unsigned i = 0; i < 4; i++)
		runs[i] = trial_await(bench, job, i + 1, JOB_RUNNING);
	fake_engine_hold_removals(bench->fake, true);
	for (unsigned i = 0; i < 4; i++) {
		reports_write(bench, runs[i], 3, 0.1, 0.01);
		run_exit(bench, runs[i], 0);
	}
	for (unsigned i = 0; i < 4; i++)
		runs[i] = trial_await(bench, job, i + 5, JOB_RUNNING);
	assert_int_equal(fake_engine_container_count(bench->fake), 8);
	/* Fails with: with room for one pooled network only, three more were made. */
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_NETWORK), 4);
	fake_engine_hold_removals(bench->fake, false);
	for (unsigned i = 0; i < 4; i++) {
		reports_write(bench, runs[i], 3, 0.1, 0.01);
		run_exit(bench, runs[i], 0);
	}
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
	assert_int_equal(fake_engine_shared(bench->fake), 0);
	check_trials(bench, job, 8, OUTCOME_COMPLETED);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(trials_take_over_networks_across_restarts),
		BENCH_TEST(the_next_trial_does_not_wait_for_containers_to_go_but_the_end_does),
		BENCH_TEST(the_next_four_start_before_four_that_ended_at_once_are_removed),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
