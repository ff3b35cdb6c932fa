/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/resumption.h"

#include "tests/unit/api/ml/tuning_testing.h"

/* Sets a job in the store to ended. */
static void job_finish(struct bench *bench, int64_t job)
{
	job_to_running(bench, job);
	state_set(bench, job, JOB_RUNNING, JOB_SUCCEEDED);
}

/* The result of resuming @job_id with a study of @parameters. */
static enum status resume(struct bench *bench, const char *job_id, const char *parameters, bool minimized,
			  json_t **ret_jobs)
{
	struct ml_context context = context_on(bench, NULL);
	AUTO(plan) struct plan *plan = plan_of("demo", "new", 0, 0);
	enum status rc;

	plan->search = search_of(parameters, minimized);
	error_deinit(&bench->err);
	rc = resumption_fill(&context, job_id, plan, &bench->err);
	if (ret_jobs)
		*ret_jobs = json_incref(plan->resumed_jobs);
	return rc;
}

static void assert_refused(struct bench *bench, const char *job_id, const char *parameters, bool minimized,
			   const char *why)
{
	assert_int_equal(resume(bench, job_id, parameters, minimized, NULL), STATUS_INVALID_ARGUMENT);
	assert_string_equal(bench->err.violations[0].field, "hyperparameters.resume_previous_job_id");
	if (!strstr(bench->err.text, why))
		fail_msg("%s", bench->err.text);
}

static void a_chain_is_noted_with_its_oldest_first(void **state)
{
	BENCH(state);
	AUTO(plan) struct plan *second = plan_of("demo", "second", 0, 0);
	AUTO(json) json_t *jobs = NULL;

	job_finish(bench, search_store(bench, "first", search_of(RATE, false)));
	assert_int_equal(resume(bench, "first", RATE, false, &jobs), STATUS_OK);
	assert_json_text(jobs, "['first']");
	second->search = search_of(RATE, false);
	second->trial_count = 1;
	second->resumed_jobs = json_incref(jobs);
	job_finish(bench, plan_store(bench, second, "{'hyperparameters':{}}"));
	AUTO(json) json_t *both = NULL;
	assert_int_equal(resume(bench, "second", RATE, false, &both), STATUS_OK);
	assert_json_text(both, "['first','second']");
}

static void of_a_long_chain_the_oldest_are_forgotten(void **state)
{
	BENCH(state);
	AUTO(plan) struct plan *last = plan_of("demo", "last", 0, 0);
	AUTO(json) json_t *jobs = NULL;

	last->search = search_of(RATE, false);
	last->trial_count = 1;
	last->resumed_jobs = json_array();
	for (int i = 0; i < 100; i++)
		json_array_append_new(last->resumed_jobs, json_sprintf("j%d", i));
	job_finish(bench, plan_store(bench, last, "{'hyperparameters':{}}"));
	assert_int_equal(resume(bench, "last", RATE, false, &jobs), STATUS_OK);
	assert_int_equal(json_array_size(jobs), 100);
	assert_string_equal(json_string_value(json_array_get(jobs, 0)), "j1");
	assert_string_equal(json_string_value(json_array_get(jobs, 99)), "last");
}

static void what_cannot_be_resumed_is_refused(void **state)
{
	BENCH(state);
	AUTO(plan) struct plan *plain = plan_of("demo", "plain", 0, 0);

	job_finish(bench, plan_store(bench, plain, "{}"));
	search_store(bench, "open", search_of(RATE, false));
	job_finish(bench, search_store(bench, "ended", search_of(RATE, false)));
	assert_refused(bench, "gone", RATE, false, "the project has no job of that name");
	assert_refused(bench, "plain", RATE, false, "it is not a hyperparameter tuning job");
	assert_refused(bench, "open", RATE, false, "it has not ended yet");
	assert_refused(bench, "ended", KIND, false, "it has the parameter 'rate'");
	assert_refused(bench, "ended", RATE, true, "another goal for the metric 'loss'");
}

static void a_job_of_another_project_is_not_found(void **state)
{
	BENCH(state);
	struct ml_context context = context_on(bench, NULL);
	AUTO(plan) struct plan *plan = plan_of("another", "new", 0, 0);

	job_finish(bench, search_store(bench, "ended", search_of(RATE, false)));
	plan->search = search_of(RATE, false);
	assert_int_equal(resumption_fill(&context, "ended", plan, &bench->err), STATUS_INVALID_ARGUMENT);
	assert_null(plan->resumed_jobs);
}

/* If an earlier job cannot be read, the request is not at fault. */
static void a_damaged_job_is_an_error(void **state)
{
	BENCH(state);
	struct job job = job_named("damaged");
	AUTO(job) struct job *stored = NULL;
	enum status rc;

	job.plan = (char *)"{";
	assert_int_equal(job_insert(bench->store, &job, NULL, 0, &stored, &bench->err), STATUS_OK);
	job_finish(bench, stored->id);
	rc = resume(bench, "damaged", RATE, false, NULL);
	assert_true(rc && rc != STATUS_INVALID_ARGUMENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_chain_is_noted_with_its_oldest_first),
		TEST(of_a_long_chain_the_oldest_are_forgotten),
		TEST(what_cannot_be_resumed_is_refused),
		TEST(a_job_of_another_project_is_not_found),
		TEST(a_damaged_job_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
