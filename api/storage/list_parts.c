/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/list_parts.c: functions that all list methods use. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/message/message_write.h"
#include "api/storage/bucket_parts.h"
#include "api/storage/storage.h"
#include "daemon/base/base64.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"

enum { RESULTS_MAX = 1000, NAME_MAX_BYTES = 1024, VARIANT = sodium_base64_VARIANT_URLSAFE };

enum status max_results_read(const struct call *call, unsigned *ret_most, struct error *err)
{
	const int64_t given = json_int_at(call->query, "maxResults", 0);

	if (given < 0 || given > UINT32_MAX)
		return error_parameter(err, "invalidParameter", "maxResults",
				       "Invalid unsigned integer value: '%s'.",
				       call_query(call, "maxResults"));
	*ret_most = given == 0 || given > RESULTS_MAX ? RESULTS_MAX : (unsigned)given;
	return STATUS_OK;
}

enum status list_token_read(const struct call *call, char **ret_after, struct error *err)
{
	const char *token = call_query(call, "pageToken");
	char name[NAME_MAX_BYTES + 1];
	size_t length = 0;

	*ret_after = NULL;
	if (!token || !*token)
		return STATUS_OK;
	if (!base64_decode(token, strlen(token), NULL, VARIANT, name, NAME_MAX_BYTES, &length) ||
	    length == 0 || memchr(name, '\0', length) || !utf8_valid(name, length))
		return error_parameter(err, "invalid", "pageToken", "Invalid argument.");
	*ret_after = memory_strndup(name, length);
	return STATUS_OK;
}

void list_token_write(struct writer *answer, const char *next)
{
	struct text *text;

	if (!next)
		return;
	text = member_begin(answer, "nextPageToken");
	text_putc(text, '"');
	base64_append(text, next, strlen(next), VARIANT);
	text_putc(text, '"');
}

enum status soft_deleted_refuse(const struct call *call, struct error *err)
{
	if (!json_true_at(call->query, "softDeleted"))
		return STATUS_OK;
	return error_parameter(err, "invalidParameter", "softDeleted",
			       "trainyard keeps nothing that was deleted: softDeleted is not supported.");
}

/* The project that Google's Python library sends to an emulator if it knows none. Source:
 * https://github.com/googleapis/python-storage, google/cloud/storage/client.py (read 2026-11-25) */
static const char no_project[] = "<none>";

enum status project_read(const struct call *call, const char **ret_project, struct error *err)
{
	const struct storage_context *context = call->context;
	const char *project = call_query(call, "project");

	if (!project && context->job_project)
		project = context->job_project;
	if (!project)
		return error_parameter(err, "required", "project", "Required parameter: project");
	if (strcmp(project, no_project) == 0)
		project = context->job_project ? context->job_project : context->project_id;
	*ret_project = strcmp(project, context->project_number) == 0 ? context->project_id : project;
	return STATUS_OK;
}
