/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/deviation.h"
#include "tests/unit/api/ml/ml_testing.h"

/* Admits the job with limits, a device and a deviation, and sets it to RUNNING. */
static void job_let_in(struct bench *bench, int64_t id)
{
	AUTO(assignment) struct assignment *assignment = assignment_new();
	AUTO(string) char *text = NULL;
	struct job_change in = { .job = id, .from = JOB_QUEUED, .to = JOB_PREPARING };
	struct job_change running = { .job = id, .from = JOB_PREPARING, .to = JOB_RUNNING };

	assignment->limits[ROLE_MASTER] = (struct limits){ 2000000000, 1 << 30, 1 << 29 };
	assignment->devices[ROLE_MASTER] = json_of("[['0']]");
	deviation_add(assignment->deviations, DONE_OTHERWISE, "machine-fitted", "pools.master.machine_type",
		      "The master is small.");
	text = assignment_to_text(assignment);
	in.assignment = text;
	in.started_us = running.running_us = bench->now_ns / 1000;
	assert_int_equal(job_apply(bench->store, &in, 1, &bench->err), STATUS_OK);
	assert_int_equal(job_apply(bench->store, &running, 1, &bench->err), STATUS_OK);
	assert_true(in.applied && running.applied);
}

/* Fails with: pool_add() that gives each pool the variables of the first. */
static void assert_environments(json_t *reported, const char *const *roles)
{
	json_t *environments = json_object_get(reported, "environments");

	for (; *roles; roles++) {
		AUTO(json)
		json_t *spec = json_loads(json_text_at(json_object_get(environments, *roles), "CLUSTER_SPEC"),
					  0, NULL);

		assert_string_equal(json_text_at(json_object_get(spec, "task"), "type"), *roles);
		json_object_del(environments, *roles);
	}
	assert_int_equal(json_object_size(environments), 0);
	json_object_del(reported, "environments");
}

static void a_queued_job_tells_what_its_request_tells(void **state)
{
	BENCH(state);
	struct ml_context context = context_on(bench, NULL);
	AUTO(plan) struct plan *plan = plan_of("demo", "j", 1, 0);
	AUTO(json) json_t *reported = NULL;

	deviation_add(plan->deviations, WITHOUT_EFFECT, "network", "trainingInput.network", "No network.");
	plan_store(bench, plan, "{}");
	reported = handler_answer(&context, job_report_handle, "demo", "j", NULL, &bench->err);
	assert_environments(reported, (const char *const[]){ "master", "worker", NULL });
	assert_json_text(
		reported,
		"{'name':'projects/demo/jobs/j','state':'QUEUED','attempt':1,"
		"'start':{'text':'What this machine has is not known.'},"
		"'differences':[{'kind':'WITHOUT_EFFECT','code':'network',"
		"'field':'trainingInput.network','text':'No network.'}],"
		"'commandLines':{'master':'docker run gcr.io/p/i:1','worker':'docker run gcr.io/p/i:1'},"
		"'replicas':[{'name':'master-replica-0','hostName':'cmle-training-master-ab12cd34ef-0-93093',"
		"'addressName':'cmle-training-master-ab12cd34ef-0','image':'gcr.io/p/i:1',"
		"'machineType':'n1-standard-4'},"
		"{'name':'worker-replica-0','hostName':'cmle-training-worker-ab12cd34ef-0-4a341',"
		"'addressName':'cmle-training-worker-ab12cd34ef-0','image':'gcr.io/p/i:1',"
		"'machineType':'n1-standard-4'}],'consumedMLUnits':0.0}");
}

static void a_job_that_was_let_in_tells_with_what(void **state)
{
	BENCH(state);
	struct ml_context context = context_on(bench, NULL);
	AUTO(plan) struct plan *plan = plan_of("demo", "j", 0, 1);
	AUTO(json) json_t *reported = NULL;

	job_let_in(bench, plan_store(bench, plan, "{'scaleTier':'CUSTOM','masterType':'n1-standard-4'}"));
	bench->now_ns += INT64_C(1800) * 1000000000;
	reported = handler_answer(&context, job_report_handle, "demo", "j", NULL, &bench->err);
	assert_environments(reported, (const char *const[]){ "master", NULL });
	assert_json_text(reported, "{'name':'projects/demo/jobs/j','state':'RUNNING','attempt':1,"
				   "'differences':[{'kind':'DONE_OTHERWISE','code':'machine-fitted',"
				   "'field':'trainingInput.masterType','text':'The master is small.'}],"
				   "'commandLines':{'master':'docker run gcr.io/p/i:1'},"
				   "'replicas':[{'name':'master-replica-0',"
				   "'hostName':'cmle-training-master-ab12cd34ef-0-93093',"
				   "'addressName':'cmle-training-master-ab12cd34ef-0','image':'gcr.io/p/i:1',"
				   "'machineType':'n1-standard-4','acceleratorType':'NVIDIA_TESLA_T4',"
				   "'acceleratorCount':1,'limits':{'vcpus':2.0,'memoryBytes':1073741824,"
				   "'shmBytes':536870912},'devices':['0']}],'consumedMLUnits':1.0}");
}

static void the_project_s_number_will_do(void **state)
{
	BENCH(state);
	struct ml_context context = context_on(bench, NULL);
	AUTO(plan) struct plan *plan = plan_of("demo", "j", 0, 0);
	AUTO(json) json_t *reported = NULL;

	plan_store(bench, plan, "{}");
	reported = handler_answer(&context, job_report_handle, "123456789012", "j", NULL, &bench->err);
	assert_string_equal(json_text_at(reported, "name"), "projects/demo/jobs/j");
}

static void a_job_that_is_not_there_is_not_found(void **state)
{
	BENCH(state);
	struct ml_context context = context_on(bench, NULL);
	struct error other AUTO_ERROR = { 0 };

	assert_null(handler_answer(&context, job_report_handle, "demo", "j", NULL, &bench->err));
	assert_int_equal(bench->err.status, STATUS_NOT_FOUND);
	assert_null(handler_answer(&context, job_get_handle, "demo", "j", NULL, &other));
	assert_string_equal(bench->err.text, other.text);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_queued_job_tells_what_its_request_tells, bench_open,
						bench_close),
		cmocka_unit_test_setup_teardown(a_job_that_was_let_in_tells_with_what, bench_open,
						bench_close),
		cmocka_unit_test_setup_teardown(the_project_s_number_will_do, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(a_job_that_is_not_there_is_not_found, bench_open,
						bench_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
