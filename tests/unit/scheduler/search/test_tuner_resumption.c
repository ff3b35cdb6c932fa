/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning jobs that resume jobs which have changed since. */
#include "tests/unit/scheduler/search/search_testing.h"

/* A tuning job that has ended, and one that resumes it. Returns the latter; its first trial runs. */
static int64_t resumption_submit(struct bench *bench)
{
	const int64_t first =
		search_submit(bench, &(struct search){ .job_id = "first", .trials = 1, .parallel = 1 });
	int64_t second;

	fake_engine_up(bench->fake);
	run_exit(bench, trial_await(bench, first, 1, JOB_RUNNING), 0);
	idle_await(bench);
	second = search_submit(
		bench,
		&(struct search){ .job_id = "second", .trials = 3, .parallel = 1, .resumes = "first" });
	trial_await(bench, second, 1, JOB_RUNNING);
	return second;
}

#define OF_FIRST " (SELECT id FROM job WHERE job_id = 'first')"

static const char *const damages[] = {
	"UPDATE trial SET parameters = '[' WHERE job =" OF_FIRST,
	"UPDATE job SET plan = json_set(plan, '$.search.algorithm', 'NONE') WHERE id =" OF_FIRST,
	"UPDATE job SET plan = '{' WHERE id =" OF_FIRST,
	"UPDATE job SET job_id = 'other' WHERE id =" OF_FIRST,
};

static void resumption_fails(struct bench *bench, const char *damage)
{
	const int64_t job = resumption_submit(bench);

	daemon_stop(bench);
	database_do(bench, damage);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, job, JOB_FAILED,
		  "The trials of the job 'first', which this one resumes, cannot be read: ");
}

static void a_job_that_cannot_read_the_trials_of_another_fails(void **state)
{
	resumption_fails(*state, damages[0]);
}

static void a_job_that_cannot_read_the_study_of_another_fails(void **state)
{
	resumption_fails(*state, damages[1]);
}

static void a_job_that_cannot_read_the_plan_of_another_fails(void **state)
{
	resumption_fails(*state, damages[2]);
}

static void a_job_that_resumes_one_that_is_gone_fails(void **state)
{
	struct bench *bench = *state;
	const int64_t job = search_submit(
		bench, &(struct search){ .job_id = "t", .trials = 1, .parallel = 1, .resumes = "gone" });

	idle_await(bench);
	job_check(bench, job, JOB_FAILED,
		  "The trials of the job 'gone', which this one resumes, cannot be read");
}

/* It was cancelled before the scheduler read it. */
static void a_job_that_resumes_what_cannot_be_read_is_cancelled_all_the_same(void **state)
{
	struct bench *bench = *state;
	const int64_t job = resumption_submit(bench);
	struct trial_list list AUTO_TRIAL_LIST = { 0 };

	daemon_stop(bench);
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++)
		database_do(bench, damages[i]);
	database_do(bench, "UPDATE job SET state = 6, verdict = 7, verdict_message = 'enough'"
			   " WHERE job_id = 'second'");
	daemon_start(bench);
	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, job, JOB_CANCELLED, "enough");
	trials_read(bench, job, &list);
	assert_int_equal(list.trials[0].outcome, OUTCOME_CANCELLED);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(a_job_that_cannot_read_the_trials_of_another_fails),
		BENCH_TEST(a_job_that_cannot_read_the_study_of_another_fails),
		BENCH_TEST(a_job_that_cannot_read_the_plan_of_another_fails),
		BENCH_TEST(a_job_that_resumes_one_that_is_gone_fails),
		BENCH_TEST(a_job_that_resumes_what_cannot_be_read_is_cancelled_all_the_same),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
