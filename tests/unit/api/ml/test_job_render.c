/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/ml/ml_testing.h"

static const int64_t hour_us = INT64_C(3600000000);
static const int64_t begin_us = START_NS / 1000;

/* A clock that always returns *arg. */
static int64_t still_ns(void *arg)
{
	return *(int64_t *)arg * 1000;
}

/* trainingOutput of the answer at @now_us, for a client that has called @host. */
static char *output_at(struct ml_context *context, const struct job *job, int64_t now_us, const char *host)
{
	struct clock clock = { .wall_ns = still_ns, .arg = &now_us };
	struct call call = { .context = context, .host = host };
	AUTO(json) json_t *answer = NULL;

	context->training.clock = &clock;
	job_render(&call, job);
	answer = json_loads(call.answer.data, JSON_REJECT_DUPLICATES, NULL);
	if (!answer)
		fail_msg("not JSON: %s", call.answer.data);
	text_deinit(&call.answer);
	return json_dump_compact(json_object_get(answer, "trainingOutput"));
}

static void assert_output(struct ml_context *context, const struct job *job, int64_t now_us,
			  const char *expected)
{
	AUTO(string) char *output = output_at(context, job, now_us, "localhost:8090");
	AUTO(string) char *wanted = quoted(expected);

	assert_string_equal(output, wanted);
}

static struct job running_job(void)
{
	struct job job = job_named("j");

	job.state = JOB_RUNNING;
	job.created_us = job.started_us = begin_us;
	job.running_us = begin_us + hour_us;
	job.ml_units_per_hour = 0.3878;
	return job;
}

static void what_a_job_consumed_grows_while_it_runs(void **state)
{
	struct ml_context context = { 0 };
	struct job job = running_job();
	const int64_t running_us = job.running_us;

	(void)state;
	assert_output(&context, &job, running_us, "{}");
	assert_output(&context, &job, running_us + hour_us / 100, "{}");
	assert_output(&context, &job, running_us + hour_us / 10, "{'consumedMLUnits':0.04}");
	assert_output(&context, &job, running_us + hour_us, "{'consumedMLUnits':0.39}");
	job.state = JOB_PREPARING; /* the job is retried */
	assert_output(&context, &job, running_us + 2 * hour_us, "{'consumedMLUnits':0.78}");
	job.state = JOB_SUCCEEDED;
	job.ended_us = running_us + 2 * hour_us;
	assert_output(&context, &job, running_us + 9 * hour_us, "{'consumedMLUnits':0.78}");
	/* The clock was set back. */
	job.ended_us = running_us - 1;
	assert_output(&context, &job, running_us, "{}");
}

static void a_job_that_never_ran_consumed_nothing(void **state)
{
	struct ml_context context = { 0 };
	struct job job = running_job();

	(void)state;
	job.state = JOB_CANCELLED;
	job.running_us = 0;
	job.ended_us = begin_us + hour_us;
	assert_output(&context, &job, begin_us + 2 * hour_us, "{}");
}

static void what_is_stored_follows_what_was_consumed(void **state)
{
	struct ml_context context = { 0 };
	struct job job = running_job();
	AUTO(string)
	char *output = quoted("{'isBuiltInAlgorithmJob':true,'builtInAlgorithmOutput':"
			      "{'framework':'TENSORFLOW'}}");
	AUTO(string) char *input = quoted("{'jobDir':'gs://b/d'}");

	(void)state;
	job.output = output;
	job.input = input;
	job.traits = JOB_TRAIT_BUILT_IN;
	assert_output(&context, &job, job.running_us,
		      "{'isBuiltInAlgorithmJob':true,'builtInAlgorithmOutput':{'framework':'TENSORFLOW'}}");
	assert_output(&context, &job, job.running_us + hour_us,
		      "{'consumedMLUnits':0.39,'isBuiltInAlgorithmJob':true,'builtInAlgorithmOutput':"
		      "{'framework':'TENSORFLOW'}}");
	/* The model's version is there after a success, and not before. */
	job.ended_us = job.running_us + hour_us;
	job.state = JOB_FAILED;
	assert_output(&context, &job, job.ended_us,
		      "{'consumedMLUnits':0.39,'isBuiltInAlgorithmJob':true,'builtInAlgorithmOutput':"
		      "{'framework':'TENSORFLOW'}}");
	job.state = JOB_SUCCEEDED;
	assert_output(&context, &job, job.ended_us,
		      "{'consumedMLUnits':0.39,'isBuiltInAlgorithmJob':true,'builtInAlgorithmOutput':"
		      "{'framework':'TENSORFLOW','modelPath':'gs://b/d/model/'}}");
}

static char *shell_uri(void *arg, const char *host, int64_t job, enum role role, unsigned index)
{
	char *uri = NULL;

	if (arg)
		return NULL;
	assert_true(asprintf(&uri, "http://%s/%lld/%s/%u", host, (long long)job, role_name(role), index) > 0);
	return uri;
}

static void shells_are_offered_for_each_replica_of_a_running_job_that_asked(void **state)
{
	static const struct {
		bool web_access;
		enum job_state state;
		bool shells;
	} rows[] = {
		{ true, JOB_RUNNING, true },     { false, JOB_RUNNING, false },
		{ true, JOB_QUEUED, false },     { true, JOB_PREPARING, false },
		{ true, JOB_CANCELLING, false }, { true, JOB_SUCCEEDED, false },
	};
	AUTO(plan) struct plan *plan = plan_of("demo", "j", 2, 0);
	AUTO(string) char *plan_text = plan_to_text(plan);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct ml_context context = { .training.shell_uri = shell_uri };
		struct job job = running_job();

		job.id = 7;
		job.web_access = rows[i].web_access;
		job.state = rows[i].state;
		/* If the job has not asked for web access, its plan is not read. */
		job.plan = rows[i].shells ? plan_text : LITERAL("not a plan");
		assert_output(&context, &job, job.running_us,
			      rows[i].shells ? "{'webAccessUris':{"
					       "'master-replica-0':'http://localhost:8090/7/master/0',"
					       "'worker-replica-0':'http://localhost:8090/7/worker/0',"
					       "'worker-replica-1':'http://localhost:8090/7/worker/1'}}"
					     : "{}");
	}
}

static void shells_that_are_not_to_be_had_are_not_told(void **state)
{
	struct ml_context context = { 0 };
	struct job job = running_job();
	AUTO(plan) struct plan *plan = plan_of("demo", "j", 2, 0);
	AUTO(string) char *plan_text = plan_to_text(plan);
	AUTO(string) char *without_host = NULL;

	(void)state;
	job.web_access = true;
	job.plan = plan_text;
	assert_output(&context, &job, job.running_us, "{}");
	context.training.shell_uri = shell_uri;
	context.training.shell_arg = &job;
	assert_output(&context, &job, job.running_us, "{}");
	context.training.shell_arg = NULL;
	without_host = output_at(&context, &job, job.running_us, "");
	assert_string_equal(without_host, "{}");
	job.plan = LITERAL("{");
	assert_output(&context, &job, job.running_us, "{}");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_job_consumed_grows_while_it_runs),
		cmocka_unit_test(a_job_that_never_ran_consumed_nothing),
		cmocka_unit_test(what_is_stored_follows_what_was_consumed),
		cmocka_unit_test(shells_are_offered_for_each_replica_of_a_running_job_that_asked),
		cmocka_unit_test(shells_that_are_not_to_be_had_are_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
