/* SPDX-License-Identifier: Apache-2.0 */
/* Replicas that are lost one by one. */
#include "scheduler/job_run.h"
#include "store/jobs/journal.h"
#include "tests/unit/scheduler/scheduler_testing.h"

/* The replica of the next restart, or of the first one of the next attempt. */
static struct replica_key after(struct replica_key key, unsigned attempts, unsigned restarts)
{
	key.attempt += attempts;
	key.restart = attempts ? 0 : key.restart + restarts;
	return key;
}

static void a_lost_replica_is_started_anew_alone(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "moved", 2, 0);
	struct replica_key worker = key_of(id, ROLE_WORKER, 1), master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_snatch(bench->fake, &worker);
	worker = after(worker, 0, 1);
	fake_engine_exit(bench->fake, &worker, 0);
	line_await(bench, "moved", "The replica worker 1 was lost and is restarted (1 of 5 times).");
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CREATE), 4);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_NETWORK), 1);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

static void a_replica_that_was_stopped_from_outside_is_removed_and_started_anew(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "stopped", 1, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_exit(bench->fake, &master, 143);
	master = after(master, 0, 1);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

/* The engine tells each kill first, and one removal before the other kill is old. */
static void replicas_that_are_removed_at_once_are_all_lost(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "both", 2, 0);
	struct replica_key first = key_of(id, ROLE_WORKER, 0), second = key_of(id, ROLE_WORKER, 1);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_exit(bench->fake, &second, 137);
	fake_engine_snatch(bench->fake, &first);
	job_await(bench, bench_submit(bench, "other", 0, 0), JOB_RUNNING); /* by now the scheduler saw both */
	fake_engine_snatch(bench->fake, &second);
	line_await(bench, "both", "The replica worker 0 was lost and is restarted");
	line_await(bench, "both", "The replica worker 1 was lost and is restarted");
	fake_engine_exit(bench->fake, &master, 0);
	job_await(bench, id, JOB_SUCCEEDED);
}

static void a_job_that_wants_to_begin_anew_as_a_whole_does(void **state)
{
	struct bench *bench = *state;
	int64_t id = shape_submit(bench, "whole",
				  &(struct shape){ .project = "p", .workers = 1, .restarts_whole = true });
	struct replica_key worker = key_of(id, ROLE_WORKER, 0), master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_snatch(bench->fake, &worker);
	master = after(master, 1, 0);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

static void a_job_that_lost_all_its_replicas_begins_anew(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "all", 1, 0);
	struct replica_key worker = key_of(id, ROLE_WORKER, 0), master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_down(bench->fake, "gone");
	fake_engine_exit_unseen(bench->fake, &worker, 137);
	fake_engine_exit_unseen(bench->fake, &master, 137);
	fake_engine_up(bench->fake);
	master = after(master, 1, 0);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

static void after_five_restarts_the_whole_job_begins_anew(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "unlucky", 1, 0);
	struct replica_key worker = key_of(id, ROLE_WORKER, 0), master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	for (int i = 0; i <= REPLICA_RESTARTS_MAX; i++) {
		fake_engine_exit(bench->fake, &worker, 143);
		worker = after(worker, 0, 1);
	}
	line_await(bench, "unlucky", "(5 of 5 times)");
	line_await(bench, "unlucky", "The job is tried again (attempt 2).");
	master = after(master, 1, 0);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

static void a_restarted_replica_is_adopted_by_the_next_daemon(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "adopted", 1, 0);
	struct replica_key worker = key_of(id, ROLE_WORKER, 0);
	unsigned creates;

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_snatch(bench->fake, &worker);
	worker = after(worker, 0, 1);
	fake_engine_exit(bench->fake, &worker, 143); /* waits until it runs */
	worker = after(worker, 0, 1);
	free(fake_engine_limits(bench->fake, &worker)); /* waits until it is made */
	creates = fake_engine_calls(bench->fake, FAKE_CREATE);
	daemon_stop(bench);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	fake_engine_exit(bench->fake, &worker, 3);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "The replica worker 0 exited with a non-zero status of 3.");
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CREATE), creates);
}

static void a_restart_that_the_engine_refuses_fails_the_job(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "refused", 1, 0);
	struct replica_key worker = key_of(id, ROLE_WORKER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_fail(bench->fake, FAKE_CREATE, 1, STATUS_INVALID_ARGUMENT);
	fake_engine_snatch(bench->fake, &worker);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "The replica worker 0 could not be started");
}

/* What the journal has of the restarts: "worker 0: 2 unmade;". */
static char *stored_restarts(struct bench *bench, int64_t id)
{
	struct journal journal AUTO_JOURNAL = { 0 };
	struct text text AUTO_TEXT = { 0 };
	const struct journal_row *last = NULL;
	bool made = false;

	assert_int_equal(journal_read(bench->store, id, &journal, NULL), STATUS_OK);
	for (size_t i = 0; i < journal.count; i++) {
		if (journal.rows[i].kind == JOURNAL_RESTARTED)
			last = &journal.rows[i];
		made = journal.rows[i].kind == JOURNAL_MADE ||
		       (made && journal.rows[i].kind != JOURNAL_RESTARTED);
	}
	if (last)
		text_printf(&text, "%s %u: %u%s;", role_name((enum role)last->role), last->index,
			    last->restart, made ? "" : " unmade");
	return text_take(&text);
}

static void restarts_await(struct bench *bench, int64_t id, const char *wanted)
{
	for (int i = 0; i < WAIT_MS; i++) {
		AUTO(string) char *stored = stored_restarts(bench, id);

		if (strcmp(stored, wanted) == 0)
			return;
		usleep(1000);
	}
	fail_msg("the restarts of job %d never were %s", (int)id, wanted);
}

struct witness {
	struct bench *bench;
	int64_t job;
	char *stored; /* when the last container was asked for */
};

static void witness_look(void *arg, const char *operation)
{
	struct witness *witness = arg;

	if (strcmp(operation, "create_replica") != 0)
		return;
	free(witness->stored);
	witness->stored = stored_restarts(witness->bench, witness->job);
}

/* Fails with: decide_renewal() with the order to make it at once, before its change is stored: a daemon that died in between left a
 * container with a restart that was not reported. */
static void a_restart_is_stored_before_anything_is_made(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "written", 1, 0);
	const struct replica_key worker = key_of(id, ROLE_WORKER, 0), master = key_of(id, ROLE_MASTER, 0);
	struct witness witness = { bench, id, NULL };

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_on_call(bench->fake, witness_look, &witness);
	fake_engine_snatch(bench->fake, &worker);
	calls_await(bench, FAKE_CREATE, 3);
	restarts_await(bench, id, "worker 0: 1;");
	fake_engine_on_call(bench->fake, NULL, NULL);
	assert_string_equal(witness.stored, "worker 0: 1 unmade;");
	free(witness.stored);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

/* Fails with: fact_read() without JOURNAL_RESTARTED: the count began anew where the last container was removed as well, and what
 * was ordered for the first ones happened again. */
static void restarts_are_counted_across_daemons(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "counted", 1, 0);
	const struct replica_key master = key_of(id, ROLE_MASTER, 0);
	const struct replica_key second = after(key_of(id, ROLE_WORKER, 0), 0, 2);

	order(bench, "{\"fault\": \"preempt\", \"role\": \"worker\", \"count\": 2}");
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	restarts_await(bench, id, "worker 0: 2;");
	daemon_stop(bench);
	fake_engine_snatch_unseen(bench->fake, &second);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	line_await(bench, "counted", "The replica worker 0 was lost and is restarted (3 of 5 times).");
	restarts_await(bench, id, "worker 0: 3;");
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	assert_int_equal(count_in_log(bench, "counted", "was lost and is restarted"), 3);
	assert_int_equal(count_in_log(bench, "counted", "Fault rule 1"), 2);
}

/* The engine goes while the restart waits for its second try, and then the daemon does.
 * Fails with: fold_unlisted() that does not ask for made: each took a container that never was for lost, and spent another of
 * five restarts. */
static void a_restart_whose_container_never_was_is_not_spent(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "never", 1, 0);
	const struct replica_key worker = key_of(id, ROLE_WORKER, 0), master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_fail_all(bench->fake, FAKE_CREATE, STATUS_UNAVAILABLE);
	fake_engine_snatch(bench->fake, &worker);
	calls_await(bench, FAKE_CREATE, 3);
	fake_engine_down(bench->fake, "gone");
	fake_engine_up(bench->fake);
	calls_await(bench, FAKE_CREATE, 4);
	restarts_await(bench, id, "worker 0: 1 unmade;");
	daemon_stop(bench);
	fake_engine_fail_all(bench->fake, FAKE_CREATE, STATUS_OK);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	restarts_await(bench, id, "worker 0: 1;");
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	assert_int_equal(count_in_log(bench, "never", "was lost and is restarted"), 1);
}

/* The listing of an engine that is back is older than the container. Fails with: fold_unlisted() that takes what is being made for
 * gone, so that the job ends and leaves it. */
static void a_replica_that_was_asked_for_before_the_engine_went_and_came_is_not_forgotten(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "blink", 2, 0);
	struct replica_key worker = key_of(id, ROLE_WORKER, 1), master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_exit_unseen(bench->fake, &master, 0);
	fake_engine_blink(bench->fake);
	fake_engine_snatch(bench->fake, &worker);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CREATE), 4);
	assert_int_equal(fake_engine_container_count(bench->fake), 0);
}

static void a_cancel_does_not_wait_for_a_restart(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "cancelled", 1, 0);
	struct replica_key worker = key_of(id, ROLE_WORKER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_snatch(bench->fake, &worker);
	assert_int_equal(job_cancel(bench->store, "p", "cancelled", "The job was cancelled.", NULL),
			 STATUS_OK);
	idle_await(bench);
	job_check(bench, id, JOB_CANCELLED, "The job was cancelled.");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(a_lost_replica_is_started_anew_alone),
		BENCH_TEST(a_replica_that_was_stopped_from_outside_is_removed_and_started_anew),
		BENCH_TEST(replicas_that_are_removed_at_once_are_all_lost),
		BENCH_TEST(a_job_that_wants_to_begin_anew_as_a_whole_does),
		BENCH_TEST(a_job_that_lost_all_its_replicas_begins_anew),
		BENCH_TEST(after_five_restarts_the_whole_job_begins_anew),
		BENCH_TEST(a_restarted_replica_is_adopted_by_the_next_daemon),
		BENCH_TEST(a_restart_that_the_engine_refuses_fails_the_job),
		BENCH_TEST(a_restart_is_stored_before_anything_is_made),
		BENCH_TEST(restarts_are_counted_across_daemons),
		BENCH_TEST(a_restart_whose_container_never_was_is_not_spent),
		BENCH_TEST(a_replica_that_was_asked_for_before_the_engine_went_and_came_is_not_forgotten),
		BENCH_TEST(a_cancel_does_not_wait_for_a_restart),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
