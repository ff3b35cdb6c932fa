/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of the operations of a location, or of one resource in it. All operations are done
 * (store/jobs/operations.h): a wait returns the operation at once, and a cancel comes too late. */
#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/messages.h"
#include "api/message/message_write.h"
#include "api/message/refusal.h"
#include "daemon/base/json.h"
#include "daemon/base/timestamp.h"

/* Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/DeleteOperationMetadata (read 2026-11-22) */
void operation_render(const struct call *call, const struct operation *operation, struct text *text)
{
	const struct aiplatform_context *context = call->context;
	struct writer answer = message_open(text, &aiplatform_operation), metadata, generic, response;

	member_resource(&answer, "name", call, operation->project, operation->location, "operations",
			operation->operation_id);
	metadata = member_message(&answer, "metadata");
	member_printf(&metadata, "@type",
		      "type.googleapis.com/google.cloud.aiplatform.%s.DeleteOperationMetadata",
		      context->version);
	generic = member_message(&metadata, "genericMetadata");
	member_time(&generic, "createTime", operation->created_us, TIME_MICROSECONDS);
	member_time(&generic, "updateTime", operation->created_us, TIME_MICROSECONDS);
	message_close(&generic);
	message_close(&metadata);
	member_bool(&answer, "done", true);
	response = member_message(&answer, "response");
	member_text(&response, "@type", "type.googleapis.com/google.protobuf.Empty");
	message_close(&response);
	message_close(&answer);
}

/* The path parameters that hold the id of an operation's resource, and the collection of each kind of resource. */
static const struct {
	const char *param, *collection;
} parents[] = {
	{ "customJob", "customJobs" },
	{ "hyperparameterTuningJob", "hyperparameterTuningJobs" },
	{ "trainingPipeline", "trainingPipelines" },
	{ "model", "models" },
};

/* Makes the name of the operation that the call's path names. It borrows from @target, which this function fills. */
static void name_of_call(const struct call *call, struct text *target, struct operation_name *ret_name)
{
	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		const char *id = call_param(call, parents[i].param);

		if (id)
			text_printf(target, "%s/%s", parents[i].collection, id);
	}
	*ret_name = (struct operation_name){
		.project = training_project(call),
		.location = call_param(call, "location"),
		.target = target->length ? target->data : NULL,
		.id = call_param(call, "operation"),
	};
}

static enum status operation_find(const struct call *call, struct operation *ret_operation, struct error *err)
{
	const struct training_context *context = call->context;
	struct text target AUTO_TEXT = { 0 };
	struct operation_name name;
	enum status rc = training_count(call, QUOTA_RESOURCE_OTHER, err);

	name_of_call(call, &target, &name);
	return rc ? rc : operation_get(context->store, &name, ret_operation, err);
}

enum status operation_get_handle(struct call *call, struct error *err)
{
	struct operation operation AUTO_OPERATION = { 0 };
	enum status rc = operation_find(call, &operation, err);

	if (!rc)
		operation_render(call, &operation, &call->answer);
	return rc;
}

/* Choice: a negative timeout is refused, as a mistake of the client. */
static enum status timeout_check(const char *timeout, struct error *err)
{
	int64_t us = 0;

	if (timeout && duration_parse(timeout, &us) && us < 0)
		return refusal_add_listed(err, "timeout", "The timeout must not be negative: '%s'.", timeout);
	return STATUS_OK;
}

/* Checks the timeout, which is in the query (as the service's own clients send it) or in the body. Never waits,
 * because all operations are done. */
enum status operation_wait_handle(struct call *call, struct error *err)
{
	enum status rc = timeout_check(call_query(call, "timeout"), err);

	if (!rc)
		rc = timeout_check(json_text_at(call->body, "timeout"), err);
	return rc ? rc : operation_get_handle(call, err);
}

enum status operation_cancel_handle(struct call *call, struct error *err)
{
	struct operation operation AUTO_OPERATION = { 0 };

	return operation_find(call, &operation, err);
}

enum status operation_delete_handle(struct call *call, struct error *err)
{
	const struct training_context *context = call->context;
	struct text target AUTO_TEXT = { 0 };
	struct operation_name name;
	enum status rc = training_count(call, QUOTA_RESOURCE_OTHER, err);

	name_of_call(call, &target, &name);
	return rc ? rc : operation_delete(context->store, &name, err);
}

static void list_render(struct call *call, const struct operation_list *list)
{
	struct writer page = message_open(&call->answer, &aiplatform_operation_list_response);
	struct writer operations = member_list(&page, "operations");

	for (size_t i = 0; i < list->count; i++)
		operation_render(call, &list->operations[i], element_begin(&operations));
	message_close(&operations);
	member_text(&page, "nextPageToken", list->next_page_token);
	message_close(&page);
}

enum status operation_list_handle(struct call *call, struct error *err)
{
	const struct training_context *context = call->context;
	struct operation_list list AUTO_OPERATION_LIST = { 0 };
	struct text target AUTO_TEXT = { 0 };
	struct operation_name name;
	unsigned page_size = 0;
	enum status rc = resource_parent_check(call, err);

	if (!rc)
		name_of_call(call, &target, &name);
	if (!rc)
		rc = page_size_read(call->query, AIPLATFORM_PAGE_DEFAULT, AIPLATFORM_PAGE_MAX, &page_size,
				    err);
	if (!rc)
		rc = training_count(call, QUOTA_RESOURCE_OTHER, err);
	if (!rc)
		rc = operation_list_page(context->store, &name, call_query(call, "filter"), page_size,
					 call_query(call, "pageToken"), &list, err);
	if (!rc)
		list_render(call, &list);
	return rc;
}
