/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for the methods of all resources: the resource that a call names, pages, get, list, delete and cancel. */
#include <string.h>

#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/messages.h"
#include "api/aiplatform/to_plan.h"
#include "api/message/message_write.h"
#include "api/message/names.h"
#include "api/message/refusal.h"
#include "api/training/forms.h"
#include "api/training/regions.h"
#include "daemon/base/memory.h"

/* ---- the resource of a call ---- */

struct resource resource_of_call(const struct call *call, enum job_kind kind, const char *param)
{
	return (struct resource){
		.kind = kind,
		.project = training_project(call),
		.location = call_param(call, "location"),
		.id = param ? call_param(call, param) : NULL,
	};
}

/* Refuses an unknown region, in the words in which a region's endpoint refuses other regions. Choice: one endpoint
 * serves all regions here, so only unknown regions are refused, and the text lists all known ones.
 * Source: https://github.com/kubeflow/pipelines/pull/6011 (read 2026-11-22) */
static enum status location_refuse(struct error *err)
{
	struct text known AUTO_TEXT = { 0 };

	for (const struct region *region = regions; region->name; region++)
		text_printf(&known, "%s`%s`", known.length ? ", " : "", region->name);
	return refusal_add_listed(
		err, "parent",
		"The provided location ID doesn't match the endpoint. The valid location IDs are %s.",
		known.data);
}

enum status resource_parent_check(const struct call *call, struct error *err)
{
	const struct aiplatform_context *context = call->context;
	const char *location = call_param(call, "location");
	enum status rc = training_project_check(call, "parent", err);

	if (rc || region_find(location) || (context->settings.lenient && is_cloud_name(location)))
		return rc;
	return location_refuse(err);
}

/* ---- pages ---- */

/* True if the message has the field that @path names. Any text may follow the name of a map or of a free JSON value.
 * Splits @path in place. */
static bool path_known(const struct message *message, char *path)
{
	while (path) {
		const char *name = strsep(&path, ".");
		const struct field *field = message ? field_find(message, name) : NULL;

		if (!field)
			return false;
		if (field->flags & FIELD_MAP || field->type == FIELD_STRUCT || field->type == FIELD_VALUE)
			return true;
		message = field->type == FIELD_MESSAGE ? field->message : NULL;
	}
	return true;
}

enum status read_mask_check(const struct message *message, const char *mask, const char **ret_mask,
			    struct error *err)
{
	AUTO(string) char *copy = memory_strdup(mask ? mask : "");
	char *rest = copy;

	*ret_mask = NULL;
	if (!*copy || strcmp(copy, "*") == 0)
		return STATUS_OK;
	while (rest) {
		char *path = strsep(&rest, ",");
		size_t offset = (size_t)(path - copy), length = strlen(path);

		if (!path_known(message, path))
			return error_set(err, STATUS_INVALID_ARGUMENT, "read_mask",
					 "Invalid field mask: the resource has no field '%.*s'.",
					 (int)(length < 200 ? length : 200), mask + offset);
	}
	*ret_mask = mask;
	return STATUS_OK;
}

enum status page_query_read(const struct call *call, const struct message *message,
			    struct page_query *ret_query, struct error *err)
{
	struct page_query query = {
		.filter = call_query(call, "filter"),
		.token = call_query(call, "pageToken"),
	};
	enum status rc = resource_parent_check(call, err);

	if (!rc)
		rc = page_size_read(call->query, AIPLATFORM_PAGE_DEFAULT, AIPLATFORM_PAGE_MAX, &query.size,
				    err);
	if (!rc)
		rc = read_mask_check(message, call_query(call, "readMask"), &query.mask, err);
	if (!rc)
		rc = training_count(call, QUOTA_RESOURCE_OTHER, err);
	if (!rc)
		*ret_query = query;
	return rc;
}

enum status page_render(struct call *call, const struct page_items *items, const char *mask,
			struct error *err)
{
	struct writer page, list;
	enum status rc = STATUS_OK;

	if (!items->count)
		return STATUS_OK;
	page = message_open(&call->answer, NULL);
	list = member_list(&page, items->member);
	for (size_t i = 0; i < items->count && !rc; i++) {
		struct text whole AUTO_TEXT = { 0 };

		items->render(call, items->list, i, mask ? &whole : element_begin(&list));
		if (mask)
			rc = fields_mask_write(element_begin(&list), mask, whole.data, err);
	}
	message_close(&list);
	member_text(&page, "nextPageToken", items->next_page_token);
	message_close(&page);
	return rc;
}

/* ---- custom jobs and tuning jobs ---- */

const struct resource_methods custom_job_methods = {
	.kind = KIND_CUSTOM,
	.param = "customJob",
	.message = &aiplatform_custom_job,
	.spec = "jobSpec",
	.check = custom_job_rules_check,
	.to_plan = custom_job_to_plan,
	.render = custom_job_render,
	.render_whole = custom_job_render,
};

const struct resource_methods tuning_job_methods = {
	.kind = KIND_TUNING,
	.param = "hyperparameterTuningJob",
	.message = &aiplatform_tuning_job,
	.spec = "trialJobSpec",
	.check = tuning_job_rules_check,
	.to_plan = tuning_job_to_plan,
	.render = tuning_job_render,
	.render_whole = tuning_job_render_whole,
};

static const struct training_context *context_of(const struct call *call)
{
	return call->context;
}

enum status resource_get_handle(struct call *call, struct error *err)
{
	const struct resource_methods *methods = call->route->methods;
	const struct resource resource = resource_of_call(call, methods->kind, methods->param);
	AUTO(job) struct job *job = NULL;
	enum status rc = training_count(call, QUOTA_RESOURCE_OTHER, err);

	if (!rc)
		rc = resource_get(context_of(call)->store, &resource, &job, err);
	if (!rc)
		methods->render_whole(call, job, &call->answer);
	return rc;
}

struct shown_list {
	const struct resource_methods *methods;
	struct job_list jobs;
};

static void item_render(struct call *call, const void *list, size_t at, struct text *text)
{
	const struct shown_list *shown = list;

	shown->methods->render(call, &shown->jobs.jobs[at], text);
}

enum status resource_list_handle(struct call *call, struct error *err)
{
	const struct resource_methods *methods = call->route->methods;
	const struct resource resource = resource_of_call(call, methods->kind, NULL);
	struct job_list list AUTO_JOB_LIST = { 0 };
	struct page_query query;
	enum status rc = page_query_read(call, methods->message, &query, err);

	if (!rc)
		rc = resource_list_page(context_of(call)->store, &resource, query.filter, query.size,
					query.token, &list, err);
	if (rc)
		return rc;
	const struct shown_list shown = { methods, list };

	return page_render(call,
			   &(struct page_items){ .member = resource_collection(methods->kind),
						 .list = &shown,
						 .count = list.count,
						 .next_page_token = list.next_page_token,
						 .render = item_render },
			   query.mask, err);
}

enum status resource_delete_handle(struct call *call, struct error *err)
{
	const struct resource_methods *methods = call->route->methods;
	const struct resource resource = resource_of_call(call, methods->kind, methods->param);
	struct operation operation AUTO_OPERATION = { 0 };
	enum status rc = training_count(call, QUOTA_RESOURCE_OTHER, err);

	if (!rc)
		rc = resource_delete(context_of(call)->store, &resource, &operation, err);
	if (!rc)
		operation_render(call, &operation, &call->answer);
	return rc;
}

/* A finished job stays unchanged, and the call succeeds: clients rely on that. */
enum status resource_cancel_handle(struct call *call, struct error *err)
{
	const struct resource_methods *methods = call->route->methods;
	const struct resource resource = resource_of_call(call, methods->kind, methods->param);
	enum status rc = training_count(call, QUOTA_RESOURCE_OTHER, err);

	return rc ? rc : resource_cancel(context_of(call)->store, &resource, RESOURCE_CANCELLED, err);
}
