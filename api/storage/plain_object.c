/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/plain_object.c: reads and deletes one object. */
#include <stdlib.h>
#include <string.h>

#include "api/storage/media_answer.h"
#include "api/storage/plain.h"
#include "api/storage/resumable.h"
#include "api/storage/storage.h"

static enum status condition_read(const struct call *call, const char *header, int64_t *ret_number,
				  struct error *err)
{
	const char *const value = call_header(call, header);

	if (!*value)
		return STATUS_OK;
	if (strspn(value, "0123456789") != strlen(value) || strlen(value) > 18)
		return error_parameter(err, "invalid", header, "Invalid value for the header %s: '%.40s'.",
				       header, value);
	*ret_number = strtoll(value, NULL, 10);
	return STATUS_OK;
}

enum status plain_conditions_read(const struct call *call, struct conditions *ret_conditions,
				  struct error *err)
{
	struct conditions conditions = CONDITIONS_NONE;
	enum status rc =
		condition_read(call, "x-goog-if-generation-match", &conditions.generation_match, err);

	if (!rc)
		rc = condition_read(call, "x-goog-if-metageneration-match", &conditions.metageneration_match,
				    err);
	if (!rc)
		*ret_conditions = conditions;
	return rc;
}

/* ACLs have a document of their own, which trainyard does not have. */
static enum status acl_refuse(const struct call *call, struct error *err)
{
	if (!call_query(call, "acl"))
		return STATUS_OK;
	return error_set(err, STATUS_UNIMPLEMENTED, NULL, "trainyard does not have access control lists.");
}

/* For a bucket that may exist in the cloud, a client is sent there instead of getting NOT_FOUND. */
static enum status send_elsewhere(struct call *call)
{
	const struct storage_context *context = call->context;
	struct bucket bucket AUTO_BUCKET = { .name = NULL };
	struct text place AUTO_TEXT = { 0 };

	if (!context->elsewhere || !call->secure || *call_header(call, "Authorization") ||
	    bucket_get(context->objects, call_param(call, "bucket"), &bucket, NULL) != STATUS_NOT_FOUND)
		return STATUS_NOT_FOUND;
	text_printf(&place, "%s/", context->elsewhere);
	text_percent(&place, call_param(call, "bucket"), URL_UNRESERVED);
	text_putc(&place, '/');
	text_percent(&place, call_param(call, "object"), URL_UNRESERVED);
	call_header_add(call, "Location", place.data);
	call->http_status = 307;
	return STATUS_OK;
}

enum status plain_object_get(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	struct conditions conditions = CONDITIONS_NONE;
	AUTO(object_reader) struct object_reader *reader = NULL;
	bool unchanged = false;
	enum status rc = caller_admit(call, err);

	if (!rc)
		rc = acl_refuse(call, err);
	if (!rc && call_query(call, "uploadId"))
		return plain_part_list(call, err);
	if (!rc)
		rc = plain_conditions_read(call, &conditions, err);
	if (!rc)
		rc = object_open(context->objects, call_param(call, "bucket"), call_param(call, "object"),
				 generation_read(call, "generation"), &reader, err);
	if (rc == STATUS_NOT_FOUND)
		return send_elsewhere(call);
	if (!rc)
		rc = conditions_answer(call, &conditions, object_reader_object(reader), &unchanged, err);
	return rc || unchanged ? rc : media_answer(call, MEDIA_XML, TAKE(reader), err);
}

enum status plain_object_delete(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	struct conditions conditions = CONDITIONS_NONE;
	enum status rc = caller_admit(call, err);

	if (!rc && call_query(call, "upload_id"))
		return session_cancel(call, err);
	if (!rc && call_query(call, "uploadId"))
		return plain_assembly_cancel(call, err);
	if (!rc)
		rc = plain_conditions_read(call, &conditions, err);
	if (!rc)
		rc = object_delete(context->objects, call_param(call, "bucket"), call_param(call, "object"),
				   generation_read(call, "generation"), &conditions, err);
	if (rc)
		return rc;
	call->http_status = 204;
	call->content_type = "text/html; charset=UTF-8";
	return STATUS_OK;
}
