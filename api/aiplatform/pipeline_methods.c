/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of training pipelines, but their creation. */
#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/messages.h"
#include "store/jobs/pipelines.h"

static struct store *store_of(const struct call *call)
{
	const struct training_context *context = call->context;

	return context->store;
}

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

/* One that has ended stays as it is, and the call succeeds. */
enum status pipeline_cancel_handle(struct call *call, struct error *err)
{
	const struct pipeline_name name = name_of(call);
	enum status rc = training_count(call, QUOTA_RESOURCE_OTHER, err);

	return rc ? rc : pipeline_cancel(store_of(call), &name, RESOURCE_CANCELLED, err);
}
