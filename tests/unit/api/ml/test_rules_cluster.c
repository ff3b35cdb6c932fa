/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/ml/job_testing.h"

#define CUSTOM(rest) "{'scaleTier':'CUSTOM','masterType':'n1-standard-4'," rest "}"
#define LEGACY(rest) "{'scaleTier':'CUSTOM','masterType':'standard'," rest "}"
#define MASTER(type, accelerator, count)                                                                     \
	"{'scaleTier':'CUSTOM','masterType':'" type                                                          \
	"','masterConfig':{'acceleratorConfig':{'type':'" accelerator "','count':" #count "}}}"
#define TPU(rest)                                                                                            \
	"{'scaleTier':'CUSTOM','masterType':'n1-standard-4','workerType':'cloud_tpu','workerCount':1,'"      \
	"workerConfig':{'tpuTfVersion':'2.11'," rest "}}"

static void tiers_own_their_machines(void **state)
{
	static const struct input_row rows[] = {
		{ "{'scaleTier':'BASIC'}", NULL, NULL },
		{ "{'scaleTier':'STANDARD_1'}", NULL, NULL },
		{ "{'scaleTier':'PREMIUM_1'}", NULL, NULL },
		{ "{'scaleTier':'BASIC_GPU'}", NULL, NULL },
		{ "{'scaleTier':'BASIC_TPU','workerConfig':{'tpuTfVersion':'2.11'}}", NULL, NULL },
		{ "{'scaleTier':'CUSTOM','masterType':'n1-standard-4'}", NULL, NULL },
		{ "{'scaleTier':'CUSTOM'}", "master_type", "required when the scale tier is CUSTOM" },
		{ "{'scaleTier':'STANDARD_1','masterType':'standard'}", "master_type",
		  "CUSTOM, not STANDARD_1" },
		{ "{'scaleTier':'PREMIUM_1','workerCount':1}", "worker_count", "CUSTOM, not PREMIUM_1" },
		{ "{'scaleTier':'BASIC_GPU','workerType':'standard'}", "worker_type", NULL },
		{ "{'scaleTier':'BASIC_GPU','parameterServerCount':'2'}", "parameter_server_count", NULL },
		{ "{'scaleTier':'STANDARD_1','evaluatorType':'standard'}", "evaluator_type", NULL },
		{ "{'workerType':'standard','workerCount':1}", "worker_type", "CUSTOM, not BASIC" },
		{ "{'evaluatorCount':1}", "evaluator_count", NULL },
		{ "{'scaleTier':'STANDARD_1','workerConfig':{'imageUri':'w'}}", NULL, NULL },
		{ "{'scaleTier':'BASIC_GPU','masterConfig':{'acceleratorConfig':{'type':'NVIDIA_TESLA_T4','"
		  "count':1}}}",
		  "master_config.accelerator_config", "CUSTOM, not BASIC_GPU" },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

/* The documented command gives machine types and no tier. */
static void a_master_type_without_tier_means_custom(void **state)
{
	static const struct input_row rows[] = {
		{ "{'masterType':'n1-standard-4'}", NULL, NULL },
		{ "{'masterType':'complex_model_m','workerType':'complex_model_m','workerCount':9}", NULL,
		  NULL },
		{ "{'scaleTier':'BASIC','masterType':'n1-standard-4'}", NULL, NULL },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static void counts_and_types_go_together(void **state)
{
	static const struct input_row rows[] = {
		{ CUSTOM("'workerType':'n1-standard-4','workerCount':1"), NULL, NULL },
		{ CUSTOM("'workerType':'n1-standard-4','workerCount':'1000'"), NULL, NULL },
		{ CUSTOM("'workerType':'n1-standard-4','workerCount':'1001'"), "worker_count",
		  "from 0 to 1000" },
		{ CUSTOM("'workerType':'n1-standard-4','workerCount':'9223372036854775807'"), "worker_count",
		  NULL },
		{ CUSTOM("'workerType':'n1-standard-4','workerCount':-1"), "worker_count", "not -1" },
		{ CUSTOM("'workerCount':1"), "worker_type", "required when worker_count is given" },
		{ CUSTOM("'workerType':'n1-standard-4'"), "worker_count",
		  "required when worker_type is given" },
		{ CUSTOM("'workerType':'n1-standard-4','workerCount':0"), "worker_count", NULL },
		{ CUSTOM("'parameterServerType':'n1-standard-4','parameterServerCount':2"), NULL, NULL },
		{ CUSTOM("'parameterServerCount':2"), "parameter_server_type", NULL },
		{ CUSTOM("'parameterServerType':'n1-standard-4','parameterServerCount':-2"),
		  "parameter_server_count", NULL },
		{ CUSTOM("'evaluatorType':'n1-standard-4','evaluatorCount':1"), NULL, NULL },
		{ CUSTOM("'evaluatorType':'n1-standard-4'"), "evaluator_count", NULL },
		{ CUSTOM("'evaluatorType':'n1-standard-4','evaluatorCount':1001"), "evaluator_count", NULL },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static void machine_types_are_known_and_of_one_kind(void **state)
{
	static const struct input_row rows[] = {
		{ "{'masterType':'n1-standard-5'}", "master_type", "not supported: n1-standard-5" },
		{ "{'masterType':'n1-highcpu-8'}", "master_type", NULL },
		{ "{'masterType':'N1-STANDARD-4'}", "master_type", NULL },
		{ "{'masterType':'e2-standard-4'}", NULL, NULL },
		{ CUSTOM("'workerType':'nope','workerCount':1"), "worker_type",
		  "for worker is not supported: nope" },
		{ CUSTOM("'workerType':'standard','workerCount':1"), "worker_type",
		  "does not go with the master's" },
		{ LEGACY("'workerType':'large_model','workerCount':1"), NULL, NULL },
		{ LEGACY("'parameterServerType':'n1-standard-4','parameterServerCount':1"),
		  "parameter_server_type", NULL },
		{ LEGACY("'evaluatorType':'n1-standard-4','evaluatorCount':1"), "evaluator_type", NULL },
		{ CUSTOM("'workerType':'n2-highmem-8','workerCount':1"), NULL, NULL },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static void unknown_machine_types_are_taken_on_request(void **state)
{
	AUTO(json)
	json_t *job = job_with_input("{'masterType':'g2-standard-4','masterConfig':{'acceleratorConfig':{'"
				     "type':'NVIDIA_TESLA_T4','count':3}}}");
	AUTO(json)
	json_t *many = job_with_input("{'masterType':'g2-standard-4','masterConfig':{'acceleratorConfig':{'"
				      "type':'NVIDIA_TESLA_T4','count':'5000000000'}}}");

	(void)state;
	assert_int_equal(job_rules_check(job, &strict, NULL), STATUS_INVALID_ARGUMENT);
	assert_int_equal(job_rules_check(job, &lenient, NULL), STATUS_OK);
	assert_int_equal(job_rules_check(many, &lenient, NULL), STATUS_INVALID_ARGUMENT);
}

static void accelerators_fit_their_machines(void **state)
{
	static const struct input_row rows[] = {
		{ MASTER("n1-standard-8", "NVIDIA_TESLA_K80", 2), NULL, NULL },
		{ MASTER("n1-standard-8", "NVIDIA_TESLA_K80", 3), "master_config.accelerator_config",
		  "takes 1, 2, 4 or 8 accelerators of type NVIDIA_TESLA_K80, not 3" },
		{ MASTER("n1-standard-16", "NVIDIA_TESLA_V100", 1), "master_config.accelerator_config",
		  NULL },
		{ MASTER("n1-standard-16", "NVIDIA_TESLA_V100", 2), NULL, NULL },
		{ MASTER("n1-standard-4", "NVIDIA_TESLA_A100", 1), "master_config.accelerator_config",
		  "does not take" },
		{ MASTER("n1-standard-4", "TPU_V2", 8), "master_config.accelerator_config", "does not take" },
		{ MASTER("n1-standard-4", "NVIDIA_TESLA_T4", 0), "master_config.accelerator_config",
		  "greater than 0" },
		{ MASTER("n1-standard-4", "NVIDIA_TESLA_T4", -1), "master_config.accelerator_config", NULL },
		{ MASTER("n1-standard-4", "ACCELERATOR_TYPE_UNSPECIFIED", 0), NULL, NULL },
		{ MASTER("n1-standard-4", "ACCELERATOR_TYPE_UNSPECIFIED", 1),
		  "master_config.accelerator_config", "type is required" },
		{ MASTER("standard_gpu", "NVIDIA_TESLA_K80", 1), "master_config.accelerator_config",
		  "only be given with a Compute Engine machine type" },
		{ MASTER("n2-standard-4", "NVIDIA_TESLA_T4", 1), "master_config.accelerator_config",
		  "does not take" },
		{ MASTER("a2-highgpu-2g", "NVIDIA_TESLA_A100", 2), NULL, NULL },
		{ MASTER("a2-highgpu-2g", "NVIDIA_TESLA_A100", 1), "master_config.accelerator_config",
		  "takes 2 " },
		{ "{'masterType':'a2-highgpu-2g'}", "master_config.accelerator_config", "needs" },
		{ "{'masterType':'standard_gpu'}", NULL, NULL },
		{ "{'workerConfig':{'acceleratorConfig':{}}}", NULL, NULL },
		{ CUSTOM("'workerConfig':{'acceleratorConfig':{'type':'NVIDIA_TESLA_T4','count':1}}"),
		  "worker_config.accelerator_config", "the worker has none" },
		{ CUSTOM("'workerType':'n1-standard-4','workerCount':1,'workerConfig':{'acceleratorConfig':"
			 "{'type':'NVIDIA_TESLA_T4','count':'4'}}"),
		  NULL, NULL },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static void a_cloud_tpu_is_one_worker(void **state)
{
	static const struct input_row rows[] = {
		{ TPU("'acceleratorConfig':{'type':'TPU_V2','count':8}"), NULL, NULL },
		{ TPU("'acceleratorConfig':{'type':'TPU_V3','count':8}"), NULL, NULL },
		{ TPU("'acceleratorConfig':{}"), NULL, NULL },
		{ TPU("'acceleratorConfig':{'type':'TPU_V3','count':4}"), "worker_config.accelerator_config",
		  NULL },
		{ TPU("'acceleratorConfig':{'type':'TPU_V3_POD','count':32}"), NULL, NULL },
		{ TPU("'acceleratorConfig':{'type':'NVIDIA_TESLA_T4','count':1}"),
		  "worker_config.accelerator_config", "does not take" },
		{ "{'masterType':'cloud_tpu'}", "master_type",
		  "The specified machine type for master is not supported in TPU training jobs: cloud_tpu" },
		{ CUSTOM("'workerType':'cloud_tpu','workerCount':2,'workerConfig':{'tpuTfVersion':'2.11'}"),
		  "worker_count", "must be 1" },
		{ CUSTOM("'parameterServerType':'cloud_tpu','parameterServerCount':1"),
		  "parameter_server_type", "workers only" },
		{ LEGACY("'workerType':'cloud_tpu','workerCount':1,'workerConfig':{'tpuTfVersion':'2.11'}"),
		  NULL, NULL },
		{ "{'scaleTier':'BASIC_TPU','workerConfig':{'tpuTfVersion':'2.11','acceleratorConfig':"
		  "{'type':'TPU_V2','count':8}}}",
		  NULL, NULL },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiers_own_their_machines),
		cmocka_unit_test(a_master_type_without_tier_means_custom),
		cmocka_unit_test(counts_and_types_go_together),
		cmocka_unit_test(machine_types_are_known_and_of_one_kind),
		cmocka_unit_test(unknown_machine_types_are_taken_on_request),
		cmocka_unit_test(accelerators_fit_their_machines),
		cmocka_unit_test(a_cloud_tpu_is_one_worker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
