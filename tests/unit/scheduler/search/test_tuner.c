/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning jobs from submission to end, on a fake engine that the test controls. */
#include "tests/unit/scheduler/search/search_testing.h"

static size_t times_told(const char *log, const char *line)
{
	size_t count = 0;

	for (const char *at = log; (at = strstr(at, line)); at += strlen(line))
		count++;
	return count;
}

/* Fails with: job_succeed() that says nothing, as it was: what was finished had never begun. */
static void so_many_run_at_once_until_all_have_run(void **state)
{
	struct bench *bench = *state;
	const int64_t job =
		search_submit(bench, &(struct search){ .job_id = "t", .trials = 9, .parallel = 3 });
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	AUTO(string) char *log = NULL;
	size_t most;

	fake_engine_up(bench->fake);
	trial_await(bench, job, 3, JOB_RUNNING);
	job_await(bench, job, JOB_RUNNING);
	assert_int_equal(fake_engine_container_count(bench->fake), 3);
	trials_drive(bench, job, false, &most);
	assert_int_equal(most, 3);
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CREATE), 9);
	trials_read(bench, job, &list);
	assert_int_equal(list.trials[0].final_step, 3);
	assert_string_equal(list.trials[0].final, "[0.13]");
	check_trials(bench, job, 9, OUTCOME_COMPLETED);
	log = service_log(bench, "t");
	assert_int_equal(times_told(log, "Tearing down training program.\n"), 10);
	assert_int_equal(
		times_told(log, "Finished tearing down training program.\nJob completed successfully.\n"),
		10);
}

static void a_space_that_is_exhausted_ends_the_job(void **state)
{
	struct bench *bench = *state;

	fake_engine_up(bench->fake);
	for (unsigned parallel = 1; parallel <= 5; parallel += 2) {
		const int64_t job = search_submit(bench, &(struct search){ .job_id = parallel == 1   ? "one"
										     : parallel == 3 ? "three"
												     : "five",
									   .trials = 10,
									   .parallel = parallel,
									   .maximum = 3,
									   .algorithm = ALGORITHM_GRID });
		size_t most;

		trials_drive(bench, job, false, &most);
		idle_await(bench);
		job_check(bench, job, JOB_SUCCEEDED, NULL);
		check_trials(bench, job, 3, OUTCOME_COMPLETED);
	}
}

static void the_first_trial_that_fails_fails_the_job(void **state)
{
	struct bench *bench = *state;
	const int64_t job =
		search_submit(bench, &(struct search){ .job_id = "t", .trials = 5, .parallel = 2 });
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	int64_t run;

	fake_engine_up(bench->fake);
	trial_await(bench, job, 2, JOB_RUNNING);
	run = trial_await(bench, job, 1, JOB_RUNNING);
	run_exit(bench, run, 3);
	idle_await(bench);
	job_check(bench, job, JOB_FAILED,
		  "Hyperparameter Tuning Trial #1 Failed before any other successful trials were completed. "
		  "The failed trial had parameters: x=");
	job_check(
		bench, job, JOB_FAILED,
		", . The trial's error message was: The replica master 0 exited with a non-zero status of 3.");
	trials_read(bench, job, &list);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.trials[0].outcome, OUTCOME_INFEASIBLE);
	assert_int_equal(list.trials[1].outcome, OUTCOME_CANCELLED);
}

static void failed_trials_are_counted(void **state)
{
	struct bench *bench = *state;
	const int64_t job = search_submit(
		bench, &(struct search){ .job_id = "t", .trials = 6, .parallel = 1, .failed = 2 });

	fake_engine_up(bench->fake);
	run_exit(bench, trial_await(bench, job, 1, JOB_RUNNING), 1);
	run_exit(bench, trial_await(bench, job, 2, JOB_RUNNING), 0);
	run_exit(bench, trial_await(bench, job, 3, JOB_RUNNING), 1);
	idle_await(bench);
	job_check(bench, job, JOB_FAILED,
		  "Hyperparameter Tuning Trial #3 failed. 2 total hyperparameter trial failures were seen, "
		  "out of 3 trials attempted which reaches the user-specified limit of 2.The last trial to "
		  "fail was #3, with parameters: x=");
	job_check(bench, job, JOB_FAILED, ", .  The trial's error message was: The replica master 0 exited");
	line_await(bench, "t", "Trial 2 has no value of its metric: ");
}

static void a_cancel_ends_the_trials_under_way(void **state)
{
	struct bench *bench = *state;
	const int64_t job =
		search_submit(bench, &(struct search){ .job_id = "t", .trials = 5, .parallel = 2 });

	fake_engine_up(bench->fake);
	trial_await(bench, job, 1, JOB_RUNNING);
	trial_await(bench, job, 2, JOB_RUNNING);
	assert_int_equal(job_cancel(bench->store, "p", "t", "The job was cancelled.", NULL), STATUS_OK);
	idle_await(bench);
	job_check(bench, job, JOB_CANCELLED, "The job was cancelled.");
	check_trials(bench, job, 2, OUTCOME_CANCELLED);
}

static void a_cancel_before_the_engine_came_ends_it(void **state)
{
	struct bench *bench = *state;
	const int64_t job =
		search_submit(bench, &(struct search){ .job_id = "t", .trials = 5, .parallel = 2 });

	trial_await(bench, job, 2, JOB_QUEUED);
	assert_int_equal(job_cancel(bench->store, "p", "t", "The job was cancelled.", NULL), STATUS_OK);
	idle_await(bench);
	job_check(bench, job, JOB_CANCELLED, "The job was cancelled.");
}

static void its_time_is_the_jobs(void **state)
{
	struct bench *bench = *state;
	const int64_t job = search_submit(
		bench,
		&(struct search){ .job_id = "t", .trials = 5, .parallel = 2, .max_running_us = 200000 });

	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, job, JOB_CANCELLED, "longer than its maxRunningTime of 0.2s");
	check_trials(bench, job, 2, OUTCOME_CANCELLED);
}

static void a_study_that_cannot_be_read_fails_the_job(void **state)
{
	struct bench *bench = *state;
	const int64_t job = search_submit(
		bench, &(struct search){ .job_id = "t", .trials = 5, .parallel = 2, .broken = true });

	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, job, JOB_FAILED, "The study cannot be read");
}

static void no_trial_is_lost_or_run_twice_by_restarts(void **state)
{
	struct bench *bench = *state;
	const int64_t job =
		search_submit(bench, &(struct search){ .job_id = "t", .trials = 6, .parallel = 2 });
	size_t most;

	fake_engine_up(bench->fake);
	trials_drive(bench, job, true, &most);
	assert_true(most <= 2);
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CREATE), 6);
	check_trials(bench, job, 6, OUTCOME_COMPLETED);
}

/* Fails with: reported_share() that recalls nothing, as it was: the first trial that came in after a restart told it again. */
static void a_deviation_is_told_once_whatever_trials_and_restarts(void **state)
{
	struct bench *bench = *state;
	AUTO(string) char *log = NULL;
	int64_t job;

	bench->capacity.accelerators = ACCELERATORS_PRETEND;
	daemon_restart(bench);
	job = search_submit(bench, &(struct search){ .job_id = "t", .trials = 3, .parallel = 1, .gpus = 4 });
	fake_engine_up(bench->fake);
	for (unsigned trial = 1; trial <= 3; trial++) {
		run_exit(bench, trial_await(bench, job, trial, JOB_RUNNING), 0);
		daemon_restart(bench);
		fake_engine_up(bench->fake);
	}
	idle_await(bench);
	log = service_log(bench, "t");
	assert_int_equal(times_told(log, "Unlike in the cloud: "), 1);
}

/* The plan of a running tuning job is damaged while no daemon runs: its trials are ended, too. */
static void a_study_that_was_damaged_takes_its_trials_along(void **state)
{
	struct bench *bench = *state;
	const int64_t job =
		search_submit(bench, &(struct search){ .job_id = "t", .trials = 5, .parallel = 2 });
	struct trial_list list AUTO_TRIAL_LIST = { 0 };

	fake_engine_up(bench->fake);
	trial_await(bench, job, 1, JOB_RUNNING);
	trial_await(bench, job, 2, JOB_RUNNING);
	daemon_stop(bench);
	database_do(
		bench,
		"UPDATE job SET plan = json_set(plan, '$.search.algorithm', 'NONE') WHERE parent IS NULL");
	daemon_start(bench);
	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, job, JOB_FAILED, "The study cannot be read");
	check_trials(bench, job, 2, OUTCOME_CANCELLED);
}

static void trials_outlive_an_engine_that_goes_and_comes(void **state)
{
	struct bench *bench = *state;
	const int64_t job =
		search_submit(bench, &(struct search){ .job_id = "t", .trials = 4, .parallel = 2 });
	struct replica_key key;
	size_t most;
	int64_t run;

	fake_engine_up(bench->fake);
	trial_await(bench, job, 2, JOB_RUNNING);
	run = trial_await(bench, job, 1, JOB_RUNNING);
	fake_engine_down(bench->fake, "gone");
	line_await(bench, "t", "Waiting for the container engine");
	key = key_of(run, ROLE_MASTER, 0);
	reports_write(bench, run, 3, 0.1, 0.01);
	fake_engine_exit_unseen(bench->fake, &key, 0);
	fake_engine_up(bench->fake);
	trials_drive_from(bench, job, 1, false, &most);
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CREATE), 4);
	check_trials(bench, job, 4, OUTCOME_COMPLETED);
}

static void a_job_that_finds_nothing_to_try_succeeds(void **state)
{
	struct bench *bench = *state;
	const struct search grid = {
		.job_id = "first", .trials = 9, .parallel = 2, .maximum = 2, .algorithm = ALGORITHM_GRID
	};
	struct search more = grid;
	size_t most;
	int64_t job;

	fake_engine_up(bench->fake);
	trials_drive(bench, search_submit(bench, &grid), false, &most);
	more.job_id = "more";
	more.resumes = "first";
	job = search_submit(bench, &more);
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(so_many_run_at_once_until_all_have_run),
		BENCH_TEST(a_space_that_is_exhausted_ends_the_job),
		BENCH_TEST(the_first_trial_that_fails_fails_the_job),
		BENCH_TEST(failed_trials_are_counted),
		BENCH_TEST(a_cancel_ends_the_trials_under_way),
		BENCH_TEST(a_cancel_before_the_engine_came_ends_it),
		BENCH_TEST(its_time_is_the_jobs),
		BENCH_TEST(a_study_that_cannot_be_read_fails_the_job),
		BENCH_TEST(a_study_that_was_damaged_takes_its_trials_along),
		BENCH_TEST(trials_outlive_an_engine_that_goes_and_comes),
		BENCH_TEST(no_trial_is_lost_or_run_twice_by_restarts),
		BENCH_TEST(a_deviation_is_told_once_whatever_trials_and_restarts),
		BENCH_TEST(a_job_that_finds_nothing_to_try_succeeds),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
