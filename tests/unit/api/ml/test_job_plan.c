/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/dialect.h"
#include "tests/unit/api/ml/job_testing.h"
#include "tests/unit/api/ml/ml_testing.h"

static json_t *plan_answer(struct bench *bench, struct machine_told *reported, const char *input_patch)
{
	struct ml_context context = context_on(bench, reported);
	AUTO(json) json_t *job = job_with_input(input_patch);
	json_t *answer = handler_answer(&context, job_plan_handle, "demo", NULL, job, &bench->err);

	if (!answer)
		fail_msg("%s: %s", input_patch, bench->err.text);
	return answer;
}

#define CLUSTER                                                                                              \
	"{'scaleTier':'CUSTOM','masterType':'n1-standard-4','workerType':'n1-standard-8','workerCount':2,"   \
	"'parameterServerType':'n1-standard-4','parameterServerCount':1}"

static void a_plan_names_each_replica_and_what_it_gets(void **state)
{
	BENCH(state);
	struct machine_told reported = machine_told(64, 0);
	AUTO(json) json_t *answer = plan_answer(bench, &reported, CLUSTER);
	const json_t *replicas = json_object_get(answer, "replicas");
	const json_t *worker = json_array_get(replicas, 2);

	assert_string_equal(json_text_at(answer, "name"), "projects/demo/jobs/j");
	assert_json_text(json_object_get(answer, "start"), "{'now':true}");
	assert_json_text(json_object_get(answer, "startOrder"), "['ps','worker','master']");
	assert_int_equal(json_array_size(replicas), 4);
	assert_int_equal(json_array_size(json_object_get(answer, "hosts")), 4);
	assert_string_equal(json_text_at(worker, "name"), "worker-replica-1");
	assert_string_equal(json_text_at(worker, "image"), "gcr.io/p/i:1");
	assert_string_equal(json_text_at(worker, "machineType"), "n1-standard-8");
	assert_json_text(json_object_get(worker, "limits"),
			 "{'vcpus':8.0,'memoryBytes':32212254720,'shmBytes':16106127360}");
}

static void the_environment_is_the_one_that_replicas_get(void **state)
{
	BENCH(state);
	struct machine_told reported = machine_told(64, 0);
	AUTO(json) json_t *answer = plan_answer(bench, &reported, CLUSTER);
	const json_t *worker = json_array_get(json_object_get(answer, "replicas"), 1);
	const json_t *env = json_object_get(worker, "env");
	const char *id = json_text_at(answer, "exampleClusterId");
	AUTO(json) json_t *spec = json_loads(json_text_at(env, "CLUSTER_SPEC"), 0, NULL);
	AUTO(json) json_t *task = json_of("{'type':'worker','index':0}");
	char address[64];

	assert_true(json_equal(json_object_get(spec, "task"), task));
	snprintf(address, sizeof(address), "cmle-training-worker-%s-0", id);
	assert_string_equal(json_text_at(worker, "addressName"), address);
	assert_int_equal(strncmp(json_text_at(worker, "hostName"), address, strlen(address)), 0);
	assert_string_equal(json_string_value(json_array_get(json_object_get(answer, "hosts"), 1)), address);
	assert_string_equal(json_text_at(env, "CLOUD_ML_JOB_ID"), "j");
	assert_non_null(json_text_at(env, "TF_CONFIG"));
	assert_non_null(json_text_at(env, "CLOUD_ML_JOB"));
}

static void command_and_arguments_are_those_that_run(void **state)
{
	BENCH(state);
	struct machine_told reported = machine_told(64, 0);
	AUTO(json)
	json_t *answer =
		plan_answer(bench, &reported,
			    "{'jobDir':'gs://bucket/d','masterConfig':{'containerCommand':['sh','-c'],"
			    "'containerArgs':['a b']}}");
	const json_t *master = json_array_get(json_object_get(answer, "replicas"), 0);

	assert_json_text(json_object_get(master, "command"), "['sh','-c']");
	assert_json_text(json_object_get(master, "args"), "['a b','--job-dir','gs://bucket/d']");
	/* A job with one replica needs no host names. */
	assert_json_text(json_object_get(answer, "hosts"), "[]");
}

static void packages_are_told_with_the_module_that_they_are_for(void **state)
{
	BENCH(state);
	struct machine_told reported = machine_told(64, 0);
	AUTO(json)
	json_t *answer = plan_answer(
		bench, &reported,
		"{'masterConfig':null,'runtimeVersion':'2.11','pythonVersion':'3.7','packageUris':"
		"['gs://bucket/p'],'pythonModule':'trainer.task','jobDir':'gs://bucket/d'}");
	const json_t *master = json_array_get(json_object_get(answer, "replicas"), 0);

	assert_json_text(json_object_get(master, "packageUris"), "['gs://bucket/p']");
	assert_json_text(json_object_get(master, "command"), "['python3','-m','trainer.task']");
	assert_json_text(json_object_get(master, "args"), "['--job-dir','gs://bucket/d']");
	assert_null(json_object_get(json_object_get(master, "env"), "CLUSTER_SPEC"));
	assert_non_null(strstr(json_text_at(json_object_get(master, "env"), "TF_CONFIG"), "chief"));
}

static void units_and_limits_of_time_are_foretold(void **state)
{
	static const struct {
		const char *patch, *running, *waiting;
		double units, in_all;
	} rows[] = {
		{ "{}", "604800s", NULL, 0.3878, 65.14 },
		{ "{'scaleTier':'STANDARD_1','scheduling':{'maxRunningTime':'3600s'}}", "3600s", NULL, 4.0571,
		  4.06 },
		{ "{'scheduling':{'maxRunningTime':'1.5s','maxWaitTime':'1800s'}}", "1.5s", "1800s", 0.3878,
		  0 },
		{ "{'scaleTier':'BASIC_TPU','scheduling':{'maxRunningTime':'3600s'},"
		  "'masterConfig':{'tpuTfVersion':null},'workerConfig':{'tpuTfVersion':'2.11'}}",
		  "3600s", NULL, 9.5714, 9.57 },
	};
	BENCH(state);
	struct machine_told reported = machine_told(256, 0);

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(json) json_t *answer = plan_answer(bench, &reported, rows[i].patch);
		double units = json_real_value(json_object_get(answer, "mlUnitsPerHour"));
		double in_all = json_real_value(json_object_get(answer, "mlUnitsInMaxRunningTime"));
		const char *waiting = json_text_at(answer, "maxWaitTime");

		if (units < rows[i].units - 0.0001 || units > rows[i].units + 0.0001)
			fail_msg("%s: %f units", rows[i].patch, units);
		if (in_all < rows[i].in_all - 0.001 || in_all > rows[i].in_all + 0.001)
			fail_msg("%s: %f units in all", rows[i].patch, in_all);
		assert_string_equal(json_text_at(answer, "maxRunningTime"), rows[i].running);
		assert_string_equal(waiting ? waiting : "", rows[i].waiting ? rows[i].waiting : "");
	}
}

static void what_keeps_it_from_starting_is_told(void **state)
{
	BENCH(state);
	struct machine_told reported = machine_told(64, 0);
	AUTO(json) json_t *waits = NULL;
	AUTO(json) json_t *open = NULL;

	reported.usage.jobs = 4;
	waits = plan_answer(bench, &reported, "{}");
	assert_json_text(json_object_get(waits, "start"),
			 "{'now':false,'shortage':'ROOM','text':'4 of 4 jobs run now.'}");
	assert_non_null(json_object_get(json_array_get(json_object_get(waits, "replicas"), 0), "limits"));
	open = plan_answer(bench, NULL, "{}");
	assert_json_text(json_object_get(open, "start"), "{'text':'What this machine has is not known.'}");
	assert_null(json_object_get(json_array_get(json_object_get(open, "replicas"), 0), "limits"));
}

/* The variables show whether the replica has GPUs; which ones is known only when the job starts. */
static void a_replica_without_gpus_is_told_so(void **state)
{
	static const char gpu[] = "{'scaleTier':'CUSTOM','masterType':'n1-standard-4','masterConfig':"
				  "{'acceleratorConfig':{'type':'NVIDIA_TESLA_T4','count':1}}}";
	static const struct {
		const char *patch;
		unsigned devices, jobs;
		bool silent;
		const char *visible, *attached;
	} rows[] = {
		{ "{}", 0, 0, false, "void", NULL }, { "{}", 1, 0, false, "void", NULL },
		{ "{}", 1, 4, false, "void", NULL }, { gpu, 0, 0, false, "void", NULL }, /* GPUs are only pretended */
		{ gpu, 1, 0, false, NULL, "['0']" }, { gpu, 1, 4, false, NULL, NULL },
		{ "{}", 0, 0, true, NULL, NULL },
	};
	BENCH(state);

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct machine_told reported = machine_told(64, rows[i].devices);
		AUTO(json) json_t *answer = NULL;
		const json_t *master;
		const char *visible;

		reported.usage.jobs = rows[i].jobs;
		answer = plan_answer(bench, rows[i].silent ? NULL : &reported, rows[i].patch);
		master = json_array_get(json_object_get(answer, "replicas"), 0);
		visible = json_text_at(json_object_get(master, "env"), "NVIDIA_VISIBLE_DEVICES");
		assert_string_equal(visible ? visible : "", rows[i].visible ? rows[i].visible : "");
		if (rows[i].attached)
			assert_json_text(json_object_get(master, "devices"), rows[i].attached);
		else
			assert_null(json_object_get(master, "devices"));
	}
}

/* The job is neither stored nor run: the store does not change. */
static void nothing_comes_of_a_plan(void **state)
{
	BENCH(state);
	struct machine_told reported = machine_told(64, 0);
	AUTO(json) json_t *first = plan_answer(bench, &reported, "{}");
	AUTO(json) json_t *second = plan_answer(bench, &reported, "{}");
	struct job_list list AUTO_JOB_LIST = { 0 };

	assert_int_equal(job_list_unfinished(bench->store, &list, &bench->err), STATUS_OK);
	assert_int_equal(list.count, 0);
	/* A new id is drawn each time. */
	assert_string_not_equal(json_text_at(first, "exampleClusterId"),
				json_text_at(second, "exampleClusterId"));
}

static void what_create_refuses_is_refused_in_the_same_words(void **state)
{
	static const char *const patches[] = {
		"{'region':'nowhere'}",
		"{'masterConfig':{'imageUri':null}}",
		"{'scaleTier':'CUSTOM','masterType':'n1-standard-4','workerType':'n1-standard-4',"
		"'workerCount':2}",
	};
	BENCH(state);
	struct machine_told reported = machine_told(4, 0);

	reported.capacity.max_containers = 2;
	for (size_t i = 0; i < COUNT_OF(patches); i++) {
		struct ml_context context = context_on(bench, &reported);
		AUTO(json) json_t *job = job_with_input(patches[i]);
		struct error created AUTO_ERROR = { 0 };

		assert_null(handler_answer(&context, job_create_handle, "demo", NULL, job, &created));
		assert_null(handler_answer(&context, job_plan_handle, "demo", NULL, job, &bench->err));
		assert_int_equal(bench->err.status, created.status);
		assert_string_equal(bench->err.text, created.text);
	}
}

/* Each of 1000 replicas has all addresses twice in its environment; the answer shortens that. */
static void a_long_plan_is_bounded(void **state)
{
	BENCH(state);
	struct machine_told reported = machine_told(64, 0);
	AUTO(json)
	json_t *answer = plan_answer(bench, &reported,
				     "{'scaleTier':'CUSTOM','masterType':'n1-standard-4',"
				     "'workerType':'n1-standard-4','workerCount':990,"
				     "'parameterServerType':'n1-standard-4','parameterServerCount':9}");
	const json_t *replicas = json_object_get(answer, "replicas");
	size_t told_count = json_array_size(replicas);
	const json_t *last = json_array_get(replicas, told_count - 1);
	AUTO(string) char *text = json_dump_compact(answer);

	assert_true(told_count > 2 && told_count < 1000);
	assert_int_equal(json_int_at(answer, "replicasOmitted", 0), 1000 - (int64_t)told_count);
	assert_string_equal(json_text_at(last, "name"), "ps-replica-0");
	assert_int_equal(json_array_size(json_object_get(answer, "hosts")), 1000);
	assert_true(strlen(text) < 18 << 20);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(a_plan_names_each_replica_and_what_it_gets),
		WITH_BENCH(the_environment_is_the_one_that_replicas_get),
		WITH_BENCH(command_and_arguments_are_those_that_run),
		WITH_BENCH(packages_are_told_with_the_module_that_they_are_for),
		WITH_BENCH(units_and_limits_of_time_are_foretold),
		WITH_BENCH(what_keeps_it_from_starting_is_told),
		WITH_BENCH(a_replica_without_gpus_is_told_so),
		WITH_BENCH(nothing_comes_of_a_plan),
		WITH_BENCH(what_create_refuses_is_refused_in_the_same_words),
		WITH_BENCH(a_long_plan_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
