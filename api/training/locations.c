/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "api/message/message_write.h"
#include "api/training/context.h"
#include "api/training/regions.h"
#include "store/page_token.h"
#include "store/store.h"

/* Source: https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.locations/list */
enum { LOCATIONS_DEFAULT = 20, LOCATIONS_MAX = 100 };

/* Writes a region with the members that AI Platform and Vertex AI have in their schemas. Choice: the capability of
 * predictions, which AI Platform has too, is not listed, because trainyard makes none. Source of the label:
 * https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations (read 2026-11-22) */
static void location_render(struct text *text, const char *project, const struct region *region)
{
	struct writer answer = message_open(text, NULL), labels, capabilities, training, accelerators;

	member_printf(&answer, "name", "projects/%s/locations/%s", project, region->name);
	member_text(&answer, "locationId", region->name);
	labels = member_map(&answer, "labels");
	member_text(&labels, "cloud.googleapis.com/region", region->name);
	message_close(&labels);
	capabilities = member_list(&answer, "capabilities");
	if (!region->vertex_only) {
		training = element_message(&capabilities);
		member_text(&training, "type", "TRAINING");
		accelerators = member_list(&training, "availableAccelerators");
		for (size_t i = 0; region->accelerators[i]; i++)
			element_text(&accelerators, region->accelerators[i]);
		message_close(&accelerators);
		message_close(&training);
	}
	message_close(&capabilities);
	message_close(&answer);
}

enum status location_get_handle(struct call *call, struct error *err)
{
	const char *name = call_param(call, "location");
	const struct region *region = region_find(name);
	enum status rc = training_project_check(call, "name", err);

	if (rc)
		return rc;
	if (!region)
		return error_set(err, STATUS_NOT_FOUND, "name",
				 "The location projects/%s/locations/%.100s could not be found.",
				 call_param(call, "project"), name);
	location_render(&call->answer, call_param(call, "project"), region);
	return STATUS_OK;
}

/* Appends the text that page tokens are bound to: this list of this project. */
static void binding_write(struct text *text, const struct call *call)
{
	text_printf(text, "locations %s", training_project(call));
}

/* The first region of the page. A page token names the last region of the page before it, so it stays valid when the
 * table changes. */
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

static void token_write(const struct call *call, const struct text *bound_to, const struct region *last,
			struct writer *answer)
{
	const struct training_context *context = call->context;
	struct page_mark mark = { 0 };
	AUTO(string) char *token = NULL;

	strncpy(mark.name, last->name, sizeof(mark.name) - 1);
	token = page_token_write(store_page_key(context->store), bound_to->data, bound_to->length, &mark);
	member_text(answer, "nextPageToken", token);
}

enum status location_list_handle(struct call *call, struct error *err)
{
	struct text bound_to AUTO_TEXT = { 0 };
	struct writer answer, list;
	const struct region *first = NULL, *end;
	unsigned size = 0;
	enum status rc = training_project_check(call, "parent", err);

	binding_write(&bound_to, call);
	if (!rc)
		rc = page_size_read(call->query, LOCATIONS_DEFAULT, LOCATIONS_MAX, &size, err);
	if (!rc)
		rc = first_find(call, &bound_to, &first, err);
	if (rc || !first->name)
		return rc;
	answer = message_open(&call->answer, NULL);
	list = member_list(&answer, "locations");
	for (end = first; end->name && end < first + size; end++)
		location_render(element_begin(&list), call_param(call, "project"), end);
	message_close(&list);
	if (end->name)
		token_write(call, &bound_to, end - 1, &answer);
	message_close(&answer);
	return STATUS_OK;
}
