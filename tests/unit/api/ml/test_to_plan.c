/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/to_plan.h"

#include "api/training/image_map.h"
#include "api/training/runtime_map.h"
#include "tests/unit/api/ml/job_testing.h"

#define DAY_US (86400 * INT64_C(1000000))

/* The plan of a job that satisfies the rules. */
static struct plan *plan_with_input(const char *patch)
{
	AUTO(json) json_t *job = job_with_input(patch);
	struct error err AUTO_ERROR = { 0 };
	struct plan *plan = NULL;

	if (job_rules_check(job, &strict, &err) || job_to_plan("p", job, "ab12cd34ef", &strict, &plan, &err))
		fail_msg("%s: %s", patch, err.text);
	return plan;
}

static void assert_list(const json_t *list, const char *expected)
{
	if (expected)
		assert_json_text(list, expected);
	else
		assert_null(list);
}

static void the_least_job_is_one_master(void **state)
{
	AUTO(plan) struct plan *plan = plan_with_input("{}");

	(void)state;
	assert_string_equal(plan->dialect, "ml");
	assert_string_equal(plan->project, "p");
	assert_string_equal(plan->job_id, "j");
	assert_string_equal(plan->cluster_id, "ab12cd34ef");
	assert_string_equal(plan->region, "us-central1");
	assert_null(plan->job_dir);
	assert_null(plan->service_account);
	assert_false(plan->uses_chief);
	assert_int_equal(plan->priority, 0);
	assert_true(plan->max_running_us == 7 * DAY_US);
	assert_true(plan->max_wait_us == 0);
	assert_int_equal(json_array_size(plan->deviations), 0);
	assert_int_equal(plan_replica_count(plan), 1);
	assert_string_equal(plan->pools[ROLE_MASTER].image, "gcr.io/p/i:1");
	assert_string_equal(plan->pools[ROLE_MASTER].machine_type, "n1-standard-4");
	assert_null(plan->pools[ROLE_MASTER].command);
	assert_null(plan->pools[ROLE_MASTER].args);
	assert_null(plan->pools[ROLE_WORKER].image);
}

#define CLUSTER                                                                                              \
	"'scaleTier':'CUSTOM','masterType':'n1-standard-4','workerType':'n1-standard-8','workerCount':'2',"  \
	"'parameterServerType':'n1-highmem-2','parameterServerCount':3,'evaluatorType':'n1-standard-16',"    \
	"'evaluatorCount':1"

static void tiers_have_their_compositions(void **state)
{
	static const struct {
		const char *patch;
		struct {
			unsigned count;
			const char *machine_type;
		} pools[ROLE_COUNT];
		const char *accelerator_type; /* the master's accelerator */
		unsigned accelerator_count;
	} rows[] = {
		{ "{'scaleTier':'BASIC'}", { { 1, "n1-standard-4" } }, NULL, 0 },
		{ "{'scaleTier':'STANDARD_1'}",
		  { { 1, "n1-highcpu-8" }, { 4, "n1-highcpu-8" }, { 3, "n1-standard-4" } },
		  NULL,
		  0 },
		{ "{'scaleTier':'PREMIUM_1'}",
		  { { 1, "n1-highcpu-16" }, { 19, "n1-highcpu-16" }, { 11, "n1-highmem-8" } },
		  NULL,
		  0 },
		{ "{'scaleTier':'BASIC_GPU'}", { { 1, "n1-standard-8" } }, "NVIDIA_TESLA_K80", 1 },
		{ "{'scaleTier':'BASIC_TPU','workerConfig':{'tpuTfVersion':'2.11'}}",
		  { { 1, "n1-standard-4" } },
		  NULL,
		  0 },
		{ "{" CLUSTER "}",
		  { { 1, "n1-standard-4" },
		    { 2, "n1-standard-8" },
		    { 3, "n1-highmem-2" },
		    { 1, "n1-standard-16" } },
		  NULL,
		  0 },
		{ "{'masterType':'complex_model_m_gpu'}",
		  { { 1, "complex_model_m_gpu" } },
		  "NVIDIA_TESLA_K80",
		  4 },
		{ "{'masterType':'a2-highgpu-4g','masterConfig':{'acceleratorConfig':{'type':'NVIDIA_TESLA_"
		  "A100',"
		  "'count':4}}}",
		  { { 1, "a2-highgpu-4g" } },
		  "NVIDIA_TESLA_A100",
		  4 },
		{ "{'masterType':'n1-standard-8','masterConfig':{'acceleratorConfig':{'type':'NVIDIA_TESLA_"
		  "T4',"
		  "'count':'2'}}}",
		  { { 1, "n1-standard-8" } },
		  "NVIDIA_TESLA_T4",
		  2 },
		{ "{'masterType':'n1-standard-8','workerType':'cloud_tpu','workerCount':1,'workerConfig':"
		  "{'tpuTfVersion':'2.11'}}",
		  { { 1, "n1-standard-8" } },
		  NULL,
		  0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(plan) struct plan *plan = plan_with_input(rows[i].patch);

		for (int role = 0; role < ROLE_COUNT; role++) {
			const struct pool *pool = &plan->pools[role];

			assert_int_equal(pool->count, rows[i].pools[role].count);
			if (!pool->count)
				continue;
			assert_string_equal(pool->machine_type, rows[i].pools[role].machine_type);
			assert_string_equal(pool->image, "gcr.io/p/i:1");
		}
		assert_int_equal(plan->pools[ROLE_MASTER].accelerator_count, rows[i].accelerator_count);
		if (rows[i].accelerator_type)
			assert_string_equal(plan->pools[ROLE_MASTER].accelerator_type,
					    rows[i].accelerator_type);
		else
			assert_null(plan->pools[ROLE_MASTER].accelerator_type);
	}
}

/* For the master and the workers of one job. */
static void commands_and_arguments_reach_the_roles(void **state)
{
	static const struct {
		const char *rest;
		const char *master_command, *master_args, *worker_image, *worker_command, *worker_args;
	} rows[] = {
		{ "'x':null", NULL, NULL, "gcr.io/p/i:1", NULL, NULL },
		{ "'args':['a','b c']", NULL, "['a','b c']", "gcr.io/p/i:1", NULL, "['a','b c']" },
		{ "'args':[],'jobDir':'gs://bucket/d'", NULL, "['--job-dir','gs://bucket/d']", "gcr.io/p/i:1",
		  NULL, "['--job-dir','gs://bucket/d']" },
		{ "'args':['--job-dir=gs://other/d'],'jobDir':'gs://bucket/d'", NULL,
		  "['--job-dir=gs://other/d','--job-dir','gs://bucket/d']", "gcr.io/p/i:1", NULL,
		  "['--job-dir=gs://other/d','--job-dir','gs://bucket/d']" },
		{ "'masterConfig':{'containerCommand':['sh','-c'],'containerArgs':['x']}", "['sh','-c']",
		  "['x']", "gcr.io/p/i:1", "['sh','-c']", "['x']" },
		{ "'masterConfig':{'containerCommand':['sh']},'workerConfig':{'imageUri':'w'}", "['sh']",
		  NULL, "w", NULL, NULL },
		{ "'masterConfig':{'containerCommand':['sh']},'workerConfig':{'containerArgs':['y']}",
		  "['sh']", NULL, "gcr.io/p/i:1", NULL, "['y']" },
		{ "'masterConfig':{'containerArgs':['x']},'workerConfig':{'imageUri':'w','containerArgs':['y'"
		  "]},"
		  "'jobDir':'gs://bucket'",
		  NULL, "['x','--job-dir','gs://bucket']", "w", NULL, "['y','--job-dir','gs://bucket']" },
		{ "'args':['a'],'workerConfig':{'imageUri':'w'}", NULL, "['a']", "w", NULL, "['a']" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct text patch AUTO_TEXT = { 0 };
		AUTO(plan) struct plan *plan = NULL;

		text_printf(&patch, "{'masterType':'standard','workerType':'standard','workerCount':1,%s}",
			    rows[i].rest);
		plan = plan_with_input(patch.data);
		assert_list(plan->pools[ROLE_MASTER].command, rows[i].master_command);
		assert_list(plan->pools[ROLE_MASTER].args, rows[i].master_args);
		assert_string_equal(plan->pools[ROLE_WORKER].image, rows[i].worker_image);
		assert_list(plan->pools[ROLE_WORKER].command, rows[i].worker_command);
		assert_list(plan->pools[ROLE_WORKER].args, rows[i].worker_args);
	}
}

static void the_pools_own_their_lists(void **state)
{
	AUTO(json) json_t *job = job_with_input("{'args':['a'],'jobDir':'gs://bucket'}");
	AUTO(plan) struct plan *plan = NULL;

	(void)state;
	assert_int_equal(job_to_plan("p", job, "ab12cd34ef", &strict, &plan, NULL), STATUS_OK);
	json_array_clear(json_object_get(json_object_get(job, "trainingInput"), "args"));
	assert_json_text(plan->pools[ROLE_MASTER].args, "['a','--job-dir','gs://bucket']");
}

static void the_first_replica_is_chief_on_request_or_beside_an_evaluator(void **state)
{
	static const struct {
		const char *patch;
		bool uses_chief;
	} rows[] = {
		{ "{}", false },
		{ "{'useChiefInTfConfig':false}", false },
		{ "{'useChiefInTfConfig':true}", true },
		{ "{'masterType':'standard','evaluatorType':'standard','evaluatorCount':1}", true },
		{ "{'masterType':'standard','workerType':'standard','workerCount':1}", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(plan) struct plan *plan = plan_with_input(rows[i].patch);

		assert_int_equal(plan->uses_chief, rows[i].uses_chief);
	}
}

static void a_lost_replica_restarts_alone_unless_the_job_says_otherwise(void **state)
{
	AUTO(plan) struct plan *alone = plan_with_input("{'scheduling':{'resilientToWorkerRestart':false}}");
	AUTO(plan) struct plan *whole = plan_with_input("{'scheduling':{'resilientToWorkerRestart':true}}");

	(void)state;
	assert_false(alone->restarts_whole);
	assert_true(whole->restarts_whole);
}

static void limits_are_microseconds(void **state)
{
	AUTO(plan)
	struct plan *plan = plan_with_input("{'scheduling':{'maxRunningTime':'3.5s','maxWaitTime':'1800s','"
					    "priority':1000},'jobDir':'gs://bucket/d'}");

	(void)state;
	assert_true(plan->max_running_us == 3500000);
	assert_true(plan->max_wait_us == INT64_C(1800000000));
	assert_int_equal(plan->priority, 1000);
	assert_string_equal(plan->job_dir, "gs://bucket/d");
}

static void the_account_is_the_one_that_was_named(void **state)
{
	AUTO(plan) struct plan *plan = plan_with_input("{'serviceAccount':'sa@p.iam.gserviceaccount.com'}");

	(void)state;
	assert_string_equal(plan->service_account, "sa@p.iam.gserviceaccount.com");
}

static void the_input_is_repeated_as_replicas_know_it(void **state)
{
	static const struct {
		const char *patch, *input;
	} rows[] = {
		{ "{}", "{'region':'us-central1','run_on_raw_vm':true,'master_config':{'image_uri':'gcr.io/p/"
			"i:1'}}" },
		{ "{'scaleTier':'BASIC_GPU','region':'us-east1','args':['--epochs=3']}",
		  "{'scale_tier':'BASIC_GPU','args':['--epochs\\u003d3'],'region':'us-east1','run_on_raw_vm':"
		  "true,"
		  "'master_config':{'image_uri':'gcr.io/p/i:1'}}" },
		{ "{'args':['<a>&=','\\u0027']}", "{'args':['\\u003ca\\u003e\\u0026\\u003d','\\u0027'],'"
						  "region':'us-central1','run_on_raw_vm':true,"
						  "'master_config':{'image_uri':'gcr.io/p/i:1'}}" },
		{ "{'scaleTier':'CUSTOM','masterType':'n1-standard-4','workerType':'n1-standard-4','"
		  "workerCount':9,"
		  "'jobDir':'gs://bucket/"
		  "d','pythonVersion':'3.7','enableWebAccess':false,'scheduling':{'priority':5}}",
		  "{'scale_tier':'CUSTOM','master_type':'n1-standard-4','worker_type':'n1-standard-4',"
		  "'worker_count':'9','region':'us-central1','job_dir':'gs://bucket/d','run_on_raw_vm':true,"
		  "'python_version':'3.7','master_config':{'image_uri':'gcr.io/p/"
		  "i:1'},'scheduling':{'priority':5}}" },
		{ "{'scaleTier':'BASIC_TPU','workerConfig':{'tpuTfVersion':'2.11'}}",
		  "{'scale_tier':'BASIC_TPU','region':'us-central1','master_config':{'image_uri':'gcr.io/p/"
		  "i:1'},"
		  "'worker_config':{'tpu_tf_version':'2.11'}}" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(plan) struct plan *plan = plan_with_input(rows[i].patch);
		AUTO(string) char *expected = quoted(rows[i].input);
		AUTO(json) json_t *parsed = json_loads(plan->input, 0, NULL);

		assert_string_equal(plan->input, expected);
		assert_true(json_is_object(parsed));
	}
}

static void mapped_images_run_and_the_clients_are_remembered(void **state)
{
	static char *const rules[] = { (char *)"gcr.io/p/i=mine:dev", (char *)"gcr.io/*=x/*:1" };
	static const struct image_map map = { rules, COUNT_OF(rules) };
	static const struct ml_settings settings = { .images = &map };
	AUTO(json)
	json_t *job = job_with_input("{'masterType':'standard','workerType':'standard','workerCount':1,"
				     "'parameterServerType':'standard','parameterServerCount':1,"
				     "'parameterServerConfig':{'imageUri':'p'}}");
	AUTO(json) json_t *impossible = job_with_input("{'masterConfig':{'imageUri':'gcr.io/q:1'}}");
	AUTO(json) json_t *before = json_deep_copy(job);
	AUTO(plan) struct plan *plan = NULL;
	struct plan *none = NULL;

	(void)state;
	assert_int_equal(job_to_plan("p", job, "ab12cd34ef", &settings, &plan, NULL), STATUS_OK);
	assert_string_equal(plan->pools[ROLE_MASTER].image, "mine:dev");
	assert_string_equal(plan->pools[ROLE_MASTER].cloud_image, "gcr.io/p/i:1");
	assert_string_equal(plan->pools[ROLE_WORKER].image, "mine:dev");
	assert_string_equal(plan->pools[ROLE_WORKER].cloud_image, "gcr.io/p/i:1");
	assert_string_equal(plan->pools[ROLE_PS].image, "p");
	assert_null(plan->pools[ROLE_PS].cloud_image);
	assert_non_null(strstr(plan->input, "gcr.io/p/i:1"));
	assert_null(strstr(plan->input, "mine"));
	assert_true(json_equal(job, before));
	assert_int_equal(job_to_plan("p", impossible, "ab12cd34ef", &settings, &none, NULL),
			 STATUS_FAILED_PRECONDITION);
	assert_null(none);
}

static void a_tpus_address_is_for_jobs_with_a_tpu(void **state)
{
	static const struct ml_settings settings = { .tpu_config = "{\"zone\":\"z\"}" };
	AUTO(json)
	json_t *tpu = job_with_input("{'scaleTier':'BASIC_TPU','workerConfig':{'tpuTfVersion':'2.1'}}");
	AUTO(json) json_t *other = job_with_input("{}");
	AUTO(plan) struct plan *plan = NULL;
	AUTO(plan) struct plan *without = NULL;

	(void)state;
	assert_int_equal(job_to_plan("p", tpu, "ab12cd34ef", &settings, &plan, NULL), STATUS_OK);
	assert_string_equal(plan->tpu_config, "{\"zone\":\"z\"}");
	assert_int_equal(job_to_plan("p", other, "ab12cd34ef", &settings, &without, NULL), STATUS_OK);
	assert_null(without->tpu_config);
}

#define PACKAGES(version, python)                                                                            \
	"'masterConfig':null,'runtimeVersion':'" version "','pythonVersion':'" python                        \
	"','packageUris':['gs://bucket/a.tar.gz','gs://bucket/b.whl'],'pythonModule':'trainer.task'"
#define FRAMEWORK "gcr.io/cloud-aiplatform/training/"

static void packages_become_a_module_that_is_launched(void **state)
{
	AUTO(plan)
	struct plan *plan =
		plan_with_input("{" PACKAGES("2.11", "3.7") ",'scaleTier':'STANDARD_1','args':['a b'],"
							    "'jobDir':'gs://bucket/d'}");

	(void)state;
	assert_string_equal(plan->runtime_version, "2.11");
	assert_string_equal(plan->pools[ROLE_MASTER].python_module, "trainer.task");
	assert_string_equal(plan->pools[ROLE_MASTER].python, "python3");
	assert_json_text(plan->pools[ROLE_MASTER].package_uris,
			 "['gs://bucket/a.tar.gz','gs://bucket/b.whl']");
	assert_int_equal(plan_replica_count(plan), 8);
	for (int role = ROLE_MASTER; role <= ROLE_PS; role++) {
		assert_string_equal(plan->pools[role].image, FRAMEWORK "tf-cpu.2-11");
		assert_null(plan->pools[role].cloud_image);
		assert_null(plan->pools[role].command);
		assert_json_text(plan->pools[role].args, "['a b','--job-dir','gs://bucket/d']");
	}
}

/* The master's image is that of its accelerators. */
static void runtimes_have_their_images_and_names(void **state)
{
	static const struct {
		const char *patch, *image, *python;
		bool uses_chief;
	} rows[] = {
		{ "{" PACKAGES("2.1", "3.7") "}", FRAMEWORK "tf-cpu.2-1", "python3", true },
		{ "{" PACKAGES("2.9", "3.7") ",'scaleTier':'BASIC_GPU'}", FRAMEWORK "tf-gpu.2-9", "python3",
		  true },
		{ "{" PACKAGES("2.10", "3.7") ",'scaleTier':'BASIC_TPU'}", FRAMEWORK "tf-cpu.2-10", "python3",
		  true },
		{ "{" PACKAGES("1.15", "3.7") "}", FRAMEWORK "tf-cpu.1-15", "python3", false },
		{ "{" PACKAGES("1.15", "3.7") ",'useChiefInTfConfig':true}", FRAMEWORK "tf-cpu.1-15",
		  "python3", false },
		{ "{" PACKAGES("1.15", "3.7") ",'masterType':'n1-standard-4','evaluatorType':'n1-standard-4',"
					      "'evaluatorCount':1}",
		  FRAMEWORK "tf-cpu.1-15", "python3", true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(plan) struct plan *plan = plan_with_input(rows[i].patch);

		assert_string_equal(plan->pools[ROLE_MASTER].image, rows[i].image);
		assert_string_equal(plan->pools[ROLE_MASTER].python, rows[i].python);
		assert_int_equal(plan->uses_chief, rows[i].uses_chief);
	}
}

static void a_rule_for_a_runtime_goes_before_the_image_map(void **state)
{
	static char *const image_rules[] = { (char *)FRAMEWORK "*=localhost:5000/*", (char *)"mine=never" };
	static char *const runtime_rules[] = { (char *)"2.11=mine", (char *)"1.15/2.7=old" };
	static const struct image_map images = { image_rules, COUNT_OF(image_rules) };
	static const struct runtime_map runtimes = { runtime_rules, COUNT_OF(runtime_rules) };
	static const struct ml_settings settings = { .images = &images, .runtimes = &runtimes };
	static const struct {
		const char *patch, *image, *cloud_image, *python;
	} rows[] = {
		{ "{" PACKAGES("2.11", "3.7") "}", "mine", NULL, "python3" },
		{ "{" PACKAGES("2.10", "3.7") "}", "localhost:5000/tf-cpu.2-10", FRAMEWORK "tf-cpu.2-10",
		  "python3" },
		{ "{" PACKAGES("1.15", "2.7") "}", "old", NULL, "python" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(json) json_t *job = job_with_input(rows[i].patch);
		AUTO(plan) struct plan *plan = NULL;
		const struct pool *master;

		assert_int_equal(job_to_plan("p", job, "ab12cd34ef", &settings, &plan, NULL), STATUS_OK);
		master = &plan->pools[ROLE_MASTER];
		assert_string_equal(master->image, rows[i].image);
		assert_string_equal(plan->pools[ROLE_MASTER].python, rows[i].python);
		if (rows[i].cloud_image)
			assert_string_equal(master->cloud_image, rows[i].cloud_image);
		else
			assert_null(master->cloud_image);
	}
}

static void a_runtime_without_an_image_is_refused(void **state)
{
	static const char *const patches[] = { "{" PACKAGES("1.15", "2.7") "}",
					       "{" PACKAGES("2.99", "3.11") "}" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(patches); i++) {
		AUTO(json) json_t *job = job_with_input(patches[i]);
		struct error err AUTO_ERROR = { 0 };
		struct plan *plan = NULL;

		assert_int_equal(job_to_plan("p", job, "ab12cd34ef", &lenient, &plan, &err),
				 STATUS_FAILED_PRECONDITION);
		assert_non_null(strstr(err.text, "--runtime"));
		assert_null(plan);
	}
}

/* With custom images it is the module that says whether anything is launched. */
static void custom_images_may_have_packages(void **state)
{
	static const struct {
		const char *patch, *module, *uris;
	} rows[] = {
		{ "{'packageUris':['gs://bucket/a'],'pythonModule':'t'}", "t", "['gs://bucket/a']" },
		{ "{'pythonModule':'t'}", "t", NULL },
		{ "{'packageUris':['gs://bucket/a']}", NULL, NULL },
		{ "{'packageUris':['gs://bucket/a'],'pythonModule':'t','masterConfig':{'containerCommand':['x']}}",
		  NULL, NULL },
		{ "{'packageUris':['gs://bucket/a'],'pythonModule':'t','masterConfig':{'containerArgs':['x']}}",
		  "t", "['gs://bucket/a']" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(plan) struct plan *plan = plan_with_input(rows[i].patch);

		assert_null(plan->runtime_version);
		assert_string_equal(plan->pools[ROLE_MASTER].image, "gcr.io/p/i:1");
		assert_list(plan->pools[ROLE_MASTER].package_uris, rows[i].uris);
		if (rows[i].module)
			assert_string_equal(plan->pools[ROLE_MASTER].python_module, rows[i].module);
		else
			assert_null(plan->pools[ROLE_MASTER].python_module);
	}
}

static void what_the_rules_refuse_makes_no_plan(void **state)
{
	AUTO(json) json_t *no_input = json_of("{'jobId':'j'}");
	AUTO(json) json_t *no_image = job_with_input("{'masterConfig':null}");
	AUTO(json)
	json_t *too_many = job_with_input(
		"{'masterType':'standard','workerType':'standard','workerCount':'9223372036854775807'}");
	struct plan *plan = NULL;

	(void)state;
	assert_int_equal(job_to_plan("p", no_input, "ab12cd34ef", &strict, &plan, NULL),
			 STATUS_INVALID_ARGUMENT);
	assert_int_equal(job_to_plan("p", no_image, "ab12cd34ef", &strict, &plan, NULL),
			 STATUS_INVALID_ARGUMENT);
	assert_int_equal(job_to_plan("p", too_many, "ab12cd34ef", &strict, &plan, NULL),
			 STATUS_INVALID_ARGUMENT);
	assert_null(plan);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_job_is_one_master),
		cmocka_unit_test(tiers_have_their_compositions),
		cmocka_unit_test(commands_and_arguments_reach_the_roles),
		cmocka_unit_test(the_pools_own_their_lists),
		cmocka_unit_test(the_first_replica_is_chief_on_request_or_beside_an_evaluator),
		cmocka_unit_test(a_lost_replica_restarts_alone_unless_the_job_says_otherwise),
		cmocka_unit_test(limits_are_microseconds),
		cmocka_unit_test(the_account_is_the_one_that_was_named),
		cmocka_unit_test(the_input_is_repeated_as_replicas_know_it),
		cmocka_unit_test(mapped_images_run_and_the_clients_are_remembered),
		cmocka_unit_test(a_tpus_address_is_for_jobs_with_a_tpu),
		cmocka_unit_test(packages_become_a_module_that_is_launched),
		cmocka_unit_test(runtimes_have_their_images_and_names),
		cmocka_unit_test(a_rule_for_a_runtime_goes_before_the_image_map),
		cmocka_unit_test(a_runtime_without_an_image_is_refused),
		cmocka_unit_test(custom_images_may_have_packages),
		cmocka_unit_test(what_the_rules_refuse_makes_no_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
