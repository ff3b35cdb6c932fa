/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/input_deviations.h"

#include "api/ml/to_plan.h"
#include "api/training/image_map.h"
#include "api/training/runtime_map.h"
#include "scheduler/plan/deviation.h"
#include "tests/unit/api/ml/job_testing.h"

static char *const image_rules[] = { (char *)"gcr.io/mapped/*=localhost:5000/*" };
static const struct image_map images = { image_rules, COUNT_OF(image_rules) };
static const struct ml_settings mapping = { .images = &images };
static const struct ml_settings with_tpu = { .tpu_config = "{}" };

#define TPU "'scaleTier':'BASIC_TPU','workerConfig':{'tpuTfVersion':'2.11'}"
#define T4  "'masterConfig':{'acceleratorConfig':{'type':'NVIDIA_TESLA_T4','count':1}}"

static char *const runtime_rules[] = { (char *)"2.11=mine", (char *)"2.99=mine" };
static const struct runtime_map runtimes = { runtime_rules, COUNT_OF(runtime_rules) };
static const struct ml_settings local_runtime = { .runtimes = &runtimes, .images = &images };

#define PACKAGES(version)                                                                                    \
	"'masterConfig':null,'runtimeVersion':'" version "','pythonVersion':'3.7',"                          \
	"'packageUris':['gs://bucket/p.tar.gz'],'pythonModule':'trainer.task'"

/* A patch of the input, and its one difference: "KIND code field", with a part of its text; NULL: none. */
static const struct {
	const char *patch;
	const struct ml_settings *settings;
	const char *deviation, *text;
} rows[] = {
	{ "{}", &strict, NULL, NULL },
	{ "{'args':['x'],'jobDir':'gs://bucket/d','useChiefInTfConfig':true}", &strict, NULL, NULL },
	{ "{'enableWebAccess':true}", &strict, NULL, NULL },
	{ "{'scheduling':{'priority':3,'maxWaitTime':'1800s','strategy':'ON_DEMAND'}}", &strict, NULL, NULL },
	{ "{'scaleTier':'BASIC_GPU'}", &strict, NULL, NULL },

	{ "{'network':'projects/1/global/networks/n'}", &strict,
	  "WITHOUT_EFFECT vpc-network trainingInput.network", "VPC network has no effect" },
	{ "{'encryptionConfig':{'kmsKeyName':'projects/p/locations/us-central1/keyRings/r/cryptoKeys/k'}}",
	  &strict, "WITHOUT_EFFECT encryption-key trainingInput.encryptionConfig.kmsKeyName",
	  "encryption key" },
	{ "{'encryptionConfig':{}}", &strict, NULL, NULL },
	{ "{'serviceAccount':'a@b'}", &strict, "WITHOUT_EFFECT service-account trainingInput.serviceAccount",
	  "service account" },
	{ "{'scheduling':{'strategy':'LOW_COST'}}", &strict,
	  "WITHOUT_EFFECT scheduling-strategy trainingInput.scheduling.strategy", "preemptible" },
	{ "{'scheduling':{'resilientToWorkerRestart':true}}", &strict, NULL, NULL },
	{ "{'masterConfig':{'diskConfig':{'bootDiskSizeGb':100}}}", &strict,
	  "WITHOUT_EFFECT disk-config trainingInput.masterConfig.diskConfig", "The disk configuration" },
	{ "{'scaleTier':'STANDARD_1','parameterServerConfig':{'diskConfig':{'bootDiskSizeGb':100}}}", &strict,
	  "WITHOUT_EFFECT disk-config trainingInput.parameterServerConfig.diskConfig",
	  "The disk configuration" },
	{ "{'workerConfig':{'diskConfig':{'bootDiskSizeGb':100}}}", &strict, NULL, NULL },

	{ "{" TPU "}", &strict, "WITHOUT_EFFECT cloud-tpu trainingInput.scaleTier", "no Cloud TPU" },
	{ "{'masterType':'standard','workerType':'cloud_tpu','workerCount':1,'workerConfig':{"
	  "'tpuTfVersion':'2.11'}}",
	  &strict, "WITHOUT_EFFECT cloud-tpu trainingInput.workerType", "no Cloud TPU" },
	{ "{" TPU "}", &with_tpu, NULL, NULL },

	{ "{'masterConfig':{'imageUri':'eu.gcr.io/p/i'}}", &strict, NULL, NULL },
	{ "{'masterConfig':{'imageUri':'us-central1-docker.pkg.dev/p/r/i:1'}}", &strict, NULL, NULL },
	{ "{'masterConfig':{'imageUri':'my-image:1'}}", &strict,
	  "IN_DOUBT_IN_CLOUD image-registry trainingInput.masterConfig.imageUri", "may not pull my-image:1" },
	{ "{'masterConfig':{'imageUri':'docker.io/library/busybox'}}", &strict,
	  "IN_DOUBT_IN_CLOUD image-registry trainingInput.masterConfig.imageUri", "Container Registry" },
	{ "{'masterConfig':{'imageUri':'localhost:5000/i'}}", &strict,
	  "REFUSED_BY_CLOUD image-registry trainingInput.masterConfig.imageUri", "on this machine" },
	{ "{'masterConfig':{'imageUri':'my-image:1'},'scaleTier':'STANDARD_1'}", &strict,
	  "IN_DOUBT_IN_CLOUD image-registry trainingInput.masterConfig.imageUri", NULL },
	{ "{'scaleTier':'STANDARD_1','workerConfig':{'imageUri':'w'}}", &strict,
	  "IN_DOUBT_IN_CLOUD image-registry trainingInput.workerConfig.imageUri", "may not pull w" },
	{ "{'scaleTier':'STANDARD_1','masterConfig':{'imageUri':'m'},'workerConfig':{'imageUri':'m'},"
	  "'parameterServerConfig':{'imageUri':'m'}}",
	  &strict, "IN_DOUBT_IN_CLOUD image-registry trainingInput.masterConfig.imageUri", "may not pull m" },
	{ "{'workerConfig':{'imageUri':'w'}}", &strict, NULL, NULL },
	{ "{'masterConfig':{'imageUri':'gcr.io/mapped/i:1'}}", &mapping,
	  "DONE_OTHERWISE image-mapped trainingInput.masterConfig.imageUri",
	  "The image localhost:5000/i:1 runs in the place of gcr.io/mapped/i:1" },
	{ "{'masterConfig':{'imageUri':'gcr.io/other/i:1'}}", &mapping, NULL, NULL },

	{ "{" PACKAGES("2.11") "}", &strict, NULL, NULL },
	{ "{" PACKAGES("2.11") ",'scaleTier':'STANDARD_1'}", &local_runtime,
	  "DONE_OTHERWISE runtime-image trainingInput.runtimeVersion",
	  "The image mine runs in the place of the runtime version 2.11" },
	{ "{" PACKAGES("2.10") "}", &local_runtime, NULL, NULL },
	{ "{'packageUris':['gs://bucket/p'],'pythonModule':'t'}", &strict,
	  "DONE_OTHERWISE module-launched trainingInput.pythonModule", "entry point" },
	{ "{'packageUris':['gs://bucket/p']}", &strict,
	  "DONE_OTHERWISE packages-not-installed trainingInput.packageUris", "does not install" },

	{ "{'masterType':'n1-standard-4'," T4 "}", &strict, NULL, NULL },
	{ "{'masterType':'n1-standard-4','region':'europe-north1'," T4 "}", &strict,
	  "REFUSED_BY_CLOUD accelerator-region trainingInput.masterConfig.acceleratorConfig.type",
	  "The region europe-north1 does not offer accelerators of type NVIDIA_TESLA_T4." },
	{ "{'scaleTier':'BASIC_GPU','region':'europe-north1'}", &strict,
	  "REFUSED_BY_CLOUD accelerator-region trainingInput.scaleTier", "NVIDIA_TESLA_K80" },
	{ "{'masterType':'standard','workerType':'standard_v100','workerCount':1,'region':'europe-north1'}",
	  &strict, "REFUSED_BY_CLOUD accelerator-region trainingInput.workerType", "NVIDIA_TESLA_V100" },
	{ "{" TPU ",'region':'europe-north1'}", &with_tpu,
	  "REFUSED_BY_CLOUD accelerator-region trainingInput.scaleTier", "TPU_V2" },

	{ "{'region':'mars-east1'}", &lenient, "REFUSED_BY_CLOUD region-unknown trainingInput.region",
	  "'mars-east1'" },
	{ "{'region':'mars-east1','scaleTier':'BASIC_GPU'}", &lenient,
	  "REFUSED_BY_CLOUD region-unknown trainingInput.region", NULL },
	{ "{'masterType':'g2-standard-4'}", &lenient,
	  "REFUSED_BY_CLOUD machine-type-unknown trainingInput.masterType", "'g2-standard-4'" },
	{ "{'masterType':'n1-highcpu-8'}", &lenient,
	  "REFUSED_BY_CLOUD machine-type-unknown trainingInput.masterType", NULL },
	{ "{'masterType':'n1-standard-4','evaluatorType':'x','evaluatorCount':1}", &lenient,
	  "REFUSED_BY_CLOUD machine-type-unknown trainingInput.evaluatorType", "'x'" },
	{ "{'masterType':'n1-standard-4'}", &lenient, NULL, NULL },
	{ "{'scaleTier':'STANDARD_1'}", &lenient, NULL, NULL },
};

static void what_the_request_tells_is_in_the_plan(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(json) json_t *job = job_with_input(rows[i].patch);
		AUTO(plan) struct plan *plan = NULL;
		struct error err AUTO_ERROR = { 0 };
		struct text reported AUTO_TEXT = { 0 };
		const json_t *deviation;

		if (job_rules_check(job, rows[i].settings, &err) ||
		    job_to_plan("p", job, "ab12cd34ef", rows[i].settings, &plan, &err))
			fail_msg("%s: %s", rows[i].patch, err.text);
		assert_true(deviations_valid(plan->deviations));
		if (json_array_size(plan->deviations) != (rows[i].deviation != NULL))
			fail_msg("%s: %s", rows[i].patch, json_dumps(plan->deviations, 0));
		if (!rows[i].deviation)
			continue;
		deviation = json_array_get(plan->deviations, 0);
		text_printf(&reported, "%s %s %s", json_text_at(deviation, "kind"),
			    json_text_at(deviation, "code"), json_text_at(deviation, "field"));
		assert_string_equal(reported.data, rows[i].deviation);
		if (rows[i].text && !strstr(json_text_at(deviation, "text"), rows[i].text))
			fail_msg("%s: %s", rows[i].patch, json_text_at(deviation, "text"));
	}
}

static void an_unknown_runtime_is_told_beside_its_image(void **state)
{
	AUTO(json) json_t *job = job_with_input("{" PACKAGES("2.99") "}");
	static const struct ml_settings settings = { .lenient = true, .runtimes = &runtimes };
	AUTO(plan) struct plan *plan = NULL;

	(void)state;
	assert_int_equal(job_to_plan("p", job, "ab12cd34ef", &settings, &plan, NULL), STATUS_OK);
	assert_int_equal(json_array_size(plan->deviations), 2);
	assert_string_equal(json_text_at(json_array_get(plan->deviations, 0), "code"), "runtime-image");
	assert_string_equal(json_text_at(json_array_get(plan->deviations, 1), "code"),
			    "runtime-version-unknown");
	assert_string_equal(json_text_at(json_array_get(plan->deviations, 1), "field"),
			    "trainingInput.runtimeVersion");
}

static void told_equals(const json_t *deviation, const char *code, const char *field, const char *text)
{
	assert_string_equal(json_text_at(deviation, "kind"), "REFUSED_BY_CLOUD");
	assert_string_equal(json_text_at(deviation, "code"), code);
	assert_string_equal(json_text_at(deviation, "field"), field);
	assert_non_null(strstr(json_text_at(deviation, "text"), text));
}

static void a_python_that_was_once_the_default_is_told_beside_its_runtime(void **state)
{
	AUTO(json) json_t *job = job_with_input("{" PACKAGES("1.8") ",'pythonVersion':null}");
	static char *const rules[] = { (char *)"1.8/2.7=mine" };
	static const struct runtime_map map = { rules, COUNT_OF(rules) };
	static const struct ml_settings settings = { .lenient = true, .runtimes = &map };
	AUTO(plan) struct plan *plan = NULL;

	(void)state;
	assert_int_equal(job_to_plan("p", job, "ab12cd34ef", &settings, &plan, NULL), STATUS_OK);
	assert_string_equal(plan->pools[ROLE_MASTER].image, "mine");
	assert_string_equal(plan->pools[ROLE_MASTER].python, "python");
	assert_int_equal(json_array_size(plan->deviations), 3);
	told_equals(json_array_get(plan->deviations, 1), "runtime-version-unknown",
		    "trainingInput.runtimeVersion", "'1.8' with the Python version '2.7'");
	told_equals(json_array_get(plan->deviations, 2), "python-version-unset",
		    "trainingInput.pythonVersion", "'1.8' runs with 2.7");
}

static void an_unknown_runtime_of_a_tpu_is_told_beside_the_missing_tpu(void **state)
{
	AUTO(json)
	json_t *job = job_with_input("{'scaleTier':'BASIC_TPU','workerConfig':{'tpuTfVersion':'2.99'}}");
	AUTO(plan) struct plan *plan = NULL;

	(void)state;
	assert_int_equal(job_to_plan("p", job, "ab12cd34ef", &lenient, &plan, NULL), STATUS_OK);
	assert_int_equal(json_array_size(plan->deviations), 2);
	assert_string_equal(json_text_at(json_array_get(plan->deviations, 1), "code"),
			    "runtime-version-unknown");
	assert_string_equal(json_text_at(json_array_get(plan->deviations, 1), "field"),
			    "trainingInput.workerConfig.tpuTfVersion");
}

/* Values of the input may be long; the list of deviations is bounded. */
static void long_values_are_told_in_part(void **state)
{
	AUTO(json) json_t *job = job_with_input("{}");
	AUTO(string) char *region = calloc(1, 100001);
	AUTO(plan) struct plan *plan = NULL;

	(void)state;
	memset(region, 'r', 100000);
	json_object_set_new(json_object_get(job, "trainingInput"), "region", json_string(region));
	assert_int_equal(job_to_plan("p", job, "ab12cd34ef", &lenient, &plan, NULL), STATUS_OK);
	assert_true(strlen(json_text_at(json_array_get(plan->deviations, 0), "text")) < 500);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_request_tells_is_in_the_plan),
		cmocka_unit_test(an_unknown_runtime_is_told_beside_its_image),
		cmocka_unit_test(a_python_that_was_once_the_default_is_told_beside_its_runtime),
		cmocka_unit_test(an_unknown_runtime_of_a_tpu_is_told_beside_the_missing_tpu),
		cmocka_unit_test(long_values_are_told_in_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
