/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/job_run.h"
#include "scheduler/scheduler_state.h"
#include "tests/unit/scheduler/search/search_testing.h"

static void a_job_runs_to_its_end_and_leaves_nothing(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "good", 2, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);
	AUTO(string) char *log = NULL;

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	assert_int_equal(fake_engine_container_count(bench->fake), 3);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	log = service_log(bench, "good");
	assert_string_equal(log, "Waiting for job to be provisioned.\n"
				 "Job is preparing.\n"
				 "Waiting for training program to start.\n"
				 "Job is running.\n"
				 "Tearing down training program.\n"
				 "Finished tearing down training program.\n"
				 "Job completed successfully.\n");
}

/* The master ends while the others are still being started. */
static void a_job_that_ends_before_all_are_up_has_run(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "quick", 9, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

static void a_failing_worker_fails_the_job(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "bad", 2, 0);
	struct replica_key worker = key_of(id, ROLE_WORKER, 1);
	AUTO(string) char *log = NULL;

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_exit(bench->fake, &worker, 3);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "The replica worker 1 exited with a non-zero status of 3.");
	log = service_log(bench, "bad");
	assert_non_null(strstr(log, "The replica worker 1 exited"));
	assert_non_null(strstr(log, "Finished tearing down training program.\nJob failed.\n"));
}

static void a_transient_exit_is_tried_again_as_a_whole(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "again", 1, 0);
	struct replica_key worker = key_of(id, ROLE_WORKER, 0), master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	fake_engine_exit(bench->fake, &worker, 139);
	master.attempt = 2;
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

static void transient_exits_end_after_the_fourth_attempt(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "never", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	for (master.attempt = 1; master.attempt <= 4; master.attempt++)
		fake_engine_exit(bench->fake, &master, 134);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "6(SIGABRT)");
}

static void a_job_cancelled_in_the_queue_never_touches_the_engine(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "early", 0, 0);

	assert_int_equal(job_cancel(bench->store, "p", "early", "Because.", NULL), STATUS_OK);
	idle_await(bench);
	job_check(bench, id, JOB_CANCELLED, "Because.");
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_NETWORK), 0);
}

static void a_running_job_is_cancelled(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "late", 2, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	assert_int_equal(job_cancel(bench->store, "p", "late", "Because.", NULL), STATUS_OK);
	idle_await(bench);
	job_check(bench, id, JOB_CANCELLED, "Because.");
}

static void a_master_that_ends_while_the_job_is_cancelled_does_not_save_it(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "race", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	fake_engine_ignore_stop(bench->fake, true);
	job_await(bench, id, JOB_RUNNING);
	assert_int_equal(job_cancel(bench->store, "p", "race", "Because.", NULL), STATUS_OK);
	job_await(bench, id, JOB_CANCELLING);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_CANCELLED, "Because.");
}

/* Fails with: scheduler_clock_stepped() without its broadcast. */
static void a_step_of_the_clock_wakes_what_waits_for_an_instant(void **state)
{
	static const int64_t hour_us = INT64_C(3600) * 1000000;
	struct bench *bench = *state;

	int64_t id =
		shape_submit(bench, "limited", &(struct shape){ .project = "p", .max_wait_us = hour_us });
	fake_engine_down(bench->fake, "cannot connect");
	line_await(bench, "limited", "Waiting for the container engine: cannot connect");
	/* It has nothing left to do when this returns. */
	assert_true(scheduler_clear_networks(bench->scheduler, WAIT_MS));
	clock_step(bench, 2 * hour_us * 1000);
	job_await(bench, id, JOB_CANCELLED);
}

/* As at a kill of the daemon between the start and the commit that tells of it. Fails with: judge.c's ran_unseen() is false. */
static void a_job_that_ends_unseen_was_running(void **state)
{
	static const struct ending {
		const char *name;
		int exit_code;
		enum job_state end;
		const char *error;
	} endings[] = { { "unseen", 0, JOB_SUCCEEDED, NULL },
			{ "unseen_failure", 7, JOB_FAILED, "status of 7." },
			{ "unseen_crash", 139, JOB_FAILED, "11(SIGSEGV)" } };
	struct bench *bench = *state;

	fake_engine_up(bench->fake);
	for (size_t i = 0; i < COUNT_OF(endings); i++) {
		AUTO(job) struct job *job = NULL;
		int64_t id;

		fake_engine_exit_at_once(bench->fake, endings[i].exit_code);
		id = bench_submit(bench, endings[i].name, 0, 0);
		job_await(bench, id, endings[i].end);
		network_free_await(bench);
		job_check(bench, id, endings[i].end, endings[i].error);
		line_await(bench, endings[i].name, "Job is running.");
		assert_int_equal(job_get_by_id(bench->store, id, &job, NULL), STATUS_OK);
		assert_true(job->running_us > 0);
	}
}

/* Fails with: job_run_began() is true whenever one replica began. */
static void a_job_that_was_never_all_up_was_not_running(void **state)
{
	struct bench *bench = *state;
	AUTO(string) char *log = NULL;
	int64_t id;

	fake_engine_up(bench->fake);
	fake_engine_exit_at_once(bench->fake, 7);
	fake_engine_fail(bench->fake, FAKE_START, 2, STATUS_FAILED_PRECONDITION);
	id = bench_submit(bench, "half", 1, 0);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "could not be started");
	log = service_log(bench, "half");
	assert_null(strstr(log, "Job is running."));
}

static void running_jobs_are_adopted_by_the_next_daemon(void **state)
{
	struct bench *bench = *state;
	int64_t running = bench_submit(bench, "running", 1, 0), ended = bench_submit(bench, "ended", 0, 0);
	struct replica_key running_master = key_of(running, ROLE_MASTER, 0),
			   ended_master = key_of(ended, ROLE_MASTER, 0);
	unsigned creates;

	fake_engine_up(bench->fake);
	job_await(bench, running, JOB_RUNNING);
	job_await(bench, ended, JOB_RUNNING);
	creates = fake_engine_calls(bench->fake, FAKE_CREATE);
	daemon_stop(bench);
	fake_engine_exit_unseen(bench->fake, &ended_master, 7);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	job_await(bench, ended, JOB_FAILED);
	fake_engine_exit(bench->fake, &running_master, 0);
	idle_await(bench);
	job_check(bench, running, JOB_SUCCEEDED, NULL);
	job_check(bench, ended, JOB_FAILED, "status of 7.");
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CREATE), creates);
}

static void a_job_whose_plan_cannot_be_read_fails(void **state)
{
	struct bench *bench = *state;
	AUTO(job) struct job *stored = NULL;

	assert_int_equal(job_insert(bench->store,
				    &(struct job){ .project = (char *)"p",
						   .job_id = (char *)"broken",
						   .input = (char *)"{}",
						   .output = (char *)"{}",
						   .plan = (char *)"nonsense" },
				    NULL, 0, &stored, NULL),
			 STATUS_OK);
	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, stored->id, JOB_FAILED, "plan cannot be read");
}

/* So that a start takes no longer with thousands of them. Fails with: jobs_load() that reads all unfinished jobs as before;
 * jobs_open() that forgets the fault. */
static void a_start_reads_no_plan_of_a_job_that_merely_waits(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "broken", 0, 0);

	taken_up_await(bench, "one");
	daemon_stop(bench);
	database_do(bench, "UPDATE job SET plan = 'nonsense' WHERE job_id = 'broken'");
	daemon_start(bench);
	taken_up_await(bench, "another");
	state_check(bench, id, JOB_QUEUED);
	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "plan cannot be read");
}

/* Fails with: waiting_add() without its wakes_set(). */
static void a_limit_for_waiting_counts_after_a_start(void **state)
{
	static const int64_t hour_us = INT64_C(3600) * 1000000;
	struct bench *bench = *state;
	int64_t id =
		shape_submit(bench, "limited", &(struct shape){ .project = "p", .max_wait_us = hour_us });

	taken_up_await(bench, "before");
	daemon_stop(bench);
	daemon_start(bench);
	taken_up_await(bench, "after");
	state_check(bench, id, JOB_QUEUED);
	clock_step(bench, 2 * hour_us * 1000);
	job_await(bench, id, JOB_CANCELLED);
}

static void a_job_whose_assignment_cannot_be_read_fails(void **state)
{
	struct bench *bench = *state;
	int64_t id;
	struct job_change change = {
		.from = JOB_QUEUED, .to = JOB_PREPARING, .started_us = 1, .assignment = "nonsense"
	};

	daemon_stop(bench);
	assert_int_equal(store_open(bench->directory, &system_clock, &bench->store, NULL), STATUS_OK);
	id = change.job = bench_submit(bench, "broken", 1, 0);
	assert_int_equal(job_apply(bench->store, &change, 1, NULL), STATUS_OK);
	store_close(bench->store);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "assignment cannot be read");
}

static void the_start_is_told_once_whatever_happens_to_the_daemon(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "told", 1, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);
	AUTO(string) char *log = NULL;
	const char *first;

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	daemon_stop(bench);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	log = service_log(bench, "told");
	first = strstr(log, "Waiting for training program to start.");
	assert_non_null(first);
	assert_null(strstr(first + 1, "Waiting for training program to start."));
}

static void the_queue_is_served_by_priority_and_then_by_age(void **state)
{
	struct bench *bench = *state;
	int64_t first, second, urgent;
	struct replica_key master;

	daemon_stop(bench);
	bench->capacity.max_jobs = 1;
	daemon_start(bench);
	first = bench_submit(bench, "first", 0, 0);
	second = bench_submit(bench, "second", 0, 0);
	urgent = bench_submit(bench, "urgent", 0, 5);
	fake_engine_up(bench->fake);
	job_await(bench, urgent, JOB_RUNNING);
	for (int i = 0; i < 3; i++) {
		const int64_t order[] = { urgent, first, second };

		job_await(bench, order[i], JOB_RUNNING);
		assert_int_equal(fake_engine_container_count(bench->fake), 1);
		master = key_of(order[i], ROLE_MASTER, 0);
		fake_engine_exit(bench->fake, &master, 0);
		job_await(bench, order[i], JOB_SUCCEEDED);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(a_job_runs_to_its_end_and_leaves_nothing),
		BENCH_TEST(a_job_that_ends_before_all_are_up_has_run),
		BENCH_TEST(a_failing_worker_fails_the_job),
		BENCH_TEST(a_transient_exit_is_tried_again_as_a_whole),
		BENCH_TEST(transient_exits_end_after_the_fourth_attempt),
		BENCH_TEST(a_job_cancelled_in_the_queue_never_touches_the_engine),
		BENCH_TEST(a_running_job_is_cancelled),
		BENCH_TEST(a_master_that_ends_while_the_job_is_cancelled_does_not_save_it),
		BENCH_TEST(a_step_of_the_clock_wakes_what_waits_for_an_instant),
		BENCH_TEST(a_job_that_ends_unseen_was_running),
		BENCH_TEST(a_job_that_was_never_all_up_was_not_running),
		BENCH_TEST(running_jobs_are_adopted_by_the_next_daemon),
		BENCH_TEST(a_job_whose_plan_cannot_be_read_fails),
		BENCH_TEST(a_start_reads_no_plan_of_a_job_that_merely_waits),
		BENCH_TEST(a_limit_for_waiting_counts_after_a_start),
		BENCH_TEST(a_job_whose_assignment_cannot_be_read_fails),
		BENCH_TEST(the_start_is_told_once_whatever_happens_to_the_daemon),
		BENCH_TEST(the_queue_is_served_by_priority_and_then_by_age),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
