/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/object_list.c: GET /storage/v1/b/{bucket}/o. */
#include <string.h>

#include "api/message/message_write.h"
#include "api/storage/bucket_parts.h"
#include "api/storage/handlers.h"
#include "api/storage/messages.h"
#include "api/storage/storage.h"
#include "daemon/base/json.h"

static void page_write(struct call *call, const struct object_page *page)
{
	struct writer answer = message_open(&call->answer, &storage_object_list), list;

	member_text(&answer, "kind", "storage#objects");
	list_token_write(&answer, page->next);
	list = member_list(&answer, "prefixes");
	for (size_t i = 0; i < page->prefix_count; i++)
		element_text(&list, page->prefixes[i]);
	message_close(&list);
	list = member_list(&answer, "items");
	for (size_t i = 0; i < page->count; i++)
		object_write(element_begin(&list), call, &page->objects[i]);
	message_close(&list);
	message_close(&answer);
}

/* Source: https://pkg.go.dev/cloud.google.com/go/storage#Query (MatchGlob: a delimiter beside it must be "/") */
static enum status query_check(const struct call *call, struct error *err)
{
	const char *filter = call_query(call, "filter");
	const char *delimiter = call_query(call, "delimiter");

	if (call_query(call, "matchGlob") && delimiter && strcmp(delimiter, "/") != 0)
		return error_parameter(err, "invalid", "delimiter",
				       "Invalid argument: the delimiter must be '/' where matchGlob is set.");
	if (filter && *filter)
		return error_parameter(err, "invalidParameter", "filter",
				       "trainyard keeps no contexts of objects: filter is not supported.");
	return soft_deleted_refuse(call, err);
}

/* True if the caller is a command of gcloud or gsutil that lists the destination before it writes there, and gives up
 * on NOT_FOUND. Only such a caller gets an empty list for a missing bucket that its next call would make.
 * Source: gcloud 578.0.0 (observed): "… command/gcloud.storage.cp …"; gsutil 5: "… gsutil/5.27 … command/cp-…" */
static bool is_before_writing(const struct call *call)
{
	static const char *const commands[] = { "cp", "mv", "rsync" };
	const char *command = strstr(call->user_agent, " command/");
	size_t end, length;

	if (!command || !call_query(call, "prefix"))
		return false;
	command += strlen(" command/");
	end = strcspn(command, " -");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		length = strlen(commands[i]);
		if (end >= length && strncmp(command + end - length, commands[i], length) == 0 &&
		    (end == length || command[end - length - 1] == '.'))
			return true;
	}
	return false;
}

static enum status page_read(const struct call *call, struct object_query *query,
			     struct object_page *ret_page, struct error *err)
{
	const struct storage_context *context = call->context;
	enum status rc = object_list(context->objects, query, ret_page, err);

	if (rc == STATUS_NOT_FOUND && context->auto_buckets && is_before_writing(call) &&
	    bucket_name_valid(query->bucket)) {
		error_deinit(err);
		return STATUS_OK;
	}
	return rc;
}

enum status objects_list(struct call *call, struct error *err)
{
	struct object_page page AUTO_OBJECT_PAGE = { 0 };
	AUTO(string) char *after = NULL;
	struct object_query query = {
		.bucket = call_param(call, "bucket"),
		.prefix = call_query(call, "prefix"),
		.delimiter = call_query(call, "delimiter"),
		.trailing_delimiter = json_true_at(call->query, "includeTrailingDelimiter"),
		.start = call_query(call, "startOffset"),
		.end = call_query(call, "endOffset"),
		.match_glob = call_query(call, "matchGlob"),
	};
	enum status rc = caller_admit(call, err);

	if (!rc)
		rc = query_check(call, err);
	if (!rc)
		rc = max_results_read(call, &query.most, err);
	if (!rc)
		rc = list_token_read(call, &after, err);
	query.after = after;
	if (!rc)
		rc = page_read(call, &query, &page, err);
	if (!rc)
		page_write(call, &page);
	return rc;
}
