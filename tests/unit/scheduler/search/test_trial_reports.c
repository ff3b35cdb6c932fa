/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of trials: they are stored, poor trials are stopped, and the reports are removed with their directories. */
#include <sys/stat.h>

#include "tests/unit/scheduler/search/search_testing.h"

/* Ten good trials, then one that learns nothing; with @restart the daemon is restarted in between. */
static void poor_one_is_stopped(struct bench *bench, const char *job_id, enum stopping_rule rule,
				bool restarts)
{
	const int64_t job = search_submit(
		bench, &(struct search){ .job_id = job_id, .trials = 11, .parallel = 1, .stopping = rule });
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	int64_t run;

	fake_engine_up(bench->fake);
	for (unsigned i = 1; i <= 10; i++) {
		run = trial_await(bench, job, i, JOB_RUNNING);
		reports_write(bench, run, 20, 0.5 + 0.001 * i, 0.02);
		run_exit(bench, run, 0);
	}
	run = trial_await(bench, job, 11, JOB_RUNNING);
	if (restarts)
		daemon_restart(bench);
	reports_write(bench, run, 15, 0.01, 0.0001);
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
	trials_read(bench, job, &list);
	assert_true(list.trials[10].stopped_early);
	assert_int_equal(list.trials[10].state, JOB_CANCELLED);
	assert_int_equal(list.trials[10].final_step, 15);
	assert_string_equal(list.trials[10].final, "[0.0115]");
	check_trials(bench, job, 11, OUTCOME_COMPLETED);
	line_await(bench, job_id, "Trial 11 is stopped early");
}

static void a_poor_trial_is_stopped_early(void **state)
{
	poor_one_is_stopped(*state, "median", STOPPING_MEDIAN, false);
	poor_one_is_stopped(*state, "decay", STOPPING_DECAY_CURVE, false);
}

static void what_others_reached_outlives_the_daemon(void **state)
{
	poor_one_is_stopped(*state, "median", STOPPING_MEDIAN, true);
}

static void directories_of_jobs_that_ended_are_swept(void **state)
{
	struct bench *bench = *state;
	const int64_t job =
		search_submit(bench, &(struct search){ .job_id = "t", .trials = 1, .parallel = 1 });
	char path[160];

	fake_engine_up(bench->fake);
	snprintf(path, sizeof(path), "%s/%lld", bench->trials_dir,
		 (long long)trial_await(bench, job, 1, JOB_RUNNING));
	run_exit(bench, trial_await(bench, job, 1, JOB_RUNNING), 0);
	idle_await(bench);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(mkdir(path, 0777), 0);
	strcat(path, "/deep");
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(symlink("/", strcat(path, "/root")), 0);
	daemon_restart(bench);
	assert_int_equal(rmdir(bench->trials_dir), 0);
	assert_int_equal(access("/", F_OK), 0);
}

static void what_a_trial_leaves_beside_its_reports_goes_as_well(void **state)
{
	struct bench *bench = *state;
	const int64_t job =
		search_submit(bench, &(struct search){ .job_id = "t", .trials = 1, .parallel = 1 });
	const int64_t run = (fake_engine_up(bench->fake), trial_await(bench, job, 1, JOB_RUNNING));
	char path[160];

	snprintf(path, sizeof(path), "%s/%lld/a", bench->trials_dir, (long long)run);
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(symlink("/etc", strcat(path, "/link")), 0);
	run_exit(bench, run, 0);
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
	check_trials(bench, job, 1, OUTCOME_COMPLETED);
}

struct curve_seen {
	unsigned number;
	int64_t reported; /* @reported: -1: no curve */
};

static enum status curve_see(void *arg, const struct trial_curve *curve, struct error *err)
{
	struct curve_seen *seen = arg;
	AUTO(json) json_t *value = json_loads(curve->points, 0, NULL);

	(void)err;
	if (curve->number == seen->number)
		seen->reported = json_int_at(value, "reported", -1);
	return STATUS_OK;
}

/* Waits until this many reports of a trial are stored. */
static void reports_await(struct bench *bench, int64_t job, unsigned number, int64_t wanted)
{
	struct curve_seen seen = { .number = number };

	for (int i = 0; i < WAIT_MS; i++) {
		seen.reported = -1;
		assert_int_equal(trial_curves_visit(bench->store, job, curve_see, &seen, NULL), STATUS_OK);
		if (seen.reported == wanted)
			return;
		usleep(1000);
	}
	fail_msg("%d reports of trial %u are stored", (int)seen.reported, number);
}

static void what_a_trial_has_reported_is_kept(void **state)
{
	struct bench *bench = *state;
	const int64_t job =
		search_submit(bench, &(struct search){ .job_id = "t", .trials = 2, .parallel = 2 });
	int64_t run;

	fake_engine_up(bench->fake);
	run = trial_await(bench, job, 1, JOB_RUNNING);
	reports_write(bench, run, 30, 0.5, 0.01);
	run_exit(bench, run, 0);
	run_exit(bench, trial_await(bench, job, 2, JOB_RUNNING), 0);
	idle_await(bench);
	reports_await(bench, job, 1, 30);
	reports_await(bench, job, 2, -1);
	check_trials(bench, job, 2, OUTCOME_COMPLETED);
}

/* The file has only the latest reports. Earlier ones, which save the trial, are still known. */
static void what_a_trial_under_way_had_reported_outlives_the_daemon(void **state)
{
	struct bench *bench = *state;
	const int64_t job = search_submit(
		bench,
		&(struct search){ .job_id = "t", .trials = 3, .parallel = 1, .stopping = STOPPING_MEDIAN });
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	int64_t run;

	fake_engine_up(bench->fake);
	for (unsigned i = 1; i <= 2; i++) {
		run = trial_await(bench, job, i, JOB_RUNNING);
		reports_write(bench, run, 20, 0.5, 0.001);
		run_exit(bench, run, 0);
	}
	run = trial_await(bench, job, 3, JOB_RUNNING);
	reports_write(bench, run, 1, 0.9, 0);
	reports_await(bench, job, 3, 1);
	daemon_restart(bench);
	reports_write(bench, run, 0, 0, 0); /* earlier reports are no longer in the file */
	reports_write(bench, run, 15, 0.01, 0.0001);
	reports_await(bench, job, 3, 16);
	daemon_restart(bench);
	run_exit(bench, run, 0);
	idle_await(bench);
	trials_read(bench, job, &list);
	assert_false(list.trials[2].stopped_early);
	assert_int_equal(list.trials[2].state, JOB_SUCCEEDED);
	check_trials(bench, job, 3, OUTCOME_COMPLETED);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(a_poor_trial_is_stopped_early),
		BENCH_TEST(what_others_reached_outlives_the_daemon),
		BENCH_TEST(directories_of_jobs_that_ended_are_swept),
		BENCH_TEST(what_a_trial_leaves_beside_its_reports_goes_as_well),
		BENCH_TEST(what_a_trial_has_reported_is_kept),
		BENCH_TEST(what_a_trial_under_way_had_reported_outlives_the_daemon),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
