/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning jobs and their trials among other waiting jobs. */
#include "tests/unit/scheduler/gate_testing.h"
#include "tests/unit/scheduler/search/search_testing.h"

static void trials_wait_their_turn_like_jobs(void **state)
{
	struct bench *bench = *state;
	int64_t low, high;

	daemon_stop(bench);
	bench->capacity.max_jobs = 1;
	daemon_start(bench);
	low = search_submit(bench, &(struct search){ .job_id = "low", .trials = 2, .parallel = 2 });
	fake_engine_up(bench->fake);
	trial_await(bench, low, 1, JOB_RUNNING);
	trial_await(bench, low, 2, JOB_QUEUED);
	high = search_submit(bench,
			     &(struct search){ .job_id = "high", .trials = 1, .parallel = 1, .priority = 9 });
	trial_await(bench, high, 1, JOB_QUEUED);
	assert_int_equal(fake_engine_container_count(bench->fake), 1);
	run_exit(bench, trial_await(bench, low, 1, JOB_RUNNING), 0);
	run_exit(bench, trial_await(bench, high, 1, JOB_RUNNING), 0);
	run_exit(bench, trial_await(bench, low, 2, JOB_RUNNING), 0);
	idle_await(bench);
	job_check(bench, low, JOB_SUCCEEDED, NULL);
	job_check(bench, high, JOB_SUCCEEDED, NULL);
}

static struct job *row_read(struct bench *bench, int64_t id)
{
	struct job *row = NULL;

	assert_int_equal(job_get_by_id(bench->store, id, &row, NULL), STATUS_OK);
	return row;
}

static void one_at_a_time(struct bench *bench)
{
	daemon_stop(bench);
	bench->capacity.max_jobs = 1;
	daemon_start(bench);
	fake_engine_up(bench->fake);
}

static void a_job_waits_as_long_as_its_trials_do(void **state)
{
	struct bench *bench = *state;
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	AUTO(job) struct job *waiting = NULL;
	AUTO(job) struct job *running = NULL;
	int64_t plain, tuning;

	one_at_a_time(bench);
	plain = bench_submit(bench, "plain", 0, 0);
	job_await(bench, plain, JOB_RUNNING);
	tuning = search_submit(bench, &(struct search){ .job_id = "t", .trials = 2, .parallel = 2 });
	trial_await(bench, tuning, 2, JOB_QUEUED);
	assert_int_equal(job_get(bench->store, "p", "t", &waiting, NULL), STATUS_OK);
	assert_int_equal(waiting->state, JOB_QUEUED);
	assert_int_equal(waiting->position, 1);
	assert_int_equal(waiting->started_us, 0);
	run_exit(bench, plain, 0);
	trial_await(bench, tuning, 1, JOB_RUNNING);
	job_await(bench, tuning, JOB_RUNNING);
	running = row_read(bench, tuning);
	trials_read(bench, tuning, &list);
	assert_int_equal(running->started_us, list.trials[0].started_us);
	assert_int_equal(running->running_us, list.trials[0].running_us);
	assert_int_equal(list.trials[1].state, JOB_QUEUED);
	run_exit(bench, list.trials[0].run, 0);
	run_exit(bench, trial_await(bench, tuning, 2, JOB_RUNNING), 0);
	idle_await(bench);
	job_check(bench, tuning, JOB_SUCCEEDED, NULL);
}

static void a_job_that_waits_too_long_is_cancelled(void **state)
{
	struct bench *bench = *state;
	AUTO(job) struct job *row = NULL;
	int64_t plain, tuning;

	one_at_a_time(bench);
	plain = bench_submit(bench, "plain", 0, 0);
	job_await(bench, plain, JOB_RUNNING);
	tuning = search_submit(
		bench, &(struct search){ .job_id = "t", .trials = 2, .parallel = 2, .max_wait_us = 200000 });
	job_await(bench, tuning, JOB_CANCELLED);
	job_check_error(bench, tuning, JOB_CANCELLED, "it waited longer than its maxWaitTime of 0.2s");
	row = row_read(bench, tuning);
	assert_int_equal(row->started_us, 0);
	run_exit(bench, plain, 0);
	idle_await(bench);
}

/* The first trials keep the job's place in the queue; later trials wait for jobs that came before them. */
static void trials_neither_lose_their_jobs_place_nor_starve_others(void **state)
{
	struct bench *bench = *state;
	int64_t first, tuning, plain;

	gate_set(false);
	bench->suggest = gate_suggest;
	one_at_a_time(bench);
	first = bench_submit(bench, "first", 0, 0);
	job_await(bench, first, JOB_RUNNING);
	tuning = search_submit(bench, &(struct search){ .job_id = "t", .trials = 3, .parallel = 1 });
	gate_await();
	plain = bench_submit(bench, "plain", 0, 0);
	gate_set(true);
	trial_await(bench, tuning, 1, JOB_QUEUED);
	run_exit(bench, first, 0);
	run_exit(bench, trial_await(bench, tuning, 1, JOB_RUNNING), 0);
	job_await(bench, plain, JOB_RUNNING);
	trial_await(bench, tuning, 2, JOB_QUEUED);
	run_exit(bench, plain, 0);
	run_exit(bench, trial_await(bench, tuning, 2, JOB_RUNNING), 0);
	run_exit(bench, trial_await(bench, tuning, 3, JOB_RUNNING), 0);
	idle_await(bench);
	job_check(bench, tuning, JOB_SUCCEEDED, NULL);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(trials_wait_their_turn_like_jobs),
		BENCH_TEST(a_job_waits_as_long_as_its_trials_do),
		BENCH_TEST(a_job_that_waits_too_long_is_cancelled),
		BENCH_TEST(trials_neither_lose_their_jobs_place_nor_starve_others),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
