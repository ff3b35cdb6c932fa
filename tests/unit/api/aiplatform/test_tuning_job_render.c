/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning jobs, their trials, and the custom jobs that run these, as the API answers them. */
#include <math.h>
#include <sodium.h>

#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/messages.h"
#include "scheduler/plan/trial_plan.h"
#include "scheduler/search/trial_job.h"
#include "tests/unit/api/ml/tuning_testing.h"

#define BODY                                                                                                 \
	"{'displayName':'mine','maxTrialCount':9,'parallelTrialCount':2,'labels':{'a':'b'},'studySpec':{"    \
	"'metrics':[{'metricId':'loss','goal':'MINIMIZE'},{'metricId':'acc','goal':'MAXIMIZE'}],"            \
	"'parameters':[{'parameterId':'kind','categoricalValueSpec':{'values':['tree','a, \\'b\\'']},"       \
	"'conditionalParameterSpecs':["                                                                      \
	"{'parentCategoricalValues':{'values':['tree']},'parameterSpec':{'parameterId':'rate',"              \
	"'discreteValueSpec':{'values':[0.5,64]}}},"                                                         \
	"{'parentCategoricalValues':{'values':['a, \\'b\\'']},'parameterSpec':{'parameterId':'rate',"        \
	"'doubleValueSpec':{'minValue':0,'maxValue':1}}}]}]},"                                               \
	"'trialJobSpec':{'baseOutputDirectory':{'outputUriPrefix':'gs://bkt/o'},"                            \
	"'scheduling':{'timeout':'60s'},'workerPoolSpecs':["                                                 \
	"{'machineSpec':{'machineType':'n1-standard-4'},'replicaCount':'1',"                                 \
	"'containerSpec':{'imageUri':'gcr.io/p/i:1','args':['--own=1']}},{},"                                \
	"{'machineSpec':{'machineType':'n1-standard-4'},'replicaCount':'2',"                                 \
	"'containerSpec':{'imageUri':'gcr.io/p/i:1'}}]}}"

static struct aiplatform_context context_of(struct bench *bench)
{
	return (struct aiplatform_context){ .training = context_on(bench, NULL).training, .version = "v1" };
}

/* Returns the answer of a handler; NULL: it failed. */
static json_t *answer_of(struct bench *bench, call_handler handler, const char *param, const char *id,
			 json_t *body)
{
	struct aiplatform_context context = context_of(bench);
	const struct route route = { .methods = strcmp(param, "customJob") == 0 ? &custom_job_methods
										: &tuning_job_methods };
	struct call call = {
		.context = &context,
		.route = &route,
		.host = "localhost:8090",
		.body = body,
		.query = json_pack("{s:s}", "format", "json"), /* for the study; the other handlers ignore it */
		.params = { { "project", "demo" }, { "location", "us-central1" }, { param, id } },
		.param_count = id ? 3 : 2
	};
	json_t *answer = NULL;

	error_deinit(&bench->err);
	if (!handler(&call, &bench->err))
		answer = call.answer.length ? json_loads(call.answer.data, 0, NULL) : json_object();
	text_deinit(&call.answer);
	json_decref(call.query);
	return answer;
}

static json_t *tuning_job(struct bench *bench, const struct job *job)
{
	return answer_of(bench, resource_get_handle, "hyperparameterTuningJob", job->job_id, NULL);
}

static struct job *job_create(struct bench *bench)
{
	AUTO(json) json_t *given = json_of(BODY);
	json_t *body = NULL;
	AUTO(json) json_t *made = NULL;
	struct job *job = NULL;

	assert_int_equal(message_read(&aiplatform_tuning_job, given, "", &body, &bench->err), STATUS_OK);
	made = answer_of(bench, resource_create_handle, "hyperparameterTuningJob", NULL, body);
	json_decref(body);
	if (!made)
		fail_msg("%s", bench->err.text);
	assert_string_equal(json_text_at(made, "state"), "JOB_STATE_PENDING");
	assert_null(json_object_get(made, "trials"));
	assert_int_equal(job_get_by_id(bench->store, 1, &job, &bench->err), STATUS_OK);
	return job;
}

static int64_t trial_add(struct bench *bench, const struct job *owner, unsigned number, const double *values)
{
	AUTO(plan) struct plan *plan = NULL;
	AUTO(study) struct study *study = NULL;
	AUTO(json) json_t *list = NULL;
	AUTO(string) char *text = NULL;
	struct job run = { 0 };
	struct trial_start start = { .number = number, .run = &run };

	assert_int_equal(plan_from_text(owner->plan, &plan, &bench->err), STATUS_OK);
	assert_int_equal(study_from_json(plan->search, &study, &bench->err), STATUS_OK);
	run = trial_job_make(owner, plan, study, number, values);
	list = trial_values_to_json(study, values);
	text = json_dump_compact(list);
	start.parameters = text;
	assert_int_equal(trials_start(bench->store, owner->id, &start, 1, &bench->err), STATUS_OK);
	job_deinit(&run);
	return start.run_id;
}

static void trial_end_as(struct bench *bench, const struct job *owner, unsigned number, int64_t run,
			 enum trial_outcome outcome, const char *final)
{
	const struct trial_ending ending = {
		.job = owner->id, .number = number, .run = run, .outcome = outcome, .final_step = 7, .final = final
	};

	assert_int_equal(trial_end(bench->store, &ending, &bench->err), STATUS_OK);
}

static void trial_stop_one(struct bench *bench, const struct job *owner, unsigned number, int64_t run)
{
	const struct service_line line = { SEVERITY_INFO, "stopped" };
	const struct trial_stopping stopping = {
		.job = owner->id, .number = number, .run = run, .message = "Stopped.", .line = &line
	};

	assert_int_equal(trial_stop(bench->store, &stopping, &bench->err), STATUS_OK);
}

static void run_fail(struct bench *bench, int64_t run, const char *message)
{
	struct job_change change = { .job = run,
				     .from = JOB_RUNNING,
				     .to = JOB_FAILED,
				     .error_message = message,
				     .reason_bytes = strcspn(message, "\n"),
				     .error_code = 3,
				     .ended_us = 1 };

	assert_int_equal(job_apply(bench->store, &change, 1, &bench->err), STATUS_OK);
}

/* Checks @trial without the members that differ from run to run. */
static void assert_trial(json_t *trial, const char *expected)
{
	const char *job = json_text_at(trial, "customJob");
	static const char place[] = "projects/123456789012/locations/us-central1/customJobs/";

	assert_true(strncmp(job, place, strlen(place)) == 0 && strlen(job) >= strlen(place) + 18);
	json_object_del(trial, "customJob");
	json_object_del(trial, "startTime");
	json_object_del(trial, "endTime");
	assert_json_text(trial, expected);
}

static const double tree[] = { 0, 64, NAN }, other[] = { 1, NAN, 0.1 + 0.2 };

static void trials_have_states_values_and_reasons(void **state)
{
	BENCH(state);
	AUTO(job) struct job *job = job_create(bench);
	const double half[] = { 0, 0.5, NAN };
	const double *const values[] = { tree, other, half, tree, other, other };
	int64_t runs[6];

	for (unsigned i = 0; i < 6; i++)
		runs[i] = trial_add(bench, job, i + 1, values[i]);
	for (unsigned i = 0; i < 5; i++)
		job_to_running(bench, runs[i]);
	trial_end_as(bench, job, 1, runs[0], OUTCOME_COMPLETED, "[0.25,null]");
	trial_end_as(bench, job, 2, runs[1], OUTCOME_COMPLETED, NULL);
	run_fail(
		bench, runs[2],
		"The replica failed.\n\nTo find out more about why your job exited please check the logs: …");
	trial_end_as(bench, job, 3, runs[2], OUTCOME_INFEASIBLE, "[0.25,1.0]");
	trial_stop_one(bench, job, 4, runs[3]);
	assert_int_equal(job_cancel_by_id(bench->store, runs[4], "Cancelled.", &bench->err), STATUS_OK);
	AUTO(json) json_t *answer = tuning_job(bench, job);
	json_t *trials = json_object_get(answer, "trials");

	assert_int_equal(json_array_size(trials), 6);
	assert_trial(json_array_get(trials, 0),
		     "{'id':'1','state':'SUCCEEDED','parameters':[{'parameterId':'kind','value':'tree'},"
		     "{'parameterId':'rate','value':64}],'finalMeasurement':{'stepCount':'7','metrics':["
		     "{'metricId':'loss','value':0.25}]}}");
	assert_trial(json_array_get(trials, 1),
		     "{'id':'2','state':'INFEASIBLE','parameters':[{'parameterId':'kind',"
		     "'value':'a, \\'b\\''},{'parameterId':'rate','value':0.30000000000000004}],"
		     "'infeasibleReason':'The trial ended without a value of its metric loss.'}");
	assert_trial(json_array_get(trials, 2),
		     "{'id':'3','state':'INFEASIBLE','parameters':[{'parameterId':'kind','value':'tree'},"
		     "{'parameterId':'rate','value':0.5}],'infeasibleReason':'The replica failed.'}");
	assert_string_equal(json_text_at(json_array_get(trials, 3), "state"), "STOPPING");
	assert_string_equal(json_text_at(json_array_get(trials, 4), "state"), "STOPPING");
	assert_string_equal(json_text_at(json_array_get(trials, 5), "state"), "ACTIVE");
	assert_null(json_object_get(json_array_get(trials, 5), "startTime"));
}

static void lists_are_without_trials(void **state)
{
	BENCH(state);
	AUTO(job) struct job *job = job_create(bench);

	trial_add(bench, job, 1, tree);
	AUTO(json)
	json_t *list = answer_of(bench, resource_list_handle, "hyperparameterTuningJob", NULL, NULL);
	AUTO(json) json_t *whole = tuning_job(bench, job);
	json_t *first = json_array_get(json_object_get(list, "hyperparameterTuningJobs"), 0);

	assert_null(json_object_get(first, "trials"));
	assert_non_null(json_object_get(whole, "trials"));
	json_object_del(whole, "trials");
	assert_true(json_equal(first, whole));
}

static void a_trials_job_is_told_by_its_tuning_jobs_spec(void **state)
{
	BENCH(state);
	AUTO(job) struct job *job = job_create(bench);
	AUTO(job) struct job *run = NULL;
	AUTO(plan) struct plan *plan = NULL;

	assert_int_equal(job_get_by_id(bench->store, trial_add(bench, job, 3, other), &run, &bench->err),
			 STATUS_OK);
	AUTO(json) json_t *answer = answer_of(bench, resource_get_handle, "customJob", run->job_id, NULL);
	const json_t *spec = json_object_get(answer, "jobSpec");
	const json_t *pools = json_object_get(spec, "workerPoolSpecs");

	assert_string_equal(json_text_at(answer, "displayName"), "mine-trial-3");
	assert_null(json_object_get(answer, "labels"));
	assert_json_text(json_object_get(spec, "baseOutputDirectory"), "{'outputUriPrefix':'gs://bkt/o/3/'}");
	assert_json_text(json_object_get(spec, "scheduling"), "{'timeout':'60s'}");
	assert_json_text(json_object_get(json_array_get(pools, 0), "containerSpec"),
			 "{'imageUri':'gcr.io/p/i:1','args':['--own=1','--kind=a, \\'b\\'',"
			 "'--rate=0.30000000000000004']}");
	assert_json_text(json_array_get(pools, 1), "{}");
	assert_json_text(json_object_get(json_array_get(pools, 2), "containerSpec"),
			 "{'imageUri':'gcr.io/p/i:1','args':['--kind=a, \\'b\\'',"
			 "'--rate=0.30000000000000004']}");
	/* The trial's programs have its own number, its log the number of the search; its limit is its own. */
	assert_int_equal(plan_from_text(run->plan, &plan, &bench->err), STATUS_OK);
	assert_string_equal(plan->job_id, run->job_id);
	assert_string_equal(plan_log_job_id(plan), job->job_id);
	assert_true(plan->max_running_us == INT64_C(60000000));
	assert_null(plan->study_limits);
}

/* The rows of both are kept, so that trials of a deleted job can still be shown. */
static void a_trials_job_outlives_its_tuning_job(void **state)
{
	BENCH(state);
	AUTO(job) struct job *job = job_create(bench);
	AUTO(job) struct job *run = NULL;
	const int64_t id = trial_add(bench, job, 1, tree);

	job_to_running(bench, job->id);
	state_set(bench, job->id, JOB_RUNNING, JOB_SUCCEEDED);
	assert_int_equal(job_get_by_id(bench->store, id, &run, &bench->err), STATUS_OK);
	AUTO(json)
	json_t *operation =
		answer_of(bench, resource_delete_handle, "hyperparameterTuningJob", job->job_id, NULL);
	AUTO(json) json_t *answer = answer_of(bench, resource_get_handle, "customJob", run->job_id, NULL);

	assert_true(json_true_at(operation, "done"));
	assert_string_equal(json_text_at(answer, "displayName"), "mine-trial-1");
	assert_null(tuning_job(bench, job));
	assert_int_equal(bench->err.status, STATUS_NOT_FOUND);
}

static void a_study_is_told_with_all_metrics(void **state)
{
	BENCH(state);
	AUTO(job) struct job *job = job_create(bench);
	const int64_t run = trial_add(bench, job, 1, tree);

	job_to_running(bench, run);
	trial_end_as(bench, job, 1, run, OUTCOME_COMPLETED, "[0.25,0.75]");
	AUTO(json)
	json_t *study =
		answer_of(bench, tuning_job_study_handle, "hyperparameterTuningJob", job->job_id, NULL);
	const json_t *trial = json_array_get(json_object_get(study, "trials"), 0);

	assert_null(json_object_get(study, "best"));
	assert_json_text(json_object_get(trial, "metrics"), "{'loss':0.25,'acc':0.75}");
	assert_json_text(json_object_get(trial, "parameters"), "{'kind':'tree','rate':64.0}");
	assert_true(strstr(json_text_at(study, "name"), "/hyperparameterTuningJobs/"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		TEST(trials_have_states_values_and_reasons),
		TEST(lists_are_without_trials),
		TEST(a_trials_job_is_told_by_its_tuning_jobs_spec),
		TEST(a_trials_job_outlives_its_tuning_job),
		TEST(a_study_is_told_with_all_metrics),
	};

	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
