/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/replica_json.h"

#include "api/ml/pool_field.h"
#include "scheduler/plan/deviation.h"
#include "tests/unit/api/ml/ml_testing.h"

static void a_replica_that_was_not_let_in_has_neither_limits_nor_devices(void **state)
{
	AUTO(plan) struct plan *plan = plan_of("demo", "j", 1, 2);
	AUTO(json) json_t *told = replica_json(plan, NULL, ROLE_WORKER, 0);

	(void)state;
	assert_json_text(
		told,
		"{'name':'worker-replica-0','hostName':'cmle-training-worker-ab12cd34ef-0-4a341',"
		"'addressName':'cmle-training-worker-ab12cd34ef-0','image':'gcr.io/p/i:1','machineType':'n1-standard-4',"
		"'acceleratorType':'NVIDIA_TESLA_T4','acceleratorCount':2}");
}

static void what_does_not_apply_is_absent(void **state)
{
	AUTO(plan) struct plan *plan = plan_of("demo", "j", 0, 0);
	AUTO(assignment) struct assignment *assignment = assignment_new();
	AUTO(json) json_t *told = NULL;

	(void)state;
	free(plan->pools[ROLE_MASTER].machine_type);
	plan->pools[ROLE_MASTER].machine_type = NULL;
	plan->pools[ROLE_MASTER].cloud_image = strdup("gcr.io/theirs");
	told = replica_json(plan, assignment, ROLE_MASTER, 0);
	assert_json_text(
		told,
		"{'name':'master-replica-0','hostName':'cmle-training-master-ab12cd34ef-0-93093',"
		"'addressName':'cmle-training-master-ab12cd34ef-0','image':'gcr.io/p/i:1','cloudImage':'gcr.io/theirs',"
		"'limits':{}}");
}

static void limits_and_devices_are_those_of_the_replica(void **state)
{
	AUTO(plan) struct plan *plan = plan_of("demo", "j", 2, 1);
	AUTO(assignment) struct assignment *assignment = assignment_new();
	AUTO(json) json_t *told = NULL;

	(void)state;
	assignment->limits[ROLE_WORKER] = (struct limits){ 1500000000, 1 << 30, 1 << 29 };
	assignment->devices[ROLE_WORKER] = json_of("[['0'],['GPU-1']]");
	told = replica_json(plan, assignment, ROLE_WORKER, 1);
	assert_json_text(
		told,
		"{'name':'worker-replica-1','hostName':'cmle-training-worker-ab12cd34ef-1-3ff83',"
		"'addressName':'cmle-training-worker-ab12cd34ef-1','image':'gcr.io/p/i:1','machineType':'n1-standard-4',"
		"'acceleratorType':'NVIDIA_TESLA_T4','acceleratorCount':1,"
		"'limits':{'vcpus':1.5,'memoryBytes':1073741824,'shmBytes':536870912},"
		"'devices':['GPU-1']}");
}

static void pools_are_told_as_what_was_asked_for(void **state)
{
	static const struct {
		const char *input, *field, *told;
	} rows[] = {
		{ "{}", "pools.master.machine_type", "trainingInput.scaleTier" },
		{ "{'scaleTier':'STANDARD_1'}", "pools.ps.machine_type", "trainingInput.scaleTier" },
		{ "{'scaleTier':'BASIC_GPU'}", "pools.master.accelerator_count", "trainingInput.scaleTier" },
		{ "{'scaleTier':'CUSTOM'}", "pools.master.machine_type", "trainingInput.masterType" },
		{ "{'masterType':'standard'}", "pools.worker.machine_type", "trainingInput.workerType" },
		{ "{'masterType':'standard'}", "pools.ps.machine_type", "trainingInput.parameterServerType" },
		{ "{'masterType':'standard_gpu'}", "pools.master.accelerator_count",
		  "trainingInput.masterType" },
		{ "{'masterType':'n1-standard-8','masterConfig':{'acceleratorConfig':{'count':'1'}}}",
		  "pools.master.accelerator_count", "trainingInput.masterConfig.acceleratorConfig" },
		{ "{'masterType':'n1-standard-8','masterConfig':{'acceleratorConfig':{'count':'1'}}}",
		  "pools.master.machine_type", "trainingInput.masterType" },
		{ "{}", "trainingInput.network", "trainingInput.network" },
		{ "{}", "pools.chief.machine_type", "pools.chief.machine_type" },
		{ "{}", "pools.master", "pools.master" },
		{ "{}", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(plan) struct plan *plan = plan_of("demo", "j", 0, 0);
		AUTO(assignment) struct assignment *assignment = assignment_new();
		AUTO(json) json_t *input = json_of(rows[i].input);
		AUTO(json) json_t *told = NULL;
		const char *field;

		deviation_add(assignment->deviations, DONE_OTHERWISE, "code", rows[i].field, "So it is.");
		told = deviations_json(plan, assignment, input, ml_pool_field);
		assert_int_equal(json_array_size(told), 1);
		assert_true(deviations_valid(told));
		field = json_text_at(json_array_get(told, 0), "field");
		if (!rows[i].told)
			assert_null(field);
		else
			assert_string_equal(field, rows[i].told);
	}
}

static void the_request_s_come_first_and_the_same_is_told_once(void **state)
{
	AUTO(plan) struct plan *plan = plan_of("demo", "j", 1, 0);
	AUTO(assignment) struct assignment *assignment = assignment_new();
	AUTO(json) json_t *input = json_of("{'scaleTier':'STANDARD_1'}");
	AUTO(json) json_t *alone = NULL;
	AUTO(json) json_t *told = NULL;
	struct {
		const char *field, *text;
	} rows[] = {
		{ "pools.master.machine_type", "The machine is small." },
		{ "pools.worker.machine_type", "The machine is small." },
		{ "pools.ps.machine_type", "The machine is smaller." },
	};

	(void)state;
	deviation_add(plan->deviations, WITHOUT_EFFECT, "network", "trainingInput.network", "No network.");
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		deviation_add(assignment->deviations, DONE_OTHERWISE, "machine-fitted", rows[i].field, "%s",
			      rows[i].text);
	told = deviations_json(plan, assignment, input, ml_pool_field);
	assert_int_equal(json_array_size(told), 3);
	assert_string_equal(json_text_at(json_array_get(told, 0), "code"), "network");
	assert_string_equal(json_text_at(json_array_get(told, 2), "text"), "The machine is smaller.");
	alone = deviations_json(plan, NULL, input, ml_pool_field);
	assert_int_equal(json_array_size(alone), 1);
	/* The stored deviations are not changed. */
	assert_string_equal(json_text_at(json_array_get(assignment->deviations, 0), "field"),
			    "pools.master.machine_type");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replica_that_was_not_let_in_has_neither_limits_nor_devices),
		cmocka_unit_test(what_does_not_apply_is_absent),
		cmocka_unit_test(limits_and_devices_are_those_of_the_replica),
		cmocka_unit_test(pools_are_told_as_what_was_asked_for),
		cmocka_unit_test(the_request_s_come_first_and_the_same_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
