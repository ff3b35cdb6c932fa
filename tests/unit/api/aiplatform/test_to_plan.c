/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/to_plan.h"

#include "api/aiplatform/prebuilt.h"
#include "api/training/image_map.h"
#include "api/training/runtime_map.h"
#include "scheduler/plan/plan.h"
#include "tests/unit/api/aiplatform/aiplatform_testing.h"

static const struct plan_names names = { "p", "123", "us-central1", "1234567890123456789", "ab12cd34ef" };

static const char *const image_rules[] = { "gcr.io/p/mapped=mine:1" };
static const char *const runtime_rules[] = { "2.11/3.10=runtime:1" };
static const struct image_map images = { (char *const *)image_rules, 1 };
static const struct runtime_map runtimes = { (char *const *)runtime_rules, 1 };
static const struct aiplatform_settings mapping = { .images = &images, .runtimes = &runtimes };

/* The plan of a job that satisfies the rules. */
static struct plan *plan_of(const char *text)
{
	AUTO(json) json_t *body = json_of(text);
	const bool tunes = json_object_get(body, "studySpec");
	AUTO(json)
	json_t *job = canonical_of(tunes ? &aiplatform_tuning_job : &aiplatform_custom_job, body);
	struct error err AUTO_ERROR = { 0 };
	struct plan *plan = NULL;

	if (tunes ? tuning_job_rules_check(job, &mapping, &err) ||
			    tuning_job_to_plan(job, &names, &mapping, &plan, &err)
		  : custom_job_rules_check(job, &mapping, &err) ||
			    custom_job_to_plan(job, &names, &mapping, &plan, &err))
		fail_msg("%s: %s", text, err.text);
	return plan;
}

/* A pool of the plan, as text. */
static void pools_are_what_their_specs_say(void **state)
{
	static const struct {
		const char *task, *pool, *input;
	} rows[] = {
		{ "'containerSpec':{'imageUri':'gcr.io/p/i'}",
		  "{'count':1,'image':'gcr.io/p/i','machine_type':'n1-standard-4'}",
		  "{'python_module':'','package_uris':[],'job_args':[]}" },
		{ "'containerSpec':{'imageUri':'gcr.io/p/i','command':['c']}",
		  "{'count':1,'image':'gcr.io/p/i','machine_type':'n1-standard-4','command':['c'],'args':[]}",
		  "{'python_module':'','package_uris':[],'job_args':[]}" },
		{ "'containerSpec':{'imageUri':'gcr.io/p/i','args':['--a=1'],'env':[{'name':'A','value':'$(B)'}]}",
		  "{'count':1,'image':'gcr.io/p/i','machine_type':'n1-standard-4','args':['--a=1'],'env':['A=$(B)']}",
		  "{'python_module':'','package_uris':[],'job_args':['--a=1']}" },
		{ "'containerSpec':{'imageUri':'gcr.io/p/mapped:2','command':['c'],'args':['d']}",
		  "{'count':1,'image':'mine:1','cloud_image':'gcr.io/p/mapped:2','machine_type':'n1-standard-4',"
		  "'command':['c'],'args':['d']}",
		  "{'python_module':'','package_uris':[],'job_args':['d']}" },
		{ "'pythonPackageSpec':" PYTHON_PACKAGE ",'args':['x']}",
		  "{'count':1,'image':'runtime:1','cloud_image':"
		  "'us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11.py310:latest','machine_type':'n1-standard-4',"
		  "'python_module':'trainer.task','python':'python3','args':['x'],"
		  "'package_uris':['gs://bucket/p.tar.gz']}",
		  "{'python_module':'trainer.task','package_uris':['gs://bucket/p.tar.gz'],'job_args':['x']}" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(string) char *job = NULL;
		AUTO(string) char *wanted_input = quoted(rows[i].input);
		AUTO(json) json_t *wanted = json_of(rows[i].pool);
		AUTO(json) json_t *text = NULL;
		const json_t *pool;
		const char *key;
		json_t *value;

		if (asprintf(&job,
			     "{'displayName':'x','jobSpec':{'workerPoolSpecs':[{'machineSpec':"
			     "{'machineType':'n1-standard-4'},'replicaCount':1,%s}]}}",
			     rows[i].task) < 0)
			fail();
		AUTO(plan) struct plan *plan = plan_of(job);
		AUTO(string) char *stored = plan_to_text(plan);

		text = json_loads(stored, 0, NULL);
		pool = json_object_get(json_object_get(text, "pools"), "master");
		if (!pool)
			pool = json_array_get(json_object_get(text, "pools"), 0);
		json_object_foreach(wanted, key, value) {
			if (!json_equal(json_object_get(pool, key), value))
				fail_msg("%s: %s in %s", rows[i].task, key, stored);
		}
		assert_string_equal(plan->input, wanted_input);
	}
}

static void a_job_of_all_pools_is_a_plan_of_all_roles(void **state)
{
	AUTO(plan)
	struct plan *plan = plan_of(
		"{'displayName':'x','encryptionSpec':{'kmsKeyName':"
		"'projects/p/locations/l/keyRings/r/cryptoKeys/k'},'jobSpec':{'workerPoolSpecs':[" POOL ",{},"
		"{'machineSpec':{'machineType':'a2-highgpu-2g'},'replicaCount':2,'containerSpec':{'imageUri':'i'}},"
		"{'machineSpec':{'machineType':'n1-standard-8','acceleratorType':'NVIDIA_TESLA_T4',"
		"'acceleratorCount':4},'replicaCount':1,'diskSpec':{'bootDiskType':'pd-ssd'},"
		"'containerSpec':{'imageUri':'localhost:5000/i'}}],'baseOutputDirectory':{'outputUriPrefix':"
		"'gs://bucket/d'},'enableDashboardAccess':true,'serviceAccount':'a@b',"
		"'tensorboard':'projects/1/locations/l/tensorboards/2',"
		"'scheduling':{'disableRetries':true,'restartJobOnWorkerRestart':true,'timeout':'60s',"
		"'strategy':'SPOT'}}}");
	static const char *const codes[] = { "image-registry", "accelerator-implied", "image-registry",
					     "disk-config",    "service-account",     "tensorboard",
					     "dashboard",      "encryption-key",      "scheduling-strategy" };

	(void)state;
	assert_string_equal(plan->dialect, "aiplatform");
	assert_string_equal(plan->project_number, "123");
	assert_string_equal(plan->region, "us-central1");
	assert_string_equal(plan->job_id, "1234567890123456789");
	assert_string_equal(plan->job_dir, "gs://bucket/d/");
	assert_string_equal(plan->service_account, "a@b");
	/* Fails with: scheduling_fill() without strategy_is_spot() */
	assert_true(plan->preemptible);
	assert_true(plan->uses_chief && plan->never_retries && !plan->restarts_whole && plan->mounts_gcs);
	assert_true(plan->max_running_us == 60000000 && plan->max_wait_us == 0);
	assert_int_equal(plan->pools[ROLE_MASTER].count, 1);
	assert_int_equal(plan->pools[ROLE_WORKER].count, 0);
	assert_int_equal(plan->pools[ROLE_PS].count, 2);
	assert_string_equal(plan->pools[ROLE_PS].accelerator_type, "NVIDIA_TESLA_A100");
	assert_int_equal(plan->pools[ROLE_PS].accelerator_count, 2);
	assert_int_equal(plan->pools[ROLE_EVALUATOR].accelerator_count, 4);
	/* Fails with: variables_fill() for the first pool alone */
	assert_json_text(
		plan->pools[ROLE_MASTER].env,
		"['AIP_DASHBOARD_PORT=8888','AIP_TENSORBOARD_RESOURCE_NAME=projects/1/locations/l/tensorboards/2']");
	assert_json_text(plan->pools[ROLE_EVALUATOR].env,
			 "['AIP_TENSORBOARD_RESOURCE_NAME=projects/1/locations/l/tensorboards/2']");
	assert_null(plan->pools[ROLE_WORKER].env);
	assert_int_equal(json_array_size(plan->deviations), COUNT_OF(codes));
	for (size_t i = 0; i < COUNT_OF(codes); i++)
		assert_string_equal(json_text_at(json_array_get(plan->deviations, i), "code"), codes[i]);
	assert_string_equal(json_text_at(json_array_get(plan->deviations, 0), "field"),
			    "jobSpec.workerPoolSpecs[2].containerSpec.imageUri");
}

/* Fails with: names_log_place() without the values of variables; report_log_places() for containers alone */
static void a_log_that_only_the_service_reads_is_told(void **state)
{
	AUTO(plan)
	struct plan *plan = plan_of(
		"{'displayName':'x','jobSpec':{'workerPoolSpecs':["
		"{'machineSpec':{'machineType':'n1-standard-4'},'containerSpec':{'imageUri':'gcr.io/p/i:1','args':["
		"'--log=/var/log-storage/output1.log','/dev/log','/dev/null'],"
		"'env':[{'name':'LOG','value':'unix:/dev/log'},{'name':'OTHER','value':'/var/log-storage'}]}},"
		"{'machineSpec':{'machineType':'n1-standard-4'},'replicaCount':1,"
		"'pythonPackageSpec':" PYTHON_PACKAGE ",'args':['/var/log-storage/output.log']}}]}}");
	static const char *const fields[] = { "[0].containerSpec.args", "[0].containerSpec.env",
					      "[1].pythonPackageSpec.args" };
	size_t i, count = 0;
	const json_t *told;

	(void)state;
	json_array_foreach(plan->deviations, i, told) {
		const json_t *listed = json_object_get(told, "fields");

		if (strcmp(json_text_at(told, "code"), "log-place") != 0)
			continue;
		count++;
		assert_string_equal(json_text_at(told, "kind"), "WITHOUT_EFFECT");
		assert_int_equal(json_array_size(listed), COUNT_OF(fields));
		for (size_t k = 0; k < COUNT_OF(fields); k++)
			assert_string_equal(strrchr(json_string_value(json_array_get(listed, k)), '['),
					    fields[k]);
	}
	assert_int_equal(count, 1);
}

static void limits_have_their_defaults(void **state)
{
	static const struct {
		const char *scheduling;
		int64_t running_us, wait_us;
	} rows[] = {
		{ "{}", 604800000000, 0 },
		{ "{'strategy':'FLEX_START'}", 604800000000, 86400000000 },
		{ "{'strategy':'FLEX_START','maxWaitDuration':'0s'}", 604800000000, 0 },
		{ "{'timeout':'1.5s'}", 1500000, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(string) char *job = NULL;

		if (asprintf(&job,
			     "{'displayName':'x','jobSpec':{'workerPoolSpecs':[{'machineSpec':{'machineType':"
			     "'g2-standard-4'},'containerSpec':{'imageUri':'gcr.io/p/i'}}],'scheduling':%s}}",
			     rows[i].scheduling) < 0)
			fail();
		AUTO(plan) struct plan *plan = plan_of(job);

		assert_true(plan->max_running_us == rows[i].running_us);
		assert_true(plan->max_wait_us == rows[i].wait_us);
	}
}

static void a_tuning_job_has_its_search(void **state)
{
	AUTO(plan)
	struct plan *plan = plan_of(
		"{'displayName':'x','maxTrialCount':9,'parallelTrialCount':20,'maxFailedTrialCount':3,"
		"'trialJobSpec':{'workerPoolSpecs':[" POOL
		"]},'studySpec':{'metrics':[{'metricId':'loss','goal':2},"
		"{'metricId':'acc'}],'medianAutomatedStoppingSpec':{'useElapsedDuration':true},"
		"'measurementSelectionType':2,'observationNoise':'HIGH','algorithm':3,"
		"'studyStoppingConfig':{'maxNumTrials':7,'minNumTrials':2,'shouldStopAsap':true,"
		"'maxNumTrialsNoProgress':3,'maxDurationNoProgress':'60s','minimumRuntimeConstraint':{"
		"'maxDuration':'1.5s'},'maximumRuntimeConstraint':{'endTime':'1970-01-01T00:00:09Z'}},'parameters':[{'parameterId':'opt',"
		"'categoricalValueSpec':{'values':['sgd','adam']},'conditionalParameterSpecs':[{"
		"'parentCategoricalValues':{'values':['adam']},'parameterSpec':{'parameterId':'n','scaleType':2,"
		"'integerValueSpec':{'minValue':1,'maxValue':8},'conditionalParameterSpecs':[{"
		"'parentIntValues':{'values':[2,3]},'parameterSpec':{'parameterId':'d',"
		"'discreteValueSpec':{'values':[1,2.5]}}}]}}]}]}}");

	(void)state;
	assert_int_equal(plan->trial_count, 9);
	assert_int_equal(plan->parallel_trial_count, 9);
	assert_true(plan->limits_each_trial);
	assert_json_text(plan->study_limits,
			 "{'least_us':1500000,'least_trials':2,'most_until_us':9000000,'most_trials':7,"
			 "'idle_trials':3,'idle_us':60000000,'interrupts':true}");
	assert_int_equal(plan->failed_trial_count, 3);
	assert_int_equal(json_array_size(plan->deviations), 0);
	json_object_del(plan->search, "seed");
	assert_json_text(
		plan->search,
		"{'algorithm':'random','stopping':'median','stops_by_elapsed':true,'best_counts':true,"
		"'repeats_allowed':true,'parameters':[{'name':'opt','type':'categorical','scale':'linear',"
		"'categories':['sgd','adam']},{'name':'n','type':'integer','scale':'log','parent':0,"
		"'parent_values':[1.0],'minimum':1.0,'maximum':8.0},{'name':'d','type':'discrete','scale':'linear',"
		"'parent':1,'parent_values':[2.0,3.0],'values':[1.0,2.5]}],'metrics':[{'name':'loss',"
		"'minimized':true},{'name':'acc','minimized':false}]}");
}

static void prebuilt_images_are_known_by_their_names(void **state)
{
	static const struct {
		const char *image, *framework, *version, *python;
		bool gpu;
	} rows[] = {
		{ "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11.py310:latest", "tf", "2.11", "3.10",
		  false },
		{ "gcr.io/cloud-aiplatform/training/tf-gpu.2-8", "tf", "2.8", "3.7", true },
		{ "europe-docker.pkg.dev/vertex-ai/training/pytorch-gpu.2-0.py310", "pytorch", "2.0", "3.10",
		  true },
		{ "asia-docker.pkg.dev/vertex-ai/training/scikit-learn-cpu.0-23", "scikit-learn", "0.23",
		  "3.7", false },
		{ "us-docker.pkg.dev/vertex-ai/training/tf-tpu.2-15.cp310", "tf", "2.15", "3.10", false },
		{ "us-docker.pkg.dev/vertex-ai/training/tf-cpu", NULL, NULL, NULL, false },
		{ "us-docker.pkg.dev/vertex-ai/training/.2-1", NULL, NULL, NULL, false },
		{ "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11.py", NULL, NULL, NULL, false },
		{ "us-docker.pkg.dev/vertex-ai/training/tf-cpu.", NULL, NULL, NULL, false },
		{ "gcr.io/p/tf-cpu.2-11", NULL, NULL, NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct prebuilt prebuilt;

		assert_int_equal(prebuilt_parse(rows[i].image, &prebuilt), rows[i].framework != NULL);
		if (!rows[i].framework)
			continue;
		assert_string_equal(prebuilt.framework, rows[i].framework);
		assert_string_equal(prebuilt.version, rows[i].version);
		assert_string_equal(prebuilt.python, rows[i].python);
		assert_int_equal(prebuilt.gpu, rows[i].gpu);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pools_are_what_their_specs_say),
		cmocka_unit_test(a_job_of_all_pools_is_a_plan_of_all_roles),
		cmocka_unit_test(a_log_that_only_the_service_reads_is_told),
		cmocka_unit_test(limits_have_their_defaults),
		cmocka_unit_test(a_tuning_job_has_its_search),
		cmocka_unit_test(prebuilt_images_are_known_by_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
