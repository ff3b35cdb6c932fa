/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/media_answer.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/storage/gunzip.h"
#include "api/storage/http_date.h"
#include "api/storage/range.h"
#include "api/storage/xml.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/tally.h"

enum { CUSTOM_HEADERS_MAX_BYTES = 12 << 10 };

/* ---- the bytes ---- */

struct media {
	struct object_reader *reader;
	int64_t at, end;
	struct gunzip *gunzip; /* NULL: the bytes are sent as they are stored */
};

static void media_free(struct media *media)
{
	gunzip_free(media->gunzip);
	object_reader_close(media->reader);
	free(media);
}

DEFINE_AUTO(media, struct media *, media_free)

static void media_close(void *arg)
{
	media_free(arg);
}

static ssize_t stored_read(void *arg, int64_t offset, char *buffer, size_t size)
{
	const struct media *media = arg;
	const struct object *object = object_reader_object(media->reader);
	struct error err AUTO_ERROR = { 0 };
	ssize_t got = object_read(media->reader, offset, buffer, size, &err);

	if (got < 0)
		log_event(LOG_ERROR, "object-read-failed", "bucket=%s generation=%" PRId64 " error=\"%s\"",
			  object->bucket, object->generation, err.text ? err.text : "");
	else
		tally_add(TALLY_STORAGE_SENT_BYTES, (uint64_t)got);
	return got;
}

static ssize_t media_read(void *arg, char *buffer, size_t size)
{
	struct media *media = arg;
	ssize_t got;

	if ((int64_t)size > media->end - media->at)
		size = (size_t)(media->end - media->at);
	got = stored_read(media, media->at, buffer, size);
	if (got <= 0)
		return STREAM_CUT; /* the file is too short: the stream is cut, as an end would look like success */
	media->at += got;
	return got;
}

static ssize_t unpacked_read(void *arg, char *buffer, size_t size)
{
	struct media *media = arg;
	ssize_t got = gunzip_read(media->gunzip, buffer, size);

	return got < 0 ? STREAM_CUT : got;
}

/* ---- headers of the answer ---- */

static const char *metadata_text(const struct object *object, const char *name)
{
	return json_text_at(object->metadata, name);
}

static bool is_packed(const struct object *object)
{
	const char *encoding = metadata_text(object, "contentEncoding");

	return encoding && strcasecmp(encoding, "gzip") == 0;
}

/* Source: https://cloud.google.com/storage/docs/transcoding (read 2026-11-20) */
static bool unpacks(const struct call *call, const struct object *object)
{
	const char *cache = metadata_text(object, "cacheControl");

	return is_packed(object) && object->size_bytes &&
	       !strcasestr(call_header(call, "Accept-Encoding"), "gzip") &&
	       !(cache && strcasestr(cache, "no-transform"));
}

/* Adds a header. One that HTTP cannot carry (a line end in the name …) is left out. */
static void say(struct call *call, const char *name, const char *value)
{
	if (value && *value)
		call_header_add(call, name, value);
}

static void say_number(struct call *call, const char *name, int64_t value)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRId64, value);
	say(call, name, number);
}

void media_hashes_say(struct call *call, const struct object *object)
{
	char crc32c[CRC32C_TEXT_SIZE], md5[MD5_TEXT_SIZE] = "";
	char hashes[sizeof("crc32c=,md5=") + CRC32C_TEXT_SIZE + MD5_TEXT_SIZE];

	crc32c_encode(object->crc32c, crc32c);
	if (object->has_md5)
		md5_encode(object->md5, md5);
	snprintf(hashes, sizeof(hashes), "crc32c=%s%s%s", crc32c, object->has_md5 ? ",md5=" : "", md5);
	say(call, "x-goog-hash", hashes);
}

void media_etag_write(const struct object *object, enum media_dialect dialect, char ret_etag[MEDIA_ETAG_SIZE])
{
	char etag[MEDIA_ETAG_SIZE];

	if (dialect == MEDIA_XML && object->has_md5)
		sodium_bin2hex(etag, sizeof(etag), object->md5, sizeof(object->md5));
	else
		object_etag(object, etag);
	snprintf(ret_etag, MEDIA_ETAG_SIZE, dialect == MEDIA_XML ? "\"%s\"" : "%s", etag);
}

/* Custom metadata become headers on plain paths only, with names in lower case. Thousands of short ones would not fit
 * into one head (api/http/listener.c), and the object could not be read: above a limit, the rest is only in the
 * resource. */
static void custom_say(struct call *call, const struct object *object)
{
	size_t room = CUSTOM_HEADERS_MAX_BYTES;
	const char *key;
	json_t *value;

	json_object_foreach(json_object_get(object->metadata, "metadata"), key, value) {
		struct text name AUTO_TEXT = { 0 };

		text_printf(&name, "x-goog-meta-%s", key);
		const size_t bytes = name.length + sizeof(": \r\n") + json_string_length(value);

		if (bytes > room)
			continue;
		room -= bytes;
		say(call, name.data, json_string_value(value));
	}
}

void media_identity_say(struct call *call, enum media_dialect dialect, const struct object *object)
{
	const char *encoding = metadata_text(object, "contentEncoding");
	const char *storage_class = metadata_text(object, "storageClass");
	char etag[MEDIA_ETAG_SIZE];

	media_etag_write(object, dialect, etag);
	say(call, "ETag", etag);
	say_number(call, "x-goog-generation", object->generation);
	say_number(call, "x-goog-metageneration", object->metageneration);
	media_hashes_say(call, object);
	say(call, "x-goog-storage-class", storage_class ? storage_class : "STANDARD");
	say(call, "x-goog-stored-content-encoding", encoding ? encoding : "identity");
	say_number(call, "x-goog-stored-content-length", object->size_bytes);
}

/* For a browser, objects have the API's own origin. A page stored by a job must not be able to submit jobs as the user
 * that views it: with this header its origin is opaque. Scripts run, as those of reports do.
 * Source: https://www.w3.org/TR/CSP3/ (sandbox) */
static const char no_page_of_ours[] = "sandbox allow-scripts";

/* A header value in a signed URL takes precedence over the object's. */
static const char *overridden(const struct call *call, const char *parameter, const char *own)
{
	const char *value = call_query(call, parameter);

	return value && *value ? value : own;
}

static void headers_say(struct call *call, enum media_dialect dialect, const struct object *object)
{
	const char *cache = metadata_text(object, "cacheControl");
	const char *disposition = metadata_text(object, "contentDisposition");
	const char *type = object->content_type ? object->content_type : "application/octet-stream";
	char modified[HTTP_DATE_SIZE];

	http_date_write(object->updated_us, modified);
	media_identity_say(call, dialect, object);
	say(call, "Last-Modified", modified);
	say(call, "Cache-Control", cache ? cache : "private, max-age=0");
	say(call, "Content-Disposition", overridden(call, "response-content-disposition", disposition));
	say(call, "Content-Language", metadata_text(object, "contentLanguage"));
	say(call, "Content-Type", overridden(call, "response-content-type", type));
	say(call, "Content-Security-Policy", no_page_of_ours);
	if (dialect == MEDIA_XML)
		custom_say(call, object);
}

/* ---- conditions of HTTP's own ---- */

/* Whether a list of tags has this one. */
static bool etag_listed(const char *list, const char *etag)
{
	const size_t length = strlen(etag);
	const bool bare = *etag != '"';

	if (list[strspn(list, " \t")] == '*')
		return true;
	for (const char *found = strstr(list, etag); found; found = strstr(found + 1, etag)) {
		const char before = (char)(found == list ? ',' : found[-1]), after = found[length];

		if (!bare || (strchr(", \t\"/", before) && (!after || strchr(", \t\"", after))))
			return true;
	}
	return false;
}

static bool modified_since(const struct object *object, const char *date)
{
	int64_t since_s;

	return !http_date_read(date, &since_s) || object->updated_us / 1000000 > since_s;
}

/* Source: RFC 9110 section 13.2.2 */
static enum status http_conditions_answer(struct call *call, enum media_dialect dialect,
					  const struct object *object, bool *ret_unchanged, struct error *err)
{
	const char *const match = call_header(call, "If-Match");
	const char *const none_match = call_header(call, "If-None-Match");
	const char *const modified = call_header(call, "If-Modified-Since");
	const char *const unmodified = call_header(call, "If-Unmodified-Since");
	char etag[MEDIA_ETAG_SIZE];
	bool failed;

	media_etag_write(object, dialect, etag);
	failed = *match ? !etag_listed(match, etag) : *unmodified && modified_since(object, unmodified);
	*ret_unchanged =
		*none_match ? etag_listed(none_match, etag) : *modified && !modified_since(object, modified);
	if (failed)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "At least one of the pre-conditions you specified did not hold.");
	return STATUS_OK;
}

/* ---- the answer ---- */

static void unsatisfiable_answer(struct call *call, enum media_dialect dialect, const struct object *object)
{
	const char *const range = call_header(call, "Range");
	char content_range[40];

	snprintf(content_range, sizeof(content_range), "bytes */%" PRId64, object->size_bytes);
	say(call, "Content-Range", content_range);
	call->http_status = 416;
	call->content_type = dialect == MEDIA_XML ? xml_media_type : "text/html; charset=UTF-8";
	if (dialect == MEDIA_JSON) {
		text_puts(&call->answer, "Request range not satisfiable");
		return;
	}
	xml_error_write(&call->answer, "InvalidRange", "The requested range cannot be satisfied.", range);
}

static void stream_unpacked(struct call *call, struct media *media)
{
	say(call, "Warning", "214 UploadServer gunzipped");
	say(call, "Vary", "Accept-Encoding");
	call->stream = (struct answer_stream){ unpacked_read, media_close, media, -1 };
}

static void stream_stored(struct call *call, struct media *media, const struct object *object,
			  enum range_outcome outcome, const struct byte_range *range)
{
	const char *encoding = metadata_text(object, "contentEncoding");
	char content_range[72];

	media->at = range->first;
	media->end = range->first + range->length;
	say(call, "Accept-Ranges", "bytes");
	say(call, "Content-Encoding", encoding);
	if (outcome == RANGE_PART) {
		snprintf(content_range, sizeof(content_range), "bytes %" PRId64 "-%" PRId64 "/%" PRId64,
			 media->at, media->end - 1, object->size_bytes);
		say(call, "Content-Range", content_range);
		call->http_status = 206;
	}
	call->stream = (struct answer_stream){ media_read, media_close, media, range->length };
}

static enum status media_send(struct call *call, enum media_dialect dialect, struct media **media,
			      struct error *err)
{
	const struct object *object = object_reader_object((*media)->reader);
	struct byte_range range;
	const enum range_outcome outcome =
		range_choose(call_header(call, "Range"), object->size_bytes, &range);

	if (unpacks(call, object)) {
		(*media)->gunzip = gunzip_new(stored_read, *media);
		if (!(*media)->gunzip)
			return error_no_memory(err);
		headers_say(call, dialect, object);
		stream_unpacked(call, TAKE(*media));
		return STATUS_OK;
	}
	if (outcome == RANGE_UNSATISFIABLE) {
		unsatisfiable_answer(call, dialect, object);
		return STATUS_OK;
	}
	headers_say(call, dialect, object);
	stream_stored(call, TAKE(*media), object, outcome, &range);
	return STATUS_OK;
}

enum status media_answer(struct call *call, enum media_dialect dialect, struct object_reader *reader,
			 struct error *err)
{
	AUTO(object_reader) struct object_reader *held = reader;
	AUTO(media) struct media *media = NULL;
	const struct object *object = object_reader_object(reader);
	bool unchanged = false;
	enum status rc = http_conditions_answer(call, dialect, object, &unchanged, err);

	if (rc)
		return rc;
	if (unchanged) {
		headers_say(call, dialect, object);
		call->http_status = 304;
		return STATUS_OK;
	}
	media = memory_calloc(1, sizeof(*media));
	media->reader = TAKE(held);
	return media_send(call, dialect, &media, err);
}
