/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/resumable.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/storage/range.h"
#include "api/storage/storage.h"
#include "daemon/base/memory.h"

/* All but the last request of a session must bring whole pieces of this size; excess bytes are not kept.
 * Source: https://cloud.google.com/storage/docs/performing-resumable-uploads#chunked-upload */
enum { PIECE_BYTES = 256 << 10 };

/* One request of a session. */
struct resumption {
	struct upload *upload; /* NULL: nothing is written */
	struct session session;
	struct content_range range;
	int64_t came_bytes;
	int64_t known_bytes; /* bytes at the beginning of the body that the session has already */
	int64_t kept_bytes;  /* the most bytes that the session keeps with this request; INT64_MAX: all that arrive */
	struct checksums checksums;
	/* The HTTP status to refuse the request with once its body has come, with the text @refusal; 0: not refused. */
	unsigned refused_status;
	struct text refusal;
};

static void resumption_free(struct resumption *resumption)
{
	upload_free(resumption->upload); /* keeps what came */
	session_deinit(&resumption->session);
	text_deinit(&resumption->refusal);
	free(resumption);
}

DEFINE_AUTO(resumption, struct resumption *, resumption_free)

/* ---- the session's beginning ---- */

static enum status total_read(const struct call *call, int64_t *ret_total, struct error *err)
{
	const char *const length = call_header(call, "X-Upload-Content-Length");
	char *end = NULL;

	*ret_total = -1;
	if (!*length)
		return STATUS_OK;
	*ret_total = strtoll(length, &end, 10);
	if (*end || strspn(length, "0123456789") != strlen(length))
		return error_parameter(err, "invalid", "X-Upload-Content-Length",
				       "Invalid value for the header X-Upload-Content-Length: '%.40s'.",
				       length);
	return STATUS_OK;
}

enum status session_started_answer(struct call *call, const struct object_target *target, const char *path,
				   unsigned http_status, struct error *err)
{
	const struct storage_context *context = call->context;
	struct text location AUTO_TEXT = { 0 };
	char id[SESSION_ID_SIZE];
	int64_t total = -1;
	enum status rc = total_read(call, &total, err);

	if (!rc)
		rc = session_begin(context->objects, target, total, id, err);
	if (rc)
		return rc;
	text_printf(&location, "%s://%s%s%cupload_id=%s", call_scheme(call), call->host, path,
		    strchr(path, '?') ? '&' : '?', id);
	call_header_add(call, "Location", location.data);
	call_header_add(call, "X-GUploader-UploadID", id);
	call->http_status = http_status;
	call->content_type = "text/plain; charset=utf-8";
	return STATUS_OK;
}

enum status upload_session_start(struct call *call, struct error *err)
{
	const struct text *resource = resource_intake_text(call);
	struct upload_form form AUTO_UPLOAD_FORM = { .target = { .name = NULL } };
	struct text path AUTO_TEXT = { 0 };
	enum status rc = upload_form_read(call, resource->data ? resource->data : "", resource->length,
					  call_header(call, "X-Upload-Content-Type"), &form, err);

	if (rc)
		return rc;
	text_puts(&path, "/upload/storage/v1/b/");
	text_percent(&path, form.target.bucket, URL_UNRESERVED);
	text_puts(&path, "/o?uploadType=resumable&name=");
	text_percent(&path, form.target.name, URL_UNRESERVED);
	return session_started_answer(call, &form.target, path.data, 200, err);
}

/* ---- the request ---- */

static void refuse(struct resumption *resumption, unsigned http_status)
{
	resumption->refused_status = http_status;
}

static bool is_last(const struct content_range *range)
{
	return range->total >= 0 && range->last == range->total - 1;
}

/* Whether the totals of the session and of the request are equal, or one of them is unknown. */
static bool total_agrees(struct resumption *resumption)
{
	const int64_t own = resumption->session.total_bytes;
	const int64_t reported = resumption->range.total;

	if (own < 0 || reported < 0 || own == reported)
		return true;
	refuse(resumption, 400);
	text_printf(&resumption->refusal,
		    "Invalid request.  The total of %" PRId64
		    " byte(s) in the Content-Range header is not the %" PRId64
		    " byte(s) of the X-Upload-Content-Length header that the upload began with.",
		    reported, own);
	return false;
}

/* Whether the received and the announced bytes do not exceed the total. */
static bool total_suffices(struct resumption *resumption)
{
	const int64_t total = resumption->range.total;
	const int64_t received = resumption->session.received_bytes, end = resumption->range.last + 1;
	const int64_t most = received > end ? received : end;

	if (total < 0 || most <= total)
		return true;
	refuse(resumption, 400);
	text_printf(&resumption->refusal,
		    "Invalid request.  The upload has %" PRId64
		    " byte(s), which exceeds its total of %" PRId64 " byte(s).",
		    most, total);
	return false;
}

/* 503 and these words are the service's.
 * Source: https://github.com/googleapis/google-cloud-go/issues/1507 (read 2026-11-22) */
static bool offset_fits(struct resumption *resumption)
{
	if (resumption->range.first <= resumption->session.received_bytes)
		return true;
	refuse(resumption, 503);
	text_printf(&resumption->refusal,
		    "Invalid request.  According to the Content-Range header, the upload offset is %" PRId64
		    " byte(s), which exceeds already uploaded size of %" PRId64 " byte(s).",
		    resumption->range.first, resumption->session.received_bytes);
	return false;
}

static bool size_fits(struct resumption *resumption)
{
	const struct content_range *range = &resumption->range;
	const int64_t count = range->last - range->first + 1;

	resumption->kept_bytes = INT64_MAX;
	if (range->last < 0 || is_last(range))
		return true;
	resumption->kept_bytes = (range->last + 1) / PIECE_BYTES * PIECE_BYTES;
	if (count >= PIECE_BYTES)
		return true;
	refuse(resumption, 400);
	text_printf(
		&resumption->refusal,
		"Invalid request.  The number of bytes uploaded is required to be equal or greater than %d, "
		"except for the final request (it's recommended to be the exact multiple of %d).  The received "
		"request contained %" PRId64 " bytes, which does not meet this requirement.",
		PIECE_BYTES, PIECE_BYTES, count);
	return false;
}

static bool writes(struct resumption *resumption)
{
	const struct content_range *range = &resumption->range;
	const int64_t received = resumption->session.received_bytes;

	if (resumption->session.finished || !total_agrees(resumption))
		return false;
	if (!range->brings_bytes)
		return range->total == received; /* all bytes have come, but the client did not get the answer */
	if (!total_suffices(resumption) || !offset_fits(resumption) || !size_fits(resumption))
		return false;
	resumption->known_bytes = received - range->first;
	return true;
}

static enum status range_read(const struct call *call, struct content_range *ret_range, struct error *err)
{
	const char *const header = call_header(call, "Content-Range");

	*ret_range = (struct content_range){ true, 0, -1, -1 };
	if (!*header || content_range_parse(header, ret_range))
		return STATUS_OK;
	return error_parameter(err, "invalid", "Content-Range", "Failed to parse Content-Range header.");
}

static enum status session_find(const struct call *call, struct session *ret_session, struct error *err)
{
	const struct storage_context *context = call->context;
	const char *const id = call_query(call, "upload_id");
	struct session session AUTO_SESSION = { .name = NULL };
	enum status rc;

	if (!id)
		return error_parameter(err, "required", "upload_id", "Required");
	rc = session_get(context->objects, id, &session, err);
	if (rc)
		return rc;
	if (strcmp(session.bucket, call_param(call, "bucket")) != 0) {
		error_set(err, STATUS_NOT_FOUND, NULL, "No such upload of the bucket %s.",
			  call_param(call, "bucket"));
		error_add_reason(err, "NoSuchUpload", NULL, NULL);
		return STATUS_NOT_FOUND;
	}
	*ret_session = session;
	session = (struct session){ .name = NULL };
	return STATUS_OK;
}

static enum status write_piece(struct resumption *resumption, const char *data, int64_t length,
			       struct error *err)
{
	const int64_t at = resumption->range.first + resumption->came_bytes;
	const int64_t known = resumption->known_bytes - resumption->came_bytes;
	const int64_t skipped = known > 0 ? known : 0;
	int64_t kept = length;

	if (kept > resumption->kept_bytes - at)
		kept = resumption->kept_bytes - at;
	return kept > skipped
		       ? upload_write(resumption->upload, data + skipped, (size_t)(kept - skipped), err)
		       : STATUS_OK;
}

/* Takes a piece of the body. Bytes beyond the announced range are not written, and the request is refused at its end. */
static enum status resumption_take(void *arg, const char *data, size_t length, struct error *err)
{
	struct resumption *resumption = arg;
	const struct content_range *range = &resumption->range;
	const int64_t end = range->last >= 0 ? range->last + 1 : range->total >= 0 ? range->total : INT64_MAX;
	const int64_t room = end - range->first - resumption->came_bytes;
	enum status rc = STATUS_OK;

	if (resumption->upload && range->brings_bytes && room > 0)
		rc = write_piece(resumption, data, (int64_t)length < room ? (int64_t)length : room, err);
	resumption->came_bytes += (int64_t)length;
	return rc;
}

static void resumption_close(void *arg)
{
	resumption_free(arg);
}

enum status session_request_begin(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	AUTO(resumption) struct resumption *resumption = memory_calloc(1, sizeof(*resumption));
	enum status rc;

	rc = session_find(call, &resumption->session, err);
	if (!rc)
		rc = range_read(call, &resumption->range, err);
	if (!rc)
		rc = checksums_read(call, &resumption->checksums, err);
	if (resumption->range.total < 0)
		resumption->range.total = resumption->session.total_bytes;
	if (!rc && writes(resumption))
		rc = session_resume(context->objects, call_query(call, "upload_id"),
				    resumption->session.received_bytes, &resumption->upload, err);
	if (rc)
		return rc;
	call->intake = (struct intake){ resumption_take, resumption_close, TAKE(resumption) };
	return STATUS_OK;
}

/* ---- the answer ---- */

static void text_answer(struct call *call, unsigned http_status, const struct text *words)
{
	call->http_status = http_status;
	call->content_type = "text/plain; charset=utf-8";
	text_append(&call->answer, words->data, words->length);
}

/* Answers 308: more bytes are expected. If a client's HTTP library would take 308 for a redirect, the client sends a
 * header that asks for 200 instead.
 * Source: https://github.com/googleapis/google-api-go-client/blob/main/internal/gensupport/resumable.go
 * (X-GUploader-No-308, read 2026-11-22) */
static void progress_answer(struct call *call, int64_t received_bytes)
{
	const bool other = strcasecmp(call_header(call, "X-GUploader-No-308"), "yes") == 0;
	char range[48];

	snprintf(range, sizeof(range), "bytes=0-%" PRId64, received_bytes - 1);
	if (received_bytes)
		call_header_add(call, "Range", range);
	if (other)
		call_header_add(call, "X-HTTP-Status-Code-Override", "308");
	call->http_status = other ? 200 : 308;
	call->content_type = "text/plain; charset=utf-8";
}

/* Whether the body has another length than its header says. The bytes that came are kept nevertheless. */
static bool count_differs(struct resumption *resumption)
{
	const struct content_range *range = &resumption->range;
	const int64_t first = range->first, came = resumption->came_bytes;
	const int64_t last = range->last >= 0 ? range->last : range->total - 1;
	const bool differs = range->last >= 0    ? came != last - first + 1
			     : range->total >= 0 ? came > last - first + 1
						 : false;

	if (!range->brings_bytes || !differs)
		return false;
	refuse(resumption, 400);
	text_printf(&resumption->refusal,
		    "Invalid request.  There were %" PRId64
		    " byte(s) in the request body.  There should have been %" PRId64
		    " byte(s) (starting at offset %" PRId64 " and ending at offset %" PRId64
		    ") according to the Content-Range header.",
		    came, last - first + 1, first, last);
	return true;
}

static bool is_complete(const struct resumption *resumption)
{
	const struct content_range *range = &resumption->range;
	const int64_t end = range->first + resumption->came_bytes;

	if (!range->brings_bytes)
		/* the request ends the upload; one that only asks about it has no @upload here */
		return true;
	if (range->last >= 0)
		return is_last(range);
	return range->total < 0 || end >= range->total;
}

static enum status finish(struct call *call, struct resumption *resumption, object_answerer finished,
			  struct error *err)
{
	struct object object AUTO_OBJECT = { .name = NULL };
	enum status rc;

	if (resumption->checksums.has_crc32c)
		upload_expect_crc32c(resumption->upload, resumption->checksums.crc32c);
	if (resumption->checksums.has_md5)
		upload_expect_md5(resumption->upload, resumption->checksums.md5);
	rc = upload_finish(resumption->upload, &object, err);
	return rc ? rc : finished(call, &object, err);
}

enum status session_request(struct call *call, object_answerer finished, struct error *err)
{
	struct resumption *resumption = call->intake.arg;
	int64_t received_bytes = resumption->session.received_bytes;
	enum status rc = STATUS_OK;

	if (resumption->session.finished)
		return finished(call, &resumption->session.object, err);
	if (!resumption->refused_status && !count_differs(resumption) && resumption->upload &&
	    is_complete(resumption))
		return finish(call, resumption, finished, err);
	if (resumption->upload)
		rc = session_park(TAKE(resumption->upload), &received_bytes, err);
	if (rc)
		return rc;
	if (resumption->refused_status) {
		text_answer(call, resumption->refused_status, &resumption->refusal);
		return STATUS_OK;
	}
	progress_answer(call, received_bytes);
	return STATUS_OK;
}

enum status session_cancel(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	struct session session AUTO_SESSION = { .name = NULL };
	enum status rc = session_find(call, &session, err);

	if (!rc)
		rc = session_delete(context->objects, call_query(call, "upload_id"), err);
	if (rc)
		return rc;
	call->http_status = 499;
	call->content_type = "text/plain; charset=utf-8";
	return STATUS_OK;
}

/* ---- the JSON API's rows ---- */

enum status objects_resume_begin(struct call *call, struct error *err)
{
	enum status rc = caller_admit(call, err);

	return rc ? rc : session_request_begin(call, err);
}

enum status objects_resume(struct call *call, struct error *err)
{
	return session_request(call, object_answer, err);
}

enum status objects_resume_cancel(struct call *call, struct error *err)
{
	enum status rc = caller_admit(call, err);

	return rc ? rc : session_cancel(call, err);
}
