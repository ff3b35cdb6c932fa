/* SPDX-License-Identifier: Apache-2.0 */
/* The lines about trials' ends in a tuning job's log are stored together with the ends: once, even if the store fails
 * meanwhile. */
#include "tests/unit/scheduler/search/search_testing.h"

static int64_t submit(struct bench *bench, const struct study_limits *limits)
{
	return search_submit(bench,
			     &(struct search){ .job_id = "t", .trials = 1, .parallel = 1, .limits = limits });
}

/* When this job has ended, everything that was due before has been tried. */
static void probe_pass(struct bench *bench, const char *job_id)
{
	const int64_t id = bench_submit(bench, job_id, 0, 0);
	const struct replica_key master = key_of(id, ROLE_MASTER, 0);

	job_await(bench, id, JOB_RUNNING);
	fake_engine_exit(bench->fake, &master, 0);
	job_await(bench, id, JOB_SUCCEEDED);
}

/* Waits longer than a job pauses after the store has failed. */
static void rest_pass(struct bench *bench)
{
	clock_step(bench, INT64_C(2000000000));
}

/* Ends the job while the trigger @sql, named "refusal", makes the store fail, and then checks that the line is there
 * once. */
static void once_said(struct bench *bench, int64_t job, bool restarts, const char *part)
{
	if (restarts)
		daemon_stop(bench);
	database_do(bench, "DROP TRIGGER refusal");
	if (restarts)
		daemon_start(bench);
	if (restarts)
		fake_engine_up(bench->fake);
	rest_pass(bench);
	job_await(bench, job, JOB_SUCCEEDED);
	assert_int_equal(count_in_log(bench, "t", part), 1);
}

static const char valueless[] = "Trial 1 has no value of its metric";

/* Fails with: the line stored with the tuning job's next change: it was lost when the daemon ended before. */
static void an_end_is_not_stored_without_its_line(void **state)
{
	struct bench *bench = *state;
	const int64_t job = submit(bench, NULL);

	fake_engine_up(bench->fake);
	trial_await(bench, job, 1, JOB_RUNNING);
	database_do(bench, "CREATE TRIGGER refusal BEFORE INSERT ON outbox WHEN new.line LIKE 'Trial 1 has%'"
			   " BEGIN SELECT RAISE(ABORT, 'refused'); END");
	run_exit(bench, trial_await(bench, job, 1, JOB_RUNNING), 0);
	trial_await(bench, job, 1, JOB_SUCCEEDED);
	probe_pass(bench, "probe");
	once_said(bench, job, true, valueless);
}

/* Fails with: each try left its line behind, and all were stored with the one that came through. */
static void an_end_that_is_refused_says_nothing(void **state)
{
	struct bench *bench = *state;
	const int64_t job = submit(bench, NULL);

	fake_engine_up(bench->fake);
	trial_await(bench, job, 1, JOB_RUNNING);
	database_do(bench, "CREATE TRIGGER refusal BEFORE UPDATE OF outcome ON trial"
			   " BEGIN SELECT RAISE(ABORT, 'refused'); END");
	run_exit(bench, trial_await(bench, job, 1, JOB_RUNNING), 0);
	trial_await(bench, job, 1, JOB_SUCCEEDED);
	probe_pass(bench, "probe");
	rest_pass(bench);
	probe_pass(bench, "another");
	assert_int_equal(count_in_log(bench, "t", valueless), 0);
	once_said(bench, job, false, valueless);
}

/* The time of a search is over, while @trigger makes stopping its trial fail. */
static void time_pass(struct bench *bench, int64_t job, const char *trigger)
{
	fake_engine_up(bench->fake);
	trial_await(bench, job, 1, JOB_RUNNING);
	database_do(bench, trigger);
	clock_step(bench, INT64_C(3601) * 1000000000);
	probe_pass(bench, "probe");
}

static const struct study_limits hour = { .most_us = INT64_C(3600) * 1000000, .interrupts = true };
static const char stopped[] = "Trial 1 is stopped early";

/* Fails with: likewise: the trial was stopped, and no line said so. */
static void a_stop_is_not_stored_without_its_line(void **state)
{
	struct bench *bench = *state;
	const int64_t job = submit(bench, &hour);

	time_pass(bench, job,
		  "CREATE TRIGGER refusal BEFORE INSERT ON outbox WHEN new.line LIKE 'Trial 1 is stopped%'"
		  " BEGIN SELECT RAISE(ABORT, 'refused'); END");
	once_said(bench, job, true, stopped);
}

/* Fails with: the trial marked, then its job cancelled: the next try found the mark, and took the line for told. */
static void a_trial_is_marked_and_its_job_cancelled_at_once(void **state)
{
	struct bench *bench = *state;
	const int64_t job = submit(bench, &hour);

	time_pass(
		bench, job,
		"CREATE TRIGGER refusal BEFORE UPDATE OF verdict_message ON job"
		" WHEN new.verdict_message LIKE 'The trial was stopped%' BEGIN SELECT RAISE(ABORT, 'refused'); END");
	once_said(bench, job, false, stopped);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(an_end_is_not_stored_without_its_line),
		BENCH_TEST(an_end_that_is_refused_says_nothing),
		BENCH_TEST(a_stop_is_not_stored_without_its_line),
		BENCH_TEST(a_trial_is_marked_and_its_job_cancelled_at_once),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
