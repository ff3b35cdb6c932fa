/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and reports of Vertex AI's jobs: what would run, and the deviations. */
#include "api/aiplatform/aiplatform.h"
#include "scheduler/plan/deviation.h"
#include "tests/unit/api/aiplatform/aiplatform_testing.h"
#include "tests/unit/api/ml/ml_testing.h"

static struct aiplatform_context vertex_on(struct bench *bench, struct machine_told *told)
{
	return (struct aiplatform_context){ .training = context_on(bench, told).training, .version = "v1" };
}

/* Calls @handler with a body in canonical form, or with the job @id; returns the answer, NULL: it failed. */
static json_t *vertex_answer(struct aiplatform_context *context, call_handler handler,
			     const struct resource_methods *methods, json_t *body, const char *id,
			     struct error *err)
{
	const struct route route = { .methods = methods };
	struct call call = { .context = context,
			     .route = &route,
			     .body = body,
			     .params = { { "project", "demo" },
					 { "location", "us-central1" },
					 { "customJob", id },
					 { "hyperparameterTuningJob", id } },
			     .param_count = id ? 4 : 2 };
	enum status rc = handler(&call, err);
	json_t *answer = NULL;

	if (!rc)
		answer = json_loads(call.answer.data, JSON_REJECT_DUPLICATES, NULL);
	text_deinit(&call.answer);
	return answer;
}

static json_t *custom_plan(struct bench *bench, struct machine_told *told, const char *patch)
{
	struct aiplatform_context context = vertex_on(bench, told);
	AUTO(json)
	json_t *body = patched(&aiplatform_custom_job,
			       "{'displayName':'d','jobSpec':{'workerPoolSpecs':[" POOL "]}}", patch);
	json_t *answer =
		vertex_answer(&context, resource_plan_handle, &custom_job_methods, body, NULL, &bench->err);

	if (!answer)
		fail_msg("%s: %s", patch, bench->err.text);
	return answer;
}

#define TWO_POOLS                                                                                            \
	"{'jobSpec':{'workerPoolSpecs':[" POOL ",{'machineSpec':{'machineType':'n1-standard-8'},"            \
	"'replicaCount':'2','containerSpec':{'imageUri':'gcr.io/p/i:2','command':['run'],"                   \
	"'args':['$(GREETING)','$(AIP_MODEL_DIR)','$$(X)'],"                                                 \
	"'env':[{'name':'GREETING','value':'of $(CLOUD_ML_REGION)'}]}}],"                                    \
	"'baseOutputDirectory':{'outputUriPrefix':'gs://bucket/o'},'scheduling':{'timeout':'60s'},"          \
	"'network':'projects/1/global/networks/n'}}"

static void a_plan_names_each_replica_and_what_it_gets(void **state)
{
	BENCH(state);
	struct machine_told told = machine_told(64, 0);
	AUTO(json) json_t *answer = custom_plan(bench, &told, TWO_POOLS);
	const json_t *replicas = json_object_get(answer, "replicas");
	const json_t *worker = json_array_get(replicas, 2);
	const char *name = json_text_at(answer, "exampleName");

	assert_int_equal(strncmp(name, "projects/123456789012/locations/us-central1/customJobs/", 55), 0);
	assert_null(json_object_get(answer, "mlUnitsPerHour"));
	assert_string_equal(json_text_at(answer, "timeout"), "60s");
	assert_json_text(json_object_get(answer, "start"), "{'now':true}");
	assert_json_text(json_object_get(answer, "startOrder"), "['workerpool1','workerpool0']");
	assert_int_equal(json_array_size(replicas), 3);
	assert_string_equal(json_text_at(worker, "name"), "workerpool1-1");
	assert_string_equal(json_text_at(worker, "image"), "gcr.io/p/i:2");
	assert_json_text(json_object_get(worker, "command"), "['run']");
	assert_string_equal(json_text_at(json_array_get(json_object_get(answer, "differences"), 0), "field"),
			    "jobSpec.network");
}

/* Variables are expanded as in the container. */
static void variables_are_filled_in(void **state)
{
	BENCH(state);
	struct machine_told told = machine_told(64, 0);
	AUTO(json) json_t *answer = custom_plan(bench, &told, TWO_POOLS);
	const json_t *worker = json_array_get(json_object_get(answer, "replicas"), 2);
	const json_t *env = json_object_get(worker, "env");
	AUTO(json) json_t *spec = json_loads(json_text_at(env, "CLUSTER_SPEC"), 0, NULL);
	const char *id = strrchr(json_text_at(answer, "exampleName"), '/') + 1;

	assert_string_equal(json_text_at(env, "GREETING"), "of us-central1");
	assert_json_text(json_object_get(worker, "args"), "['of us-central1','gs://bucket/o/model/','$(X)']");
	assert_json_text(json_object_get(spec, "task"), "{'type':'workerpool1','index':1}");
	assert_string_equal(json_text_at(env, "CLOUD_ML_JOB_ID"), id);
}

static void a_search_is_told_by_one_of_its_trials(void **state)
{
	BENCH(state);
	struct machine_told told = machine_told(64, 0);
	struct aiplatform_context context = vertex_on(bench, &told);
	AUTO(json)
	json_t *body =
		patched(&aiplatform_tuning_job,
			"{'displayName':'d','maxTrialCount':6,'parallelTrialCount':2,'studySpec':" STUDY
			",'trialJobSpec':{'workerPoolSpecs':[" POOL "]}}",
			"{}");
	AUTO(json)
	json_t *answer =
		vertex_answer(&context, resource_plan_handle, &tuning_job_methods, body, NULL, &bench->err);

	if (!answer)
		fail_msg("%s", bench->err.text);
	assert_int_equal(json_int_at(answer, "trialCount", 0), 6);
	assert_int_equal(json_int_at(answer, "parallelTrialCount", 0), 2);
	assert_non_null(strstr(json_text_at(answer, "exampleName"), "/hyperparameterTuningJobs/"));
	assert_int_equal(json_array_size(json_object_get(answer, "replicas")), 1);
}

static void what_create_refuses_is_refused_in_the_same_words(void **state)
{
	static const char *const patches[] = {
		"{'displayName':null}",
		"{'jobSpec':{'workerPoolSpecs':[{'machineSpec':{'machineType':'n0'},'replicaCount':'1',"
		"'containerSpec':{'imageUri':'i'}}]}}",
	};
	BENCH(state);
	struct machine_told told = machine_told(4, 0);

	for (size_t i = 0; i < COUNT_OF(patches); i++) {
		struct aiplatform_context context = vertex_on(bench, &told);
		AUTO(json)
		json_t *body =
			patched(&aiplatform_custom_job,
				"{'displayName':'d','jobSpec':{'workerPoolSpecs':[" POOL "]}}", patches[i]);
		struct error created AUTO_ERROR = { 0 };

		error_deinit(&bench->err);
		assert_null(vertex_answer(&context, resource_create_handle, &custom_job_methods, body, NULL,
					  &created));
		assert_null(vertex_answer(&context, resource_plan_handle, &custom_job_methods, body, NULL,
					  &bench->err));
		assert_int_equal(bench->err.status, created.status);
		assert_string_equal(bench->err.text, created.text);
	}
}

static void nothing_comes_of_a_plan(void **state)
{
	BENCH(state);
	struct machine_told told = machine_told(64, 0);
	AUTO(json) json_t *answer = custom_plan(bench, &told, "{}");
	struct job_list list AUTO_JOB_LIST = { 0 };

	assert_non_null(answer);
	assert_int_equal(job_list_unfinished(bench->store, &list, &bench->err), STATUS_OK);
	assert_int_equal(list.count, 0);
}

/* The job in front is named as in its own family of the API. */
static void a_plan_waits_behind_jobs_of_both_families(void **state)
{
	BENCH(state);
	struct machine_told told = machine_told(64, 0);
	struct aiplatform_context context = vertex_on(bench, &told);
	AUTO(json)
	json_t *body = patched(&aiplatform_custom_job,
			       "{'displayName':'d','jobSpec':{'workerPoolSpecs':[" POOL "]}}", "{}");
	AUTO(json)
	json_t *created =
		vertex_answer(&context, resource_create_handle, &custom_job_methods, body, NULL, &bench->err);
	AUTO(json) json_t *answer = NULL;
	const json_t *start;

	if (!created)
		fail_msg("%s", bench->err.text);
	told.capacity.max_vcpus = 8;
	told.usage.jobs = 1;
	told.usage.nano_cpus = INT64_C(8000000000);
	answer = custom_plan(bench, &told, "{}");
	start = json_object_get(answer, "start");
	assert_false(json_true_at(start, "now"));
	assert_string_equal(json_text_at(start, "behind"), json_text_at(created, "name"));
}

static void a_report_tells_what_the_request_tells_and_what_the_machine_does(void **state)
{
	BENCH(state);
	struct machine_told told = machine_told(64, 0);
	struct aiplatform_context context = vertex_on(bench, &told);
	AUTO(json)
	json_t *body = patched(&aiplatform_custom_job,
			       "{'displayName':'d','jobSpec':{'network':'projects/1/global/networks/n',"
			       "'workerPoolSpecs':[" POOL "]}}",
			       "{}");
	AUTO(json)
	json_t *created =
		vertex_answer(&context, resource_create_handle, &custom_job_methods, body, NULL, &bench->err);
	AUTO(assignment) struct assignment *assignment = assignment_new();
	AUTO(string) char *text = NULL;
	AUTO(json) json_t *queued = NULL;
	AUTO(json) json_t *let_in = NULL;
	const char *id;
	const char *address;
	json_t *replica;

	if (!created)
		fail_msg("%s", bench->err.text);
	id = strrchr(json_text_at(created, "name"), '/') + 1;
	queued = vertex_answer(&context, resource_report_handle, &custom_job_methods, NULL, id, &bench->err);
	assert_string_equal(json_text_at(queued, "name"), json_text_at(created, "name"));
	assert_string_equal(json_text_at(queued, "state"), "JOB_STATE_PENDING");
	assert_json_text(
		json_object_get(queued, "differences"),
		"[{'kind':'WITHOUT_EFFECT','code':'vpc-network','field':'jobSpec.network','text':'The "
		"VPC network has no effect: replicas share a network of their own.'}]");
	replica = json_array_get(json_object_get(queued, "replicas"), 0);
	address = json_text_at(replica, "addressName");
	assert_int_equal(strncmp(json_text_at(replica, "hostName"), address, strlen(address)), 0);
	json_object_del(replica, "hostName");
	json_object_del(replica, "addressName");
	assert_json_text(json_object_get(queued, "replicas"),
			 "[{'name':'workerpool0-0','image':'gcr.io/p/i:1','machineType':'n1-standard-4'}]");
	assert_null(json_object_get(queued, "consumedMLUnits"));
	assignment->limits[ROLE_MASTER] = (struct limits){ 2000000000, 1 << 30, 1 << 29 };
	deviation_add(assignment->deviations, DONE_OTHERWISE, "machine-fitted", "pools.master.machine_type",
		      "The replica is small.");
	text = assignment_to_text(assignment);
	struct job_change in = { .job = 1, .from = JOB_QUEUED, .to = JOB_PREPARING, .assignment = text };

	assert_int_equal(job_apply(bench->store, &in, 1, &bench->err), STATUS_OK);
	assert_true(in.applied);
	let_in = vertex_answer(&context, resource_report_handle, &custom_job_methods, NULL, id, &bench->err);
	assert_string_equal(json_text_at(json_array_get(json_object_get(let_in, "differences"), 1), "field"),
			    "jobSpec.workerPoolSpecs[0].machineSpec.machineType");
	assert_json_text(json_object_get(json_array_get(json_object_get(let_in, "replicas"), 0), "limits"),
			 "{'vcpus':2.0,'memoryBytes':1073741824,'shmBytes':536870912}");
}

/* Fails with: the trait not bound by job_row_insert(): it was shown as pending. */
static void a_job_that_asked_to_wait_for_capacity_is_queued(void **state)
{
	BENCH(state);
	struct machine_told told = machine_told(64, 1);
	struct aiplatform_context context = vertex_on(bench, &told);
	AUTO(json)
	json_t *body = patched(
		&aiplatform_custom_job,
		"{'displayName':'d','jobSpec':{'scheduling':{'strategy':'FLEX_START'},'workerPoolSpecs':["
		"{'machineSpec':{'machineType':'g2-standard-4','acceleratorType':'NVIDIA_L4',"
		"'acceleratorCount':1},'containerSpec':{'imageUri':'gcr.io/p/i:1'}}]}}",
		"{}");
	AUTO(json)
	json_t *created =
		vertex_answer(&context, resource_create_handle, &custom_job_methods, body, NULL, &bench->err);

	if (!created)
		fail_msg("%s", bench->err.text);
	assert_string_equal(json_text_at(created, "state"), "JOB_STATE_QUEUED");
}

static void a_job_of_the_other_kind_is_not_found(void **state)
{
	BENCH(state);
	struct machine_told told = machine_told(64, 0);
	struct aiplatform_context context = vertex_on(bench, &told);
	AUTO(json)
	json_t *body = patched(&aiplatform_custom_job,
			       "{'displayName':'d','jobSpec':{'workerPoolSpecs':[" POOL "]}}", "{}");
	AUTO(json)
	json_t *created =
		vertex_answer(&context, resource_create_handle, &custom_job_methods, body, NULL, &bench->err);
	const char *id = created ? strrchr(json_text_at(created, "name"), '/') + 1 : "";

	assert_null(
		vertex_answer(&context, resource_report_handle, &tuning_job_methods, NULL, id, &bench->err));
	assert_int_equal(bench->err.status, STATUS_NOT_FOUND);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(a_plan_names_each_replica_and_what_it_gets),
		WITH_BENCH(variables_are_filled_in),
		WITH_BENCH(a_search_is_told_by_one_of_its_trials),
		WITH_BENCH(what_create_refuses_is_refused_in_the_same_words),
		WITH_BENCH(nothing_comes_of_a_plan),
		WITH_BENCH(a_plan_waits_behind_jobs_of_both_families),
		WITH_BENCH(a_report_tells_what_the_request_tells_and_what_the_machine_does),
		WITH_BENCH(a_job_that_asked_to_wait_for_capacity_is_queued),
		WITH_BENCH(a_job_of_the_other_kind_is_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
