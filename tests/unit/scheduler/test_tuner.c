/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning jobs, from their submission to their end, on an engine that does as the test says. */
#include <sqlite3.h>
#include <sys/stat.h>

#include "scheduler/tuning/study.h"
#include "store/trials.h"
#include "tests/unit/scheduler/scheduler_testing.h"

struct search {
	const char *job_id;
	unsigned trials, parallel, failed;
	double maximum; /* of x, from 1 */
	enum algorithm algorithm;
	enum stopping_rule stopping;
	int64_t max_running_us;
	int priority;
	bool broken; /* its study cannot be read */
};

static json_t *search_make(const struct search *search)
{
	struct parameter parameter = { .name = (char *)"x",
				       .type = PARAMETER_INTEGER,
				       .minimum = 1,
				       .maximum = search->maximum > 0 ? search->maximum : 1000,
				       .parent = -1 };
	struct metric metric = { .name = (char *)"accuracy" };
	const struct study study = { .seed = 7,
				     .algorithm = search->algorithm,
				     .stopping = search->stopping,
				     .parameters = &parameter,
				     .parameter_count = 1,
				     .metrics = &metric,
				     .metric_count = 1 };

	return study_to_json(&study);
}

static int64_t search_submit(struct bench *bench, const struct search *search)
{
	AUTO(plan) struct plan *plan = plan_new();
	AUTO(string) char *text = NULL;
	AUTO(job) struct job *stored = NULL;

	plan->dialect = strdup("ml");
	plan->project = strdup("p");
	plan->job_id = strdup(search->job_id);
	plan->cluster_id = strdup("ab12cd34ef");
	plan->region = strdup("us-central1");
	plan->input = strdup("{}");
	plan->priority = search->priority;
	plan->max_running_us = search->max_running_us;
	plan->search = search->broken ? json_pack("{s:s}", "algorithm", "NONE") : search_make(search);
	plan->trial_count = search->trials;
	plan->parallel_trial_count = search->parallel;
	plan->failed_trial_count = search->failed;
	pool_fill(&plan->pools[ROLE_MASTER], &(struct shape){ .project = "p" }, "image:1", 1);
	text = plan_to_text(plan);
	assert_non_null(text);
	assert_int_equal(job_insert(bench->store,
				    &(struct job){ .project = (char *)"p",
						   .job_id = (char *)search->job_id,
						   .priority = search->priority,
						   .input = (char *)"{}",
						   .output = (char *)"{}",
						   .plan = text },
				    NULL, 0, &stored, NULL),
			 STATUS_OK);
	return stored->id;
}

static void trials_read(struct bench *bench, int64_t job, struct trial_list *list)
{
	assert_int_equal(trial_list_read(bench->store, job, list, NULL), STATUS_OK);
}

/* The trial, once it is there and in that state: its run. */
static int64_t trial_await(struct bench *bench, int64_t job, unsigned number, enum job_state wanted)
{
	for (int i = 0; i < WAIT_MS; i++) {
		struct trial_list list AUTO_TRIAL_LIST = { 0 };

		trials_read(bench, job, &list);
		if (list.count >= number && list.trials[number - 1].state == wanted)
			return list.trials[number - 1].run;
		usleep(1000);
	}
	fail_msg("trial %u never became %s", number, job_state_name(wanted));
	return 0;
}

/* One report for each of @count steps, from @from up by @rise. */
static void reports_write(struct bench *bench, int64_t run, int count, double from, double rise)
{
	char path[160];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%lld/output.metrics", bench->trials_dir, (long long)run);
	file = fopen(path, "w");
	assert_non_null(file);
	for (int i = 1; i <= count; i++)
		fprintf(file,
			"{\"global_step\":\"%d\",\"timestamp\":%.3f,\"accuracy\":\"%.6f\",\"trial\":\"1\"}\n",
			i, (double)clock_wall_us(&system_clock) / 1e6 + i, from + rise * i);
	fclose(file);
}

static void run_exit(struct bench *bench, int64_t run, int code)
{
	const struct replica_key key = key_of(run, ROLE_MASTER, 0);

	fake_engine_exit(bench->fake, &key, code);
}

static void daemon_restart(struct bench *bench)
{
	daemon_stop(bench);
	daemon_start(bench);
	fake_engine_up(bench->fake);
}

/* Ends each trial as it runs, but the first @ended, having it report, until the job has ended. @ret_most: so many were open at once. */
static void trials_drive_from(struct bench *bench, int64_t job, size_t ended, bool restarts, size_t *ret_most)
{
	*ret_most = 0;
	for (int i = 0; i < WAIT_MS; i++) {
		struct trial_list list AUTO_TRIAL_LIST = { 0 };
		AUTO(job) struct job *row = NULL;
		size_t open = 0;

		assert_int_equal(job_get_by_id(bench->store, job, &row, NULL), STATUS_OK);
		if (job_state_is_final(row->state))
			return;
		trials_read(bench, job, &list);
		for (size_t t = 0; t < list.count; t++)
			open += list.trials[t].outcome == OUTCOME_OPEN;
		*ret_most = open > *ret_most ? open : *ret_most;
		if (ended < list.count && list.trials[ended].state == JOB_RUNNING) {
			reports_write(bench, list.trials[ended].run, 3, 0.1, 0.01);
			run_exit(bench, list.trials[ended++].run, 0);
			i = 0;
		}
		if (restarts)
			daemon_restart(bench);
		usleep(1000);
	}
	fail_msg("the job never ended");
}

static void trials_drive(struct bench *bench, int64_t job, bool restarts, size_t *ret_most)
{
	trials_drive_from(bench, job, 0, restarts, ret_most);
}

static void check_trials(struct bench *bench, int64_t job, size_t count, enum trial_outcome outcome)
{
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	unsigned long long places = 0;

	trials_read(bench, job, &list);
	assert_int_equal(list.count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(list.trials[i].outcome, outcome);
		assert_true(list.trials[i].ended_as >= 1 && list.trials[i].ended_as <= count);
		places |= 1ull << list.trials[i].ended_as;
	}
	assert_true(places == (2ull << count) - 2);
	/* Nothing is left of their reports. */
	assert_true(rmdir(bench->trials_dir) == 0);
}

static void so_many_run_at_once_until_all_have_run(void **state)
{
	struct bench *bench = *state;
	const int64_t job =
		search_submit(bench, &(struct search){ .job_id = "t", .trials = 9, .parallel = 3 });
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
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
	assert_string_equal(list.trials[0].final, "{\"step\":3,\"values\":[0.13]}");
	check_trials(bench, job, 9, OUTCOME_COMPLETED);
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
	job_check(bench, job, JOB_FAILED, "2 trials of the hyperparameter tuning job failed.");
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

/* Ten good ones, then one that learns nothing; in between the daemon may begin anew. */
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
	assert_string_equal(list.trials[10].final, "{\"step\":15,\"values\":[0.0115]}");
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

/* The plan of a job under way is damaged while no daemon runs: its trials are ended, not left behind. */
static void a_study_that_was_damaged_takes_its_trials_along(void **state)
{
	struct bench *bench = *state;
	const int64_t job =
		search_submit(bench, &(struct search){ .job_id = "t", .trials = 5, .parallel = 2 });
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	char path[96];
	sqlite3 *db = NULL;

	fake_engine_up(bench->fake);
	trial_await(bench, job, 1, JOB_RUNNING);
	trial_await(bench, job, 2, JOB_RUNNING);
	daemon_stop(bench);
	snprintf(path, sizeof(path), "%s/state.db", bench->directory);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				      "UPDATE job SET plan = json_set(plan, '$.search.algorithm', 'NONE')"
				      " WHERE parent IS NULL",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(so_many_run_at_once_until_all_have_run),
		TEST(a_space_that_is_exhausted_ends_the_job),
		TEST(the_first_trial_that_fails_fails_the_job),
		TEST(failed_trials_are_counted),
		TEST(a_cancel_ends_the_trials_under_way),
		TEST(a_cancel_before_the_engine_came_ends_it),
		TEST(its_time_is_the_jobs),
		TEST(a_study_that_cannot_be_read_fails_the_job),
		TEST(a_study_that_was_damaged_takes_its_trials_along),
		TEST(trials_outlive_an_engine_that_goes_and_comes),
		TEST(no_trial_is_lost_or_run_twice_by_restarts),
		TEST(trials_wait_their_turn_like_jobs),
		TEST(a_poor_trial_is_stopped_early),
		TEST(what_others_reached_outlives_the_daemon),
		TEST(directories_of_jobs_that_ended_are_swept),
		TEST(what_a_trial_leaves_beside_its_reports_goes_as_well),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
