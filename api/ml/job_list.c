/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/ml.h"
#include "daemon/base/json.h"
#include "store/jobs/jobs.h"

static void list_render(struct call *call, const struct job_list *list)
{
	struct text *text = &call->answer;

	if (!list->count)
		return;
	text_puts(text, "{\"jobs\":[");
	jobs_render(call, list->jobs, list->count);
	text_putc(text, ']');
	page_end_write(text, list->next_page_token);
}

enum status job_list_handle(struct call *call, struct error *err)
{
	const struct ml_context *context = call->context;
	struct job_list list AUTO_JOB_LIST = { 0 };
	unsigned page_size = 0;
	enum status rc = page_size_read(call->query, ML_PAGE_DEFAULT, ML_PAGE_MAX, &page_size, err);

	if (!rc)
		rc = training_count(call, QUOTA_READ, err);
	if (!rc)
		rc = job_list_page(context->training.store, training_project(call),
				   call_query(call, "filter"), page_size, call_query(call, "pageToken"),
				   &list, err);
	if (rc)
		return rc;
	list_render(call, &list);
	return STATUS_OK;
}
