/* SPDX-License-Identifier: Apache-2.0 */
/* Lists, whatever is in them. */
#include <string.h>

#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/read_mask.h"

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

/* An item, or what the mask leaves of it. */
static enum status item_render(struct call *call, const struct page_items *items, size_t at, const char *mask,
			       struct error *err)
{
	struct text whole AUTO_TEXT = { 0 };

	if (!mask) {
		items->render(call, items->list, at, &call->answer);
		return STATUS_OK;
	}
	items->render(call, items->list, at, &whole);
	return whole.failed ? error_no_memory(err) : fields_mask_write(&call->answer, mask, whole.data, err);
}

enum status page_render(struct call *call, const struct page_items *items, const char *mask,
			struct error *err)
{
	struct text *text = &call->answer;
	enum status rc = STATUS_OK;

	if (!items->count)
		return STATUS_OK;
	text_printf(text, "{\"%s\":[", items->member);
	for (size_t i = 0; i < items->count && !rc; i++) {
		if (i)
			text_putc(text, ',');
		rc = item_render(call, items, i, mask, err);
	}
	text_putc(text, ']');
	page_end_write(text, items->next_page_token);
	return rc;
}
