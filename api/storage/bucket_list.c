/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/bucket_list.c: GET /storage/v1/b. */
#include "api/message/message_write.h"
#include "api/storage/bucket_parts.h"
#include "api/storage/handlers.h"
#include "api/storage/messages.h"
#include "api/storage/storage.h"

static void page_write(struct call *call, const struct bucket_page *page)
{
	struct writer answer = message_open(&call->answer, &storage_bucket_list), items;

	member_text(&answer, "kind", "storage#buckets");
	list_token_write(&answer, page->next);
	items = member_list(&answer, "items");
	for (size_t i = 0; i < page->count; i++)
		bucket_write(element_begin(&items), call, &page->buckets[i]);
	message_close(&items);
	message_close(&answer);
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
	if (!rc)
		page_write(call, &page);
	return rc;
}
