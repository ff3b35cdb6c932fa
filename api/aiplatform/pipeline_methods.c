/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of training pipelines, except create. */
#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/messages.h"
#include "api/message/message_write.h"
#include "daemon/base/log.h"
#include "store/jobs/pipelines.h"

static struct store *store_of(const struct call *call)
{
	const struct training_context *context = call->context;

	return context->store;
}

/* ---- pipelines in answers ---- */

/* Writes modelToUpload as the client sent it; once the model is uploaded, with its name and version. */
static void model_to_upload_render(const struct call *call, const struct pipeline *pipeline,
				   struct writer *answer)
{
	struct writer model;

	if (!pipeline->model_input)
		return;
	model = member_message(answer, "modelToUpload");
	if (pipeline->model_version)
		member_resource(&model, "name", call, pipeline->project, pipeline->location, "models",
				pipeline->model_id);
	members_json(&model, pipeline->model_input);
	if (pipeline->model_version)
		member_int(&model, "versionId", pipeline->model_version);
	message_close(&model);
}

static void best_trial_render(struct call *call, const struct job *job, struct writer *metadata)
{
	AUTO(job) struct job *best = NULL;
	struct error err AUTO_ERROR = { 0 };

	if (best_trial_find(call, job, &best, &err))
		log_event(LOG_ERROR, "best-trial-unread", "job=%s error=\"%s\"", job->job_id,
			  err.text ? err.text : "");
	if (best)
		member_job(metadata, "bestTrialBackingCustomJob", call, best);
}

/* Writes trainingTaskMetadata. Choice: it has the best trial only after the tuning job has succeeded.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.trainingPipelines and the
 * members that the public Python client reads */
static void metadata_render(struct call *call, const struct job *job, struct writer *answer)
{
	struct writer metadata = member_message(answer, "trainingTaskMetadata");

	member_job(&metadata,
		   job->kind == KIND_TUNING ? "backingHyperparameterTuningJob" : "backingCustomJob", call,
		   job);
	if (job->kind == KIND_TUNING && job->state == JOB_SUCCEEDED)
		best_trial_render(call, job, &metadata);
	message_close(&metadata);
}

void pipeline_render(struct call *call, const struct pipeline *pipeline, struct text *text)
{
	struct writer answer = message_open(text, &aiplatform_training_pipeline);

	member_resource(&answer, "name", call, pipeline->project, pipeline->location, "trainingPipelines",
			pipeline->pipeline_id);
	members_json(&answer, pipeline->input);
	metadata_render(call, pipeline->job, &answer);
	model_to_upload_render(call, pipeline, &answer);
	member_text(&answer, "state", pipeline_state_name(pipeline));
	members_progress(pipeline->job, &answer);
	member_json(&answer, "labels", pipeline->labels);
	message_close(&answer);
}

/* ---- methods ---- */

static struct pipeline_name name_of(const struct call *call)
{
	return (struct pipeline_name){
		.project = training_project(call),
		.location = call_param(call, "location"),
		.id = call_param(call, "trainingPipeline"),
	};
}

enum status pipeline_get_handle(struct call *call, struct error *err)
{
	const struct pipeline_name name = name_of(call);
	struct pipeline pipeline AUTO_PIPELINE = { 0 };
	enum status rc = training_count(call, QUOTA_RESOURCE_OTHER, err);

	if (!rc)
		rc = pipeline_get(store_of(call), &name, &pipeline, err);
	if (!rc)
		pipeline_render(call, &pipeline, &call->answer);
	return rc;
}

static void item_render(struct call *call, const void *list, size_t at, struct text *text)
{
	const struct pipeline_list *pipelines = list;

	pipeline_render(call, &pipelines->pipelines[at], text);
}

enum status pipeline_list_handle(struct call *call, struct error *err)
{
	const struct pipeline_name name = name_of(call);
	struct pipeline_list list AUTO_PIPELINE_LIST = { 0 };
	struct page_query query;
	enum status rc = page_query_read(call, &aiplatform_training_pipeline, &query, err);

	if (!rc)
		rc = pipeline_list_page(store_of(call), &name, query.filter, query.size, query.token, &list,
					err);
	if (rc)
		return rc;
	return page_render(call,
			   &(struct page_items){ .member = "trainingPipelines",
						 .list = &list,
						 .count = list.count,
						 .next_page_token = list.next_page_token,
						 .render = item_render },
			   query.mask, err);
}

enum status pipeline_delete_handle(struct call *call, struct error *err)
{
	const struct pipeline_name name = name_of(call);
	struct operation operation AUTO_OPERATION = { 0 };
	enum status rc = training_count(call, QUOTA_RESOURCE_OTHER, err);

	if (!rc)
		rc = pipeline_delete(store_of(call), &name, &operation, err);
	if (!rc)
		operation_render(call, &operation, &call->answer);
	return rc;
}

/* A pipeline that has ended does not change, and the call succeeds. */
enum status pipeline_cancel_handle(struct call *call, struct error *err)
{
	const struct pipeline_name name = name_of(call);
	enum status rc = training_count(call, QUOTA_RESOURCE_OTHER, err);

	return rc ? rc : pipeline_cancel(store_of(call), &name, RESOURCE_CANCELLED, err);
}
