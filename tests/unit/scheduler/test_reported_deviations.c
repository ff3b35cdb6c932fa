/* SPDX-License-Identifier: Apache-2.0 */
/* What jobs tell, and the trials of a tuning job of their differences, when a commit is refused. */
#include "scheduler/plan/deviation.h"
#include "scheduler/reported_deviations.h"
#include "tests/unit/scheduler/search/search_testing.h"

static atomic_int refusals;      /* of the next commits that let a job in, or decide that it is tried again */
static atomic_bool is_overtaken; /* "quick" is cancelled just before it is let in */

enum status __real_job_apply(struct store *store, struct job_change *changes, size_t count,
			     struct error *err);
enum status __wrap_job_apply(struct store *store, struct job_change *changes, size_t count,
			     struct error *err);

static bool lets_in(const struct job_change *change)
{
	return change->from == JOB_QUEUED && change->assignment;
}

static bool tries_again(const struct job_change *change)
{
	return change->decides && change->outcome == JOB_PREPARING;
}

enum status __wrap_job_apply(struct store *store, struct job_change *changes, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		if (lets_in(&changes[i]) && atomic_exchange(&is_overtaken, false))
			assert_int_equal(job_cancel(store, "p", "quick", "Because.", NULL), STATUS_OK);
		if ((lets_in(&changes[i]) || tries_again(&changes[i])) && atomic_load(&refusals)) {
			atomic_fetch_sub(&refusals, 1);
			return error_set(err, STATUS_INTERNAL, NULL, "the disk is full");
		}
	}
	return __real_job_apply(store, changes, count, err);
}

static void trials_await(struct bench *bench, int64_t id, size_t count)
{
	for (int i = 0; i < WAIT_MS; i++) {
		struct trial_list list AUTO_TRIAL_LIST = { 0 };
		size_t running = 0;

		trials_read(bench, id, &list);
		for (size_t at = 0; at < list.count; at++)
			running += list.trials[at].started_us != 0;
		if (running == count)
			return;
		clock_step(bench, INT64_C(100000000));
		usleep(1000);
	}
	fail_msg("the trials of job %d never began", (int)id);
}

/* Fails with: admission_decide() that adds to what was told: the only line was lost with the commit. */
static void what_a_refused_commit_was_to_tell_is_told_by_the_next(void **state)
{
	struct bench *bench = *state;
	int64_t id;

	id = search_submit(bench, &(struct search){ .job_id = "tune",
						    .algorithm = ALGORITHM_RANDOM,
						    .trials = 2,
						    .parallel = 2,
						    .gpus = 1 });
	atomic_store(&refusals, 2);
	fake_engine_up(bench->fake);
	trials_await(bench, id, 2);
	assert_int_equal(atomic_load(&refusals), 0);
	line_await(bench, "tune", "Unlike in the cloud"); /* is written after the commit */
	taken_up_await(bench, "later");
	assert_int_equal(count_in_log(bench, "tune", "Unlike in the cloud"), 1);
}

/* Fails with: decision_on_commit() that keeps what a refused decision says: it was said twice that the job is tried again. Or
 * that drops all of it: the log never said that the engine was away, which was seen before the step. */
static void what_a_refused_step_said_is_said_once(void **state)
{
	static const char seen[] = "The container engine was away when the replica master 0 ended",
			  stepped[] = "The job is tried again (attempt 2).";
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "again", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	engine_leave(bench, id, "again");
	fake_engine_exit_unseen(bench->fake, &master, 137);
	atomic_store(&refusals, 1);
	fake_engine_up(bench->fake);
	master.attempt = 2;
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	assert_int_equal(atomic_load(&refusals), 0);
	assert_int_equal(count_in_log(bench, "again", seen), 1);
	assert_int_equal(count_in_log(bench, "again", stepped), 1);
}

/* Fails with: decision_on_commit() that keeps what a refused decision says: a job that never was let in was preparing. */
static void what_a_client_overtook_is_not_said(void **state)
{
	struct bench *bench = *state;
	int64_t id;

	atomic_store(&is_overtaken, true);
	fake_engine_up(bench->fake);
	id = bench_submit(bench, "quick", 0, 0);
	idle_await(bench);
	job_check(bench, id, JOB_CANCELLED, "Because.");
	assert_false(atomic_load(&is_overtaken));
	assert_int_equal(count_in_log(bench, "quick", "Waiting for job to be provisioned."), 0);
	assert_int_equal(count_in_log(bench, "quick", "Job is preparing."), 0);
}

static void what_is_untold_is_told_anew(void **state)
{
	AUTO(json) json_t *reported = json_array(), *all = json_array();

	(void)state;
	deviation_add(reported, DONE_OTHERWISE, "a", NULL, "A.");
	deviation_add(all, DONE_OTHERWISE, "a", NULL, "A.");
	deviation_add(all, DONE_OTHERWISE, "b", NULL, "B.");
	for (int i = 0; i < 2; i++) {
		AUTO(json) json_t *fresh = deviations_unreported(reported, all);

		assert_int_equal(json_array_size(fresh), 1);
		assert_int_equal(json_array_size(reported), 1);
	}
	AUTO(json) json_t *fresh = deviations_unreported(reported, all);

	deviations_mark_reported(reported, fresh);
	assert_int_equal(json_array_size(reported), 2);
	deviations_mark_reported(NULL, NULL);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(what_a_refused_commit_was_to_tell_is_told_by_the_next),
		BENCH_TEST(what_a_refused_step_said_is_said_once),
		BENCH_TEST(what_a_client_overtook_is_not_said),
		cmocka_unit_test(what_is_untold_is_told_anew),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
