/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/ml/ml.h"
#include "daemon/base/json.h"
#include "store/jobs.h"

/* Source: https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs/list */
enum { PAGE_SIZE_DEFAULT = 20, PAGE_SIZE_MAX = 100 };

static enum status page_size_of(const struct call *call, unsigned *ret_size, struct error *err)
{
	int64_t asked = json_int_at(call->query, "pageSize", 0);

	if (asked < 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, "page_size",
				 "The page size must not be negative.");
	*ret_size = asked == 0 ? PAGE_SIZE_DEFAULT : asked > PAGE_SIZE_MAX ? PAGE_SIZE_MAX : (unsigned)asked;
	return STATUS_OK;
}

static void list_render(struct text *text, const struct job_list *list)
{
	if (!list->count)
		return;
	text_puts(text, "{\"jobs\":[");
	for (size_t i = 0; i < list->count; i++) {
		if (i)
			text_putc(text, ',');
		job_render(text, &list->jobs[i]);
	}
	text_putc(text, ']');
	if (list->next_page_token) {
		text_puts(text, ",\"nextPageToken\":");
		text_json(text, list->next_page_token, strlen(list->next_page_token));
	}
	text_putc(text, '}');
}

enum status job_list_handle(struct call *call, struct error *err)
{
	const struct ml_context *context = call->context;
	struct job_list list AUTO_JOB_LIST = { 0 };
	unsigned page_size = 0;
	enum status rc = page_size_of(call, &page_size, err);

	if (!rc)
		rc = job_list_page(context->store, ml_project(call), call_query(call, "filter"), page_size,
				   call_query(call, "pageToken"), &list, err);
	if (rc)
		return rc;
	list_render(&call->answer, &list);
	return STATUS_OK;
}
