/* SPDX-License-Identifier: Apache-2.0 */
/* api/logging/entry_write.c: POST /v2/entries:write.
 *
 * All entries are checked before the first one is stored; the answer is sent when readers can see them. Choice:
 * an entry may have any timestamp, because tests write old logs (the service refuses timestamps in the far future, or
 * older than its retention). */
#include <stdlib.h>
#include <string.h>

#include "api/logging/handlers.h"
#include "api/logging/messages.h"
#include "api/logging/resource_name.h"
#include "api/logging/routes.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/timestamp.h"
#include "store/logs/log_source.h"
#include "store/logs/logs.h"

/* Source: https://cloud.google.com/logging/quotas (entry size; from memory) */
enum { ENTRY_BYTES_MAX = 256 * 1024, INSERT_ID_MAX = 512 };

/* An entry that is ready to be stored. It owns @payload and @extra. */
struct draft {
	struct log_source *source;
	struct log_record record;
	char *payload, *extra;
	size_t bytes; /* the size of all parts together */
};

struct writing {
	const struct logging_context *context;
	const json_t *request;
	const struct log_source *own; /* log source of the writing replica; NULL: another client writes */
};

struct drafts {
	struct draft *items;
	size_t count;
};

static void drafts_deinit(struct drafts *drafts)
{
	for (size_t i = 0; i < drafts->count; i++) {
		log_source_unref(drafts->items[i].source);
		free(drafts->items[i].payload);
		free(drafts->items[i].extra);
	}
	free(drafts->items);
}

static int severity_of(const json_t *entry)
{
	const json_t *severity = json_object_get(entry, "severity");

	if (json_is_integer(severity))
		return (int)json_integer_value(severity);
	for (const struct enum_value *value = logging_severity.values;
	     json_is_string(severity) && value->name; value++)
		if (strcmp(value->name, json_string_value(severity)) == 0)
			return value->number;
	return SEVERITY_DEFAULT;
}

/* Returns the members of both objects; if both have a member, that of @own. */
static json_t *merged(const json_t *defaults, const json_t *own)
{
	json_t *all = json_object();

	if (defaults)
		json_object_update(all, (json_t *)defaults);
	if (own)
		json_object_update(all, (json_t *)own);
	return all;
}

/* True for the resource types that Google's libraries use inside a replica, which looks like a machine to them.
 * Choice: such entries belong to the job, so they are shown in its log. */
static bool is_own_machine(const char *type)
{
	return !type || strcmp(type, "global") == 0 || strcmp(type, "gce_instance") == 0;
}

/* Returns the project of the log. Programs in a job name the emulator's project; if the job belongs to another
 * project, its log does too. */
static const char *project_of(const struct writing *writing, const char *project)
{
	const char *reported = writing->context->project_id;

	return writing->own && reported && strcmp(project, reported) == 0 ? writing->own->project : project;
}

/* Sets the source of an entry. Without a resource, the entry belongs to its project ("global"), with the label
 * project_id. */
static void source_make(const struct writing *writing, const json_t *entry, const char *project,
			const char *log, struct draft *draft)
{
	const json_t *request = writing->request, *resource = json_object_get(entry, "resource");
	const struct log_source *own = writing->own;
	AUTO(json) json_t *own_labels = own ? json_loads(own->labels, 0, NULL) : NULL;
	AUTO(json) json_t *place = NULL;
	const char *type;

	if (!resource)
		resource = json_object_get(request, "resource");
	type = json_text_at(resource, "type");
	AUTO(json)
	json_t *given = merged(json_object_get(request, "labels"), json_object_get(entry, "labels"));
	AUTO(json) json_t *labels = merged(own_labels, given);

	if (own && is_own_machine(type)) {
		type = own->resource_type;
		place = json_loads(own->resource_labels, 0, NULL);
	} else {
		place = merged(NULL, json_object_get(resource, "labels"));
	}
	if (!json_object_get(place, "project_id"))
		json_object_set_new(place, "project_id", json_string(project));
	AUTO(string) char *labels_text = json_dump_compact(labels);
	AUTO(string) char *place_text = json_dump_compact(place);

	draft->bytes += strlen(labels_text) + strlen(place_text);
	draft->source = log_source_new(&(struct log_source_spec){
		.job = own ? own->job : 0,
		.project = project,
		.log_name = log,
		.resource_type = type ? type : "global",
		.resource_labels = place_text,
		.labels = labels_text,
	});
}

static void payload_make(const json_t *entry, struct draft *draft)
{
	static const struct {
		const char *name;
		enum log_payload kind;
	} kinds[] = { { "textPayload", LOG_TEXT },
		      { "jsonPayload", LOG_JSON },
		      { "protoPayload", LOG_PROTO } };

	draft->payload = memory_strdup("");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const json_t *value = json_object_get(entry, kinds[i].name);

		if (!value)
			continue;
		free(draft->payload);
		draft->payload = json_is_string(value) ? memory_strdup(json_string_value(value))
						       : json_dump_compact(value);
		draft->record.kind = kinds[i].kind;
	}
	draft->record.payload = draft->payload;
	draft->record.payload_length = strlen(draft->payload);
	draft->bytes += draft->record.payload_length;
}

/* Copies the members that the store keeps unchanged. */
static void extra_make(const json_t *entry, struct draft *draft)
{
	static const char *const names[] = { "httpRequest", "operation",    "trace", "sourceLocation",
					     "spanId",      "traceSampled", "split" };
	AUTO(json) json_t *extra = json_object();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		json_t *member = json_object_get(entry, names[i]);

		if (member)
			json_object_set(extra, names[i], member);
	}
	if (json_object_size(extra) == 0)
		return;
	draft->extra = json_dump_compact(extra);
	draft->record.extra = draft->extra;
	draft->bytes += strlen(draft->extra);
}

static enum status draft_make(const struct writing *writing, const json_t *entry, struct draft *draft,
			      struct error *err)
{
	const struct logging_context *context = writing->context;
	const char *name = json_text_at(entry, "logName");
	const char *time = json_text_at(entry, "timestamp");
	AUTO(string) char *project = NULL;
	AUTO(string) char *log = NULL;
	enum status rc;

	if (!name)
		name = json_text_at(writing->request, "logName");
	rc = log_name_read(context, name ? name : "", &project, &log, err);
	if (!rc)
		source_make(writing, entry, project_of(writing, project), log, draft);
	if (rc)
		return rc;
	payload_make(entry, draft);
	extra_make(entry, draft);
	if (draft->bytes > ENTRY_BYTES_MAX)
		return error_set(err, STATUS_INVALID_ARGUMENT, "entries",
				 "Log entry with size %zu bytes exceeds maximum size of %d bytes.",
				 draft->bytes, ENTRY_BYTES_MAX);
	draft->record.source = draft->source;
	draft->record.insert_id = json_text_at(entry, "insertId");
	if (draft->record.insert_id && strlen(draft->record.insert_id) > INSERT_ID_MAX)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "An insertId has at most %d bytes.",
				 INSERT_ID_MAX);
	draft->record.severity = severity_of(entry);
	draft->record.dated = time && time_parse_strict(time, &draft->record.time_ns);
	if (!draft->record.dated)
		draft->record.time_ns = clock_wall_ns(context->clock);
	else if (writing->own) /* a replica's programs use the machine's clock, not the emulator's */
		draft->record.time_ns = clock_from_outside_ns(context->clock, draft->record.time_ns);
	return STATUS_OK;
}

/* Reads all entries. Invalid entries are left out, and listed in *err. */
static enum status drafts_make(const struct writing *writing, struct drafts *drafts, struct error *err)
{
	const json_t *entries = json_object_get(writing->request, "entries");
	size_t count = json_array_size(entries);
	enum status first = STATUS_OK;

	drafts->items = memory_calloc(count ? count : 1, sizeof(*drafts->items));
	for (size_t i = 0; i < count; i++) {
		struct error own AUTO_ERROR = { 0 };
		struct draft *draft = &drafts->items[drafts->count++];
		enum status rc = draft_make(writing, json_array_get(entries, i), draft, &own);

		if (!rc)
			continue;
		log_source_unref(draft->source);
		free(draft->payload);
		free(draft->extra);
		*draft = (struct draft){ 0 };
		drafts->count--;
		if (!first)
			first = error_move(err, &own);
	}
	return first;
}

static enum status drafts_store(struct store *store, const struct drafts *drafts, struct error *err)
{
	for (size_t i = 0; i < drafts->count; i++) {
		while (!log_offer(store, &drafts->items[i].record)) {
			enum status rc = log_flush(store, err); /* until there is room */

			if (rc)
				return rc;
		}
	}
	return log_flush(store, err);
}

enum status entry_write(struct call *call, struct error *err)
{
	const struct logging_context *context = call->context;
	__attribute__((cleanup(drafts_deinit))) struct drafts drafts = { .items = NULL };
	const struct writing writing = { context, call->body,
					 context->writer ? context->writer(context->arg, call->peer) : NULL };
	enum status refused = drafts_make(&writing, &drafts, err);
	struct error failure AUTO_ERROR = { 0 };

	if (refused && (refused != STATUS_INVALID_ARGUMENT || !json_true_at(call->body, "partialSuccess")))
		return refused;
	if (json_true_at(call->body, "dryRun"))
		return refused;
	if (drafts_store(context->store, &drafts, &failure))
		return error_move(err, &failure);
	return refused;
}
