/* SPDX-License-Identifier: Apache-2.0 */
/* A training pipeline and a model as the API answers them. */
#include "api/aiplatform/aiplatform.h"
#include "store/jobs/models.h"
#include "store/jobs/pipelines.h"
#include "tests/unit/api/ml/ml_testing.h"

/* 2026-11-20T00:00:00.000012Z */
static const int64_t begin_us = START_NS / 1000 + 12;

static const struct aiplatform_context context = {
	.training = { .project_id = "demo", .project_number = "123456789012" },
	.version = "v1",
};

#define PLACE "projects/123456789012/locations/us-central1/"
#define NAME  "'name':'" PLACE "trainingPipelines/12'"
#define TASK  "'trainingTaskMetadata':{'backingCustomJob':'" PLACE "customJobs/34'}"
#define TIMES "'createTime':'2026-11-20T00:00:00.000012Z','updateTime':'2026-11-20T00:00:00.000012Z'"

static struct job backing_job(void)
{
	struct job job = job_named("34");

	job.kind = KIND_CUSTOM;
	job.location = LITERAL("us-central1");
	job.state = JOB_QUEUED;
	job.created_us = begin_us;
	job.updated_us = begin_us;
	return job;
}

static void assert_shown(struct job *job, const struct pipeline *more, const char *expected)
{
	struct call call = { .context = (void *)(uintptr_t)&context };
	struct pipeline pipeline = *more;
	struct text text AUTO_TEXT = { 0 };
	AUTO(string) char *wanted = quoted(expected);

	pipeline.project = LITERAL("demo");
	pipeline.location = LITERAL("us-central1");
	pipeline.pipeline_id = LITERAL("12");
	pipeline.created_us = begin_us;
	pipeline.job = job;
	pipeline_render(&call, &pipeline, &text);
	assert_string_equal(text.data, wanted);
}

static void a_pipeline_is_shown_by_its_job(void **state)
{
	AUTO(string)
	char *input = quoted("{'displayName':'p','trainingTaskInputs':{'replica_count':1.0,'x':null}}");
	AUTO(string) char *labels = quoted("{'a':'b'}");
	struct job job = backing_job();

	(void)state;
	assert_shown(&job, &(struct pipeline){ .input = input, .labels = labels },
		     "{" NAME ",'displayName':'p','trainingTaskInputs':{'replica_count':1.0,'x':null}," TASK
		     ",'state':'PIPELINE_STATE_PENDING'," TIMES ",'labels':{'a':'b'}}");
	job.state = JOB_FAILED;
	job.error_message = LITERAL("no");
	job.error_code = 3;
	assert_shown(&job, &(struct pipeline){ .input = LITERAL("{}") },
		     "{" NAME "," TASK ",'state':'PIPELINE_STATE_FAILED'," TIMES
		     ",'error':{'code':3,'message':'no'}}");
}

static void a_model_gets_its_name_when_it_is_there(void **state)
{
	AUTO(string) char *model = quoted("{'displayName':'m'}");
	struct job job = backing_job();
	struct pipeline pipeline = { .input = LITERAL("{}"),
				     .model_input = model,
				     .model_id = LITERAL("56") };

	(void)state;
	job.state = JOB_RUNNING;
	assert_shown(&job, &pipeline,
		     "{" NAME "," TASK
		     ",'modelToUpload':{'displayName':'m'},'state':'PIPELINE_STATE_RUNNING'," TIMES "}");
	job.state = JOB_SUCCEEDED;
	pipeline.model_version = 2;
	assert_shown(&job, &pipeline,
		     "{" NAME "," TASK ",'modelToUpload':{'name':'" PLACE
		     "models/56','displayName':'m','versionId':'2'},"
		     "'state':'PIPELINE_STATE_SUCCEEDED'," TIMES "}");
}

static void a_model_shows_what_was_given_and_what_is_known(void **state)
{
	struct call call = { .context = (void *)(uintptr_t)&context };
	AUTO(string)
	char *input = quoted("{'displayName':'m','labels':{'a':'b'},'artifactUri':'gs://b/given',"
			     "'versionAliases':['default','new'],'containerSpec':{'imageUri':'i'}}");
	AUTO(string) char *aliases = quoted("['new']");
	AUTO(string)
	char *wanted = quoted(
		"{'name':'" PLACE
		"models/56','displayName':'m','labels':{'a':'b'},'containerSpec':{'imageUri':'i'},"
		"'trainingPipeline':'" PLACE "trainingPipelines/12','artifactUri':'gs://b/given',"
		"'createTime':'2026-11-20T00:00:00.000012Z','updateTime':'2026-11-20T00:00:01.000012Z',"
		"'versionId':'2','versionAliases':['new'],'versionCreateTime':'2026-11-20T00:00:01.000012Z',"
		"'versionUpdateTime':'2026-11-20T00:00:01.000012Z','modelSourceInfo':{'sourceType':'CUSTOM'}}");
	const struct trained_model model = { .project = LITERAL("demo"),
					     .location = LITERAL("us-central1"),
					     .model_id = LITERAL("56"),
					     .version = 2,
					     .input = input,
					     .artifact_uri = LITERAL("gs://b/given"),
					     .aliases = aliases,
					     .created_us = begin_us + 1000000,
					     .first_us = begin_us,
					     .pipeline_id = LITERAL("12") };
	struct text text AUTO_TEXT = { 0 };

	(void)state;
	model_render(&call, &model, &text);
	assert_string_equal(text.data, wanted);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pipeline_is_shown_by_its_job),
		cmocka_unit_test(a_model_gets_its_name_when_it_is_there),
		cmocka_unit_test(a_model_shows_what_was_given_and_what_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
