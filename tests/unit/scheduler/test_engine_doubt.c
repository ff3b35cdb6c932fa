/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's state is uncertain: answers are lost, the engine may have killed containers itself, or it comes and
 * goes. */
#include "scheduler/job_run.h"
#include "scheduler/scheduler_state.h"
#include "tests/unit/scheduler/scheduler_testing.h"

static const int64_t ms_ns = 1000000;

/* Waits until the scheduler's pauses are over, or the engine is listed again: at most a second. */
static void quiet_await(struct bench *bench)
{
	for (int i = 0; i < WAIT_MS; i++) {
		if (scheduler_wait_idle(bench->scheduler, 1))
			return;
		clock_step(bench, INT64_C(500000000));
	}
	fail_msg("it never had nothing left to do");
}

static char *life_id(unsigned number, char ret_job_id[32])
{
	snprintf(ret_job_id, 32, "life%u", number);
	return ret_job_id;
}

/* Fails with: on_replica_failed() that begins no new epoch: the job is CANCELLING for ever, and its program runs. */
static void a_stop_that_is_lost_with_the_answer_of_a_start_is_asked_again(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "lost", 0, 0);

	fake_engine_hold_starts(bench->fake);
	fake_engine_up(bench->fake);
	calls_await(bench, FAKE_START, 1);
	assert_int_equal(job_cancel(bench->store, "p", "lost", "The job was cancelled.", NULL), STATUS_OK);
	calls_await(bench, FAKE_STOP, 1);
	fake_engine_lose_starts(bench->fake);
	quiet_await(bench);
	job_check(bench, id, JOB_CANCELLED, "The job was cancelled.");
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_STOP), 2);
}

/* Waits until the scheduler has handled all earlier events and their decisions. */
static void steps_await(struct bench *bench, const char *job_id)
{
	const int64_t id = bench_submit(bench, job_id, 0, 0);

	job_await(bench, id, JOB_RUNNING);
	assert_int_equal(job_cancel(bench->store, "p", job_id, "enough", NULL), STATUS_OK);
	job_await(bench, id, JOB_CANCELLED);
}

/* Reports that a call about the replica has failed. */
static void tell_failure(struct bench *bench, const struct replica_key *key)
{
	const struct engine_sink sink = scheduler_sink(bench->scheduler, 0);
	const struct replica_status status = { .key = *key };

	sink.event(sink.arg, &(struct engine_event){ .kind = ENGINE_FAILED,
						     .status = STATUS_INTERNAL,
						     .text = "busy",
						     .replicas = &status,
						     .replica_count = 1 });
}

/* The engine kills a replica 1.4 s before its connections end. Fails with: observe_end_of_doubt() that does not ask for the
 * time, so that a failure's hold of 1 s, or any event, ends the doubt: the job failed. */
static void a_kill_stays_in_doubt_whatever_else_fails(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "doubt", 1, 0);
	const struct replica_key worker = key_of(id, ROLE_WORKER, 0), master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	atomic_store(&bench->clock.stands_us, clock_mono_us(&system_clock));
	fake_engine_exit(bench->fake, &worker, 137);
	tell_failure(bench, &master);
	steps_await(bench, "heard");
	clock_step(bench, 1400 * ms_ns);
	steps_await(bench, "later");
	fake_engine_down(bench->fake, "stops");
	fake_engine_up(bench->fake);
	atomic_store(&bench->clock.stands_us, 0);
	line_await(bench, "doubt", "The replica worker 0 was lost and is restarted (1 of 5 times).");
	fake_engine_exit(bench->fake, &master, 0);
	quiet_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

/* Fails with: job_run_doubts() in scheduler_deadline_us() left out: the loop does not wake up when the doubt is over. */
static void a_kill_counts_as_an_exit_when_the_engine_stays(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "killed", 1, 0);
	const struct replica_key worker = key_of(id, ROLE_WORKER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_exit(bench->fake, &worker, 137);
	steps_await(bench, "heard");
	clock_step(bench, 2000 * ms_ns);
	job_await(bench, id, JOB_FAILED);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "The replica worker 0 exited with a non-zero status of 9(SIGKILL).");
}

/* `sh -c "exit 143"`. Fails with: exit_classify() that asks for no witness: a job that had ended was lost, and run four times; its
 * worker alone was begun anew for ever. */
static void what_ends_by_itself_with_the_status_of_a_signal_has_failed_at_once(void **state)
{
	static const struct {
		int code;
		unsigned workers;
		const char *error;
	} ends[] = {
		{ 143, 0, "The replica master 0 exited with a non-zero status of 143." },
		{ 143, 1, "The replica worker 0 exited with a non-zero status of 143." },
		{ 137, 0, "The replica master 0 exited with a non-zero status of 137." },
		{ 255, 1, "The replica worker 0 exited with a non-zero status of 255." },
	};
	struct bench *bench = *state;

	fake_engine_up(bench->fake);
	atomic_store(&bench->clock.stands_us, clock_mono_us(&system_clock));
	for (unsigned i = 0; i < COUNT_OF(ends); i++) {
		const int64_t id = bench_submit(bench, life_id(i, (char[32]){ 0 }), ends[i].workers, 0);
		const enum role role = ends[i].workers ? ROLE_WORKER : ROLE_MASTER;
		const struct replica_key key = key_of(id, role, 0);

		job_await(bench, id, JOB_RUNNING);
		fake_engine_exit_witnessed(bench->fake, &key, ends[i].code);
		job_await(bench, id, JOB_FAILED);
		idle_await(bench);
		job_check_error(bench, id, JOB_FAILED, ends[i].error);
	}
}

/* The end of its output arrived before the event. Fails with: observe_exit() that leaves it in doubt whatever comes. */
static void an_exit_in_doubt_is_what_its_event_says(void **state)
{
	struct bench *bench = *state;
	const struct engine_sink sink = scheduler_sink(bench->scheduler, 0);
	const int64_t id = bench_submit(bench, "told", 0, 0);
	struct replica_status status = { .key = key_of(id, ROLE_MASTER, 0),
					 .observed = REPLICA_EXITED,
					 .exit_code = 143 };

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	atomic_store(&bench->clock.stands_us, clock_mono_us(&system_clock));
	sink.event(sink.arg, &(struct engine_event){ .kind = ENGINE_REPLICA_EXITED,
						     .replicas = &status,
						     .replica_count = 1 });
	taken_up_await(bench, "heard");
	job_await(bench, id, JOB_RUNNING);
	fake_engine_exit_witnessed(bench->fake, &status.key, 143);
	job_await(bench, id, JOB_FAILED);
	idle_await(bench);
	job_check_error(bench, id, JOB_FAILED, "status of 143");
}

/* Fails with: on_up() that forgets that the log was told: each time that the engine went it was told again. */
static void an_engine_that_comes_and_goes_is_told_of_once(void **state)
{
	static const char words[] = "Waiting for the container engine: it flaps";
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "flapped", 0, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	atomic_store(&bench->clock.stands_us, clock_mono_us(&system_clock));
	for (int i = 0; i < 3; i++) {
		fake_engine_down(bench->fake, "it flaps");
		taken_up_await(bench, life_id((unsigned)i, (char[32]){ 0 }));
		fake_engine_up(bench->fake);
	}
	taken_up_await(bench, "up");
	assert_int_equal(count_in_log(bench, "flapped", words), 1);
	clock_step(bench, 5000 * ms_ns);
	fake_engine_down(bench->fake, "it flaps");
	taken_up_await(bench, "down");
	assert_int_equal(count_in_log(bench, "flapped", words), 2);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(a_stop_that_is_lost_with_the_answer_of_a_start_is_asked_again),
		BENCH_TEST(a_kill_stays_in_doubt_whatever_else_fails),
		BENCH_TEST(a_kill_counts_as_an_exit_when_the_engine_stays),
		BENCH_TEST(what_ends_by_itself_with_the_status_of_a_signal_has_failed_at_once),
		BENCH_TEST(an_exit_in_doubt_is_what_its_event_says),
		BENCH_TEST(an_engine_that_comes_and_goes_is_told_of_once),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
