/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/ml/job_testing.h"

static void image_or_runtime_but_not_both(void **state)
{
	static const struct input_row rows[] = {
		{ "{}", NULL, NULL },
		{ "{'runtimeVersion':'2.11'}", "",
		  "Only one of runtime version or the master Docker image URI should be provided." },
		{ "{'runtimeVersion':'2.11','scaleTier':'STANDARD_1'}", "",
		  "Only one of runtime version or the master Docker image URI should be provided." },
		{ "{'masterConfig':null}", "runtime_version", "Either a runtime version or" },
		{ "{'masterConfig':{'imageUri':''}}", "runtime_version", "Either a runtime version or" },
		{ "{'masterConfig':null,'workerConfig':{'imageUri':'w'}}", "worker_config.image_uri",
		  "master" },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

#define SHA_256 "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* References have their own tests; here each role is tried once. */
static void images_are_references(void **state)
{
	static const struct input_row rows[] = {
		{ "{'masterConfig':{'imageUri':'busybox'}}", NULL, NULL },
		{ "{'masterConfig':{'imageUri':'gcr.io/cloud-ml-algos/boosted_trees:latest'}}", NULL, NULL },
		{ "{'masterConfig':{'imageUri':'us-central1-docker.pkg.dev/p/r/i:TAG_1.0'}}", NULL, NULL },
		{ "{'masterConfig':{'imageUri':'localhost:5000/a/b" SHA_256 "'}}", NULL, NULL },
		{ "{'masterConfig':{'imageUri':'localhost:5000/a/b@sha256:00'}}", "master_config.image_uri",
		  "is not a Docker image URI" },
		{ "{'masterConfig':{'imageUri':'gcr.io/P/i'}}", "master_config.image_uri", "lowercase path" },
		{ "{'masterConfig':{'imageUri':'https://gcr.io/p/i'}}", "master_config.image_uri", NULL },
		{ "{'masterConfig':{'imageUri':'a b'}}", "master_config.image_uri", NULL },
		{ "{'masterConfig':{'imageUri':'a\\nb'}}", "master_config.image_uri", NULL },
		{ "{'workerConfig':{'imageUri':'w'}}", NULL, NULL },
		{ "{'workerConfig':{'imageUri':'W'}}", "worker_config.image_uri", NULL },
		{ "{'parameterServerConfig':{'imageUri':'p:1'}}", NULL, NULL },
		{ "{'parameterServerConfig':{'imageUri':'p:'}}", "parameter_server_config.image_uri", NULL },
		{ "{'evaluatorConfig':{'imageUri':'e'}}", NULL, NULL },
		{ "{'evaluatorConfig':{'imageUri':'\\t'}}", "evaluator_config.image_uri", NULL },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static void each_role_has_an_image_of_its_own_beside_the_masters(void **state)
{
	static const struct input_row rows[] = {
		{ "{'parameterServerConfig':{'imageUri':'p'},'evaluatorConfig':{'imageUri':'e'}}", NULL,
		  NULL },
		{ "{'masterConfig':null,'runtimeVersion':'2.11','parameterServerConfig':{'imageUri':'p'}}",
		  "parameter_server_config.image_uri", "together with the master Docker image URI" },
		{ "{'masterConfig':null,'runtimeVersion':'2.11','evaluatorConfig':{'imageUri':'e'}}",
		  "evaluator_config.image_uri", "together with the master Docker image URI" },
		{ "{'masterConfig':null,'runtimeVersion':'2.11','workerConfig':{'imageUri':'w'}}",
		  "worker_config.image_uri", "together with the master Docker image URI" },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static void commands_need_an_image_and_no_args(void **state)
{
	static const struct input_row rows[] = {
		{ "{'masterConfig':{'containerCommand':['sh'],'containerArgs':['-c','x']}}", NULL, NULL },
		{ "{'workerConfig':{'containerCommand':['sh']}}", NULL, NULL },
		{ "{'args':['x']}", NULL, NULL },
		{ "{'args':['x'],'masterConfig':{'containerCommand':['sh']}}",
		  "master_config.container_command", "cannot be given together with args" },
		{ "{'args':['x'],'workerConfig':{'containerArgs':['y']}}", "worker_config.container_args",
		  NULL },
		{ "{'args':['x'],'parameterServerConfig':{'containerCommand':['sh']}}",
		  "parameter_server_config.container_command", "together with args" },
		{ "{'args':['x'],'evaluatorConfig':{'containerArgs':['y']}}",
		  "evaluator_config.container_args", "together with args" },
		{ "{'parameterServerConfig':{'containerCommand':['sh']},'evaluatorConfig':{'containerArgs':["
		  "'y']}}",
		  NULL, NULL },
		{ "{'args':[],'masterConfig':{'containerCommand':['sh']}}", NULL, NULL },
		{ "{'masterConfig':{'imageUri':null,'containerCommand':['x']},'runtimeVersion':'2.11'}",
		  "master_config.container_command", "custom container image" },
		{ "{'masterConfig':{'imageUri':null},'runtimeVersion':'2.11','workerConfig':{"
		  "'containerCommand':['x']}}",
		  "worker_config.container_command", "custom container image" },
		{ "{'masterConfig':{'imageUri':null,'containerArgs':['x']},'runtimeVersion':'2.11'}",
		  "master_config.container_args", "custom container image" },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

#define TPU_CLUSTER                                                                                          \
	"'scaleTier':'CUSTOM','masterType':'n1-standard-4','workerType':'cloud_tpu','workerCount':1"

static void the_tpus_version_is_for_tpu_workers_of_containers(void **state)
{
	static const struct input_row rows[] = {
		{ "{" TPU_CLUSTER ",'workerConfig':{'tpuTfVersion':'2.11'}}", NULL, NULL },
		{ "{" TPU_CLUSTER "}", "worker_config.tpu_tf_version", "required" },
		{ "{'scaleTier':'BASIC_TPU'}", "worker_config.tpu_tf_version", "required" },
		{ "{" TPU_CLUSTER ",'workerConfig':{'tpuTfVersion':'latest'}}",
		  "worker_config.tpu_tf_version", "such as 2.11" },
		{ "{" TPU_CLUSTER ",'workerConfig':{'tpuTfVersion':'1.15'}}", NULL, NULL },
		{ "{" TPU_CLUSTER ",'workerConfig':{'tpuTfVersion':'2.1'}}", NULL, NULL },
		{ "{" TPU_CLUSTER ",'workerConfig':{'tpuTfVersion':'2.0'}}", "worker_config.tpu_tf_version",
		  "The runtime version '2.0' is not supported" },
		{ "{" TPU_CLUSTER ",'workerConfig':{'tpuTfVersion':'1.14'}}", "worker_config.tpu_tf_version",
		  "deprecated" },
		{ "{" TPU_CLUSTER ",'workerConfig':{'tpuTfVersion':'2.11.0'}}",
		  "worker_config.tpu_tf_version", "such as 2.11" },
		{ "{'scaleTier':'BASIC_TPU','workerConfig':{'tpuTfVersion':'2.11'}}", NULL, NULL },
		{ "{'scaleTier':'BASIC_TPU','masterConfig':null,'runtimeVersion':'2.11','workerConfig':{"
		  "'tpuTfVersion':'2.11'}}",
		  "worker_config.tpu_tf_version", "custom container image" },
		{ "{'workerConfig':{'tpuTfVersion':'2.11'}}", "worker_config.tpu_tf_version",
		  "only be given" },
		{ "{'scaleTier':'CUSTOM','masterType':'n1-standard-4','workerType':'n1-standard-4',"
		  "'workerCount':1,'workerConfig':{'tpuTfVersion':'2.11'}}",
		  "worker_config.tpu_tf_version", "only be given" },
		{ "{" TPU_CLUSTER ",'parameterServerConfig':{'tpuTfVersion':'2.11'},'workerConfig':{"
		  "'tpuTfVersion':'2.11'}}",
		  "parameter_server_config.tpu_tf_version", "only be given" },
		{ "{" TPU_CLUSTER ",'evaluatorConfig':{'tpuTfVersion':'2.11'},'workerConfig':{"
		  "'tpuTfVersion':'2.11'}}",
		  "evaluator_config.tpu_tf_version", "only be given" },
		{ "{" TPU_CLUSTER
		  ",'masterConfig':{'tpuTfVersion':'2.11'},'workerConfig':{'tpuTfVersion':'2.11'}}",
		  "master_config.tpu_tf_version", NULL },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

/* Combinations that the service was seen to accept. */
static void a_built_in_algorithm_knows_its_tensorflow(void **state)
{
	static const struct input_row rows[] = {
		{ "{" TPU_CLUSTER
		  ",'masterConfig':{'imageUri':'gcr.io/cloud-ml-algos/image_classification:latest'}}",
		  NULL, NULL },
		{ "{" TPU_CLUSTER
		  ",'masterConfig':{'imageUri':'gcr.io/cloud-ml-algos/image_classification:latest'},"
		  "'workerConfig':{'tpuTfVersion':'1.15'}}",
		  NULL, NULL },
		{ "{" TPU_CLUSTER ",'masterConfig':{'imageUri':'gcr.io/other/image_classification:latest'}}",
		  "worker_config.tpu_tf_version", "required" },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static void a_tpu_worker_runs_no_container(void **state)
{
	static const struct input_row rows[] = {
		{ "{" TPU_CLUSTER ",'workerConfig':{'tpuTfVersion':'2.11','imageUri':'w'}}",
		  "worker_config.image_uri", "run no container" },
		{ "{" TPU_CLUSTER ",'workerConfig':{'tpuTfVersion':'2.11','containerCommand':['x']}}",
		  "worker_config.container_command", "run no container" },
		{ "{" TPU_CLUSTER ",'workerConfig':{'tpuTfVersion':'2.11','containerArgs':['x']}}",
		  "worker_config.container_args", "run no container" },
		{ "{'scaleTier':'BASIC_TPU','workerConfig':{'tpuTfVersion':'2.11','imageUri':'w'}}",
		  "worker_config.image_uri", "run no container" },
		{ "{" TPU_CLUSTER ",'masterConfig':{'containerCommand':['x']},'workerConfig':{"
		  "'tpuTfVersion':'2.11'}}",
		  NULL, NULL },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static void unknown_tpu_versions_are_taken_on_request(void **state)
{
	AUTO(json) json_t *job = job_with_input("{" TPU_CLUSTER ",'workerConfig':{'tpuTfVersion':'2.16'}}");
	AUTO(json) json_t *bad = job_with_input("{" TPU_CLUSTER ",'workerConfig':{'tpuTfVersion':'new'}}");

	(void)state;
	assert_int_equal(job_rules_check(job, &strict, NULL), STATUS_INVALID_ARGUMENT);
	assert_int_equal(job_rules_check(job, &lenient, NULL), STATUS_OK);
	assert_int_equal(job_rules_check(bad, &lenient, NULL), STATUS_INVALID_ARGUMENT);
}

static void disks_have_a_type_and_a_size(void **state)
{
	static const struct input_row rows[] = {
		{ "{'masterConfig':{'diskConfig':{'bootDiskType':'pd-ssd','bootDiskSizeGb':100}}}", NULL,
		  NULL },
		{ "{'masterConfig':{'diskConfig':{'bootDiskType':'pd-standard','bootDiskSizeGb':64000}}}",
		  NULL, NULL },
		{ "{'masterConfig':{'diskConfig':{'bootDiskSizeGb':99}}}",
		  "master_config.disk_config.boot_disk_size_gb", NULL },
		{ "{'workerConfig':{'diskConfig':{'bootDiskSizeGb':64001}}}",
		  "worker_config.disk_config.boot_disk_size_gb", NULL },
		{ "{'evaluatorConfig':{'diskConfig':{'bootDiskSizeGb':-1}}}",
		  "evaluator_config.disk_config.boot_disk_size_gb", NULL },
		{ "{'parameterServerConfig':{'diskConfig':{'bootDiskType':'ssd'}}}",
		  "parameter_server_config.disk_config.boot_disk_type", NULL },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(image_or_runtime_but_not_both),
		cmocka_unit_test(images_are_references),
		cmocka_unit_test(each_role_has_an_image_of_its_own_beside_the_masters),
		cmocka_unit_test(commands_need_an_image_and_no_args),
		cmocka_unit_test(the_tpus_version_is_for_tpu_workers_of_containers),
		cmocka_unit_test(a_built_in_algorithm_knows_its_tensorflow),
		cmocka_unit_test(a_tpu_worker_runs_no_container),
		cmocka_unit_test(unknown_tpu_versions_are_taken_on_request),
		cmocka_unit_test(disks_have_a_type_and_a_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
