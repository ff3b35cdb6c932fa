/* SPDX-License-Identifier: Apache-2.0 */
/* Custom jobs and operations as the API answers them. */
#include "api/aiplatform/aiplatform.h"
#include "tests/unit/api/ml/ml_testing.h"

/* 2026-11-20T00:00:00.000012Z */
static const int64_t begin_us = START_NS / 1000 + 12;

static char *shell_uri(void *arg, const char *host, int64_t job, enum role role, unsigned index)
{
	char *uri = NULL;

	(void)arg;
	assert_true(asprintf(&uri, "http://%s/%d/%d/%u", host, (int)job, (int)role, index) > 0);
	return uri;
}

static const struct aiplatform_context context = {
	.training = { .project_id = "demo", .project_number = "123456789012", .shell_uri = shell_uri },
	.version = "v1beta1",
};

static struct job custom_job(char *input)
{
	struct job job = job_named("3793775725299892224");

	job.id = 7;
	job.kind = KIND_CUSTOM;
	job.location = LITERAL("us-central1");
	job.display_name = LITERAL("mine");
	job.input = input;
	job.state = JOB_QUEUED;
	job.created_us = begin_us;
	job.updated_us = begin_us;
	return job;
}

static void assert_shown(const struct job *job, const char *expected)
{
	struct call call = { .context = (void *)(uintptr_t)&context, .host = "localhost:8090" };
	struct text text AUTO_TEXT = { 0 };
	AUTO(string) char *wanted = quoted(expected);

	custom_job_render(&call, job, &text);
	assert_string_equal(text.data, wanted);
}

#define NAME "'name':'projects/123456789012/locations/us-central1/customJobs/3793775725299892224'"
#define TIME "'createTime':'2026-11-20T00:00:00.000012Z'"

static void a_new_job_is_pending_and_has_two_times(void **state)
{
	AUTO(string) char *input = quoted("{'displayName':'mine','jobSpec':{'workerPoolSpecs':[]}}");
	AUTO(string) char *labels = quoted("{'a':'b'}");
	struct job job = custom_job(input);

	(void)state;
	job.labels = labels;
	assert_shown(&job, "{" NAME ",'displayName':'mine','jobSpec':{'workerPoolSpecs':[]},"
			   "'state':'JOB_STATE_PENDING'," TIME ",'updateTime':'2026-11-20T00:00:00.000012Z',"
			   "'labels':{'a':'b'}}");
}

static void an_end_has_its_error_and_times_in_seconds(void **state)
{
	AUTO(string) char *input = quoted("{'displayName':'mine'}");
	struct job job = custom_job(input);

	(void)state;
	job.running_us = begin_us + 1500000;
	job.ended_us = begin_us + 2999999;
	job.updated_us = job.ended_us;
	job.error_message = LITERAL("The \"replica\"");
	job.error_code = 3;
	job.state = JOB_FAILED;
	assert_shown(&job, "{" NAME ",'displayName':'mine','state':'JOB_STATE_FAILED'," TIME
			   ",'startTime':'2026-11-20T00:00:01Z','endTime':'2026-11-20T00:00:03Z',"
			   "'updateTime':'2026-11-20T00:00:03.000011Z',"
			   "'error':{'code':3,'message':'The \\'replica\\''}}");
	job.state = JOB_SUCCEEDED; /* the end of an earlier attempt */
	assert_shown(&job, "{" NAME ",'displayName':'mine','state':'JOB_STATE_SUCCEEDED'," TIME
			   ",'startTime':'2026-11-20T00:00:01Z','endTime':'2026-11-20T00:00:03Z',"
			   "'updateTime':'2026-11-20T00:00:03.000011Z'}");
}

static void another_project_keeps_the_name_it_came_by(void **state)
{
	struct job job = custom_job(LITERAL("{}"));
	struct call call = { .context = (void *)(uintptr_t)&context };
	struct text text AUTO_TEXT = { 0 };

	(void)state;
	job.project = LITERAL("other");
	custom_job_render(&call, &job, &text);
	assert_non_null(strstr(text.data, "\"projects/other/locations/"));
}

static void shells_are_told_while_it_runs_and_asked_for_them(void **state)
{
	AUTO(string) char *input = quoted("{'jobSpec':{'enableWebAccess':true}}");
	AUTO(plan) struct plan *plan = plan_of("demo", "3793775725299892224", 1, 0);
	AUTO(string) char *plan_text = NULL;
	struct job job = custom_job(input);

	(void)state;
	free(plan->dialect);
	plan->dialect = strdup("aiplatform");
	plan_text = plan_to_text(plan);
	job.plan = plan_text;
	job.web_access = true;
	job.state = JOB_RUNNING;
	job.running_us = begin_us;
	assert_shown(&job, "{" NAME ",'jobSpec':{'enableWebAccess':true},'state':'JOB_STATE_RUNNING'," TIME
			   ",'startTime':'2026-11-20T00:00:01Z','updateTime':'2026-11-20T00:00:01.000000Z',"
			   "'webAccessUris':{'workerpool0-0':'http://localhost:8090/7/0/0',"
			   "'workerpool1-0':'http://localhost:8090/7/1/0'}}");
}

static void an_operation_carries_the_version_it_is_asked_in(void **state)
{
	struct call call = { .context = (void *)(uintptr_t)&context };
	struct text text AUTO_TEXT = { 0 };
	const struct operation operation = { .project = LITERAL("demo"),
					     .location = LITERAL("us-central1"),
					     .operation_id = LITERAL("5912838747712749568"),
					     .target = LITERAL("customJobs/1"),
					     .created_us = begin_us };
	AUTO(string)
	char *wanted = quoted(
		"{'name':'projects/123456789012/locations/us-central1/operations/5912838747712749568',"
		"'metadata':{'@type':'type.googleapis.com/google.cloud.aiplatform.v1beta1."
		"DeleteOperationMetadata','genericMetadata':{'createTime':'2026-11-20T00:00:00.000012Z',"
		"'updateTime':'2026-11-20T00:00:00.000012Z'}},'done':true,"
		"'response':{'@type':'type.googleapis.com/google.protobuf.Empty'}}");

	(void)state;
	operation_render(&call, &operation, &text);
	assert_string_equal(text.data, wanted);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_job_is_pending_and_has_two_times),
		cmocka_unit_test(an_end_has_its_error_and_times_in_seconds),
		cmocka_unit_test(another_project_keeps_the_name_it_came_by),
		cmocka_unit_test(shells_are_told_while_it_runs_and_asked_for_them),
		cmocka_unit_test(an_operation_carries_the_version_it_is_asked_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
