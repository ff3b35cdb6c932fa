/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/models.h"
#include "store/jobs/pipelines.h"
#include "store/jobs/resources.h"
#include "tests/unit/store/store_testing.h"

static struct pipeline_name named(const char *id)
{
	return (struct pipeline_name){ "demo", "us-central1", id };
}

/* Adds a pipeline P with the job jP; with @model_id, it makes that model. */
static enum status pipeline_add(struct bench *bench, const char *id, const char *model_id,
				const char *model_input, bool extends, struct pipeline *ret_line)
{
	char job_id[32];
	struct job job;

	snprintf(job_id, sizeof(job_id), "9%s", id);
	job = job_named(job_id);
	job.kind = KIND_CUSTOM;
	job.location = LITERAL("us-central1");
	job.display_name = LITERAL("line-custom-job");
	error_deinit(&bench->err);
	return pipeline_insert(
		bench->store,
		&(struct pipeline_draft){
			.pipeline_id = id,
			.display_name = *id == '1' ? "first" : "other",
			.labels = *id == '1' ? "{\"team\":\"red\"}" : NULL,
			.input = *id == '1' ? "{\"trainingTaskDefinition\":\"gs://d/custom_task_1.0.0.yaml\"}"
					    : "{\"trainingTaskDefinition\":\"gs://d/other.yaml\"}",
			.model_id = model_id,
			.model_input = model_input,
			.artifact_uri = model_id ? "gs://b/m/" : NULL,
			.extends_model = extends,
			.job = &job,
		},
		ret_line, &bench->err);
}

static void move(struct bench *bench, const struct pipeline *line, enum job_state from, enum job_state to)
{
	struct job_change change = { .job = line->job->id, .from = from, .to = to };

	change.running_us = to == JOB_RUNNING ? bench->now_ns / 1000 : 0;
	change.ended_us = job_state_is_final(to) ? bench->now_ns / 1000 : 0;
	assert_int_equal(job_apply(bench->store, &change, 1, NULL), STATUS_OK);
	assert_true(change.applied);
}

static void succeed(struct bench *bench, const struct pipeline *line)
{
	move(bench, line, JOB_QUEUED, JOB_PREPARING);
	move(bench, line, JOB_PREPARING, JOB_RUNNING);
	bench->now_ns += INT64_C(1000000000);
	move(bench, line, JOB_RUNNING, JOB_SUCCEEDED);
}

/* Adds a version of the model m. */
static void version_add(struct bench *bench, const char *id, const char *model_input, bool extends)
{
	struct pipeline line AUTO_PIPELINE = { 0 };

	if (pipeline_add(bench, id, "m", model_input, extends, &line))
		fail_msg("%s", bench->err.text);
	succeed(bench, &line);
}

static void state_is(struct bench *bench, const char *id, const char *expected)
{
	const struct pipeline_name name = named(id);
	struct pipeline line AUTO_PIPELINE = { 0 };

	assert_int_equal(pipeline_get(bench->store, &name, &line, NULL), STATUS_OK);
	assert_string_equal(pipeline_state_name(&line), expected);
}

static void a_pipeline_has_the_state_of_its_job(void **state)
{
	BENCH(state);
	struct pipeline line AUTO_PIPELINE = { 0 };

	assert_int_equal(pipeline_add(bench, "1", NULL, NULL, false, &line), STATUS_OK);
	assert_string_equal(pipeline_state_name(&line), "PIPELINE_STATE_PENDING");
	assert_string_equal(line.job->job_id, "91");
	assert_int_equal(line.created_us, line.job->created_us);
	move(bench, &line, JOB_QUEUED, JOB_PREPARING);
	state_is(bench, "1", "PIPELINE_STATE_PENDING");
	move(bench, &line, JOB_PREPARING, JOB_RUNNING);
	state_is(bench, "1", "PIPELINE_STATE_RUNNING");
	bench_reopen(bench);
	state_is(bench, "1", "PIPELINE_STATE_RUNNING");
	move(bench, &line, JOB_RUNNING, JOB_FAILED);
	state_is(bench, "1", "PIPELINE_STATE_FAILED");
}

static void a_cancel_is_the_jobs(void **state)
{
	BENCH(state);
	const struct pipeline_name first = named("1"), none = named("2");
	struct pipeline line AUTO_PIPELINE = { 0 };

	assert_int_equal(pipeline_add(bench, "1", NULL, NULL, false, &line), STATUS_OK);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pipeline_cancel(bench->store, &first, "enough", NULL), STATUS_OK);
	state_is(bench, "1", "PIPELINE_STATE_CANCELLING");
	assert_int_equal(pipeline_cancel(bench->store, &none, "enough", &bench->err), STATUS_NOT_FOUND);
	assert_string_equal(
		bench->err.text,
		"The TrainingPipeline \"projects/demo/locations/us-central1/trainingPipelines/2\" does not exist.");
}

static void what_has_ended_is_deleted_and_leaves_its_job_and_model(void **state)
{
	BENCH(state);
	const struct pipeline_name name = named("1");
	const struct resource job_name = { KIND_CUSTOM, "demo", "us-central1", "91" };
	const struct model_name model_name = { "demo", "us-central1", "m", NULL };
	struct pipeline line AUTO_PIPELINE = { 0 };
	struct pipeline none AUTO_PIPELINE = { 0 };
	struct operation operation AUTO_OPERATION = { 0 };
	struct trained_model model AUTO_TRAINED_MODEL = { 0 };
	AUTO(job) struct job *job = NULL;

	assert_int_equal(pipeline_add(bench, "1", "m", "{}", false, &line), STATUS_OK);
	assert_int_equal(pipeline_delete(bench->store, &name, &operation, &bench->err),
			 STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(bench->err.text, "PIPELINE_STATE_PENDING"));
	succeed(bench, &line);
	assert_int_equal(pipeline_delete(bench->store, &name, &operation, NULL), STATUS_OK);
	assert_string_equal(operation.target, "trainingPipelines/1");
	assert_int_equal(pipeline_get(bench->store, &name, &none, NULL), STATUS_NOT_FOUND);
	assert_int_equal(resource_get(bench->store, &job_name, &job, NULL), STATUS_OK);
	assert_int_equal(model_get(bench->store, &model_name, &model, NULL), STATUS_OK);
	assert_string_equal(model.pipeline_id, "1");
}

static void a_model_is_there_once_its_job_has_succeeded(void **state)
{
	BENCH(state);
	const struct model_name name = { "demo", "us-central1", "m", NULL };
	const struct pipeline_name line_name = named("1");
	struct pipeline line AUTO_PIPELINE = { 0 };
	struct pipeline ended AUTO_PIPELINE = { 0 };
	struct trained_model model AUTO_TRAINED_MODEL = { 0 };

	assert_int_equal(pipeline_add(bench, "1", "m", "{\"displayName\":\"d\"}", false, &line), STATUS_OK);
	assert_int_equal(line.model_version, 0);
	assert_int_equal(model_get(bench->store, &name, &model, &bench->err), STATUS_NOT_FOUND);
	assert_string_equal(bench->err.text,
			    "The Model \"projects/demo/locations/us-central1/models/m\" does not exist.");
	succeed(bench, &line);
	assert_int_equal(model_get(bench->store, &name, &model, NULL), STATUS_OK);
	assert_int_equal(model.version, 1);
	assert_string_equal(model.aliases, "[\"default\"]");
	assert_string_equal(model.artifact_uri, "gs://b/m/");
	assert_int_equal(model.created_us, bench->now_ns / 1000);
	assert_int_equal(model.job, line.job->id);
	assert_int_equal(pipeline_get(bench->store, &line_name, &ended, NULL), STATUS_OK);
	assert_int_equal(ended.model_version, 1);
	assert_string_equal(ended.model_id, "m");
}

static void a_name_is_taken_until_its_job_has_failed(void **state)
{
	BENCH(state);
	struct pipeline first AUTO_PIPELINE = { 0 };
	struct pipeline second AUTO_PIPELINE = { 0 };

	assert_int_equal(pipeline_add(bench, "2", "m", "{}", true, &first), STATUS_NOT_FOUND);
	assert_int_equal(pipeline_add(bench, "2", "m", "{}", false, &first), STATUS_OK);
	assert_int_equal(pipeline_add(bench, "3", "m", "{}", false, &second), STATUS_ALREADY_EXISTS);
	/* A model that does not exist cannot get a second version. */
	assert_int_equal(pipeline_add(bench, "3", "m", "{}", true, &second), STATUS_NOT_FOUND);
	move(bench, &first, JOB_QUEUED, JOB_FAILED);
	assert_int_equal(pipeline_add(bench, "3", "m", "{}", false, &second), STATUS_OK);
	succeed(bench, &second);
	pipeline_deinit(&first);
	assert_int_equal(pipeline_add(bench, "4", "m", "{}", false, &first), STATUS_ALREADY_EXISTS);
	assert_int_equal(pipeline_add(bench, "4", "m", "{}", true, &first), STATUS_OK);
}

static void refused_pipelines_leave_no_job(void **state)
{
	BENCH(state);
	const struct resource job_name = { KIND_CUSTOM, "demo", "us-central1", "92" };
	struct pipeline line AUTO_PIPELINE = { 0 };
	AUTO(job) struct job *job = NULL;

	assert_int_equal(pipeline_add(bench, "2", "m", "{}", true, &line), STATUS_NOT_FOUND);
	assert_int_equal(resource_get(bench->store, &job_name, &job, NULL), STATUS_NOT_FOUND);
}

static void version_is(struct bench *bench, const char *asked, unsigned expected)
{
	const struct model_name name = { "demo", "us-central1", "m", asked };
	struct trained_model model AUTO_TRAINED_MODEL = { 0 };
	enum status rc = model_get(bench->store, &name, &model, NULL);

	assert_int_equal(rc, expected ? STATUS_OK : STATUS_NOT_FOUND);
	assert_int_equal(model.version, expected);
}

static void an_alias_is_that_of_who_claimed_it_last(void **state)
{
	BENCH(state);

	version_add(bench, "1", "{\"versionAliases\":[\"new\"]}", false);
	version_add(bench, "2", "{\"versionAliases\":[\"new\",\"blue\"]}", true);
	version_is(bench, NULL, 1);
	version_is(bench, "default", 1);
	version_is(bench, "new", 2);
	version_is(bench, "blue", 2);
	version_add(bench, "3", "{\"versionAliases\":[\"default\"]}", true);
	version_is(bench, NULL, 3);
	version_is(bench, "1", 1);
	version_is(bench, "02", 2);
	version_is(bench, "0", 0);
	version_is(bench, "4", 0);
	version_is(bench, "4294967297", 0);
	version_is(bench, "", 0);
	version_is(bench, "Default", 0);
}

static void numbers_follow_the_order_of_success(void **state)
{
	BENCH(state);
	const struct model_name model_name = { "demo", "us-central1", "m", "2" };
	struct pipeline slow AUTO_PIPELINE = { 0 };
	struct pipeline quick AUTO_PIPELINE = { 0 };
	struct trained_model model AUTO_TRAINED_MODEL = { 0 };

	version_add(bench, "1", "{}", false);
	assert_int_equal(pipeline_add(bench, "2", "m", "{}", true, &slow), STATUS_OK);
	assert_int_equal(pipeline_add(bench, "3", "m", "{}", true, &quick), STATUS_OK);
	succeed(bench, &quick);
	succeed(bench, &slow);
	assert_int_equal(model_get(bench->store, &model_name, &model, NULL), STATUS_OK);
	assert_string_equal(model.pipeline_id, "3");
	assert_int_equal(model.first_us, START_NS / 1000 + 1000000);
}

static void a_deleted_model_leaves_its_name(void **state)
{
	BENCH(state);
	const struct model_name name = { "demo", "us-central1", "m", NULL };
	struct operation operation AUTO_OPERATION = { 0 };
	struct operation again AUTO_OPERATION = { 0 };

	version_add(bench, "1", "{}", false);
	version_add(bench, "2", "{\"versionAliases\":[\"new\"]}", true);
	assert_int_equal(model_delete(bench->store, &name, &operation, NULL), STATUS_OK);
	assert_string_equal(operation.target, "models/m");
	assert_int_equal(model_delete(bench->store, &name, &again, NULL), STATUS_NOT_FOUND);
	version_is(bench, "2", 0);
	version_is(bench, "new", 0);
	version_add(bench, "3", "{}", false);
	version_is(bench, NULL, 1);
	version_is(bench, "new", 0);
}

static void models_are_listed_by_their_default_versions(void **state)
{
	BENCH(state);
	const struct model_name all = { "demo", "us-central1", NULL, NULL },
				one = { "demo", "us-central1", "m", NULL };
	const struct model_name none = { "demo", "us-central1", "n", NULL };
	struct trained_model_list list AUTO_TRAINED_MODEL_LIST = { 0 };
	struct trained_model_list versions AUTO_TRAINED_MODEL_LIST = { 0 };
	struct trained_model_list rest AUTO_TRAINED_MODEL_LIST = { 0 };
	struct trained_model_list filtered AUTO_TRAINED_MODEL_LIST = { 0 };

	version_add(bench, "1", "{\"displayName\":\"d\",\"labels\":{\"a\":\"b\"}}", false);
	version_add(bench, "2", "{}", true);
	version_add(bench, "3", "{}", true);
	assert_int_equal(model_list_page(bench->store, &all, NULL, 10, NULL, &list, NULL), STATUS_OK);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.models[0].version, 1);
	assert_int_equal(model_list_page(bench->store, &all, "model=m AND display_name:d* AND labels.a=b", 10,
					 NULL, &filtered, NULL),
			 STATUS_OK);
	assert_int_equal(filtered.count, 1);
	assert_int_equal(model_list_page(bench->store, &one, NULL, 2, NULL, &versions, NULL), STATUS_OK);
	assert_int_equal(versions.count, 2);
	assert_int_equal(versions.models[0].version, 3);
	assert_int_equal(model_list_page(bench->store, &one, NULL, 2, versions.next_page_token, &rest, NULL),
			 STATUS_OK);
	assert_int_equal(rest.count, 1);
	assert_null(rest.next_page_token);
	assert_int_equal(model_list_page(bench->store, &none, NULL, 2, NULL, &rest, NULL), STATUS_NOT_FOUND);
	assert_int_equal(model_list_page(bench->store, &all, NULL, 2, versions.next_page_token, &rest, NULL),
			 STATUS_INVALID_ARGUMENT);
}

static const struct {
	const char *filter, *expected; /* NULL: the filter is refused */
} filters[] = {
	{ "", "3 2 1" },
	{ "display_name=first", "1" },
	{ "display_name:\"o*\"", "3 2" },
	{ "state=PIPELINE_STATE_PENDING", "3 2" },
	{ "state=\"PIPELINE_STATE_SUCCEEDED\"", "1" },
	{ "state!=PIPELINE_STATE_SUCCEEDED", "3 2" },
	{ "state=PIPELINE_STATE_QUEUED", "" },
	{ "training_task_definition=\"gs://d/custom_task_1.0.0.yaml\"", "1" },
	{ "training_task_definition:\"*custom_task*\"", "1" },
	{ "trainingTaskDefinition!=\"gs://d/custom_task_1.0.0.yaml\"", "3 2" },
	{ "labels.team=red", "1" },
	{ "NOT labels.team:*", "3 2" },
	{ "create_time<=\"2026-11-20T00:00:00Z\"", "1" },
	{ "create_time>\"2026-11-20T00:00:00Z\" AND end_time:*", "" },
	{ "start_time=\"2026-11-20T00:00:00Z\"", "1" },
	{ "end_time=\"2026-11-20T00:00:01Z\"", "1" },
	{ "update_time>=\"2026-11-20T00:00:02Z\"", "3" },
	{ "state=JOB_STATE_PENDING", NULL },
	{ "nosuch=1", NULL },
	{ "input:*", NULL },
};

static void filters_find_their_pipelines(void **state)
{
	BENCH(state);
	static const char *const ids[] = { "1", "2", "3" };
	const struct pipeline_name all = named(NULL);

	for (size_t i = 0; i < COUNT_OF(ids); i++, bench->now_ns += INT64_C(1000000000)) {
		struct pipeline line AUTO_PIPELINE = { 0 };

		assert_int_equal(pipeline_add(bench, ids[i], NULL, NULL, false, &line), STATUS_OK);
		if (i == 0)
			succeed(bench, &line);
		bench->now_ns = START_NS + (int64_t)i * 1000000000;
	}
	for (size_t i = 0; i < COUNT_OF(filters); i++) {
		struct pipeline_list list AUTO_PIPELINE_LIST = { 0 };
		struct text found AUTO_TEXT = { 0 };
		enum status rc =
			pipeline_list_page(bench->store, &all, filters[i].filter, 10, NULL, &list, NULL);

		if (rc != (filters[i].expected ? STATUS_OK : STATUS_INVALID_ARGUMENT))
			fail_msg("%s: %d", filters[i].filter, (int)rc);
		text_puts(&found, "");
		for (size_t at = 0; at < list.count; at++)
			text_printf(&found, "%s%s", at ? " " : "", list.pipelines[at].pipeline_id);
		if (filters[i].expected && strcmp(found.data, filters[i].expected) != 0)
			fail_msg("%s: %s", filters[i].filter, found.data);
	}
}

static void pages_join(void **state)
{
	BENCH(state);
	const struct pipeline_name all = named(NULL), elsewhere = { "demo", "us-east1", NULL };
	struct pipeline_list list AUTO_PIPELINE_LIST = { 0 };
	struct pipeline_list rest AUTO_PIPELINE_LIST = { 0 };

	for (const char *id = "123"; *id; id++, bench->now_ns += 1000) {
		const char name[] = { *id, '\0' };
		struct pipeline line AUTO_PIPELINE = { 0 };

		assert_int_equal(pipeline_add(bench, name, NULL, NULL, false, &line), STATUS_OK);
	}
	assert_int_equal(pipeline_list_page(bench->store, &all, NULL, 2, NULL, &list, NULL), STATUS_OK);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.pipelines[0].pipeline_id, "3");
	assert_int_equal(
		pipeline_list_page(bench->store, &elsewhere, NULL, 2, list.next_page_token, &rest, NULL),
		STATUS_INVALID_ARGUMENT);
	assert_int_equal(pipeline_list_page(bench->store, &all, NULL, 2, list.next_page_token, &rest, NULL),
			 STATUS_OK);
	assert_int_equal(rest.count, 1);
	assert_string_equal(rest.pipelines[0].pipeline_id, "1");
	assert_null(rest.next_page_token);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(a_pipeline_has_the_state_of_its_job),
		WITH_BENCH(a_cancel_is_the_jobs),
		WITH_BENCH(what_has_ended_is_deleted_and_leaves_its_job_and_model),
		WITH_BENCH(a_model_is_there_once_its_job_has_succeeded),
		WITH_BENCH(a_name_is_taken_until_its_job_has_failed),
		WITH_BENCH(refused_pipelines_leave_no_job),
		WITH_BENCH(an_alias_is_that_of_who_claimed_it_last),
		WITH_BENCH(numbers_follow_the_order_of_success),
		WITH_BENCH(a_deleted_model_leaves_its_name),
		WITH_BENCH(models_are_listed_by_their_default_versions),
		WITH_BENCH(filters_find_their_pipelines),
		WITH_BENCH(pages_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
