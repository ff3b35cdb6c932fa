/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/findings.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/plan.h"
#include "store/jobs/pipelines.h"

/* The texts of a draft. */
struct texts {
	char *labels, *input, *model_id, *model_input, *artifact_uri;
};

static void texts_deinit(struct texts *texts)
{
	free(texts->labels);
	free(texts->input);
	free(texts->model_id);
	free(texts->model_input);
	free(texts->artifact_uri);
}
#define AUTO_TEXTS __attribute__((cleanup(texts_deinit)))

/* Refuses a field's value, in the form in which the rules report violations. */
static enum status refuse(const char *field, const char *value, const char *complaint, struct error *err)
{
	struct findings findings AUTO_FINDINGS = { 0 };

	findings_enter(&findings, "training_pipeline");
	findings_add(&findings, field, "'%.*s' %s", FINDINGS_SHOWN_BYTES, value, complaint);
	return findings_finish(&findings, err);
}

enum { ID_SIZE = 128 };

/* Reads the id of the model that @parent, which has passed the rules, names with or without a version. The model
 * must be in the call's own location. */
static enum status parent_read(const struct call *call, const char *parent, char ret_id[ID_SIZE],
			       struct error *err)
{
	const struct training_context *context = call->context;
	char project[128], location[128];

	if (sscanf(parent, "projects/%127[^/]/locations/%127[^/]/models/%127[^/@]", project, location,
		   ret_id) != 3 ||
	    strcmp(strcmp(project, context->project_number) ? project : context->project_id,
		   training_project(call)) != 0 ||
	    strcmp(location, call_param(call, "location")) != 0)
		return refuse("parent_model", parent,
			      "is not a model of the pipeline's own project and location.", err);
	return STATUS_OK;
}

static enum status model_id_make(const struct call *call, char **ret_id, struct error *err)
{
	const char *parent = json_text_at(call->body, "parentModel");
	const char *given = json_text_at(call->body, "modelId");
	char id[ID_SIZE] = "";
	enum status rc = parent ? parent_read(call, parent, id, err) : STATUS_OK;

	if (rc)
		return rc;
	if (parent && given && strcmp(given, id) != 0)
		return refuse("model_id", given, "is not the id of parent_model.", err);
	if (!parent)
		resource_id_draw(RANDOM_RESOURCE, id);
	*ret_id = memory_strdup(given ? given : id);
	return STATUS_OK;
}

/* Returns the URI of the directory of the model's files; NULL for a tuning job, as its best trial is not known yet. */
static char *artifact_uri_make(const json_t *model, const struct plan *plan)
{
	const char *given = json_text_at(model, "artifactUri");
	struct text uri = { 0 };

	if (!given && plan_tunes(plan))
		return NULL;
	if (given)
		text_puts(&uri, given);
	else
		text_printf(&uri, "%smodel/", plan->job_dir);
	return text_take(&uri);
}

static enum status texts_make(const struct call *call, const struct plan *plan, struct texts *texts,
			      struct error *err)
{
	AUTO(json) json_t *given = json_copy(call->body);
	AUTO(json) json_t *model = json_copy(json_object_get(call->body, "modelToUpload"));
	const json_t *labels = json_object_get(call->body, "labels");

	json_object_del(given, "labels");
	json_object_del(given, "modelToUpload");
	texts->labels = labels ? json_dump_compact(labels) : NULL;
	texts->input = json_dump_compact(given);
	if (!model)
		return STATUS_OK;
	json_object_del(model, "name");
	json_object_del(model, "etag");
	texts->model_input = json_dump_compact(model);
	texts->artifact_uri = artifact_uri_make(model, plan);
	return model_id_make(call, &texts->model_id, err);
}

/* Choice: the job gets the pipeline's labels, so that filters by label find the job too. */
static enum status job_draft(const struct call *call, struct plan **ret_plan, struct job *ret_draft,
			     struct error *err)
{
	const struct aiplatform_context *context = call->context;
	json_t *labels = json_object_get(call->body, "labels");
	AUTO(json) json_t *job = NULL;
	bool tunes = false;
	enum status rc = pipeline_rules_check(call->body, &context->settings, &job, &tunes, err);

	if (rc)
		return rc;
	if (labels)
		json_object_set(job, "labels", labels);
	return resource_draft(call, tunes ? &tuning_job_methods : &custom_job_methods, job, ret_plan,
			      ret_draft, err);
}

enum status pipeline_create_handle(struct call *call, struct error *err)
{
	const struct training_context *context = call->context;
	struct job job AUTO_JOB_DRAFT = { 0 };
	AUTO(plan) struct plan *plan = NULL;
	struct texts texts AUTO_TEXTS = { 0 };
	struct pipeline stored AUTO_PIPELINE = { 0 };
	char pipeline_id[RESOURCE_ID_SIZE];
	enum status rc = resource_parent_check(call, err);

	resource_id_draw(RANDOM_RESOURCE, pipeline_id);
	if (!rc)
		rc = job_draft(call, &plan, &job, err);
	if (!rc)
		rc = texts_make(call, plan, &texts, err);
	if (rc)
		return rc;
	rc = pipeline_insert(context->store,
			     &(struct pipeline_draft){
				     .pipeline_id = pipeline_id,
				     .display_name = json_text_at(call->body, "displayName"),
				     .labels = texts.labels,
				     .input = texts.input,
				     .model_id = texts.model_id,
				     .model_input = texts.model_input,
				     .artifact_uri = texts.artifact_uri,
				     .extends_model = json_text_at(call->body, "parentModel") != NULL,
				     .job = &job,
				     .lines = resource_first_lines,
				     .line_count = RESOURCE_FIRST_LINES,
			     },
			     &stored, err);
	if (!rc)
		pipeline_render(call, &stored, &call->answer);
	return rc;
}
