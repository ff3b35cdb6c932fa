/* SPDX-License-Identifier: Apache-2.0 */
/* Methods that are the same for every kind of job: get, list, delete and cancel. */
#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/messages.h"
#include "api/aiplatform/to_plan.h"

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

/* A finished job stays as it is, and the call succeeds: clients count on it. */
enum status resource_cancel_handle(struct call *call, struct error *err)
{
	const struct resource_methods *methods = call->route->methods;
	const struct resource resource = resource_of_call(call, methods->kind, methods->param);
	enum status rc = training_count(call, QUOTA_RESOURCE_OTHER, err);

	return rc ? rc : resource_cancel(context_of(call)->store, &resource, RESOURCE_CANCELLED, err);
}
