/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/bucket_list.c: GET /storage/v1/b. */
#include "api/storage/bucket_parts.h"
#include "api/storage/handlers.h"
#include "api/storage/storage.h"

static enum status page_answer(struct call *call, const struct bucket_page *page, struct error *err)
{
	text_puts(&call->answer, "{\"kind\":\"storage#buckets\"");
	if (page->next)
		list_token_write(&call->answer, page->next);
	for (size_t i = 0; i < page->count; i++) {
		text_puts(&call->answer, i ? "," : ",\"items\":[");
		bucket_write(&call->answer, call, &page->buckets[i]);
	}
	text_puts(&call->answer, page->count ? "]}" : "}");
	return call->answer.failed ? error_no_memory(err) : STATUS_OK;
}

enum status buckets_list(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	struct bucket_page page AUTO_BUCKET_PAGE = { 0 };
	AUTO(string) char *after = NULL;
	const char *project;
	unsigned most;
	enum status rc = caller_admit(call, err);

	if (!rc)
		rc = project_read(call, &project, err);
	if (!rc)
		rc = soft_deleted_refuse(call, err);
	if (!rc)
		rc = max_results_read(call, &most, err);
	if (!rc)
		rc = list_token_read(call, &after, err);
	if (!rc)
		rc = bucket_list(context->objects, project, call_query(call, "prefix"), after, most, &page,
				 err);
	return rc ? rc : page_answer(call, &page, err);
}
