/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to a tuning job, and to other jobs, while the suggester computes the next trials. */
#include "tests/unit/scheduler/gate_testing.h"
#include "tests/unit/scheduler/search/search_testing.h"

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
	plain = bench_submit(bench, "plain", 0, 0);
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
	/* The suggester's next answer comes after all earlier ones. */
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

/* The suggestions for a small space are fewer than requested, but the space is exhausted only once they are stored. */
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

/* The daemon ends while the third trial is being computed: the same suggestion is computed again. */
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

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(other_jobs_go_on_while_one_is_thought_about),
		BENCH_TEST(a_cancel_does_not_wait_for_the_thought),
		BENCH_TEST(a_thought_that_was_lost_is_thought_again),
		BENCH_TEST(what_could_not_be_stored_is_suggested_again),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
