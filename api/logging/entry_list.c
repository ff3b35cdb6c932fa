/* SPDX-License-Identifier: Apache-2.0 */
/* api/logging/entry_list.c: POST /v2/entries:list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/logging/entry_list.h"
#include "api/logging/handlers.h"
#include "api/logging/messages.h"
#include "api/logging/resource_name.h"
#include "api/logging/routes.h"
#include "api/message/message_write.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/timestamp.h"
#include "store/logs/logs.h"

/* Source: https://cloud.google.com/logging/docs/reference/v2/rest/v2/entries/list (read 2026-11-20) */
enum { PAGE_SIZE_DEFAULT = 50, PAGE_SIZE_MAX = 1000 };

void projects_deinit(struct projects *projects)
{
	while (projects->count > 0)
		free(projects->ids[--projects->count]);
}

static enum status names_read(const struct logging_context *context, const json_t *names,
			      struct projects *projects, struct error *err)
{
	for (size_t i = 0; i < json_array_size(names); i++) {
		char *project = NULL;
		enum status rc = resource_name_read(context, json_string_value(json_array_get(names, i)),
						    &project, err);

		if (rc)
			return rc;
		if (project)
			projects->ids[projects->count++] = project;
	}
	return STATUS_OK;
}

enum status projects_read(const struct logging_context *context, const json_t *body,
			  struct projects *projects, struct error *err)
{
	const json_t *names = json_object_get(body, "resourceNames");
	const json_t *ids = json_object_get(body, "projectIds"); /* deprecated */
	size_t count = json_array_size(names) + json_array_size(ids);

	if (count == 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, "resource_names",
				 "At least one resource name is needed.");
	if (count > RESOURCE_NAMES_MAX)
		return error_set(err, STATUS_INVALID_ARGUMENT, "resource_names",
				 "At most %d resource names are allowed.", RESOURCE_NAMES_MAX);
	for (size_t i = 0; i < json_array_size(ids); i++) {
		char *project = project_resolve(context, json_string_value(json_array_get(ids, i)));

		projects->ids[projects->count++] = project;
	}
	return names_read(context, names, projects, err);
}

static enum status order_read(const char *order, bool *ret_descending, struct error *err)
{
	char field[16] = "", direction[8] = "asc", rest[2] = "";
	int count = order ? sscanf(order, "%15s %7s %1s", field, direction, rest) : 0;

	if (count <= 0) {
		*ret_descending = false;
		return STATUS_OK;
	}
	*ret_descending = strcmp(direction, "desc") == 0;
	if (count <= 2 && strcmp(field, "timestamp") == 0 &&
	    (*ret_descending || strcmp(direction, "asc") == 0))
		return STATUS_OK;
	return error_set(err, STATUS_INVALID_ARGUMENT, "order_by",
			 "Entries can be ordered by \"timestamp asc\" or \"timestamp desc\" only.");
}

static void time_put(struct writer *entry, const char *name, int64_t time_ns)
{
	struct text *text = member_begin(entry, name);

	text_putc(text, '"');
	text_time_nanos(text, time_ns);
	text_putc(text, '"');
}

/* Writes the labels of the entry's source (JSON) and of the entry itself; the latter win if both have a key. */
static void extra_with_labels_put(struct writer *answer, const struct log_entry *entry, const json_t *extra)
{
	static const char *const said[] = { "labels", NULL };
	AUTO(json)
	json_t *labels =
		entry->labels ? json_loadb(entry->labels, strlen(entry->labels), 0, NULL) : json_object();

	json_object_update(labels, json_object_get(extra, "labels"));
	if (json_object_size(labels))
		member_value(answer, "labels", labels);
	members_value(answer, extra, said);
}

/* Writes the stored members of an entry; JSON from the store is copied where possible. */
static void extra_put(struct writer *answer, const struct log_entry *entry)
{
	AUTO(json) json_t *extra = entry->extra ? json_loadb(entry->extra, strlen(entry->extra), 0, NULL) : NULL;

	if (json_is_object(json_object_get(extra, "labels"))) {
		extra_with_labels_put(answer, entry, extra);
		return;
	}
	member_json(answer, "labels", entry->labels);
	members_json(answer, entry->extra);
}

static void payload_put(struct writer *answer, const struct log_entry *entry)
{
	switch (entry->kind) {
	case LOG_TEXT:
		text_json(member_begin(answer, "textPayload"), entry->payload, entry->payload_length);
		break;
	case LOG_JSON:
		text_append(member_begin(answer, "jsonPayload"), entry->payload, entry->payload_length);
		break;
	case LOG_PROTO:
		text_append(member_begin(answer, "protoPayload"), entry->payload, entry->payload_length);
		break;
	}
}

void entry_put(void *arg, const struct log_entry *entry)
{
	struct entry_rendering *rendering = arg;
	struct writer answer = element_message(&rendering->entries), resource;

	text_clear(&rendering->name);
	text_puts(&rendering->name, "projects/");
	text_puts(&rendering->name, entry->project);
	text_puts(&rendering->name, "/logs/");
	text_puts(&rendering->name, entry->log_name);
	member_text(&answer, "logName", rendering->name.data);
	resource = member_message(&answer, "resource");
	member_text(&resource, "type", entry->resource_type);
	member_json(&resource, "labels", entry->resource_labels);
	message_close(&resource);
	time_put(&answer, "timestamp", entry->time_ns);
	time_put(&answer, "receiveTimestamp", entry->received_ns);
	if (entry->severity > SEVERITY_DEFAULT)
		member_text(&answer, "severity", log_severity_name(entry->severity));
	member_text(&answer, "insertId", entry->insert_id);
	extra_put(&answer, entry);
	payload_put(&answer, entry);
	message_close(&answer);
}

static enum status page_put(struct call *call, const struct projects *projects, bool descending,
			    unsigned page_size, struct error *err)
{
	const struct logging_context *context = call->context;
	struct writer page = message_open(&call->answer, &logging_list_entries_response);
	struct entry_rendering rendering = { .entries = member_list(&page, "entries") };
	AUTO(string) char *next = NULL;
	struct log_query query = {
		.projects = (const char *const *)projects->ids,
		.project_count = projects->count,
		.filter = json_text_at(call->body, "filter"),
		.descending = descending,
		.page_size = page_size,
		.page_token = json_text_at(call->body, "pageToken"),
		.now_ns = clock_wall_ns(context->clock),
		.ahead_ns = clock_ahead_ns(context->clock),
	};
	enum status rc = log_query_run(context->store, &query, entry_put, &rendering, &next, err);

	message_close(&rendering.entries);
	member_text(&page, "nextPageToken", next);
	message_close(&page);
	text_deinit(&rendering.name);
	return rc;
}

enum status entry_list(struct call *call, struct error *err)
{
	__attribute__((cleanup(projects_deinit))) struct projects projects = { .count = 0 };
	bool descending = false;
	unsigned page_size = 0;
	enum status rc = projects_read(call->context, call->body, &projects, err);

	if (!rc)
		rc = order_read(json_text_at(call->body, "orderBy"), &descending, err);
	if (!rc)
		rc = page_size_read(call->body, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, &page_size, err);
	if (!rc)
		rc = page_put(call, &projects, descending, page_size, err);
	if (rc)
		text_clear(&call->answer);
	return rc;
}
