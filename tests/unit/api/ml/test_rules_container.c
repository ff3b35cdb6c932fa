/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/ml/job_testing.h"

static void image_or_runtime_but_not_both(void **state)
{
	static const struct input_row rows[] = {
		{ "{}", NULL, NULL },
		{ "{'runtimeVersion':'2.11'}", "",
		  "Only one of runtime version or the master Docker image URI should be provided." },
		{ "{'masterConfig':null}", "runtime_version", "Either a runtime version or" },
		{ "{'masterConfig':null,'workerConfig':{'imageUri':'w'}}", "worker_config.image_uri",
		  "master" },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static void images_are_one_word(void **state)
{
	static const struct input_row rows[] = {
		{ "{'masterConfig':{'imageUri':'localhost:5000/a/b@sha256:00'}}", NULL, NULL },
		{ "{'masterConfig':{'imageUri':'a b'}}", "master_config.image_uri", NULL },
		{ "{'masterConfig':{'imageUri':'a\\nb'}}", "master_config.image_uri", NULL },
		{ "{'evaluatorConfig':{'imageUri':'\\t'}}", "evaluator_config.image_uri", NULL },
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
		{ "{'args':[],'masterConfig':{'containerCommand':['sh']}}", NULL, NULL },
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
		{ "{'workerConfig':{'tpuTfVersion':'2.11'}}", "worker_config.tpu_tf_version",
		  "only be given" },
		{ "{" TPU_CLUSTER
		  ",'masterConfig':{'tpuTfVersion':'2.11'},'workerConfig':{'tpuTfVersion':'2.11'}}",
		  "master_config.tpu_tf_version", NULL },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(image_or_runtime_but_not_both),
		cmocka_unit_test(images_are_one_word),
		cmocka_unit_test(commands_need_an_image_and_no_args),
		cmocka_unit_test(the_tpus_version_is_for_tpu_workers_of_containers),
		cmocka_unit_test(disks_have_a_type_and_a_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
