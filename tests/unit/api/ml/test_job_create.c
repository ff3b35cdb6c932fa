/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the reasons to refuse a job, and what is stored of an accepted one. */
#include "api/training/image_map.h"
#include "api/training/quota.h"
#include "tests/unit/api/ml/job_testing.h"
#include "tests/unit/api/ml/ml_testing.h"

/* The host's resources when a job is created. */
struct machine_room {
	enum status status;
	unsigned gpus, cpus, max_containers, project_vcpus, used_jobs;
	enum machine_fit fit;
	enum accelerator_policy accelerators;
};

static const struct machine_room ample = { .cpus = 64, .gpus = 2, .max_containers = 100 };

struct service {
	struct ml_settings settings;
	const struct quota_limits *quota;
	struct quota_counter *counter;
	struct machine_room machine;
	bool knows_room;
};

static struct machine_told told_of(const struct machine_room *machine)
{
	struct machine_told reported = machine_told(machine->cpus, machine->gpus);

	reported.status = machine->status;
	reported.capacity.fit = machine->fit;
	reported.capacity.accelerators = machine->accelerators;
	reported.capacity.max_containers = machine->max_containers;
	reported.capacity.project_vcpus = machine->project_vcpus;
	reported.usage = (struct usage){ .jobs = machine->used_jobs, .containers = machine->max_containers };
	return reported;
}

/* Creates the container job with @patch merged into its input; bench->err has the error. */
static enum status create(struct bench *bench, const struct service *service, const char *job_id,
			  const char *patch, json_t **ret_answer)
{
	struct machine_told reported = told_of(&service->machine);
	struct ml_context context = context_on(bench, service->knows_room ? &reported : NULL);
	AUTO(json) json_t *body = job_with_input(patch);
	AUTO(json) json_t *answer = NULL;

	context.settings = service->settings;
	context.training.quota = service->quota;
	context.training.counter = service->counter;
	json_object_set_new(body, "jobId", json_string(job_id));
	error_deinit(&bench->err);
	answer = handler_answer(&context, job_create_handle, "demo", NULL, body, &bench->err);
	if (answer && ret_answer)
		*ret_answer = TAKE(answer);
	return bench->err.status;
}

#define K80S(count)                                                                                          \
	"{'masterType':'n1-standard-4','masterConfig':{'acceleratorConfig':{'type':'NVIDIA_TESLA_K80',"      \
	"'count':" #count "}}}"

static void the_rules_come_before_the_quotas_and_these_before_the_id(void **state)
{
	BENCH(state);
	struct quota_limits limits;
	struct service open = { .knows_room = false };
	struct service service = {
		.quota = &limits, .counter = quota_counter_new(), .machine = ample, .knows_room = true
	};

	assert_int_equal(quota_parse("create=2,K80=1", &limits, NULL), STATUS_OK);
	assert_int_equal(create(bench, &open, "taken", "{}", NULL), STATUS_OK);

	assert_int_equal(create(bench, &service, "taken", "{'jobDir':'x'}", NULL), STATUS_INVALID_ARGUMENT);
	assert_int_equal(create(bench, &service, "taken", "{'jobDir':'x'}", NULL), STATUS_INVALID_ARGUMENT);
	assert_int_equal(create(bench, &service, "taken", K80S(2), NULL), STATUS_RESOURCE_EXHAUSTED);
	assert_non_null(strstr(bench->err.text, "The request for 2 K80 accelerators exceeds"));
	assert_string_equal(bench->err.violations[0].field, "demo");
	assert_int_equal(create(bench, &service, "taken", K80S(1), NULL), STATUS_ALREADY_EXISTS);
	assert_string_equal(bench->err.violations[0].field, "job.job_id");
	assert_int_equal(create(bench, &service, "other", "{}", NULL), STATUS_RESOURCE_EXHAUSTED);
	assert_non_null(strstr(bench->err.text, "consumer 'project_number:123456789012'"));
	assert_int_equal(create(bench, &service, "other", "{'jobDir':'x'}", NULL), STATUS_INVALID_ARGUMENT);
	quota_counter_free(service.counter);
}

static void what_the_host_can_never_run_is_refused_and_all_else_waits(void **state)
{
	BENCH(state);
	static const struct {
		const char *patch;
		struct machine_room machine;
		enum status status;
		const char *quota; /* the text of a quota error, or NULL */
	} rows[] = {
		{ "{}", { .cpus = 64, .max_containers = 100 }, STATUS_OK, NULL },
		{ "{'scaleTier':'STANDARD_1'}",
		  { .cpus = 64, .max_containers = 7 },
		  STATUS_RESOURCE_EXHAUSTED,
		  NULL },
		{ "{'scaleTier':'STANDARD_1'}", { .cpus = 64, .max_containers = 8 }, STATUS_OK, NULL },
		{ "{}", { .cpus = 1, .max_containers = 9 }, STATUS_OK, NULL },
		{ "{}",
		  { .cpus = 1, .max_containers = 9, .fit = FIT_CLOUD },
		  STATUS_RESOURCE_EXHAUSTED,
		  NULL },
		{ K80S(4),
		  { .gpus = 2, .cpus = 8, .max_containers = 9, .accelerators = ACCELERATORS_REQUIRE },
		  STATUS_RESOURCE_EXHAUSTED,
		  "Quota failure for project demo." },
		{ "{}",
		  { .cpus = 64, .max_containers = 9, .project_vcpus = 3 },
		  STATUS_RESOURCE_EXHAUSTED,
		  "project demo may use at most 3" },
		{ "{}", { .cpus = 64, .max_containers = 9, .project_vcpus = 4 }, STATUS_OK, NULL },
		{ K80S(2),
		  { .gpus = 2, .cpus = 8, .max_containers = 9, .accelerators = ACCELERATORS_REQUIRE },
		  STATUS_OK,
		  NULL },
		{ K80S(4),
		  { .gpus = 2, .cpus = 8, .max_containers = 9, .accelerators = ACCELERATORS_PRETEND },
		  STATUS_OK,
		  NULL },
		{ K80S(4),
		  { .gpus = 2, .cpus = 8, .max_containers = 9, .accelerators = ACCELERATORS_WAIT },
		  STATUS_OK,
		  NULL },
		/* Resources held by other jobs are no reason to refuse a job. */
		{ "{}", { .cpus = 64, .max_containers = 1, .used_jobs = 4 }, STATUS_OK, NULL },
		{ "{'scaleTier':'STANDARD_1'}", { .status = STATUS_UNAVAILABLE }, STATUS_OK, NULL },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct service service = { .machine = rows[i].machine, .knows_room = true };
		char job_id[16];
		enum status rc;

		snprintf(job_id, sizeof(job_id), "j%zu", i);
		rc = create(bench, &service, job_id, rows[i].patch, NULL);
		if (rc != rows[i].status)
			fail_msg("row %zu: %s: %s", i, rows[i].patch,
				 bench->err.text ? bench->err.text : "taken");
		if (rows[i].quota) {
			assert_int_equal(bench->err.detail, ERROR_DETAIL_QUOTA);
			assert_string_equal(bench->err.violations[0].field, "demo");
			assert_non_null(strstr(bench->err.text, rows[i].quota));
		} else {
			assert_int_equal(bench->err.violation_count, 0);
		}
	}
}

static void tpus_count_against_their_quota(void **state)
{
	BENCH(state);
	struct quota_limits limits;
	struct service service = { .quota = &limits, .counter = quota_counter_new() };

	assert_int_equal(quota_parse("TPU_V2=7,TPU_V3=8", &limits, NULL), STATUS_OK);
	assert_int_equal(create(bench, &service, "a",
				"{'scaleTier':'BASIC_TPU','workerConfig':{'tpuTfVersion':'2.11'}}", NULL),
			 STATUS_RESOURCE_EXHAUSTED);
	assert_int_equal(create(bench, &service, "b",
				"{'scaleTier':'BASIC_TPU','workerConfig':{'tpuTfVersion':'2.11',"
				"'acceleratorConfig':{'type':'TPU_V3','count':8}}}",
				NULL),
			 STATUS_OK);
	quota_counter_free(service.counter);
}

static void a_built_in_algorithm_is_marked_at_once(void **state)
{
	BENCH(state);
	struct service service = { .knows_room = false };
	AUTO(json) json_t *job = NULL;
	AUTO(json) json_t *other = NULL;
	AUTO(job) struct job *stored = NULL;
	const json_t *output;

	assert_int_equal(create(bench, &service, "a",
				"{'masterConfig':{'imageUri':'gcr.io/cloud-ml-algos/boosted_trees:latest'}}",
				&job),
			 STATUS_OK);
	output = json_object_get(job, "trainingOutput");
	assert_true(json_true_at(output, "isBuiltInAlgorithmJob"));
	assert_string_equal(json_text_at(json_object_get(output, "builtInAlgorithmOutput"), "framework"),
			    "XGBOOST");
	assert_int_equal(job_get(bench->store, "demo", "a", &stored, &bench->err), STATUS_OK);
	assert_int_equal(stored->traits, JOB_TRAIT_BUILT_IN);
	assert_int_equal(create(bench, &service, "b", "{}", &other), STATUS_OK);
	assert_int_equal(json_object_size(json_object_get(other, "trainingOutput")), 0);
	assert_non_null(json_object_get(other, "trainingOutput"));
}

/* The answer has the image that the client sent; the plan has the one that runs. */
static void the_answer_repeats_what_was_sent_and_the_plan_has_what_runs(void **state)
{
	BENCH(state);
	static char *const rules[] = { (char *)"gcr.io/p/*=local/*" };
	static const struct image_map map = { rules, 1 };
	struct service service = { .settings = { .images = &map } };
	AUTO(json) json_t *answer = NULL;
	AUTO(job) struct job *job = NULL;
	AUTO(plan) struct plan *plan = NULL;

	assert_int_equal(create(bench, &service, "a", "{}", &answer), STATUS_OK);
	assert_json_text(json_object_get(answer, "trainingInput"),
			 "{'region':'us-central1','masterConfig':{'imageUri':'gcr.io/p/i:1'}}");
	assert_int_equal(job_get(bench->store, "demo", "a", &job, NULL), STATUS_OK);
	assert_int_equal(plan_from_text(job->plan, &plan, NULL), STATUS_OK);
	assert_string_equal(plan->pools[ROLE_MASTER].image, "local/i:1");
	assert_string_equal(plan->pools[ROLE_MASTER].cloud_image, "gcr.io/p/i:1");
	assert_int_equal(json_array_size(plan->deviations), 1);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(the_rules_come_before_the_quotas_and_these_before_the_id),
		WITH_BENCH(what_the_host_can_never_run_is_refused_and_all_else_waits),
		WITH_BENCH(tpus_count_against_their_quota),
		WITH_BENCH(a_built_in_algorithm_is_marked_at_once),
		WITH_BENCH(the_answer_repeats_what_was_sent_and_the_plan_has_what_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
