/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning jobs, from their submission to their end, on an engine that does as the test says. */
#include <sqlite3.h>
#include <sys/stat.h>

#include "daemon/base/json.h"
#include "scheduler/tuning/study.h"
#include "store/trials.h"
#include "tests/unit/scheduler/gate_testing.h"
#include "tests/unit/scheduler/search_testing.h"

static void database_do(struct bench *bench, const char *sql)
{
	char path[96];
	sqlite3 *db = NULL;

	snprintf(path, sizeof(path), "%s/state.db", bench->directory);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
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

static void trials_take_over_networks_across_restarts(void **state)
{
	struct bench *bench = *state;
	size_t most;
	int64_t job;

	bench->spare_network_ms = 60000;
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

	bench->spare_network_ms = 60000;
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

/* While the engine clears, and on what the four have left: nothing of their end is in the way of the next four. */
static void the_next_four_start_before_four_that_ended_at_once_are_removed(void **state)
{
	struct bench *bench = *state;
	int64_t job, runs[4];

	bench->spare_network_ms = 60000;
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
	/* Broken: with room for one spare network only, three more were made. */
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

/* ---- resumed jobs that are not what they were ---- */

/* One that has ended, and another that goes on from it. Returns the other; its first trial runs. */
static int64_t resumption_submit(struct bench *bench)
{
	const int64_t first =
		search_submit(bench, &(struct search){ .job_id = "first", .trials = 1, .parallel = 1 });
	int64_t second;

	fake_engine_up(bench->fake);
	run_exit(bench, trial_await(bench, first, 1, JOB_RUNNING), 0);
	idle_await(bench);
	second = search_submit(
		bench,
		&(struct search){ .job_id = "second", .trials = 3, .parallel = 1, .resumes = "first" });
	trial_await(bench, second, 1, JOB_RUNNING);
	return second;
}

#define OF_FIRST " (SELECT id FROM job WHERE job_id = 'first')"

static const char *const damages[] = {
	"UPDATE trial SET parameters = '[' WHERE job =" OF_FIRST,
	"UPDATE job SET plan = json_set(plan, '$.search.algorithm', 'NONE') WHERE id =" OF_FIRST,
	"UPDATE job SET plan = '{' WHERE id =" OF_FIRST,
	"UPDATE job SET job_id = 'other' WHERE id =" OF_FIRST,
};

static void resumption_fails(struct bench *bench, const char *damage)
{
	const int64_t job = resumption_submit(bench);

	daemon_stop(bench);
	database_do(bench, damage);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, job, JOB_FAILED,
		  "The trials of the job 'first', which this one resumes, cannot be read: ");
}

static void a_job_that_cannot_read_the_trials_of_another_fails(void **state)
{
	resumption_fails(*state, damages[0]);
}

static void a_job_that_cannot_read_the_study_of_another_fails(void **state)
{
	resumption_fails(*state, damages[1]);
}

static void a_job_that_cannot_read_the_plan_of_another_fails(void **state)
{
	resumption_fails(*state, damages[2]);
}

static void a_job_that_resumes_one_that_is_gone_fails(void **state)
{
	struct bench *bench = *state;
	const int64_t job = search_submit(
		bench, &(struct search){ .job_id = "t", .trials = 1, .parallel = 1, .resumes = "gone" });

	idle_await(bench);
	job_check(bench, job, JOB_FAILED,
		  "The trials of the job 'gone', which this one resumes, cannot be read");
}

/* It was cancelled before anybody looked at it. */
static void a_job_that_resumes_what_cannot_be_read_is_cancelled_all_the_same(void **state)
{
	struct bench *bench = *state;
	const int64_t job = resumption_submit(bench);
	struct trial_list list AUTO_TRIAL_LIST = { 0 };

	daemon_stop(bench);
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++)
		database_do(bench, damages[i]);
	database_do(bench, "UPDATE job SET state = 6, verdict = 7, verdict_message = 'enough'"
			   " WHERE job_id = 'second'");
	daemon_start(bench);
	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, job, JOB_CANCELLED, "enough");
	trials_read(bench, job, &list);
	assert_int_equal(list.trials[0].outcome, OUTCOME_CANCELLED);
}

/* ---- while somebody thinks ---- */

static void gate_shut(struct bench *bench)
{
	gate_set(false);
	daemon_stop(bench);
	bench->suggest = gate_suggest;
	daemon_start(bench);
	fake_engine_up(bench->fake);
}

static void other_jobs_go_on_while_one_is_thought_about(void **state)
{
	struct bench *bench = *state;
	int64_t tuning, plain;

	gate_shut(bench);
	tuning = search_submit(bench, &(struct search){ .job_id = "t", .trials = 2, .parallel = 1 });
	gate_await();
	plain = job_submit(bench, "plain", 0, 0);
	job_await(bench, plain, JOB_RUNNING);
	run_exit(bench, plain, 0);
	job_await(bench, plain, JOB_SUCCEEDED);
	job_await(bench, tuning, JOB_QUEUED);
	gate_set(true);
	run_exit(bench, trial_await(bench, tuning, 1, JOB_RUNNING), 0);
	run_exit(bench, trial_await(bench, tuning, 2, JOB_RUNNING), 0);
	idle_await(bench);
	job_check(bench, tuning, JOB_SUCCEEDED, NULL);
}

static void a_cancel_does_not_wait_for_the_thought(void **state)
{
	struct bench *bench = *state;
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	int64_t job;

	gate_shut(bench);
	job = search_submit(bench, &(struct search){ .job_id = "t", .trials = 2, .parallel = 2 });
	gate_await();
	assert_int_equal(job_cancel(bench->store, "p", "t", "The job was cancelled.", NULL), STATUS_OK);
	idle_await(bench);
	job_check(bench, job, JOB_CANCELLED, "The job was cancelled.");
	gate_set(true);
	/* The next one's thoughts come after all that were thought before. */
	run_exit(bench,
		 trial_await(
			 bench,
			 search_submit(bench, &(struct search){ .job_id = "u", .trials = 1, .parallel = 1 }),
			 1, JOB_RUNNING),
		 0);
	idle_await(bench);
	trials_read(bench, job, &list);
	assert_int_equal(list.count, 0);
}

/* All that a small space has, and less than was asked for: it is not all there is until it is stored. */
static void what_could_not_be_stored_is_suggested_again(void **state)
{
	struct bench *bench = *state;
	int64_t job;
	unsigned before;
	size_t most;

	gate_shut(bench);
	job = search_submit(bench, &(struct search){ .job_id = "t",
						     .trials = 10,
						     .parallel = 5,
						     .maximum = 3,
						     .algorithm = ALGORITHM_GRID });
	gate_await();
	before = gate_passed();
	disk_set_full(true);
	gate_set(true);
	for (int i = 0; i < WAIT_MS && gate_passed() < before + 2; i++)
		usleep(1000);
	disk_set_full(false);
	assert_true(gate_passed() >= before + 2);
	trials_drive(bench, job, false, &most);
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
	check_trials(bench, job, 3, OUTCOME_COMPLETED);
}

static char *parameters_of(struct bench *bench, int64_t job)
{
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	struct text text AUTO_TEXT = { 0 };

	trials_read(bench, job, &list);
	for (size_t i = 0; i < list.count; i++)
		text_printf(&text, "%u %s;", list.trials[i].known, list.trials[i].parameters);
	return text_take(&text);
}

/* The daemon ends while the third trial is thought about: the same one is thought of again. */
static void a_thought_that_was_lost_is_thought_again(void **state)
{
	struct bench *bench = *state;
	AUTO(string) char *straight = NULL;
	AUTO(string) char *again = NULL;
	int64_t first, second;
	size_t most;

	first = search_submit(bench, &(struct search){ .job_id = "a", .trials = 4, .parallel = 1 });
	fake_engine_up(bench->fake);
	trials_drive(bench, first, false, &most);
	straight = parameters_of(bench, first);
	gate_shut(bench);
	gate_set(true);
	second = search_submit(bench, &(struct search){ .job_id = "b", .trials = 4, .parallel = 1 });
	for (unsigned i = 1; i <= 2; i++) {
		const int64_t run = trial_await(bench, second, i, JOB_RUNNING);

		reports_write(bench, run, 3, 0.1, 0.01);
		gate_set(i == 1);
		run_exit(bench, run, 0);
	}
	gate_await();
	daemon_restart(bench);
	gate_set(true);
	trials_drive_from(bench, second, 2, false, &most);
	idle_await(bench);
	again = parameters_of(bench, second);
	assert_string_equal(straight, again);
}

/* ---- the queue ---- */

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
	plain = job_submit(bench, "plain", 0, 0);
	job_await(bench, plain, JOB_RUNNING);
	tuning = search_submit(bench, &(struct search){ .job_id = "t", .trials = 2, .parallel = 2 });
	trial_await(bench, tuning, 2, JOB_QUEUED);
	waiting = row_read(bench, tuning);
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
	plain = job_submit(bench, "plain", 0, 0);
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

/* Its first trials hold its place; the later ones let those go first that came before them. */
static void trials_neither_lose_their_jobs_place_nor_starve_others(void **state)
{
	struct bench *bench = *state;
	int64_t first, tuning, plain;

	gate_set(false);
	bench->suggest = gate_suggest;
	one_at_a_time(bench);
	first = job_submit(bench, "first", 0, 0);
	job_await(bench, first, JOB_RUNNING);
	tuning = search_submit(bench, &(struct search){ .job_id = "t", .trials = 3, .parallel = 1 });
	gate_await();
	plain = job_submit(bench, "plain", 0, 0);
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

/* ---- what was reported ---- */

struct curve_seen {
	unsigned number;
	int64_t reported; /* -1: no curve */
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

/* So many reports of a trial are stored. */
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

/* The file holds what was reported last. What came before, and saves the trial, is known all the same. */
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
	reports_write(bench, run, 0, 0, 0); /* gone from the file */
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
		TEST(trials_take_over_networks_across_restarts),
		TEST(the_next_trial_does_not_wait_for_containers_to_go_but_the_end_does),
		TEST(the_next_four_start_before_four_that_ended_at_once_are_removed),
		TEST(trials_wait_their_turn_like_jobs),
		TEST(a_poor_trial_is_stopped_early),
		TEST(what_others_reached_outlives_the_daemon),
		TEST(directories_of_jobs_that_ended_are_swept),
		TEST(what_a_trial_leaves_beside_its_reports_goes_as_well),
		TEST(a_job_that_cannot_read_the_trials_of_another_fails),
		TEST(a_job_that_cannot_read_the_study_of_another_fails),
		TEST(a_job_that_cannot_read_the_plan_of_another_fails),
		TEST(a_job_that_resumes_one_that_is_gone_fails),
		TEST(a_job_that_resumes_what_cannot_be_read_is_cancelled_all_the_same),
		TEST(other_jobs_go_on_while_one_is_thought_about),
		TEST(a_cancel_does_not_wait_for_the_thought),
		TEST(a_thought_that_was_lost_is_thought_again),
		TEST(what_could_not_be_stored_is_suggested_again),
		TEST(a_job_waits_as_long_as_its_trials_do),
		TEST(a_job_that_waits_too_long_is_cancelled),
		TEST(trials_neither_lose_their_jobs_place_nor_starve_others),
		TEST(a_job_that_finds_nothing_to_try_succeeds),
		TEST(what_a_trial_has_reported_is_kept),
		TEST(what_a_trial_under_way_had_reported_outlives_the_daemon),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
