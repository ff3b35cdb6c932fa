/* SPDX-License-Identifier: Apache-2.0 */
/* What the trials of a tuning job tell of their differences, when a commit is refused. */
#include "scheduler/difference.h"
#include "scheduler/steps.h"
#include "tests/unit/scheduler/search_testing.h"

static atomic_int refusals; /* of the next commits that let a job in */

enum status __real_job_apply(struct store *store, struct job_change *changes, size_t count,
			     struct error *err);
enum status __wrap_job_apply(struct store *store, struct job_change *changes, size_t count,
			     struct error *err);

enum status __wrap_job_apply(struct store *store, struct job_change *changes, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++)
		if (changes[i].from == JOB_QUEUED && changes[i].assignment && atomic_load(&refusals)) {
			atomic_fetch_sub(&refusals, 1);
			return error_set(err, STATUS_INTERNAL, NULL, "the disk is full");
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
		step_clock_move(&bench->clock.step, INT64_C(100000000));
		scheduler_clock_stepped(bench->scheduler);
		usleep(1000);
	}
	fail_msg("the trials of job %d never began", (int)id);
}

/* Broken: change_settle() without differences_untell(): the only line was lost with the commit. */
static void what_a_refused_commit_was_to_tell_is_told_by_the_next(void **state)
{
	struct bench *bench = *state;
	AUTO(string) char *log = NULL;
	const char *line;
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
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	log = service_log(bench, "tune");
	line = strstr(log, "Unlike in the cloud");
	assert_non_null(line);
	assert_null(strstr(line + 1, "Unlike in the cloud"));
}

static void what_is_untold_is_told_anew(void **state)
{
	AUTO(json) json_t *told = json_array(), *all = json_array();

	(void)state;
	assert_true(difference_add(told, DONE_OTHERWISE, "a", NULL, "A."));
	assert_true(difference_add(all, DONE_OTHERWISE, "a", NULL, "A."));
	assert_true(difference_add(all, DONE_OTHERWISE, "b", NULL, "B."));
	for (int i = 0; i < 2; i++) {
		AUTO(json) json_t *fresh = differences_untold(told, all);

		assert_int_equal(json_array_size(fresh), 1);
		assert_int_equal(json_array_size(told), 2);
		differences_untell(told, fresh);
		assert_int_equal(json_array_size(told), 1);
	}
	differences_untell(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(what_a_refused_commit_was_to_tell_is_told_by_the_next),
		cmocka_unit_test(what_is_untold_is_told_anew),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
