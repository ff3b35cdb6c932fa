/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's wall clock is set to another day while jobs wait and run.
 * Fails with: job_run_deadline_us() reckoned at each look: the jump forward cancels the job, and after the one back it runs on.
 * Fails with: times of JOB_ADVANCE without max(): a job's end lies before its start.
 * Fails with: log times not raised to the last (store/logs/log_batch.c): the lines are read in another order. */
#include "tests/unit/scheduler/scheduler_testing.h"

static const int64_t day_ns = INT64_C(86400000000000), hour_ns = INT64_C(3600000000000),
		     hour_us = INT64_C(3600000000);

/* Waits for one complete pass of the scheduler over all jobs. */
static void another_run(struct bench *bench, const char *job_id)
{
	const int64_t id = bench_submit(bench, job_id, 0, 0);
	const struct replica_key master = key_of(id, ROLE_MASTER, 0);

	job_await(bench, id, JOB_RUNNING);
	fake_engine_exit(bench->fake, &master, 0);
	job_await(bench, id, JOB_SUCCEEDED);
}

/* @by_ns: how far the clock jumps in the middle of the job, which must end after exactly one hour. */
static void limit_check(struct bench *bench, int64_t by_ns)
{
	const int64_t id =
		shape_submit(bench, "limited", &(struct shape){ .project = "p", .max_running_us = hour_us });

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	another_run(bench, "before");
	wall_jump(bench, by_ns);
	another_run(bench, "after");
	clock_step(bench, hour_ns / 2);
	another_run(bench, "half");
	state_check(bench, id, JOB_RUNNING);
	clock_step(bench, hour_ns / 2);
	job_await(bench, id, JOB_CANCELLED);
	idle_await(bench);
	job_check(bench, id, JOB_CANCELLED, "ran longer than its maxRunningTime of 3600s.");
}

static void a_jump_forward_takes_no_running_time(void **state)
{
	limit_check(*state, day_ns);
}

static void a_jump_back_gives_no_running_time(void **state)
{
	limit_check(*state, -day_ns);
}

/* A daemon adopts the job after the clock was set back: the job has an hour left, not a day and an hour. */
static void a_start_that_lies_ahead_was_just_now(void **state)
{
	struct bench *bench = *state;
	const int64_t id =
		shape_submit(bench, "limited", &(struct shape){ .project = "p", .max_running_us = hour_us });

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	daemon_stop(bench);
	wall_jump(bench, -day_ns);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	another_run(bench, "between");
	state_check(bench, id, JOB_RUNNING);
	clock_step(bench, hour_ns);
	job_await(bench, id, JOB_CANCELLED);
	idle_await(bench);
}

static void a_job_that_waits_is_let_be(void **state)
{
	struct bench *bench = *state;
	int64_t first, waiting, last;
	struct replica_key master;

	daemon_stop(bench);
	bench->capacity.max_jobs = 1;
	daemon_start(bench);
	fake_engine_up(bench->fake);
	first = bench_submit(bench, "first", 0, 0);
	master = key_of(first, ROLE_MASTER, 0);
	job_await(bench, first, JOB_RUNNING);
	waiting = shape_submit(bench, "waiting", &(struct shape){ .project = "p", .max_wait_us = hour_us });
	taken_up_await(bench, "seen");
	wall_jump(bench, day_ns);
	taken_up_await(bench, "after");
	state_check(bench, waiting, JOB_QUEUED);
	clock_step(bench, hour_ns);
	job_await(bench, waiting, JOB_CANCELLED);
	last = bench_submit(bench, "last", 0, 0);
	fake_engine_exit(bench->fake, &master, 0);
	job_await(bench, last, JOB_RUNNING);
	master = key_of(last, ROLE_MASTER, 0);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
}

/* Fails with: replicas_look() by the wall clock: hit as soon as the clock had jumped. */
static void a_fault_that_is_to_come_waits_its_time(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "late", 0, 0);

	order(bench, "{\"fault\": \"exit\", \"exitCode\": 3, \"job\": \"late\", \"afterSeconds\": 3600}");
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	wall_jump(bench, day_ns);
	scheduler_wake(bench->scheduler, id);
	another_run(bench, "after");
	state_check(bench, id, JOB_RUNNING);
	clock_step(bench, hour_ns);
	job_await(bench, id, JOB_FAILED);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "exited with a non-zero status of 3.");
}

/* Fails with: left_us() by the wall clock: the network stayed cut for a day. */
static void a_fault_that_passes_lasts_its_time(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "cut", 0, 0);
	const struct replica_key master = key_of(id, ROLE_MASTER, 0);

	order(bench, "{\"fault\": \"cutNetwork\", \"job\": \"cut\", \"seconds\": 3600}");
	fake_engine_up(bench->fake);
	calls_await(bench, FAKE_CUT, 1);
	wall_jump(bench, -day_ns);
	scheduler_wake(bench->scheduler, id);
	another_run(bench, "after");
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_JOIN), 0);
	clock_step(bench, hour_ns);
	calls_await(bench, FAKE_JOIN, 1);
	fake_engine_exit(bench->fake, &master, 0);
	job_await(bench, id, JOB_SUCCEEDED);
	idle_await(bench);
}

/* The clock is set while the engine is unreachable. A kill after its return counts as the program's own again. Fails with:
 * is_of_loss() without clock_set_in_loss: what the engine killed has failed where the clock was put back. */
static void loss_check(struct bench *bench, int64_t by_ns)
{
	const int64_t id = bench_submit(bench, "taken", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	engine_leave(bench, id, "taken");
	wall_jump(bench, by_ns);
	fake_engine_exit_unseen(bench->fake, &master, 137);
	fake_engine_up(bench->fake);
	calls_await(bench, FAKE_START, 2);
	wall_jump(bench, -by_ns); /* so that readers can see the lines */
	line_await(bench, "taken", "The container engine was away when the replica master 0 ended");
	master.attempt = 2;
	job_await(bench, id, JOB_RUNNING);
	fake_engine_exit(bench->fake, &master, 137);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "9(SIGKILL)");
}

static void what_an_engine_took_along_is_tried_again_though_the_clock_was_put_back(void **state)
{
	loss_check(*state, -day_ns);
}

static void what_an_engine_took_along_is_tried_again_though_the_clock_was_put_forward(void **state)
{
	loss_check(*state, day_ns);
}

/* Fails with: exit_is_late() without clock_set_in_loss: the job was cancelled, as if its program had ended an hour from now. */
static void what_ended_in_time_did_though_the_clock_was_put_back_since(void **state)
{
	struct bench *bench = *state;
	const int64_t id = shape_submit(
		bench, "limited", &(struct shape){ .project = "p", .max_running_us = hour_ns / 1000 });
	const struct replica_key master = key_of(id, ROLE_MASTER, 0);

	engine_leave(bench, id, "limited");
	fake_engine_exit_unseen(bench->fake, &master, 0);
	wall_jump(bench, -day_ns);
	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

/* Fails with: on_up() that leaves clock_set_in_loss: the worker's own kill is taken for the engine's, which was there. */
static void what_ends_long_after_a_loss_is_not_of_it(void **state)
{
	struct bench *bench = *state;
	const int64_t first = bench_submit(bench, "first", 0, 0);
	const struct replica_key master = key_of(first, ROLE_MASTER, 0);
	AUTO(string) char *log = NULL;
	int64_t id;

	engine_leave(bench, first, "first");
	wall_jump(bench, -day_ns);
	fake_engine_up(bench->fake);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	/* One start finds the engine busy, so that everything is listed again; meanwhile the other program is
	 * killed. */
	fake_engine_fail(bench->fake, FAKE_START, 1, STATUS_UNAVAILABLE);
	fake_engine_exit_at_once(bench->fake, 137);
	id = bench_submit(bench, "killed", 1, 0);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "9(SIGKILL)");
	wall_jump(bench, day_ns); /* so that readers can see the lines */
	log = service_log(bench, "killed");
	assert_null(strstr(log, "The container engine was away"));
}

/* Readers page by (timestamp, insertId), so lines must be read in the order in which they were stored. */
static void a_jobs_times_never_go_back(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "back", 0, 0);
	const struct replica_key master = key_of(id, ROLE_MASTER, 0);
	AUTO(job) struct job *job = NULL;
	AUTO(string) char *log = NULL;

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	line_await(bench, "back", "Job is running.");
	wall_jump(bench, -day_ns);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	assert_int_equal(job_get_by_id(bench->store, id, &job, NULL), STATUS_OK);
	assert_string_equal(job_state_name(job->state), "SUCCEEDED");
	assert_true(job->created_us <= job->started_us && job->started_us <= job->running_us &&
		    job->running_us <= job->ended_us && job->ended_us <= job->updated_us);
	wall_jump(bench, day_ns); /* so that readers can see the lines, except those of the future */
	log = service_log(bench, "back");
	assert_string_equal(log, "Waiting for job to be provisioned.\n"
				 "Job is preparing.\n"
				 "Waiting for training program to start.\n"
				 "Job is running.\n"
				 "Tearing down training program.\n"
				 "Finished tearing down training program.\n"
				 "Job completed successfully.\n");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(a_jump_forward_takes_no_running_time),
		BENCH_TEST(a_jump_back_gives_no_running_time),
		BENCH_TEST(a_start_that_lies_ahead_was_just_now),
		BENCH_TEST(a_job_that_waits_is_let_be),
		BENCH_TEST(a_fault_that_is_to_come_waits_its_time),
		BENCH_TEST(a_fault_that_passes_lasts_its_time),
		BENCH_TEST(what_an_engine_took_along_is_tried_again_though_the_clock_was_put_back),
		BENCH_TEST(what_an_engine_took_along_is_tried_again_though_the_clock_was_put_forward),
		BENCH_TEST(what_ended_in_time_did_though_the_clock_was_put_back_since),
		BENCH_TEST(what_ends_long_after_a_loss_is_not_of_it),
		BENCH_TEST(a_jobs_times_never_go_back),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
