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
		{ "{'scaleTier':'BASIC_TPU','workerConfig':{'tpuTfVersion':'2.11'},'workerType':'cloud_tpu'}",
		  "worker_type", "CUSTOM, not BASIC_TPU" },
		{ "{'scaleTier':'BASIC_TPU','workerConfig':{'tpuTfVersion':'2.11'},'workerCount':1}",
		  "worker_count", "CUSTOM, not BASIC_TPU" },
		{ "{'scaleTier':'BASIC_TPU','workerConfig':{'tpuTfVersion':'2.11'},'masterType':'standard'}",
		  "master_type", "CUSTOM, not BASIC_TPU" },
		{ "{'scaleTier':'BASIC_GPU','masterType':'standard_gpu'}", "master_type",
		  "CUSTOM, not BASIC_GPU" },
		{ "{'scaleTier':'PREMIUM_1','parameterServerType':'standard'}", "parameter_server_type",
		  "CUSTOM, not PREMIUM_1" },
		{ "{'scaleTier':'PREMIUM_1','evaluatorCount':1}", "evaluator_count",
		  "CUSTOM, not PREMIUM_1" },
		{ "{'scaleTier':'STANDARD_1','workerCount':0}", NULL, NULL },
		{ "{'scaleTier':'STANDARD_1','workerConfig':{'acceleratorConfig':{'type':'NVIDIA_TESLA_T4',"
		  "'count':1}}}",
		  "worker_config.accelerator_config", "CUSTOM, not STANDARD_1" },
		{ "{'scaleTier':'STANDARD_1','masterConfig':{'acceleratorConfig':{'type':"
		  "'ACCELERATOR_TYPE_UNSPECIFIED','count':0}}}",
		  NULL, NULL },
		{ "{'scaleTier':'BASIC_GPU','masterConfig':{'acceleratorConfig':{'type':'NVIDIA_TESLA_T4','"
		  "count':1}}}",
		  "master_config.accelerator_config", "CUSTOM, not BASIC_GPU" },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

/* The documented command has machine types but no tier. */
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
		{ LEGACY("'workerType':'standard_gpu','workerCount':1,'parameterServerType':'large_model',"
			 "'parameterServerCount':1,'evaluatorType':'complex_model_s','evaluatorCount':1"),
		  NULL, NULL },
		{ CUSTOM("'workerType':'e2-standard-4','workerCount':1,'parameterServerType':'n1-highmem-2',"
			 "'parameterServerCount':1,'evaluatorType':'c2-standard-4','evaluatorCount':1"),
		  NULL, NULL },
		{ CUSTOM("'parameterServerType':'large_model','parameterServerCount':1"),
		  "parameter_server_type", "large_model does not go with the master's n1-standard-4" },
		{ CUSTOM("'evaluatorType':'standard_gpu','evaluatorCount':1"), "evaluator_type",
		  "legacy or Compute Engine" },
		{ LEGACY("'parameterServerType':'n1-standard-4','parameterServerCount':1"),
		  "parameter_server_type", NULL },
		{ LEGACY("'evaluatorType':'n1-standard-4','evaluatorCount':1"), "evaluator_type", NULL },
		{ CUSTOM("'workerType':'n2-highmem-8','workerCount':1"), NULL, NULL },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static void each_machine_type_may_be_a_masters_but_two(void **state)
{
	static const char *const rows[] = {
		"standard",
		"large_model",
		"complex_model_s",
		"complex_model_m",
		"complex_model_l",
		"standard_gpu",
		"complex_model_m_gpu",
		"complex_model_l_gpu",
		"standard_p100",
		"complex_model_m_p100",
		"standard_v100",
		"large_model_v100",
		"complex_model_m_v100",
		"complex_model_l_v100",
		"n1-standard-4",
		"n1-standard-8",
		"n1-standard-16",
		"n1-standard-32",
		"n1-standard-64",
		"n1-standard-96",
		"n1-highmem-2",
		"n1-highmem-4",
		"n1-highmem-8",
		"n1-highmem-16",
		"n1-highmem-32",
		"n1-highmem-64",
		"n1-highmem-96",
		"n1-highcpu-16",
		"n1-highcpu-32",
		"n1-highcpu-64",
		"n1-highcpu-96",
		"e2-standard-4",
		"e2-highmem-16",
		"e2-highcpu-32",
		"n2-standard-80",
		"n2d-standard-4",
		"c2-standard-60",
		"m1-ultramem-160",
		"m1-megamem-96",
	};
	static const char *const refused[] = {
		"cloud_tpu",       "n1-highcpu-8",
		"n1-standard-1",   "n1-standard-2",
		"n1-highcpu-2",    "n1-highcpu-4",
		"n1-standard-128", "n1-highmem-1",
		"a3-highgpu-8g",   "a2-highgpu-16g",
		"g2-standard-4",   "STANDARD",
		"standard_t4",     "complex_model_xl",
		"large_model_gpu", "n1",
		"n1-standard",     "",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows) + COUNT_OF(refused); i++) {
		bool good = i < COUNT_OF(rows);
		const char *type = good ? rows[i] : refused[i - COUNT_OF(rows)];
		AUTO(json) json_t *job = job_with_input("{'scaleTier':'CUSTOM'}");
		struct error err AUTO_ERROR = { 0 };

		if (*type)
			json_object_set_new(json_object_get(job, "trainingInput"), "masterType",
					    json_string(type));
		if ((job_rules_check(job, &strict, &err) == STATUS_OK) != good)
			fail_msg("%s: %s", type, err.text ? err.text : "taken");
		if (!good)
			assert_string_equal(err.violations[0].field, "master_type");
	}
}

/* Machine types that the service uses only inside tiers can then be combined with both kinds. */
static void on_request_a_tiers_own_machine_is_a_machine_too(void **state)
{
	AUTO(json)
	json_t *job = job_with_input("{'masterType':'n1-highcpu-8','workerType':'n1-standard-4','"
				     "workerCount':1}");

	(void)state;
	assert_int_equal(job_rules_check(job, &strict, NULL), STATUS_INVALID_ARGUMENT);
	assert_int_equal(job_rules_check(job, &lenient, NULL), STATUS_OK);
}

static void unknown_machine_types_are_taken_on_request(void **state)
{
	AUTO(json)
	json_t *job = job_with_input("{'masterType':'g2-standard-4','masterConfig':{'acceleratorConfig':{'"
				     "type':'NVIDIA_TESLA_T4','count':3}}}");
	AUTO(json)
	json_t *many = job_with_input("{'masterType':'g2-standard-4','masterConfig':{'acceleratorConfig':{'"
				      "type':'NVIDIA_TESLA_T4','count':'5000000000'}}}");
	AUTO(json) json_t *nameless = job_with_input("{'masterType':'N1 standard 4'}");

	(void)state;
	assert_int_equal(job_rules_check(job, &strict, NULL), STATUS_INVALID_ARGUMENT);
	assert_int_equal(job_rules_check(job, &lenient, NULL), STATUS_OK);
	assert_int_equal(job_rules_check(many, &lenient, NULL), STATUS_INVALID_ARGUMENT);
	assert_int_equal(job_rules_check(nameless, &lenient, NULL), STATUS_INVALID_ARGUMENT);
}

/* Each machine with each count from 1 on, so that accepted counts are tested next to refused ones. */
static void numbers_of_accelerators_are_those_of_the_table(void **state)
{
	static const struct {
		const char *machines; /* machine types, separated by spaces */
		const char *type;
		unsigned counts; /* bit mask of the accepted counts, which are all powers of two */
	} rows[] = {
		{ "n1-standard-4 n1-standard-8 n1-highmem-2 n1-highmem-4 n1-highmem-8", "K80",
		  1 | 2 | 4 | 8 },
		{ "n1-standard-4 n1-standard-8 n1-highmem-2 n1-highmem-4 n1-highmem-8", "P4", 1 | 2 | 4 },
		{ "n1-standard-4 n1-standard-8 n1-highmem-2 n1-highmem-4 n1-highmem-8", "P100", 1 | 2 | 4 },
		{ "n1-standard-4 n1-standard-8 n1-highmem-2 n1-highmem-4 n1-highmem-8", "T4", 1 | 2 | 4 },
		{ "n1-standard-4 n1-standard-8 n1-highmem-2 n1-highmem-4 n1-highmem-8", "V100",
		  1 | 2 | 4 | 8 },
		{ "n1-standard-16 n1-highmem-16 n1-highcpu-16", "K80", 2 | 4 | 8 },
		{ "n1-standard-16 n1-highmem-16 n1-highcpu-16", "P4", 1 | 2 | 4 },
		{ "n1-standard-16 n1-highmem-16 n1-highcpu-16", "P100", 1 | 2 | 4 },
		{ "n1-standard-16 n1-highmem-16 n1-highcpu-16", "T4", 1 | 2 | 4 },
		{ "n1-standard-16 n1-highmem-16 n1-highcpu-16", "V100", 2 | 4 | 8 },
		{ "n1-standard-32 n1-highmem-32 n1-highcpu-32", "K80", 4 | 8 },
		{ "n1-standard-32 n1-highmem-32 n1-highcpu-32", "P4", 2 | 4 },
		{ "n1-standard-32 n1-highmem-32 n1-highcpu-32", "P100", 2 | 4 },
		{ "n1-standard-32 n1-highmem-32 n1-highcpu-32", "T4", 2 | 4 },
		{ "n1-standard-32 n1-highmem-32 n1-highcpu-32", "V100", 4 | 8 },
		{ "n1-standard-64 n1-highmem-64 n1-standard-96 n1-highmem-96 n1-highcpu-96", "K80", 0 },
		{ "n1-standard-64 n1-highmem-64 n1-standard-96 n1-highmem-96 n1-highcpu-96", "P4", 4 },
		{ "n1-standard-64 n1-highmem-64 n1-standard-96 n1-highmem-96 n1-highcpu-96", "P100", 0 },
		{ "n1-standard-64 n1-highmem-64 n1-standard-96 n1-highmem-96 n1-highcpu-96", "T4", 4 },
		{ "n1-standard-64 n1-highmem-64 n1-standard-96 n1-highmem-96 n1-highcpu-96", "V100", 8 },
		{ "n1-highcpu-64", "K80", 8 },
		{ "n1-highcpu-64", "P4", 4 },
		{ "n1-highcpu-64", "P100", 4 },
		{ "n1-highcpu-64", "T4", 4 },
		{ "n1-highcpu-64", "V100", 8 },
		{ "n1-standard-4 n1-highcpu-64 e2-standard-8 n2-highmem-8 n2d-standard-8 c2-standard-8 "
		  "m1-megamem-96",
		  "A100", 0 },
		{ "e2-standard-8 n2-highmem-8 n2d-standard-8 c2-standard-8 m1-megamem-96", "T4", 0 },
		{ "a2-highgpu-1g", "A100", 1 },
		{ "a2-highgpu-2g", "A100", 2 },
		{ "a2-highgpu-4g", "A100", 4 },
		{ "a2-highgpu-8g", "A100", 8 },
		{ "a2-megagpu-16g", "A100", 16 },
		{ "a2-highgpu-1g a2-megagpu-16g", "V100", 0 },
		{ "standard standard_gpu complex_model_l large_model_v100", "K80", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(string) char *machines = strdup(rows[i].machines);
		char *rest = machines;
		const char *machine;

		while ((machine = strsep(&rest, " "))) {
			for (unsigned count = 1; count <= 33; count++) {
				AUTO(json) json_t *job = job_with_input("{'scaleTier':'CUSTOM'}");
				json_t *input = json_object_get(job, "trainingInput");
				bool taken = count && !(count & (count - 1)) && (rows[i].counts & count);

				json_object_set_new(input, "masterType", json_string(machine));
				json_object_set_new(
					json_object_get(input, "masterConfig"), "acceleratorConfig",
					json_pack("{s:o, s:o}", "count", json_sprintf("%u", count), "type",
						  json_sprintf("NVIDIA_TESLA_%s", rows[i].type)));
				if ((job_rules_check(job, &strict, NULL) == STATUS_OK) != taken)
					fail_msg("%s with %u %s", machine, count, rows[i].type);
			}
		}
	}
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
		{ TPU("'acceleratorConfig':{'type':'TPU_V2','count':16}"), "worker_config.accelerator_config",
		  "takes 8 " },
		{ TPU("'acceleratorConfig':{'type':'TPU_V2','count':0}"), "worker_config.accelerator_config",
		  "greater than 0" },
		{ TPU("'acceleratorConfig':{'count':8}"), "worker_config.accelerator_config",
		  "type is required" },
		{ TPU("'acceleratorConfig':{'type':'TPU_V3_POD','count':32}"), NULL, NULL },
		{ TPU("'acceleratorConfig':{'type':'TPU_V3_POD','count':2048}"), NULL, NULL },
		{ TPU("'acceleratorConfig':{'type':'TPU_V2_POD','count':512}"), NULL, NULL },
		{ TPU("'acceleratorConfig':{'type':'TPU_V2_POD','count':16}"),
		  "worker_config.accelerator_config", "not 16" },
		{ TPU("'acceleratorConfig':{'type':'TPU_V3_POD','count':33}"),
		  "worker_config.accelerator_config", "not 33" },
		{ "{'scaleTier':'CUSTOM','masterType':'standard','workerType':'cloud_tpu','workerConfig':{"
		  "'tpuTfVersion':'2.11'}}",
		  "worker_count", "required" },
		{ CUSTOM("'evaluatorType':'cloud_tpu','evaluatorCount':1"), "evaluator_type",
		  "workers only" },
		{ "{'scaleTier':'BASIC_TPU','workerConfig':{'tpuTfVersion':'2.11','acceleratorConfig':"
		  "{'type':'NVIDIA_TESLA_T4','count':1}}}",
		  "worker_config.accelerator_config", "does not take" },
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

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiers_own_their_machines),
		cmocka_unit_test(a_master_type_without_tier_means_custom),
		cmocka_unit_test(counts_and_types_go_together),
		cmocka_unit_test(machine_types_are_known_and_of_one_kind),
		cmocka_unit_test(each_machine_type_may_be_a_masters_but_two),
		cmocka_unit_test(on_request_a_tiers_own_machine_is_a_machine_too),
		cmocka_unit_test(unknown_machine_types_are_taken_on_request),
		cmocka_unit_test(numbers_of_accelerators_are_those_of_the_table),
		cmocka_unit_test(accelerators_fit_their_machines),
		cmocka_unit_test(a_cloud_tpu_is_one_worker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
