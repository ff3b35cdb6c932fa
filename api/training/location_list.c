/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "api/training/context.h"
#include "api/training/location_render.h"
#include "api/training/regions.h"
#include "store/page_token.h"
#include "store/store.h"

/* Source: https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.locations/list */
enum { LOCATIONS_DEFAULT = 20, LOCATIONS_MAX = 100 };

/* What a token is bound to. */
static void binding_write(struct text *text, const struct call *call)
{
	text_printf(text, "locations %s", training_project(call));
}

/* The region after the one where the page before ended; by name, whatever the table became meanwhile. */
static enum status first_find(const struct call *call, const struct text *bound_to,
			      const struct region **ret_first, struct error *err)
{
	const struct training_context *context = call->context;
	const char *token = call_query(call, "pageToken");
	struct page_mark mark = { 0 };
	enum status rc = STATUS_OK;

	if (token && *token)
		rc = page_token_read(store_page_key(context->store), bound_to->data, bound_to->length, token,
				     &mark, err);
	if (rc)
		return rc;
	*ret_first = regions;
	while ((*ret_first)->name && strcmp((*ret_first)->name, mark.name) <= 0)
		(*ret_first)++;
	return STATUS_OK;
}

static enum status token_write(struct call *call, const struct text *bound_to, const struct region *last,
			       struct error *err)
{
	const struct training_context *context = call->context;
	struct page_mark mark = { 0 };
	AUTO(string) char *token = NULL;

	strncpy(mark.name, last->name, sizeof(mark.name) - 1);
	token = page_token_write(store_page_key(context->store), bound_to->data, bound_to->length, &mark);
	if (!token)
		return error_no_memory(err);
	text_printf(&call->answer, ",\"nextPageToken\":\"%s\"", token);
	return STATUS_OK;
}

enum status location_list_handle(struct call *call, struct error *err)
{
	struct text bound_to AUTO_TEXT = { 0 };
	const struct region *first = NULL, *end;
	unsigned size = 0;
	enum status rc = training_project_check(call, "parent", err);

	binding_write(&bound_to, call);
	if (!rc)
		rc = bound_to.failed
			     ? error_no_memory(err)
			     : page_size_read(call->query, LOCATIONS_DEFAULT, LOCATIONS_MAX, &size, err);
	if (!rc)
		rc = first_find(call, &bound_to, &first, err);
	if (rc || !first->name)
		return rc;
	for (end = first; end->name && end < first + size; end++) {
		text_puts(&call->answer, end == first ? "{\"locations\":[" : ",");
		location_render(&call->answer, call_param(call, "project"), end);
	}
	text_putc(&call->answer, ']');
	if (end->name)
		rc = token_write(call, &bound_to, end - 1, err);
	text_putc(&call->answer, '}');
	return rc;
}
