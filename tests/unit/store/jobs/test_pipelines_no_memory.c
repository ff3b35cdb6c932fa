/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines and the models that they make, as no_memory_testing.h says. */
#include "store/jobs/models.h"
#include "store/jobs/pipelines.h"
#include "tests/unit/store/no_memory_testing.h"

static enum status pipeline_add(struct world *world, unsigned number, struct pipeline *ret_pipeline,
				struct error *err)
{
	const struct job job = job_drawn(world, number, KIND_CUSTOM);
	const struct service_line line = { 200, "queued" };

	return pipeline_insert(
		world->bench.store,
		&(struct pipeline_draft){
			.pipeline_id = world->id,
			.display_name = "line",
			.labels = "{\"team\":\"red\"}",
			.input = "{\"trainingTaskDefinition\":\"gs://d/custom_task_1.0.0.yaml\"}",
			.model_id = world->id,
			.model_input = "{\"displayName\":\"m\",\"versionAliases\":[\"best\"]}",
			.artifact_uri = "gs://b/m/",
			.job = &job,
			.lines = &line,
			.line_count = 1,
		},
		ret_pipeline, err);
}

static void pipeline_prepare(void *arg, unsigned number)
{
	struct world *world = arg;
	struct pipeline pipeline AUTO_PIPELINE = { 0 };

	assert_int_equal(pipeline_add(world, number, &pipeline, NULL), STATUS_OK);
	world->job = pipeline.job->id;
}

static void model_prepare(void *arg, unsigned number)
{
	pipeline_prepare(arg, number);
	step(arg, JOB_QUEUED, JOB_PREPARING);
	step(arg, JOB_PREPARING, JOB_RUNNING);
	step(arg, JOB_RUNNING, JOB_SUCCEEDED);
}

static struct pipeline_name pipeline_of(struct world *world)
{
	return (struct pipeline_name){ "demo", PLACE, world->id };
}

MEMORY_RUN(pipeline_make)
{
	struct pipeline pipeline AUTO_PIPELINE = { 0 };
	enum status rc = pipeline_add(arg, number, &pipeline, err);

	if (!rc)
		job_say(pipeline.job, ret_said);
	return rc;
}

MEMORY_RUN(pipeline_read)
{
	WORLD;
	const struct pipeline_name name = pipeline_of(world);
	struct pipeline pipeline AUTO_PIPELINE = { 0 };
	enum status rc = pipeline_get(store, &name, &pipeline, err);

	if (!rc)
		text_printf(ret_said, "%s %s", pipeline_state_name(&pipeline), pipeline.model_input);
	return rc;
}

MEMORY_RUN(pipeline_stop)
{
	WORLD;
	const struct pipeline_name name = pipeline_of(world);

	return pipeline_cancel(store, &name, "stop", err);
}

MEMORY_RUN(pipeline_remove)
{
	WORLD;
	const struct pipeline_name name = pipeline_of(world);
	struct operation operation AUTO_OPERATION = { 0 };

	return pipeline_delete(store, &name, &operation, err);
}

static void three_pipelines(void *arg, unsigned number)
{
	for (unsigned i = 0; number == 0 && i < 3; i++)
		model_prepare(arg, i);
}

MEMORY_RUN(pipeline_list)
{
	WORLD;
	const struct pipeline_name name = { "demo", PLACE, NULL };
	AUTO(string) char *token = NULL;
	enum status rc;

	do {
		struct pipeline_list list AUTO_PIPELINE_LIST = { 0 };

		rc = pipeline_list_page(store, &name,
					"state=\"PIPELINE_STATE_SUCCEEDED\" AND labels.team=red", 2, token,
					&list, err);
		for (size_t i = 0; !rc && i < list.count; i++)
			text_printf(ret_said, "%s %s;", list.pipelines[i].pipeline_id,
				    list.pipelines[i].model_input);
		free(token);
		token = TAKE(list.next_page_token);
	} while (!rc && token);
	return rc;
}

/* The last step of a job whose pipeline makes a model. */
static void running_pipeline_prepare(void *arg, unsigned number)
{
	pipeline_prepare(arg, number);
	step(arg, JOB_QUEUED, JOB_PREPARING);
	step(arg, JOB_PREPARING, JOB_RUNNING);
}

MEMORY_RUN(model_upload)
{
	WORLD;
	struct job_change change = {
		.job = world->job, .from = JOB_RUNNING, .to = JOB_SUCCEEDED, .ended_us = START_NS / 1000
	};

	return job_apply(store, &change, 1, err);
}

MEMORY_RUN(model_read)
{
	WORLD;
	const struct model_name name = { "demo", PLACE, world->id, "best" };
	struct trained_model model AUTO_TRAINED_MODEL = { 0 };
	enum status rc = model_get(store, &name, &model, err);

	if (!rc)
		text_printf(ret_said, "%u %s %s %s", model.version, model.input, model.artifact_uri,
			    model.aliases);
	return rc;
}

MEMORY_RUN(model_remove)
{
	WORLD;
	const struct model_name name = { "demo", PLACE, world->id, NULL };
	struct operation operation AUTO_OPERATION = { 0 };

	return model_delete(store, &name, &operation, err);
}

MEMORY_RUN(model_list)
{
	WORLD;
	const struct model_name name = { "demo", PLACE, NULL, NULL };
	AUTO(string) char *token = NULL;
	enum status rc;

	do {
		struct trained_model_list list AUTO_TRAINED_MODEL_LIST = { 0 };

		rc = model_list_page(store, &name, "display_name=\"m\"", 2, token, &list, err);
		for (size_t i = 0; !rc && i < list.count; i++)
			text_printf(ret_said, "%s %s;", list.models[i].model_id, list.models[i].aliases);
		free(token);
		token = TAKE(list.next_page_token);
	} while (!rc && token);
	return rc;
}

static const struct memory_operation operations[] = {
	CHANGES("pipeline_insert", NULL, pipeline_make),
	READS("pipeline_get", pipeline_prepare, pipeline_read),
	READS("pipeline_list_page", three_pipelines, pipeline_list),
	CHANGES("pipeline_cancel", pipeline_prepare, pipeline_stop),
	CHANGES("pipeline_delete", model_prepare, pipeline_remove),
	CHANGES("model upload", running_pipeline_prepare, model_upload),
	READS("model_get", model_prepare, model_read),
	READS("model_list_page", three_pipelines, model_list),
	CHANGES("model_delete", model_prepare, model_remove),
};

int main(void)
{
	struct CMUnitTest tests[COUNT_OF(operations)];

	memory_faults_init();
	memory_tests_fill(tests, operations, COUNT_OF(operations), world_open, world_close);
	return cmocka_run_group_tests_name("pipelines without memory", tests, NULL, NULL);
}
