/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of each job that satisfies the rules. The jobs are drawn at random from a fixed seed, so that each run
 * draws the same. */
#include "api/ml/to_plan.h"
#include "api/training/image_map.h"
#include "api/training/regions.h"
#include "scheduler/plan/deviation.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/placement.h"
#include "tests/unit/api/ml/job_testing.h"

enum { ROUNDS = 6000, SEED = 20261121 };

static const char *const tiers[] = { "BASIC",     "STANDARD_1", "PREMIUM_1", "BASIC_GPU",
				     "BASIC_TPU", "CUSTOM",     "CUSTOM" };
static const char *const machines[] = {
	"standard",         "large_model",          "complex_model_s",     "complex_model_m",
	"complex_model_l",  "standard_gpu",         "complex_model_m_gpu", "standard_p100",
	"large_model_v100", "complex_model_l_v100", "cloud_tpu",           "n1-standard-4",
	"n1-standard-16",   "n1-standard-64",       "n1-highmem-2",        "n1-highmem-96",
	"n1-highcpu-16",    "n1-highcpu-8",         "a2-highgpu-1g",       "a2-megagpu-16g",
	"e2-standard-4",    "n2-highmem-8",         "m1-ultramem-160",     "c2-",
	"g2-standard-4",
};
static const char *const accelerators[] = { "NVIDIA_TESLA_K80",
					    "NVIDIA_TESLA_P100",
					    "NVIDIA_TESLA_V100",
					    "NVIDIA_TESLA_P4",
					    "NVIDIA_TESLA_T4",
					    "NVIDIA_TESLA_A100",
					    "TPU_V2",
					    "TPU_V3",
					    "TPU_V3_POD" };
static const int accelerator_counts[] = { 0, 1, 2, 3, 4, 8, 8, 16, 32 };
static const int counts[] = { 0, 1, 1, 2, 3, 7, 40 };
static const char *const images[] = { "gcr.io/p/i:1", "gcr.io/cloud-ml-algos/tab_net:latest", "busybox",
				      "localhost:5000/a/b", "us-docker.pkg.dev/p/r/i:T" };

static unsigned seed;

static unsigned draw(unsigned below)
{
	return (unsigned)rand_r(&seed) % below;
}

#define ONE_OF(array) ((array)[draw(COUNT_OF(array))])

static void set_text(json_t *object, const char *name, const char *text)
{
	json_object_set_new(object, name, json_string(text));
}

static json_t *draw_config(void)
{
	json_t *config = json_object();

	if (!draw(3))
		set_text(config, "imageUri", ONE_OF(images));
	if (!draw(3))
		json_object_set_new(config, "acceleratorConfig",
				    json_pack("{s:s, s:i}", "type", ONE_OF(accelerators), "count",
					      ONE_OF(accelerator_counts)));
	if (!draw(6))
		json_object_set_new(config, "containerCommand", json_pack("[s, s]", "sh", "-c"));
	if (!draw(6))
		json_object_set_new(config, "containerArgs", json_pack("[s]", "\xc3\xa9 \"=<\\"));
	if (!draw(4))
		set_text(config, "tpuTfVersion", draw(2) ? "2.11" : "1.15");
	if (!draw(8))
		json_object_set_new(config, "diskConfig", json_pack("{s:i}", "bootDiskSizeGb", 200));
	return config;
}

/* Sometimes a machine type that may be combined with the master's: purely random types rarely can. */
static const char *draw_machine(const json_t *input)
{
	const char *masters = json_text_at(input, "masterType");

	return masters && draw(3) ? masters : ONE_OF(machines);
}

static void draw_role(json_t *input, const char *type, const char *count, const char *config)
{
	int members = ONE_OF(counts);

	if (!draw(3))
		json_object_set_new(input, config, draw_config());
	if (!members || draw(2))
		return;
	json_object_set_new(input, count, json_integer(members));
	set_text(input, type, draw_machine(input));
}

static json_t *draw_input(void)
{
	json_t *input = json_object();
	json_t *master = draw(2) ? draw_config() : json_object();
	unsigned region_count = 0;

	while (regions[region_count].name)
		region_count++;
	assert_true(region_count > 0);
	json_object_set_new(input, "masterConfig", master);
	if (!json_object_get(master, "imageUri") && draw(20))
		set_text(master, "imageUri", ONE_OF(images));
	set_text(input, "region", draw(20) ? regions[draw(region_count)].name : "elsewhere");
	if (draw(8)) {
		const char *tier = ONE_OF(tiers);

		set_text(input, "scaleTier", tier);
		if (strcmp(tier, "CUSTOM") == 0)
			set_text(input, "masterType", ONE_OF(machines));
	}
	if (strcmp(json_text_at(input, "scaleTier") ? json_text_at(input, "scaleTier") : "", "CUSTOM") == 0) {
		draw_role(input, "workerType", "workerCount", "workerConfig");
		draw_role(input, "parameterServerType", "parameterServerCount", "parameterServerConfig");
		draw_role(input, "evaluatorType", "evaluatorCount", "evaluatorConfig");
	} else if (draw(2)) {
		json_object_set_new(input, "workerConfig", draw_config());
	}
	if (!draw(4))
		json_object_set_new(input, "args", json_pack("[s, s]", "--a=b", ""));
	if (!draw(4))
		set_text(input, "jobDir", "gs://bucket/d");
	if (!draw(4))
		json_object_set_new(input, "useChiefInTfConfig", json_true());
	if (!draw(4))
		json_object_set_new(input, "scheduling",
				    json_pack("{s:i, s:s, s:s}", "priority", (int)draw(1001), "maxWaitTime",
					      "1800s", "strategy", "LOW_COST"));
	if (!draw(30))
		set_text(input, "runtimeVersion", "2.11");
	return input;
}

static void plans_survive_the_store(const struct plan *plan)
{
	AUTO(string) char *text = plan_to_text(plan);
	AUTO(plan) struct plan *again = NULL;
	AUTO(string) char *same = NULL;

	assert_int_equal(plan_from_text(text, &again, NULL), STATUS_OK);
	same = plan_to_text(again);
	assert_string_equal(text, same);
	assert_true(deviations_valid(plan->deviations));
}

static void assert_members(const json_t *cluster, const char *name, const struct plan *plan, enum role role)
{
	const json_t *members = json_object_get(cluster, name);

	assert_int_equal(json_array_size(members), plan->pools[role].count);
	for (unsigned i = 0; i < plan->pools[role].count && plan_replica_count(plan) > 1; i++) {
		const char *address = json_string_value(json_array_get(members, i));
		char expected[REPLICA_NAME_MAX];
		size_t length;

		replica_address_name(plan, role, i, expected);
		length = strlen(expected);
		assert_memory_equal(address, expected, length);
		assert_string_equal(address + length, ":2222");
	}
}

/* The cluster specification of each replica has the same cluster, and the replica's own role. */
static void specifications_tell_the_cluster(const struct plan *plan)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		for (unsigned i = 0; i < plan->pools[role].count; i++) {
			AUTO(string) char *text = dialect_of(plan)->cluster_spec(plan, (enum role)role, i);
			AUTO(json) json_t *whole = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
			const json_t *cluster = json_object_get(whole, "cluster");
			const json_t *task = json_object_get(whole, "task");

			assert_members(cluster, "master", plan, ROLE_MASTER);
			assert_members(cluster, "worker", plan, ROLE_WORKER);
			assert_members(cluster, "ps", plan, ROLE_PS);
			assert_null(json_object_get(cluster, "evaluator"));
			assert_string_equal(json_text_at(task, "type"), role_name((enum role)role));
			assert_int_equal(json_int_at(task, "index", -1), i);
			assert_string_equal(json_text_at(whole, "job"), plan->input);
		}
	}
}

/* A host with one CPU and no GPU that reduces all sizes to what it has. */
static void the_smallest_host_lets_it_in(const struct plan *plan)
{
	const struct room room = {
		.capacity = { .host = { .known = true, .cpus = 1, .memory_bytes = INT64_C(1) << 30 },
			      .fit = FIT_HOST,
			      .accelerators = ACCELERATORS_PRETEND,
			      .max_jobs = 1,
			      .max_containers = 10000 },
	};
	AUTO(assignment) struct assignment *assignment = NULL;
	enum shortage shortage;
	struct error err AUTO_ERROR = { 0 };

	if (placement_find(plan, &room, NULL, &assignment, &shortage, &err))
		fail_msg("%s", err.text);
	assert_true(deviations_valid(assignment->deviations));
}

static void every_job_that_the_rules_pass_can_be_run(void **state)
{
	static char *const rules[] = { (char *)"gcr.io/p/*=mapped/*", (char *)"busybox=other:1" };
	static const struct image_map map = { rules, COUNT_OF(rules) };
	const struct ml_settings settings[] = { { .lenient = false },
						{ .lenient = true },
						{ .images = &map, .tpu_config = "{\"a\":1}" } };
	unsigned passed = 0, tpus = 0, distributed = 0;

	(void)state;
	seed = SEED;
	for (int round = 0; round < ROUNDS; round++) {
		const struct ml_settings *own = &settings[round % 3];
		AUTO(json)
		json_t *body = json_pack("{s:s, s:o}", "jobId", "j", "trainingInput", draw_input());
		AUTO(json) json_t *job = job_of_body(body);
		AUTO(plan) struct plan *plan = NULL;
		struct error err AUTO_ERROR = { 0 };

		if (job_rules_check(job, own, NULL))
			continue;
		if (job_to_plan("p", job, "ab12cd34ef", own, &plan, &err))
			fail_msg("%s", err.text);
		passed++;
		distributed += plan_replica_count(plan) > 1;
		tpus += plan->tpu_config != NULL;
		assert_int_equal(plan->pools[ROLE_MASTER].count, 1);
		plans_survive_the_store(plan);
		specifications_tell_the_cluster(plan);
		the_smallest_host_lets_it_in(plan);
	}
	/* Else the draw would be a bad one, and this test a weak one. */
	assert_true(passed > ROUNDS / 10 && distributed > 100 && tpus > 5);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_job_that_the_rules_pass_can_be_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
