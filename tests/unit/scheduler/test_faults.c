/* SPDX-License-Identifier: Apache-2.0 */
/* Ordered faults on their way over jobs. */
#include "daemon/base/json.h"
#include "scheduler/fault_book.h"
#include "store/faults.h"
#include "tests/unit/scheduler/scheduler_testing.h"

static void order(struct bench *bench, const char *text)
{
	AUTO(json) json_t *canonical = json_loads(text, 0, NULL);
	int64_t id;

	assert_non_null(canonical);
	assert_int_equal(fault_book_add(bench->faults, canonical, false, &id, NULL), STATUS_OK);
}

static struct replica_key restarted(struct replica_key key)
{
	key.restart++;
	return key;
}

static void a_preempted_replica_begins_anew_alone(void **state)
{
	struct bench *bench = *state;
	int64_t id = job_submit(bench, "hit", 2, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0), worker = key_of(id, ROLE_WORKER, 1);
	struct replica_key again = restarted(worker);

	order(bench, "{\"fault\": \"preempt\", \"role\": \"worker\", \"replica\": 1}");
	fake_engine_up(bench->fake);
	line_await(bench, "hit", "Fault rule 1: the replica worker 1 is preempted. This was ordered.");
	fake_engine_exit(bench->fake, &again, 0);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CREATE), 4);
}

static void a_rule_that_comes_late_hits_who_runs(void **state)
{
	struct bench *bench = *state;
	int64_t id = job_submit(bench, "late", 1, 0);

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
	held = job_submit(bench, "held", 0, 9);
	scheduler_wake(bench->scheduler, held);
	fake_engine_up(bench->fake);
	line_await(bench, "held", "there are no resources for the job for 3600 s");
	other = job_submit(bench, "other", 0, 0);
	job_await(bench, other, JOB_RUNNING);
	job_await(bench, held, JOB_QUEUED);
	assert_int_equal(job_cancel(bench->store, "p", "held", "enough", NULL), STATUS_OK);
	assert_int_equal(job_cancel(bench->store, "p", "other", "enough", NULL), STATUS_OK);
	idle_await(bench);
}

/* The daemon goes after the hit was stored; the container ended meanwhile, however it did. */
static void a_stored_hit_takes_effect_after_a_restart(void **state)
{
	struct bench *bench = *state;
	int64_t id = job_submit(bench, "twice", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);
	struct fault_hit_list list AUTO_FAULT_HIT_LIST = { 0 };

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
	assert_int_equal(fault_hits_of_job(bench->store, id, &list, NULL), STATUS_OK);
	assert_int_equal(list.count, 1);
}

/* A stop that the engine refuses is asked for again. */
static void a_kill_that_fails_is_repeated(void **state)
{
	struct bench *bench = *state;
	int64_t id = job_submit(bench, "stubborn", 0, 0);

	fake_engine_fail(bench->fake, FAKE_STOP, 1, STATUS_INTERNAL);
	order(bench, "{\"fault\": \"exit\", \"exitCode\": 3}");
	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "exited with a non-zero status of 3.");
	assert_true(fake_engine_calls(bench->fake, FAKE_STOP) >= 2);
}

/* Waits until so many operations of a kind were asked for. */
static void calls_await(struct bench *bench, enum fake_operation operation, unsigned count)
{
	for (int waited_ms = 0; fake_engine_calls(bench->fake, operation) < count; waited_ms++) {
		if (waited_ms >= WAIT_MS)
			fail_msg("%u of %u calls", fake_engine_calls(bench->fake, operation), count);
		usleep(1000);
	}
}

static void a_cut_network_is_put_back_and_the_job_goes_on(void **state)
{
	struct bench *bench = *state;
	int64_t id = job_submit(bench, "cut", 1, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	order(bench, "{\"fault\": \"cutNetwork\", \"role\": \"worker\", \"seconds\": 0.2}");
	fake_engine_up(bench->fake);
	line_await(
		bench, "cut",
		"Fault rule 1: the replica worker 0 is cut off from its network for 0.2 s. This was ordered.");
	calls_await(bench, FAKE_JOIN, 1);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CUT), 1);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_JOIN), 1);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_STOP), 1); /* at the job's end: the worker */
}

static void a_cut_is_repeated_when_refused_and_after_a_restart(void **state)
{
	struct bench *bench = *state;
	int64_t id = job_submit(bench, "cut", 0, 0);

	fake_engine_fail(bench->fake, FAKE_CUT, 1, STATUS_INTERNAL);
	order(bench, "{\"fault\": \"cutNetwork\"}");
	fake_engine_up(bench->fake);
	/* Broken: on_failed() leaves link_asked as it is. */
	calls_await(bench, FAKE_CUT, 2);
	daemon_stop(bench);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	calls_await(bench, FAKE_CUT, 3);
	/* What is cut off can still be hit. */
	order(bench, "{\"fault\": \"exit\", \"exitCode\": 3}");
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "exited with a non-zero status of 3.");
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_JOIN), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_preempted_replica_begins_anew_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(a_rule_that_comes_late_hits_who_runs, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cut_network_is_put_back_and_the_job_goes_on, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_cut_is_repeated_when_refused_and_after_a_restart, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_stockout_holds_one_job_and_lets_others_pass, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_stored_hit_takes_effect_after_a_restart, setup, teardown),
		cmocka_unit_test_setup_teardown(a_kill_that_fails_is_repeated, setup, teardown),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
