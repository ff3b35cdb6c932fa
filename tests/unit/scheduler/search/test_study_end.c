/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/search/study_end.c: searches that end before all their trials have run. */
#include "tests/unit/scheduler/search/search_testing.h"

enum { TRIALS_MOST = 20 };

static const int64_t hour_us = INT64_C(3600) * 1000000;

static int64_t submit(struct bench *bench, const struct study_limits *limits, unsigned parallel,
		      size_t metrics)
{
	return search_submit(bench, &(struct search){ .job_id = "t",
						      .trials = TRIALS_MOST,
						      .parallel = parallel,
						      .limits = limits,
						      .metric_count = metrics });
}

static void trial_finish(struct bench *bench, int64_t run, double accuracy)
{
	reports_write(bench, run, 1, accuracy, 0);
	run_exit(bench, run, 0);
}

/* Waits until the tuner has handled the trial's end. */
static void outcome_await(struct bench *bench, int64_t job, unsigned number)
{
	for (int i = 0; i < WAIT_MS; i++) {
		struct trial_list list AUTO_TRIAL_LIST = { 0 };

		trials_read(bench, job, &list);
		if (list.trials[number - 1].outcome != OUTCOME_OPEN)
			return;
		usleep(1000);
	}
	fail_msg("trial %u never ended", number);
}

static void trials_check(struct bench *bench, int64_t job, size_t completed, size_t cancelled)
{
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	size_t counts[OUTCOME_CANCELLED + 1] = { 0 };

	trials_read(bench, job, &list);
	for (size_t i = 0; i < list.count; i++)
		counts[list.trials[i].outcome]++;
	assert_int_equal(list.count, completed + cancelled);
	assert_int_equal(counts[OUTCOME_COMPLETED], completed);
	assert_int_equal(counts[OUTCOME_CANCELLED], cancelled);
}

/* Fails with: progress_fill() without ended_since_best: all twenty were tried. */
static void a_search_that_gets_no_better_ends(void **state)
{
	static const struct study_limits limits = { .idle_trials = 2 };
	static const double reached[] = { 0.5, 0.4, 0.9, 0.8, 0.7 };
	struct bench *bench = *state;
	const int64_t job = submit(bench, &limits, 1, 1);

	fake_engine_up(bench->fake);
	for (unsigned i = 0; i < COUNT_OF(reached); i++)
		trial_finish(bench, trial_await(bench, job, i + 1, JOB_RUNNING), reached[i]);
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
	trials_check(bench, job, COUNT_OF(reached), 0);
}

/* With two metrics, it is not defined which trial is better. Fails with: has_progress for any number of them: ended after
 * one trial. */
static void with_two_metrics_nothing_is_better(void **state)
{
	static const struct study_limits limits = { .idle_trials = 1, .most_trials = 3 };
	struct bench *bench = *state;
	const int64_t job = submit(bench, &limits, 1, 2);

	fake_engine_up(bench->fake);
	for (unsigned i = 1; i <= 3; i++)
		trial_finish(bench, trial_await(bench, job, i, JOB_RUNNING), 0.5);
	idle_await(bench);
	trials_check(bench, job, 3, 0);
}

/* No other event comes at that moment. Fails with: study_room() without next_us: looked at when the trials ended. */
static void what_runs_when_the_time_is_over_is_stopped_if_that_is_wanted(void **state)
{
	static const struct study_limits limits = { .most_us = INT64_C(3600) * 1000000, .interrupts = true };
	struct bench *bench = *state;
	const int64_t job = submit(bench, &limits, 2, 1);

	fake_engine_up(bench->fake);
	trial_finish(bench, trial_await(bench, job, 1, JOB_RUNNING), 0.5);
	trial_await(bench, job, 2, JOB_RUNNING);
	trial_await(bench, job, 3, JOB_RUNNING);
	clock_step(bench, 2 * hour_us * 1000);
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
	trials_check(bench, job, 3, 0);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_STOP), 2);
}

/* Fails with: open_interrupt() whatever the limits say: the second was stopped. */
static void what_runs_when_the_time_is_over_runs_to_its_end_otherwise(void **state)
{
	static const struct study_limits limits = { .most_us = INT64_C(3600) * 1000000 };
	struct bench *bench = *state;
	const int64_t job = submit(bench, &limits, 2, 1);
	int64_t first, second;

	fake_engine_up(bench->fake);
	first = trial_await(bench, job, 1, JOB_RUNNING);
	second = trial_await(bench, job, 2, JOB_RUNNING);
	clock_step(bench, 2 * hour_us * 1000);
	trial_finish(bench, first, 0.5);
	outcome_await(bench, job, 1);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_STOP),
			 0); /* a stopped trial cannot be completed */
	trial_finish(bench, second, 0.6);
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
	trials_check(bench, job, 2, 0);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_STOP), 0);
}

/* Somebody sets the machine's clock. An hour is an hour, neither nothing nor a day: the first trial stays the best, and
 * the fourth is stopped when the hour is over.
 * Fails with: begun_us reckoned at each look: put forward, there was no third trial, and put back, the fourth ran on. */
static void jump_check(struct bench *bench, const struct study_limits *limits, int64_t by_us)
{
	const int64_t job = submit(bench, limits, 1, 1);
	int64_t run;

	fake_engine_up(bench->fake);
	trial_finish(bench, trial_await(bench, job, 1, JOB_RUNNING), 0.9);
	run = trial_await(bench, job, 2, JOB_RUNNING);
	atomic_fetch_add(&bench->clock.jumped_ns, by_us * 1000);
	trial_finish(bench, run, 0.5);
	run = trial_await(bench, job, 3, JOB_RUNNING);
	clock_step(bench, hour_us / 2 * 1000);
	trial_finish(bench, run, 0.5);
	trial_await(bench, job, 4, JOB_RUNNING);
	clock_step(bench, hour_us / 2 * 1000);
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
	trials_check(bench, job, 4, 0);
}

static void a_clock_that_is_set_moves_no_limit(void **state)
{
	static const struct study_limits limits = { .most_us = INT64_C(3600) * 1000000, .interrupts = true };

	jump_check(*state, &limits, 24 * hour_us);
}

static void a_clock_that_is_put_back_moves_no_limit(void **state)
{
	static const struct study_limits limits = { .most_us = INT64_C(3600) * 1000000, .interrupts = true };

	jump_check(*state, &limits, -24 * hour_us);
}

/* Fails with: best_us reckoned at each look: no third trial, and the fourth ran on. */
static void a_clock_that_is_set_is_no_standstill(void **state)
{
	static const struct study_limits limits = { .idle_us = INT64_C(3600) * 1000000, .interrupts = true };

	jump_check(*state, &limits, 24 * hour_us);
}

static void a_clock_that_is_put_back_hides_no_standstill(void **state)
{
	static const struct study_limits limits = { .idle_us = INT64_C(3600) * 1000000, .interrupts = true };

	jump_check(*state, &limits, -24 * hour_us);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		BENCH_TEST(a_search_that_gets_no_better_ends),
		BENCH_TEST(with_two_metrics_nothing_is_better),
		BENCH_TEST(what_runs_when_the_time_is_over_is_stopped_if_that_is_wanted),
		BENCH_TEST(a_clock_that_is_set_moves_no_limit),
		BENCH_TEST(a_clock_that_is_put_back_moves_no_limit),
		BENCH_TEST(a_clock_that_is_set_is_no_standstill),
		BENCH_TEST(a_clock_that_is_put_back_hides_no_standstill),
		BENCH_TEST(what_runs_when_the_time_is_over_runs_to_its_end_otherwise),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests_name("study end", tests, NULL, NULL);
}
