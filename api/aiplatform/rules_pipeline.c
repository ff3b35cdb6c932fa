/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of TrainingPipeline, and the job that a pipeline runs.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.trainingPipelines */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/aiplatform/messages.h"
#include "api/aiplatform/rules_parts.h"
#include "api/training/forms.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"

#define DEFINITIONS "gs://google-cloud-aiplatform/schema/trainingjob/definition/"

/* A kind of job that a pipeline can run. */
struct task {
	const char *definition, *noun;
	const struct message *inputs;
	const char *name_end; /* end of the backing job's display name */
	bool tunes;
};

static const struct task tasks[] = {
	{ DEFINITIONS "custom_task_1.0.0.yaml", "custom task", &aiplatform_custom_job_spec, "-custom-job",
	  false },
	{ DEFINITIONS "hyperparameter_tuning_task_1.0.0.yaml", "hyperparameter tuning task",
	  &aiplatform_tuning_task_inputs, "-hyperparameter-tuning-job", true },
};

static const struct task *task_find(const char *definition)
{
	for (size_t i = 0; definition && i < sizeof(tasks) / sizeof(tasks[0]); i++)
		if (strcmp(tasks[i].definition, definition) == 0)
			return &tasks[i];
	return NULL;
}

static void check_definition(struct findings *findings, const char *definition)
{
	if (!definition)
		findings_add(findings, "training_task_definition",
			     "The training task definition must be specified.");
	else if (!task_find(definition))
		findings_add(findings, "training_task_definition", "trainyard runs %s and %s, not '%.*s'.",
			     tasks[0].definition, tasks[1].definition, FINDINGS_SHOWN_BYTES, definition);
}

/* The model's files are in its own artifactUri, or below the job's output directory: one of the two must be given. */
static void check_artifacts(struct findings *findings, const json_t *model, const json_t *spec)
{
	const char *uri = json_text_at(model, "artifactUri");
	char fault[STORAGE_FAULT_SIZE];

	if (!uri && !json_object_get(spec, "baseOutputDirectory"))
		findings_add(findings, "artifact_uri",
			     "Either artifact_uri or the base output directory of the training task must be "
			     "specified.");
	else if (uri && storage_path_fault(uri, STORAGE_READ, fault))
		findings_add(findings, "artifact_uri", "'%.*s' %s.", FINDINGS_SHOWN_BYTES, uri, fault);
}

/* Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.models (read 2026-11-22) */
static void check_aliases(struct findings *findings, const json_t *aliases)
{
	const json_t *alias;
	size_t i;

	json_array_foreach(aliases, i, alias)
		if (!text_matches(json_string_value(alias), "[a-z][a-zA-Z0-9-]{0,126}[a-z0-9]"))
			findings_add(findings, "version_aliases",
				     "'%.*s' is not valid: it should match [a-z][a-zA-Z0-9-]{0,126}[a-z0-9].",
				     FINDINGS_SHOWN_BYTES, json_string_value(alias));
}

static void check_model(struct findings *findings, const json_t *model, const json_t *spec)
{
	const json_t *container = json_object_get(model, "containerSpec");
	const size_t length = findings_enter(findings, "model_to_upload");

	check_display_name(findings, model);
	if (container) {
		const size_t inner = findings_enter(findings, "container_spec");

		check_image(findings, "image_uri", json_text_at(container, "imageUri"));
		check_env(findings, json_object_get(container, "env"));
		findings_leave(findings, inner);
	}
	check_labels(findings, model);
	check_encryption_spec(findings, model);
	check_artifacts(findings, model, spec);
	check_aliases(findings, json_object_get(model, "versionAliases"));
	findings_leave(findings, length);
}

static void check_model_names(struct findings *findings, const json_t *pipeline)
{
	const char *parent = json_text_at(pipeline, "parentModel");
	const char *id = json_text_at(pipeline, "modelId");

	if (parent && !text_matches(parent, "projects/[^/]+/locations/[^/]+/models/[^/]+"))
		findings_add(findings, "parent_model",
			     "'%.*s' is malformed: it should be "
			     "projects/PROJECT/locations/LOCATION/models/MODEL.",
			     FINDINGS_SHOWN_BYTES, parent);
	if (id && !text_matches(id, "[a-z_][a-z0-9_-]{0,62}"))
		findings_add(
			findings, "model_id",
			"'%.*s' is not valid: it should have at most 63 lowercase letters, digits, dashes "
			"and underscores, and not begin with a digit or a dash.",
			FINDINGS_SHOWN_BYTES, id);
}

/* Reads trainingTaskInputs into canonical form. Names in it may have any spelling, because it is a free JSON value.
 * Choice: the error has the service's single sentence as its text, and also lists the violations in the value. */
static enum status inputs_read(const json_t *pipeline, const struct task *task, json_t **ret_inputs,
			       struct error *err)
{
	const json_t *given = json_object_get(pipeline, "trainingTaskInputs");
	struct error cause AUTO_ERROR = { 0 };
	enum status rc = message_read(task->inputs, given, "training_pipeline.training_task_inputs",
				      ret_inputs, &cause);

	if (!rc)
		return STATUS_OK;
	if (rc != STATUS_INVALID_ARGUMENT)
		return error_move(err, &cause);
	free(cause.text);
	cause.text = memory_printf(
		"Unable to parse `training_pipeline.training_task_inputs` into %s `inputs` defined in the file: %s",
		task->noun, task->definition);
	return error_move(err, &cause);
}

/* Makes the backing job in canonical form.
 * Source: https://cloud.google.com/vertex-ai/docs/training/create-training-pipeline (its display name) */
static json_t *job_make(const json_t *pipeline, const struct task *task, const json_t *inputs)
{
	const char *name = json_text_at(pipeline, "displayName");
	const json_t *encryption = json_object_get(pipeline, "encryptionSpec");
	AUTO(json)
	json_t *job =
		json_pack("{s:o}", "displayName", json_sprintf("%s%s", name ? name : "", task->name_end));

	if (!job || (task->tunes ? json_object_update(job, (json_t *)inputs)
				 : json_object_set(job, "jobSpec", (json_t *)inputs)))
		return NULL;
	if (encryption)
		json_object_set(job, "encryptionSpec", (json_t *)encryption);
	return TAKE(job);
}

static const json_t *spec_of(const struct task *task, const json_t *inputs)
{
	return task && task->tunes ? json_object_get(inputs, "trialJobSpec") : inputs;
}

static void check_inputs(struct findings *findings, const struct task *task, const json_t *inputs,
			 const struct aiplatform_settings *settings)
{
	const size_t length = findings_enter(findings, "training_task_inputs");

	if (task->tunes)
		check_tuning(findings, inputs, settings);
	else
		check_job_spec(findings, inputs, settings);
	if (task->tunes && json_object_get(inputs, "trialJobSpec") &&
	    !json_object_get(spec_of(task, inputs), "baseOutputDirectory"))
		findings_add(findings, "trial_job_spec.base_output_directory",
			     "An output directory must be specified for a hyperparameter tuning task.");
	findings_leave(findings, length);
}

static void check_capabilities(struct findings *findings, const json_t *pipeline, const struct task *task,
			       const json_t *inputs, const struct aiplatform_settings *settings)
{
	const size_t length = findings->path.length;

	if (json_object_get(pipeline, "inputDataConfig"))
		findings_add(
			findings, "input_data_config",
			"trainyard has no managed data sets: leave inputDataConfig out, and let the program "
			"read its data from Cloud Storage.");
	findings_enter(findings, "training_task_inputs");
	if (task->tunes)
		check_tuning_capabilities(findings, inputs, settings);
	else
		check_job_spec_capabilities(findings, inputs, settings);
	findings_leave(findings, length);
}

static void check_all(struct findings *findings, const json_t *pipeline, const struct task *task,
		      const json_t *inputs, const struct aiplatform_settings *settings)
{
	const json_t *model = json_object_get(pipeline, "modelToUpload");

	findings_enter(findings, "training_pipeline");
	check_display_name(findings, pipeline);
	check_definition(findings, json_text_at(pipeline, "trainingTaskDefinition"));
	if (task && inputs)
		check_inputs(findings, task, inputs, settings);
	else if (task)
		findings_add(findings, "training_task_inputs", "The training task inputs must be specified.");
	if (model)
		check_model(findings, model, spec_of(task, inputs));
	check_labels(findings, pipeline);
	check_encryption_spec(findings, pipeline);
	check_model_names(findings, pipeline);
	if (!findings->err.status)
		check_capabilities(findings, pipeline, task, inputs, settings);
}

/* The service requires the schema of a data set's annotations if the pipeline runs a client's program; other
 * definitions, such as AutoML's, are refused as unsupported. */
static enum status check_data_set(const json_t *pipeline, const struct task *task, struct error *err)
{
	const json_t *config = json_object_get(pipeline, "inputDataConfig");

	if (!task || !config || json_object_get(config, "annotationSchemaUri"))
		return STATUS_OK;
	return error_set(
		err, STATUS_FAILED_PRECONDITION, NULL,
		"'annotation_schema_uri' should be set in the TrainingPipeline.input_data_config for "
		"custom training or hyperparameter tuning with managed dataset.");
}

enum status pipeline_rules_check(const json_t *pipeline, const struct aiplatform_settings *settings,
				 json_t **ret_job, bool *ret_tunes, struct error *err)
{
	const struct task *task = task_find(json_text_at(pipeline, "trainingTaskDefinition"));
	const json_t *given = json_object_get(pipeline, "trainingTaskInputs");
	struct findings findings AUTO_FINDINGS = { 0 };
	AUTO(json) json_t *inputs = NULL;
	enum status rc = STATUS_OK;

	if (task && given && !json_is_null(given))
		rc = inputs_read(pipeline, task, &inputs, err);
	if (!rc)
		rc = check_data_set(pipeline, task, err);
	if (rc)
		return rc;
	check_all(&findings, pipeline, task, inputs, settings);
	rc = findings_finish(&findings, err);
	if (rc || !task)
		return rc;
	if (ret_tunes)
		*ret_tunes = task->tunes;
	if (!ret_job)
		return STATUS_OK;
	*ret_job = job_make(pipeline, task, inputs);
	return STATUS_OK;
}
