/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/trials_render.h"

#include <math.h>

#include "scheduler/plan/trial_plan.h"
#include "tests/unit/api/ml/tuning_testing.h"

static json_t *trials_of(struct bench *bench, const char *job_id)
{
	struct ml_context context = context_on(bench, NULL);
	AUTO(json)
	json_t *answer = handler_answer(&context, job_get_handle, "demo", job_id, NULL, &bench->err);

	return json_incref(json_object_get(json_object_get(answer, "trainingOutput"), "trials"));
}

static void assert_trials(struct bench *bench, const char *job_id, const char *expected)
{
	AUTO(json) json_t *trials = trials_of(bench, job_id);

	assert_json_text(trials, expected);
}

static void trials_are_told_in_the_order_of_their_numbers(void **state)
{
	BENCH(state);
	const int64_t job = search_store(bench, "tuned", search_of(RATE "," KIND, false));
	int64_t second;

	trial_finish(bench, job, 1, trial_store(bench, job, 1, "[0.25,1.0]"), "[0.5]",
		     NULL);
	second = trial_store(bench, job, 2, "[1.0,null]");
	job_to_running(bench, second);
	trial_store(bench, job, 3, "[0.0,0.0]");
	assert_trials(
		bench, "tuned",
		"[{'trialId':'1','hyperparameters':{'rate':'0.25','kind':'a, \\'b\\''},"
		"'finalMetric':{'trainingStep':'3','objectiveValue':0.5},'startTime':'2026-11-20T00:00:00Z',"
		"'endTime':'2026-11-20T00:00:01Z','state':'SUCCEEDED'},"
		"{'trialId':'2','hyperparameters':{'rate':'1'},'startTime':'2026-11-20T00:00:00Z','state':'RUNNING'},"
		"{'trialId':'3','hyperparameters':{'rate':'0','kind':'plain'},'state':'QUEUED'}]");
}

static void of_a_job_that_has_ended_the_best_come_first(void **state)
{
	BENCH(state);
	static const char *const finals[] = { "[0.5]", NULL, "[-2.5]", "[null]", "[0.5]", "[1e-07]" };
	static const char *const orders[] = { "156324", "361524" };

	for (int minimized = 0; minimized < 2; minimized++) {
		const char *name = minimized ? "least" : "most";
		const int64_t job = search_store(bench, name, search_of(RATE, minimized));

		for (unsigned i = 1; i <= COUNT_OF(finals); i++)
			trial_finish(bench, job, i, trial_store(bench, job, i, "[0.25]"), finals[i - 1],
				     NULL);
		job_to_running(bench, job);
		state_set(bench, job, JOB_RUNNING, JOB_SUCCEEDED);
		AUTO(json) json_t *trials = trials_of(bench, name);
		char order[8] = { 0 };

		for (size_t i = 0; i < json_array_size(trials); i++)
			order[i] = *json_text_at(json_array_get(trials, i), "trialId");
		assert_string_equal(order, orders[minimized]);
	}
}

/* Numbers copied from the stored text look as if they were written from their values. */
static void stored_numbers_are_written_as_values_are(void **state)
{
	BENCH(state);
	static const double values[] = { 0,
					 -0.0,
					 1,
					 -1,
					 0.1,
					 1e-7,
					 -1e-300,
					 1e5,
					 123456789012345.0,
					 -123456789012345.0,
					 999999999999999.0,
					 1e15,
					 9007199254740993.0,
					 -9007199254740993.0,
					 1e16,
					 1e20,
					 1e300,
					 1.0 / 3,
					 -2.5 };
	const int64_t job = search_store(bench, "tuned", search_of(RATE, false));
	AUTO(json) json_t *search = search_of(RATE, false);
	AUTO(study) struct study *study = NULL;

	assert_int_equal(study_from_json(search, &study, NULL), STATUS_OK);
	for (unsigned i = 0; i < COUNT_OF(values); i++) {
		AUTO(json) json_t *stored = trial_values_to_json(study, &values[i]);
		AUTO(string) char *text = json_dump_compact(stored);

		trial_store(bench, job, i + 1, text);
	}
	AUTO(json) json_t *trials = trials_of(bench, "tuned");

	for (size_t i = 0; i < COUNT_OF(values); i++) {
		struct text wanted AUTO_TEXT = { 0 };
		const json_t *reported = json_object_get(
			json_object_get(json_array_get(trials, i), "hyperparameters"), "rate");

		parameter_value_write(&wanted, &study->parameters[0], values[i]);
		assert_string_equal(json_string_value(reported), wanted.data);
	}
}

static void a_page_tells_each_job_its_own(void **state)
{
	BENCH(state);
	struct ml_context context = context_on(bench, NULL);
	const int64_t first = search_store(bench, "first", search_of(RATE, false));
	AUTO(plan) struct plan *plain = plan_of("demo", "plain", 0, 0);
	int64_t last;

	trial_store(bench, first, 1, "[0.25]");
	plan_store(bench, plain, "{}");
	search_store(bench, "none", search_of(RATE, false));
	last = search_store(bench, "last", search_of(KIND, false));
	trial_store(bench, last, 1, "[0.0]");
	trial_store(bench, last, 2, "[1.0]");
	AUTO(json)
	json_t *answer = handler_answer(&context, job_list_handle, "demo", NULL, NULL, &bench->err);
	const json_t *jobs = json_object_get(answer, "jobs");
	const struct {
		const char *job_id;
		size_t trials;
		bool tunes;
	} rows[] = { { "last", 2, true }, { "none", 0, true }, { "plain", 0, false }, { "first", 1, true } };

	assert_int_equal(json_array_size(jobs), COUNT_OF(rows));
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const json_t *job = json_array_get(jobs, i), *output = json_object_get(job, "trainingOutput");

		assert_string_equal(json_text_at(job, "jobId"), rows[i].job_id);
		assert_int_equal(json_array_size(json_object_get(output, "trials")), rows[i].trials);
		assert_int_equal(json_true_at(output, "isHyperparameterTuningJob"), rows[i].tunes);
	}
}

static void a_job_whose_plan_cannot_be_read_is_told_without_trials(void **state)
{
	BENCH(state);
	AUTO(json) json_t *broken = json_of("{'algorithm':'none'}");
	const int64_t job = search_store(bench, "broken", json_incref(broken));

	trial_store(bench, job, 1, "[0.25]");
	AUTO(json) json_t *trials = trials_of(bench, "broken");
	assert_null(trials);
}

/* Whatever the store has, the answer is JSON: handler_answer() ensures that. */
static void damaged_trials_are_told_as_far_as_they_go(void **state)
{
	BENCH(state);
	static const char *const parameters[] = { "",          "[",   "[]", "[0.5",
						  "[0.5,7.0]", "[,]", "{}", "[0.5,0.0,1.0]",
						  "[\"a\\\"]" };
	static const char *const finals[] = { "", "{}", "[", "[,", "[]", "[null]", "0.5]", "x", "[1e]" };
	const int64_t job = search_store(bench, "tuned", search_of(RATE "," KIND, false));

	for (unsigned i = 0; i < COUNT_OF(parameters); i++)
		trial_finish(bench, job, i + 1, trial_store(bench, job, i + 1, parameters[i]), finals[i],
			     NULL);
	AUTO(json) json_t *trials = trials_of(bench, "tuned");
	assert_int_equal(json_array_size(trials), COUNT_OF(parameters));
	for (size_t i = 0; i < COUNT_OF(parameters); i++)
		assert_null(json_object_get(json_array_get(trials, i), "finalMetric"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		TEST(trials_are_told_in_the_order_of_their_numbers),
		TEST(of_a_job_that_has_ended_the_best_come_first),
		TEST(stored_numbers_are_written_as_values_are),
		TEST(a_page_tells_each_job_its_own),
		TEST(a_job_whose_plan_cannot_be_read_is_told_without_trials),
		TEST(damaged_trials_are_told_as_far_as_they_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
