/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that end while the daemon or the engine is down: what the daemon concludes when it is back. */
#include "tests/unit/scheduler/scheduler_testing.h"

static const int64_t hour_us = INT64_C(3600000000), hour_ns = INT64_C(3600000000000);

/* The daemon is killed while the job's master runs, and then the master ends. The daemon may be started afterwards. */
static void end_while_away(struct bench *bench, int64_t job, int exit_code)
{
	const struct replica_key master = key_of(job, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, job, JOB_RUNNING);
	daemon_stop(bench);
	fake_engine_exit_unseen(bench->fake, &master, exit_code);
}

/* Starts the daemon; the engine becomes reachable only after it has decided about all its jobs. */
static void come_back(struct bench *bench)
{
	daemon_start(bench);
	taken_up_await(bench, "other");
	fake_engine_up(bench->fake);
}

/* Exit codes as of `sys.exit(-1)`. Fails with: kill_is_loss() that does not ask for a witness: both jobs began again. */
static void what_the_engine_saw_end_by_itself_has_its_own_exit_code(void **state)
{
	struct bench *bench = *state;
	static const struct {
		const char *name;
		int exit_code;
		const char *error;
	} ends[] = { { "minus_one", 255, "status of 255" },
		     { "killed", 137, "status of 137" },
		     { "ended", 143, "status of 143" } };
	int64_t ids[COUNT_OF(ends)];

	fake_engine_up(bench->fake);
	for (size_t i = 0; i < COUNT_OF(ends); i++) {
		ids[i] = bench_submit(bench, ends[i].name, 0, 0);
		job_await(bench, ids[i], JOB_RUNNING);
	}
	daemon_stop(bench);
	for (size_t i = 0; i < COUNT_OF(ends); i++) {
		const struct replica_key master = key_of(ids[i], ROLE_MASTER, 0);

		fake_engine_exit_unseen(bench->fake, &master, ends[i].exit_code);
	}
	fake_engine_witness(bench->fake);
	come_back(bench);
	idle_await(bench);
	for (size_t i = 0; i < COUNT_OF(ends); i++)
		job_check_error(bench, ids[i], JOB_FAILED, ends[i].error);
}

/* Fails with: kill_is_loss() false: it failed, though the reason is not known. */
static void what_the_machine_may_have_taken_along_is_tried_again(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "taken", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	end_while_away(bench, id, 255);
	come_back(bench);
	line_await(bench, "taken", "The job is tried again (attempt 2).");
	master.attempt = 2;
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

/* Fails with: report_missing_lines() that does not ask for a witness. */
static void an_engine_that_was_out_of_reach_alone_has_lost_no_lines(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "apart", 0, 0);
	const struct replica_key master = key_of(id, ROLE_MASTER, 0);
	AUTO(string) char *log = NULL;

	engine_leave(bench, id, "apart");
	fake_engine_exit_unseen(bench->fake, &master, 137);
	fake_engine_witness(bench->fake);
	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "status of 137");
	log = service_log(bench, "apart");
	assert_null(strstr(log, "The container engine was away when"));
}

static int64_t limited_submit(struct bench *bench)
{
	return shape_submit(bench, "limited", &(struct shape){ .project = "p", .max_running_us = hour_us });
}

/* Fails with: limit_us() without end_is_open(): the job was cancelled before anybody had looked. */
static void what_ended_in_time_did_however_late_it_is_found(void **state)
{
	struct bench *bench = *state;
	const int64_t id = limited_submit(bench);

	end_while_away(bench, id, 0);
	wall_jump(bench, 2 * hour_ns);
	come_back(bench);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

/* Fails with: exit_is_late() false: it succeeded, after twice the time that it was given. */
static void what_ended_too_late_while_nobody_was_there_to_cancel_it_is_cancelled(void **state)
{
	struct bench *bench = *state;
	int64_t id;

	wall_jump(bench, -2 * hour_ns);
	id = limited_submit(bench);
	end_while_away(bench, id, 0);
	wall_jump(bench, 2 * hour_ns);
	come_back(bench);
	idle_await(bench);
	job_check(bench, id, JOB_CANCELLED, "ran longer than its maxRunningTime of 3600s.");
}

/* The replica could not be stopped, and may have ended. Fails with: end_is_open() false: it was CANCELLING, and its engine
 * away. */
static void a_limit_that_passes_while_the_engine_is_away_counts_once_it_is_back(void **state)
{
	struct bench *bench = *state;
	const int64_t id = limited_submit(bench);

	engine_leave(bench, id, "limited");
	clock_step(bench, 2 * hour_ns);
	taken_up_await(bench, "other");
	state_check(bench, id, JOB_RUNNING);
	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, id, JOB_CANCELLED, "ran longer than its maxRunningTime of 3600s.");
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		BENCH_TEST(what_the_engine_saw_end_by_itself_has_its_own_exit_code),
		BENCH_TEST(what_the_machine_may_have_taken_along_is_tried_again),
		BENCH_TEST(an_engine_that_was_out_of_reach_alone_has_lost_no_lines),
		BENCH_TEST(what_ended_in_time_did_however_late_it_is_found),
		BENCH_TEST(what_ended_too_late_while_nobody_was_there_to_cancel_it_is_cancelled),
		BENCH_TEST(a_limit_that_passes_while_the_engine_is_away_counts_once_it_is_back),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
