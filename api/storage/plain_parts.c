/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/plain_parts.c: uploads in parts: begin, upload of a part, end.
 * Source: https://cloud.google.com/storage/docs/xml-api/post-object-multipart, …/put-object-multipart,
 *         …/post-object-complete, …/delete-multipart (read 2026-11-22) */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/storage/media_answer.h"
#include "api/storage/part_claims.h"
#include "api/storage/plain.h"
#include "api/storage/storage.h"
#include "api/storage/upload.h"
#include "api/storage/xml.h"
#include "daemon/base/memory.h"

static enum status answered(struct call *call, struct error *err)
{
	call->content_type = xml_media_type;
	return call->answer.failed ? error_no_memory(err) : STATUS_OK;
}

/* The service has no conditions here. Choice: a request with one is refused, so that it overwrites nothing that the client
 * meant to keep. */
static enum status conditions_refuse(const struct call *call, struct error *err)
{
	static const char *const headers[] = { "x-goog-if-generation-match",
					       "x-goog-if-metageneration-match" };

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		if (*call_header(call, headers[i]))
			return error_set(
				err, STATUS_UNIMPLEMENTED, NULL,
				"A header you provided implies functionality that is not implemented: %s.",
				headers[i]);
	return STATUS_OK;
}

static struct assembly_key key_of(const struct call *call)
{
	const char *id = call_query(call, "uploadId");

	return (struct assembly_key){ call_param(call, "bucket"), call_param(call, "object"), id ? id : "" };
}

/* ---- the beginning ---- */

enum status plain_assembly_begin(struct call *call, struct error *err)
{
	enum status rc = conditions_refuse(call, err);

	return rc ? rc : resource_intake_begin(call, err);
}

enum status plain_assembly(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	struct upload_form form AUTO_UPLOAD_FORM = { .target = { .name = NULL } };
	char id[SESSION_ID_SIZE];
	enum status rc = plain_target_read(call, &form, err);

	if (!rc)
		rc = assembly_begin(context->objects, &form.target, id, err);
	if (rc)
		return rc;
	xml_begin(&call->answer);
	text_puts(&call->answer, "<InitiateMultipartUploadResult xmlns='" XML_NAMESPACE "'>");
	xml_element(&call->answer, "Bucket", form.target.bucket);
	xml_element(&call->answer, "Key", form.target.name);
	xml_element(&call->answer, "UploadId", id);
	text_puts(&call->answer, "</InitiateMultipartUploadResult>");
	return answered(call, err);
}

/* ---- a part ---- */

struct arrival {
	struct upload *upload;
	int64_t room_bytes;
};

static void arrival_close(void *arg)
{
	struct arrival *arrival = arg;

	upload_free(arrival->upload);
	free(arrival);
}

static enum status part_too_large(struct error *err)
{
	error_set(err, STATUS_INVALID_ARGUMENT, NULL,
		  "Your proposed upload exceeds the maximum allowed object size.");
	error_add_reason(err, "EntityTooLarge", "details", "A part has at most 5 GiB.");
	return STATUS_INVALID_ARGUMENT;
}

static enum status arrival_take(void *arg, const char *data, size_t length, struct error *err)
{
	struct arrival *arrival = arg;

	if ((int64_t)length > arrival->room_bytes)
		return part_too_large(err);
	arrival->room_bytes -= (int64_t)length;
	return upload_write(arrival->upload, data, length, err);
}

static enum status part_number_read(const struct call *call, unsigned *ret_number, struct error *err)
{
	const char *number = call_query(call, "partNumber");
	const bool is_number =
		number && *number && strlen(number) <= 5 && strspn(number, "0123456789") == strlen(number);

	*ret_number = is_number ? (unsigned)strtoul(number, NULL, 10) : 0;
	if (*ret_number >= 1 && *ret_number <= PART_NUMBER_MOST)
		return STATUS_OK;
	return error_parameter(err, "invalid", "partNumber",
			       "Part number must be an integer between 1 and %d, inclusive.",
			       PART_NUMBER_MOST);
}

/* Checks the announced length of a request, before its body is sent. */
static enum status length_check(const struct call *call, struct error *err)
{
	return strtoll(call_header(call, "Content-Length"), NULL, 10) > PART_MOST_BYTES ? part_too_large(err)
											: STATUS_OK;
}

static enum status arrival_begin(struct call *call, unsigned number, const struct checksums *checksums,
				 struct error *err)
{
	const struct storage_context *context = call->context;
	const struct assembly_key key = key_of(call);
	struct arrival *arrival = memory_calloc(1, sizeof(*arrival));
	enum status rc = part_begin(context->objects, &key, number, &arrival->upload, err);

	if (rc) {
		free(arrival);
		return rc;
	}
	arrival->room_bytes = PART_MOST_BYTES;
	if (checksums->has_crc32c)
		upload_expect_crc32c(arrival->upload, checksums->crc32c);
	if (checksums->has_md5)
		upload_expect_md5(arrival->upload, checksums->md5);
	call->intake = (struct intake){ arrival_take, arrival_close, arrival };
	return STATUS_OK;
}

enum status plain_part_begin(struct call *call, struct error *err)
{
	struct checksums checksums = { .has_crc32c = false };
	unsigned number = 0;
	enum status rc = conditions_refuse(call, err);

	if (!rc)
		rc = part_number_read(call, &number, err);
	if (!rc)
		rc = checksums_read(call, &checksums, err);
	if (!rc)
		rc = length_check(call, err);
	return rc ? rc : arrival_begin(call, number, &checksums, err);
}

enum status plain_part(struct call *call, struct error *err)
{
	struct arrival *arrival = call->intake.arg;
	struct object identity = { .has_md5 = true };
	char etag[MEDIA_ETAG_SIZE];
	struct part part;
	enum status rc = part_finish(arrival->upload, &part, err);

	if (rc)
		return rc;
	identity.crc32c = part.crc32c;
	memcpy(identity.md5, part.md5, sizeof(part.md5));
	media_etag_write(&identity, MEDIA_XML, etag);
	media_hashes_say(call, &identity);
	call->content_type = "text/html; charset=UTF-8";
	call_header_add(call, "ETag", etag);
	return STATUS_OK;
}

/* ---- completing an upload ---- */

static enum status claims_take(void *arg, const char *data, size_t length, struct error *err)
{
	return part_claims_receive(arg, data, length, err);
}

static void claims_close(void *arg)
{
	part_claims_free(arg);
}

enum status plain_assembly_end_begin(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	const struct assembly_key key = key_of(call);
	struct assembly assembly AUTO_ASSEMBLY = { .name = NULL };
	struct part_claims *claims;
	enum status rc = conditions_refuse(call, err);

	if (!rc)
		rc = assembly_get(context->objects, &key, &assembly, err);
	if (rc)
		return rc;
	claims = part_claims_new();
	if (!claims)
		return error_no_memory(err);
	call->intake = (struct intake){ claims_take, claims_close, claims };
	return STATUS_OK;
}

static enum status object_answer_plain(struct call *call, const struct object *object, struct error *err)
{
	struct text location AUTO_TEXT = { 0 };
	char etag[MEDIA_ETAG_SIZE];

	text_printf(&location, "http://%s/", call->host);
	text_percent(&location, object->bucket, URL_UNRESERVED);
	text_putc(&location, '/');
	text_percent(&location, object->name, URL_UNRESERVED);
	media_etag_write(object, MEDIA_XML, etag);
	media_identity_say(call, MEDIA_XML, object);
	xml_begin(&call->answer);
	text_puts(&call->answer, "<CompleteMultipartUploadResult xmlns='" XML_NAMESPACE "'>");
	xml_element(&call->answer, "Location", location.data);
	xml_element(&call->answer, "Bucket", object->bucket);
	xml_element(&call->answer, "Key", object->name);
	xml_element(&call->answer, "ETag", etag);
	text_puts(&call->answer, "</CompleteMultipartUploadResult>");
	return answered(call, err);
}

enum status plain_assembly_end(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	const struct assembly_key key = key_of(call);
	const struct part_claim *claims;
	size_t count;
	struct object object AUTO_OBJECT = { .name = NULL };
	enum status rc = part_claims_finish(call->intake.arg, &claims, &count, err);

	if (!rc)
		rc = assembly_finish(context->objects, &key, claims, count, &object, err);
	return rc ? rc : object_answer_plain(call, &object, err);
}

enum status plain_assembly_cancel(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	const struct assembly_key key = key_of(call);
	enum status rc = assembly_delete(context->objects, &key, err);

	if (rc)
		return rc;
	call->http_status = 204;
	call->content_type = "text/html; charset=UTF-8";
	return STATUS_OK;
}
