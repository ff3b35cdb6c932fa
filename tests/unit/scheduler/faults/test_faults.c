/* SPDX-License-Identifier: Apache-2.0 */
/* Faults that are injected into jobs. */
#include "scheduler/decide.h"
#include "scheduler/job_run.h"
#include "scheduler/reconciler.h"
#include "tests/unit/scheduler/mark_testing.h"
#include "tests/unit/scheduler/scheduler_testing.h"

/* The job fails by a fault that is injected now. */
static void job_end(struct bench *bench, int64_t id)
{
	order(bench, "{\"fault\": \"exit\", \"exitCode\": 3}");
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "exited with a non-zero status of 3.");
}

static struct replica_key restarted(struct replica_key key)
{
	key.restart++;
	return key;
}

static void a_preempted_replica_begins_anew_alone(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "hit", 2, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0), worker = key_of(id, ROLE_WORKER, 1);
	struct replica_key again = restarted(worker);

	order(bench, "{\"fault\": \"preempt\", \"role\": \"worker\", \"replica\": 1}");
	fake_engine_up(bench->fake);
	line_await(bench, "hit", "Fault rule 1: the replica worker 1 is preempted. This fault is injected.");
	fake_engine_exit(bench->fake, &again, 0);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CREATE), 4);
}

/* Fails with: job_run_outcome() that leaves out ordered: the log said that it was stopped from outside. */
static void a_job_that_begins_again_for_a_preemption_says_so(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "alone", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	order(bench, "{\"fault\": \"preempt\"}");
	fake_engine_up(bench->fake);
	line_await(bench, "alone", "The replica master 0 was lost: it was preempted by an injected fault.");
	master.attempt = 2;
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

static void a_rule_that_comes_late_meets_the_job_that_runs(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "late", 1, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	order(bench, "{\"fault\": \"exit\", \"exitCode\": 42, \"role\": \"worker\"}");
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "The replica worker 0 exited with a non-zero status of 42.");
}

static void a_stockout_holds_one_job_and_lets_others_pass(void **state)
{
	struct bench *bench = *state;
	int64_t held, other;

	order(bench, "{\"fault\": \"stockout\", \"job\": \"held\", \"seconds\": 3600}");
	held = bench_submit(bench, "held", 0, 9);
	scheduler_wake(bench->scheduler, held);
	fake_engine_up(bench->fake);
	line_await(bench, "held", "there are no resources for the job for 3600 s");
	other = bench_submit(bench, "other", 0, 0);
	job_await(bench, other, JOB_RUNNING);
	job_await(bench, held, JOB_QUEUED);
	assert_int_equal(job_cancel(bench->store, "p", "held", "enough", NULL), STATUS_OK);
	assert_int_equal(job_cancel(bench->store, "p", "other", "enough", NULL), STATUS_OK);
	idle_await(bench);
}

/* The daemon ends after the injection was stored; the container ends meanwhile in any way. */
static void a_stored_injection_takes_effect_after_a_restart(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "twice", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);
	struct fault_injection_list list AUTO_FAULT_INJECTION_LIST = { 0 };

	fake_engine_ignore_stop(bench->fake, true);
	order(bench, "{\"fault\": \"oom\"}");
	fake_engine_up(bench->fake);
	line_await(bench, "twice", "Fault rule 1: the replica master 0 runs out of memory.");
	daemon_stop(bench);
	fake_engine_exit_unseen(bench->fake, &master, 0);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "ran out-of-memory");
	assert_int_equal(fault_injections_of_job(bench->store, id, &list, NULL), STATUS_OK);
	assert_int_equal(list.count, 1);
}

static void time_pass(struct bench *bench, int64_t by_s)
{
	clock_step(bench, by_s * 1000000000);
}

/* Fails with: ran_us() 0 for all but the first container: its time began anew with the daemon. */
static void a_time_after_a_second_start_outlives_the_daemon(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "anew", 2, 0);

	order(bench, "{\"fault\": \"preempt\", \"role\": \"worker\", \"replica\": 1}");
	order(bench, "{\"fault\": \"exit\", \"exitCode\": 5, \"role\": \"worker\", \"replica\": 1,"
		     " \"afterSeconds\": 3600}");
	fake_engine_up(bench->fake);
	for (int i = 0; i < WAIT_MS && fake_engine_calls(bench->fake, FAKE_START) < 4; i++)
		usleep(1000);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_START), 4);
	time_pass(bench, 1800);
	daemon_stop(bench);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	time_pass(bench, 1801);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "The replica worker 1 exited with a non-zero status of 5.");
}

/* Fails with: injection_resume() that gives ends_us no time; injection_append() that halves it. */
static void a_stockout_lasts_as_long_as_was_ordered_also_after_a_restart(void **state)
{
	struct bench *bench = *state;
	int64_t held;

	order(bench, "{\"fault\": \"stockout\", \"job\": \"held\", \"seconds\": 3600}");
	held = bench_submit(bench, "held", 0, 0);
	fake_engine_up(bench->fake);
	line_await(bench, "held", "there are no resources for the job for 3600 s");
	time_pass(bench, 3000);
	job_await(bench, bench_submit(bench, "first", 0, 0), JOB_RUNNING);
	job_await(bench, held, JOB_QUEUED);
	daemon_stop(bench);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	job_await(bench, bench_submit(bench, "second", 0, 0), JOB_RUNNING);
	job_await(bench, held, JOB_QUEUED);
	time_pass(bench, 601);
	job_await(bench, held, JOB_RUNNING);
	assert_int_equal(job_cancel(bench->store, "p", "held", "enough", NULL), STATUS_OK);
	assert_int_equal(job_cancel(bench->store, "p", "first", "enough", NULL), STATUS_OK);
	assert_int_equal(job_cancel(bench->store, "p", "second", "enough", NULL), STATUS_OK);
	idle_await(bench);
}

/* Fails with: limit_us() that does not ask for faults_await_end(), or EXPIRE before JUDGE in reconcile.c: the end was told and
 * counted, and the job cancelled for its limit. */
static void an_injection_and_a_limit_in_one_step_of_the_clock_come_in_their_order(void **state)
{
	struct bench *bench = *state;
	int64_t id = shape_submit(bench, "limited",
				  &(struct shape){ .project = "p", .max_running_us = 100 * 1000000 });

	order(bench, "{\"fault\": \"exit\", \"exitCode\": 9, \"afterSeconds\": 50}");
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	time_pass(bench, 120);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "The replica master 0 exited with a non-zero status of 9.");
}

/* The master has ended by the time at which the rule would apply. Fails with: faults_look() that does not ask whether the
 * job is decided: the worker's end was told and counted, and the job SUCCEEDED. */
static void a_job_that_is_decided_gets_no_injection(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "over", 1, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);
	struct fault_injection_list list AUTO_FAULT_INJECTION_LIST = { 0 };

	order(bench, "{\"fault\": \"exit\", \"exitCode\": 4, \"role\": \"worker\", \"afterSeconds\": 3600}");
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	daemon_stop(bench);
	step_clock_move(&bench->clock.step, INT64_C(3600) * 1000000000);
	fake_engine_exit_unseen(bench->fake, &master, 0);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	assert_int_equal(fault_injections_of_job(bench->store, id, &list, NULL), STATUS_OK);
	assert_int_equal(list.count, 0);
	assert_int_equal(count_in_log(bench, "over", "Fault rule"), 0);
}

/* The next daemon has not listed the engine's objects yet. Fails with: rules_look() that does not ask for sighted: the
 * image was not found of which a container was made. */
static void an_image_that_was_used_is_found(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "used", 0, 0), other;
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_hold_starts(bench->fake);
	fake_engine_up(bench->fake);
	calls_await(bench, FAKE_START, 1);
	order(bench, "{\"fault\": \"imagePull\", \"job\": \"used\"}");
	daemon_stop(bench);
	daemon_start(bench);
	other = bench_submit(bench, "other", 0, 0); /* when this job has ended, the first one has been decided, too */
	assert_int_equal(job_cancel(bench->store, "p", "other", "enough", NULL), STATUS_OK);
	job_await(bench, other, JOB_CANCELLED);
	fake_engine_lose_starts(bench->fake);
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	assert_int_equal(count_in_log(bench, "used", "Fault rule"), 0);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

/* Fails with: decide_wake_us() with deadline_us itself: the scheduler looked at it again and again until the container ended. */
static void a_limit_that_waits_for_an_ordered_end_wakes_nobody(void **state)
{
	AUTO(plan) struct plan *plan = plan_new();
	struct job row = { .state = JOB_RUNNING, .running_us = 1 };
	struct replica_run replica = { .observed = OBSERVED_RUNNING };
	struct fault_injection injection = { .stage = STAGE_RUNNING, .kind = FAULT_EXIT };
	struct job_node on = { .observation = 1, .listed_in = 1 };
	struct job_run run = { .row = &row,
			       .plan = plan,
			       .replicas = &replica,
			       .replica_count = 1,
			       .nodes = &on,
			       .node_count = 1,
			       .deadline_us = 2,
			       .injections = &injection,
			       .injection_count = 1,
			       .injections_stored = 1 };
	const struct reconciler reconciler = { 0 };
	const struct decision_context context = { .reconciler = &reconciler, .mono_us = 3 };

	(void)state;
	order_give(&replica.orders, ORDER_STOP);
	assert_int_equal(decide_wake_us(&run, &context), INT64_MAX);
	replica.end = END_EXIT;
	assert_int_equal(decide_wake_us(&run, &context), 2);
}

/* A stop that the engine refused is ordered again. */
static void a_kill_that_fails_is_repeated(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "stubborn", 0, 0);

	fake_engine_fail(bench->fake, FAKE_STOP, 1, STATUS_INTERNAL);
	order(bench, "{\"fault\": \"exit\", \"exitCode\": 3}");
	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "exited with a non-zero status of 3.");
	assert_true(fake_engine_calls(bench->fake, FAKE_STOP) >= 2);
}

static void a_cut_network_is_put_back_and_the_job_goes_on(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "cut", 1, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	order(bench, "{\"fault\": \"cutNetwork\", \"role\": \"worker\", \"seconds\": 60}");
	fake_engine_up(bench->fake);
	line_await(bench, "cut",
		   "Fault rule 1: the replica worker 0 is cut off from its network for 60 s. This fault is "
		   "injected.");
	calls_await(bench, FAKE_CUT, 1);
	time_pass(bench, 60);
	calls_await(bench, FAKE_JOIN, 1);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CUT), 1);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_JOIN), 1);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_STOP), 1); /* only the worker's, at the job's end */
}

/* Fails with: injection_lasts() that asks for no rule; fault_registry_clear() that reports nothing. */
static void a_network_is_put_back_when_the_rule_is_taken_back(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "cut", 0, 0);

	order(bench, "{\"fault\": \"cutNetwork\"}");
	fake_engine_up(bench->fake);
	calls_await(bench, FAKE_CUT, 1);
	assert_int_equal(fault_registry_clear(bench->faults, NULL), STATUS_OK);
	calls_await(bench, FAKE_JOIN, 1);
	job_end(bench, id);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CUT), 1);
}

/* Fails with: injection_lasts() that asks for no rule; fault_registry_remove() that reports nothing. */
static void a_stockout_is_over_when_its_rule_is_taken_back(void **state)
{
	struct bench *bench = *state;
	int64_t id;

	order(bench, "{\"fault\": \"stockout\", \"seconds\": 3600}");
	id = bench_submit(bench, "held", 0, 0);
	fake_engine_up(bench->fake);
	line_await(bench, "held", "there are no resources for the job for 3600 s");
	assert_int_equal(fault_registry_remove(bench->faults, 1, NULL), STATUS_OK);
	job_await(bench, id, JOB_RUNNING);
	job_end(bench, id);
}

static void a_cut_is_repeated_when_refused_and_after_a_restart(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "cut", 0, 0);

	fake_engine_fail(bench->fake, FAKE_CUT, 1, STATUS_INTERNAL);
	order(bench, "{\"fault\": \"cutNetwork\"}");
	fake_engine_up(bench->fake);
	/* Fails with: on_failed() begins no new epoch. */
	calls_await(bench, FAKE_CUT, 2);
	daemon_stop(bench);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	calls_await(bench, FAKE_CUT, 3);
	/* Other faults can still end a replica that is cut off. */
	job_end(bench, id);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_JOIN), 0);
}

static void a_slow_network_is_made_fast_and_the_job_goes_on(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "slow", 1, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	order(bench,
	      "{\"fault\": \"slowNetwork\", \"role\": \"worker\", \"bytesPerSecond\": 64000, \"seconds\": 60}");
	fake_engine_up(bench->fake);
	line_await(
		bench, "slow",
		"Fault rule 1: the replica worker 0 sends and gets at most 64000 bytes a second for 60 s.");
	calls_await(bench, FAKE_SLOW, 1);
	time_pass(bench, 60);
	calls_await(bench, FAKE_HASTEN, 1);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_SLOW), 1);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CUT), 0);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_HASTEN), 1);
}

static void a_network_is_slowed_again_when_refused_and_after_a_restart(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "slow", 0, 0);

	fake_engine_fail(bench->fake, FAKE_SLOW, 1, STATUS_INTERNAL);
	order(bench, "{\"fault\": \"slowNetwork\", \"bytesPerSecond\": \"64000\"}");
	fake_engine_up(bench->fake);
	calls_await(bench, FAKE_SLOW, 2);
	assert_int_equal(fake_engine_speed(bench->fake), 64000);
	daemon_stop(bench);
	fake_engine_fail(bench->fake, FAKE_SLOW, 1, STATUS_UNAVAILABLE);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	calls_await(bench, FAKE_SLOW, 4);
	/* Fails with: injection_insert() binds 0 as bytes_per_s; on_throttle_failed() begins no new epoch of orders. */
	assert_int_equal(fake_engine_speed(bench->fake), 64000);
	job_end(bench, id);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_HASTEN), 0);
}

/* Fails with: FAILED_PRECONDITION is tried again like the rest. */
static void a_network_that_cannot_be_slowed_is_told_once(void **state)
{
	static const char words[] =
		"The network of the replica master 0 cannot be slowed by the injected fault: the fake "
		"refuses.";
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "slow", 0, 0);
	AUTO(job) struct job *job = NULL;

	fake_engine_fail(bench->fake, FAKE_SLOW, 1, STATUS_FAILED_PRECONDITION);
	order(bench, "{\"fault\": \"slowNetwork\", \"bytesPerSecond\": 64000, \"seconds\": 60}");
	fake_engine_up(bench->fake);
	line_await(bench, "slow", words);
	time_pass(bench, 60);
	calls_await(bench, FAKE_HASTEN, 1);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_SLOW), 1);
	assert_int_equal(job_get_by_id(bench->store, id, &job, NULL), STATUS_OK);
	assert_non_null(job->assignment);
	assert_non_null(strstr(job->assignment, "fault-not-done"));
	job_end(bench, id);
}

/* Fails with: each try forgets the failures before it. */
static void a_network_that_stays_slow_is_told_after_some_tries(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "slow", 0, 0);

	fake_engine_fail_all(bench->fake, FAKE_HASTEN, STATUS_INTERNAL);
	order(bench, "{\"fault\": \"slowNetwork\", \"bytesPerSecond\": 64000, \"seconds\": 60}");
	fake_engine_up(bench->fake);
	calls_await(bench, FAKE_SLOW, 1);
	time_pass(bench, 60);
	line_await(bench, "slow",
		   "The network of the replica master 0 stays slow after the end of the injected fault: the "
		   "fake refuses.");
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_HASTEN), 3);
	job_end(bench, id);
}

static struct store *looked_at; /* read while lines are handed on; NULL: not read */
static size_t marks_there, lines_looked_at;

bool __real_log_pump_line(struct log_pump *pump, const struct replica_line *line);
bool __wrap_log_pump_line(struct log_pump *pump, const struct replica_line *line);
bool __wrap_log_pump_line(struct log_pump *pump, const struct replica_line *line)
{
	if (looked_at && !lines_looked_at++)
		marks_there = marks_of(looked_at);
	return __real_log_pump_line(pump, line);
}

/* Fails with: on_line() that hands the line on first: a daemon that was killed between the two had the line, and no rule knew of
 * it. */
static void a_line_is_marked_before_it_is_stored(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "marked", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	order(bench, "{\"fault\": \"oom\", \"logPattern\": \"line\"}");
	fake_engine_print(bench->fake, 1);
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	looked_at = bench->store;
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	looked_at = NULL;
	assert_true(lines_looked_at > 0);
	assert_int_equal(marks_there, 1);
}

/* An order to slow it has failed before. Fails with: decide_link() that counts it with those to make it fast. */
static void tries_to_slow_are_none_to_make_fast(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "both", 0, 0);

	fake_engine_fail(bench->fake, FAKE_SLOW, 1, STATUS_INTERNAL);
	fake_engine_fail_all(bench->fake, FAKE_HASTEN, STATUS_INTERNAL);
	order(bench, "{\"fault\": \"slowNetwork\", \"bytesPerSecond\": 64000}");
	fake_engine_up(bench->fake);
	for (int i = 0; i < WAIT_MS && !fake_engine_speed(bench->fake); i++)
		usleep(1000);
	assert_int_equal(fault_registry_clear(bench->faults, NULL), STATUS_OK);
	line_await(bench, "both", "stays slow after the end of the injected fault");
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_HASTEN), 3);
	job_end(bench, id);
}

/* The next daemon tries again, but does not log the failure again. Fails with: throttle_give_up() does not ask whether it
 * is told. */
static void a_network_that_still_cannot_be_slowed_is_not_told_again(void **state)
{
	static const char words[] = "cannot be slowed by the injected fault: the fake refuses.";
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "slow", 0, 0);

	fake_engine_fail(bench->fake, FAKE_SLOW, 1, STATUS_FAILED_PRECONDITION);
	order(bench, "{\"fault\": \"slowNetwork\", \"bytesPerSecond\": 64000}");
	fake_engine_up(bench->fake);
	line_await(bench, "slow", words);
	daemon_stop(bench);
	fake_engine_fail(bench->fake, FAKE_SLOW, 1, STATUS_FAILED_PRECONDITION);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	calls_await(bench, FAKE_SLOW, 2);
	job_end(bench, id);
	assert_int_equal(count_in_log(bench, "slow", words), 1);
}

/* The rule is deleted while no daemon runs. Fails with: throttle_give_up() that looks for its own sentence alone. */
static void a_network_that_was_never_slowed_is_not_said_to_stay_slow(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "slow", 0, 0);

	fake_engine_fail_all(bench->fake, FAKE_SLOW, STATUS_FAILED_PRECONDITION);
	fake_engine_fail_all(bench->fake, FAKE_HASTEN, STATUS_FAILED_PRECONDITION);
	order(bench, "{\"fault\": \"slowNetwork\", \"bytesPerSecond\": 64000}");
	fake_engine_up(bench->fake);
	line_await(bench, "slow", "cannot be slowed by the injected fault: the fake refuses.");
	daemon_stop(bench);
	daemon_start(bench);
	assert_int_equal(fault_registry_remove(bench->faults, 1, NULL), STATUS_OK);
	fake_engine_up(bench->fake);
	calls_await(bench, FAKE_HASTEN, 1);
	job_end(bench, id);
	assert_int_equal(count_in_log(bench, "slow", "stays slow after the end"), 0);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(a_preempted_replica_begins_anew_alone),
		BENCH_TEST(a_job_that_begins_again_for_a_preemption_says_so),
		BENCH_TEST(a_rule_that_comes_late_meets_the_job_that_runs),
		BENCH_TEST(a_cut_network_is_put_back_and_the_job_goes_on),
		BENCH_TEST(a_network_is_put_back_when_the_rule_is_taken_back),
		BENCH_TEST(a_stockout_is_over_when_its_rule_is_taken_back),
		BENCH_TEST(a_cut_is_repeated_when_refused_and_after_a_restart),
		BENCH_TEST(a_slow_network_is_made_fast_and_the_job_goes_on),
		BENCH_TEST(a_network_is_slowed_again_when_refused_and_after_a_restart),
		BENCH_TEST(a_network_that_cannot_be_slowed_is_told_once),
		BENCH_TEST(a_network_that_stays_slow_is_told_after_some_tries),
		BENCH_TEST(tries_to_slow_are_none_to_make_fast),
		BENCH_TEST(a_line_is_marked_before_it_is_stored),
		BENCH_TEST(a_network_that_still_cannot_be_slowed_is_not_told_again),
		BENCH_TEST(a_network_that_was_never_slowed_is_not_said_to_stay_slow),
		BENCH_TEST(a_stockout_lasts_as_long_as_was_ordered_also_after_a_restart),
		BENCH_TEST(a_stockout_holds_one_job_and_lets_others_pass),
		BENCH_TEST(a_stored_injection_takes_effect_after_a_restart),
		BENCH_TEST(a_time_after_a_second_start_outlives_the_daemon),
		BENCH_TEST(an_injection_and_a_limit_in_one_step_of_the_clock_come_in_their_order),
		BENCH_TEST(a_job_that_is_decided_gets_no_injection),
		BENCH_TEST(an_image_that_was_used_is_found),
		cmocka_unit_test(a_limit_that_waits_for_an_ordered_end_wakes_nobody),
		BENCH_TEST(a_kill_that_fails_is_repeated),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
