/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/plain_upload.c: uploads of an object in one request or in a session. Its metadata come in headers.
 * Source: https://cloud.google.com/storage/docs/xml-api/put-object-upload,
 *         https://cloud.google.com/storage/docs/xml-api/post-object-resumable (read 2026-11-20) */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "api/storage/media_answer.h"
#include "api/storage/plain.h"
#include "api/storage/resumable.h"
#include "api/storage/storage.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"

/* ---- headers of the request ---- */

struct resource {
	json_t *object, *custom;
	bool unreadable; /* a value is not UTF-8 */
};

static void custom_take(struct resource *resource, const char *key, const char *value)
{
	AUTO(string) char *lower = memory_strdup(key);

	for (char *c = lower; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (json_object_set_new(resource->custom, lower, json_string(value)) != 0)
		resource->unreadable = true;
}

static void header_take(void *arg, const char *name, const char *value)
{
	static const char custom[] = "x-goog-meta-";
	static const struct {
		const char *header, *member;
	} members[] = {
		{ "Content-Type", "contentType" },         { "Content-Encoding", "contentEncoding" },
		{ "Content-Language", "contentLanguage" }, { "Content-Disposition", "contentDisposition" },
		{ "Cache-Control", "cacheControl" },       { "x-goog-storage-class", "storageClass" },
		{ "x-goog-custom-time", "customTime" },
	};
	struct resource *resource = arg;

	if (strncasecmp(name, custom, strlen(custom)) == 0 && name[strlen(custom)]) {
		custom_take(resource, name + strlen(custom), value);
		return;
	}
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (strcasecmp(members[i].header, name) == 0 && *value &&
		    json_object_set_new(resource->object, members[i].member, json_string(value)) != 0)
			resource->unreadable = true;
}

static enum status resource_read(const struct call *call, struct object_form *ret_form, struct error *err)
{
	AUTO(json) json_t *object = json_object();
	struct resource resource = { .object = object, .custom = json_object() };

	json_object_set_new(object, "metadata", resource.custom);
	call_headers_each(call, header_take, &resource);
	if (resource.unreadable)
		return error_parameter(err, "invalid", NULL,
				       "A header of the object's metadata is not UTF-8.");
	if (json_object_size(resource.custom) == 0)
		json_object_del(object, "metadata");
	return object_form_read(object, ret_form, err);
}

enum status plain_target_read(const struct call *call, struct upload_form *form, struct error *err)
{
	struct checksums checksums = { .has_crc32c = false };
	struct conditions conditions = CONDITIONS_NONE;
	enum status rc = resource_read(call, &form->form, err);

	if (!rc)
		rc = plain_conditions_read(call, &conditions, err);
	if (!rc)
		rc = checksums_read(call, &checksums, err);
	if (rc)
		return rc;
	object_form_target(&form->form, &form->target);
	form->target.bucket = call_param(call, "bucket");
	form->target.name = call_param(call, "object");
	form->target.conditions = conditions;
	if (!form->target.content_type)
		form->target.content_type = "application/octet-stream";
	checksums_target(&checksums, &form->target);
	return STATUS_OK;
}

/* ---- PUT ---- */

/* Refuses features that trainyard does not have. If a request to copy by header, for example, were accepted, it would
 * make an empty object. */
static enum status unsupported_refuse(const struct call *call, struct error *err)
{
	static const char *const headers[] = { "x-goog-copy-source", "x-amz-copy-source" };
	static const char *const parameters[] = { "acl", "compose" };

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		if (*call_header(call, headers[i]))
			return error_set(
				err, STATUS_UNIMPLEMENTED, NULL,
				"A header you provided implies functionality that is not implemented: %s.",
				headers[i]);
	for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		if (call_query(call, parameters[i]))
			return error_set(
				err, STATUS_UNIMPLEMENTED, NULL,
				"A parameter you provided implies functionality that is not implemented: %s.",
				parameters[i]);
	return STATUS_OK;
}

/* Source: https://cloud.google.com/storage/docs/access-control/lists#predefined-acl, and a public report of the refusal
 * (https://github.com/jschneier/django-storages/issues/739, read 2026-11-27) */
static enum status acl_check(const struct call *call, struct error *err)
{
	static const char *const names[] = { "authenticated-read", "bucket-owner-full-control", "bucket-owner-read",
					     "private", "project-private", "public-read", "public-read-write" };
	const char *given = call_header(call, "x-goog-acl");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!*given || strcmp(given, names[i]) == 0)
			return STATUS_OK;
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "Invalid canned acl: %.64s", given);
}

static enum status write_check(const struct call *call, struct error *err)
{
	enum status rc = caller_admit(call, err);

	if (!rc)
		rc = unsupported_refuse(call, err);
	if (!rc)
		rc = acl_check(call, err);
	return rc ? rc : bucket_name_check(call_param(call, "bucket"), err);
}

static enum status written_answer(struct call *call, const struct object *object, struct error *err)
{
	(void)err;
	media_identity_say(call, MEDIA_XML, object);
	call->content_type = "text/html; charset=UTF-8";
	return STATUS_OK;
}

static bool is_part(const struct call *call)
{
	return call_query(call, "uploadId") || call_query(call, "partNumber");
}

enum status plain_object_put_begin(struct call *call, struct error *err)
{
	struct upload_form form AUTO_UPLOAD_FORM = { .target = { .name = NULL } };
	enum status rc = write_check(call, err);

	if (!rc && call_query(call, "upload_id"))
		return session_request_begin(call, err);
	if (!rc && is_part(call))
		return plain_part_begin(call, err);
	if (!rc)
		rc = plain_target_read(call, &form, err);
	return rc ? rc : upload_intake_begin(call, &form.target, err);
}

enum status plain_object_put(struct call *call, struct error *err)
{
	struct object object AUTO_OBJECT = { .name = NULL };
	enum status rc;

	if (call_query(call, "upload_id"))
		return session_request(call, written_answer, err);
	if (is_part(call))
		return plain_part(call, err);
	rc = upload_intake_finish(call, &object, err);
	return rc ? rc : written_answer(call, &object, err);
}

/* ---- POST: begins a session or an upload in parts, or ends the latter ---- */

enum status plain_object_post_begin(struct call *call, struct error *err)
{
	enum status rc = write_check(call, err);

	if (!rc && call_query(call, "uploads"))
		return plain_assembly_begin(call, err);
	if (!rc && call_query(call, "uploadId"))
		return plain_assembly_end_begin(call, err);
	if (!rc && strcasecmp(call_header(call, "x-goog-resumable"), "start") != 0)
		rc = error_set(
			err, STATUS_UNIMPLEMENTED, NULL,
			"trainyard takes a POST to an object only with the header x-goog-resumable: start, "
			"or with the parameter uploads or uploadId.");
	return rc ? rc : resource_intake_begin(call, err);
}

enum status plain_object_post(struct call *call, struct error *err)
{
	struct upload_form form AUTO_UPLOAD_FORM = { .target = { .name = NULL } };
	struct text path AUTO_TEXT = { 0 };
	enum status rc;

	if (call_query(call, "uploads"))
		return plain_assembly(call, err);
	if (call_query(call, "uploadId"))
		return plain_assembly_end(call, err);
	rc = plain_target_read(call, &form, err);
	if (rc)
		return rc;
	text_putc(&path, '/');
	text_percent(&path, form.target.bucket, URL_UNRESERVED);
	text_putc(&path, '/');
	text_percent(&path, form.target.name, URL_UNRESERVED);
	return session_started_answer(call, &form.target, path.data, 201, err);
}
