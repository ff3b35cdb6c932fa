/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of models. Only pipelines make models, and trainyard does not serve predictions from them. */
#include <string.h>

#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/messages.h"
#include "api/message/message_write.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "store/jobs/models.h"

static struct store *store_of(const struct call *call)
{
	const struct training_context *context = call->context;

	return context->store;
}

/* ---- models in answers ---- */

/* Writes the directory of the best trial's model to @uri; "" if there is no best trial. */
static enum status best_uri_make(const struct call *call, const struct trained_model *model, struct text *uri,
				 struct error *err)
{
	const struct training_context *context = call->context;
	AUTO(job) struct job *job = NULL;
	AUTO(job) struct job *best = NULL;
	AUTO(plan) struct plan *plan = NULL;
	enum status rc = job_get_by_id(context->store, model->job, &job, err);

	if (!rc)
		rc = best_trial_find(call, job, &best, err);
	if (!rc && best)
		rc = plan_from_text(best->plan, &plan, err);
	if (!rc && plan)
		text_printf(uri, "%smodel/", plan->job_dir);
	return rc;
}

static void artifact_uri_render(const struct call *call, const struct trained_model *model,
				struct writer *answer)
{
	struct error err AUTO_ERROR = { 0 };
	struct text uri AUTO_TEXT = { 0 };

	if (model->artifact_uri)
		text_puts(&uri, model->artifact_uri);
	else if (best_uri_make(call, model, &uri, &err))
		log_event(LOG_ERROR, "best-trial-unread", "model=%s error=\"%s\"", model->model_id,
			  err.text ? err.text : "");
	if (uri.length)
		member_text(answer, "artifactUri", uri.data);
}

/* updateTime is the time of the upload, because nothing changes a version later. */
void model_render(struct call *call, const struct trained_model *model, struct text *text)
{
	static const char *const said[] = { "versionAliases", "artifactUri", NULL };
	struct writer answer = message_open(text, &aiplatform_model), source;
	AUTO(json) json_t *given = NULL;

	member_resource(&answer, "name", call, model->project, model->location, "models", model->model_id);
	if (!json_parse_own(model->input, &given, NULL))
		members_value(&answer, given, said);
	member_resource(&answer, "trainingPipeline", call, model->project, model->location,
			"trainingPipelines", model->pipeline_id);
	artifact_uri_render(call, model, &answer);
	member_time(&answer, "createTime", model->first_us, TIME_MICROSECONDS);
	member_time(&answer, "updateTime", model->created_us, TIME_MICROSECONDS);
	member_int(&answer, "versionId", model->version);
	if (strcmp(model->aliases, "[]") != 0)
		member_json(&answer, "versionAliases", model->aliases);
	member_time(&answer, "versionCreateTime", model->created_us, TIME_MICROSECONDS);
	member_time(&answer, "versionUpdateTime", model->created_us, TIME_MICROSECONDS);
	source = member_message(&answer, "modelSourceInfo");
	member_text(&source, "sourceType", "CUSTOM");
	message_close(&source);
	message_close(&answer);
}

/* ---- methods ---- */

/* The path's ID, ID@VERSION or ID@ALIAS, split into its parts. */
struct named {
	char *text;
	struct model_name name;
};

static void named_deinit(struct named *named)
{
	free(named->text);
}
#define AUTO_NAMED __attribute__((cleanup(named_deinit)))

static void named_read(const struct call *call, struct named *ret_named)
{
	const char *given = call_param(call, "model");
	char *at;

	*ret_named = (struct named){ .text = memory_strdup(given) };
	at = given ? strchr(ret_named->text, '@') : NULL;
	if (at)
		*at++ = '\0';
	ret_named->name = (struct model_name){
		.project = training_project(call),
		.location = call_param(call, "location"),
		.id = ret_named->text,
		.version = at,
	};
}

enum status model_get_handle(struct call *call, struct error *err)
{
	struct trained_model model AUTO_TRAINED_MODEL = { 0 };
	struct named named AUTO_NAMED = { 0 };
	enum status rc = training_count(call, QUOTA_RESOURCE_OTHER, err);

	named_read(call, &named);
	if (!rc)
		rc = model_get(store_of(call), &named.name, &model, err);
	if (!rc)
		model_render(call, &model, &call->answer);
	return rc;
}

static void item_render(struct call *call, const void *list, size_t at, struct text *text)
{
	const struct trained_model_list *models = list;

	model_render(call, &models->models[at], text);
}

/* Lists all models of the location, or all versions of the model that the path names. */
enum status model_list_handle(struct call *call, struct error *err)
{
	struct trained_model_list list AUTO_TRAINED_MODEL_LIST = { 0 };
	struct named named AUTO_NAMED = { 0 };
	struct page_query query = { 0 };
	enum status rc = page_query_read(call, &aiplatform_model, &query, err);

	named_read(call, &named);
	if (!rc)
		rc = model_list_page(store_of(call), &named.name, query.filter, query.size, query.token,
				     &list, err);
	if (rc)
		return rc;
	return page_render(call,
			   &(struct page_items){ .member = "models",
						 .list = &list,
						 .count = list.count,
						 .next_page_token = list.next_page_token,
						 .render = item_render },
			   query.mask, err);
}

/* Deletes a model with all versions. The service deletes a single version by another method, which trainyard does
 * not have. */
enum status model_delete_handle(struct call *call, struct error *err)
{
	struct operation operation AUTO_OPERATION = { 0 };
	struct named named AUTO_NAMED = { 0 };
	enum status rc;

	named_read(call, &named);
	if (named.name.version)
		return error_set(
			err, STATUS_INVALID_ARGUMENT, "name",
			"A model is deleted with all its versions: leave out the version in its name.");
	rc = training_count(call, QUOTA_RESOURCE_OTHER, err);
	if (!rc)
		rc = model_delete(store_of(call), &named.name, &operation, err);
	if (!rc)
		operation_render(call, &operation, &call->answer);
	return rc;
}
