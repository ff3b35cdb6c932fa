/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/plain_routes.c: the rows of the plain paths, and the form of their errors. */
#include <string.h>

#include "api/http/error_body.h"
#include "api/message/message.h"
#include "api/storage/plain.h"
#include "api/storage/storage.h"
#include "api/storage/xml.h"

#define END                                                                                                  \
	{                                                                                                    \
		.name = NULL                                                                                 \
	}
#define PARAMETER(name_, type_)                                                                              \
	{                                                                                                    \
		.name = (name_), .type = (type_)                                                             \
	}
/* A parameter that counts by its presence: even without a value it changes the request. */
#define MARK(name_)                                                                                          \
	{                                                                                                    \
		.name = (name_), .type = FIELD_STRING, .flags = FIELD_PRESENCE                               \
	}

static const struct field object_query_fields[] = {
	PARAMETER("generation", FIELD_INT64),
	MARK("upload_id"),
	MARK("uploads"),
	MARK("uploadId"),
	MARK("partNumber"),
	PARAMETER("max-parts", FIELD_STRING),
	PARAMETER("part-number-marker", FIELD_STRING),
	MARK("acl"),
	MARK("compose"),
	PARAMETER("response-content-type", FIELD_STRING),
	PARAMETER("response-content-disposition", FIELD_STRING),
	END,
};
static const struct message object_query = { .full_name = "google.storage.xml.ObjectQuery",
					     .fields = object_query_fields };

static const struct field bucket_query_fields[] = {
	PARAMETER("prefix", FIELD_STRING),
	PARAMETER("delimiter", FIELD_STRING),
	PARAMETER("marker", FIELD_STRING),
	PARAMETER("max-keys", FIELD_STRING),
	PARAMETER("list-type", FIELD_STRING),
	PARAMETER("start-after", FIELD_STRING),
	PARAMETER("continuation-token", FIELD_STRING),
	PARAMETER("key-marker", FIELD_STRING),
	PARAMETER("upload-id-marker", FIELD_STRING),
	PARAMETER("max-uploads", FIELD_STRING),
	PARAMETER("encoding-type", FIELD_STRING),
	MARK("acl"),
	MARK("cors"),
	MARK("lifecycle"),
	MARK("location"),
	MARK("logging"),
	MARK("uploads"),
	MARK("versioning"),
	MARK("versions"),
	MARK("website"),
	END,
};
static const struct message bucket_query = { .full_name = "google.storage.xml.BucketQuery",
					     .fields = bucket_query_fields };

#define OBJECT "/{bucket}/{object=**}"

const struct route storage_plain_routes[] = {
	{ .method = "GET", .path = OBJECT, .handler = plain_object_get, .query = &object_query },
	{ .method = "PUT",
	  .path = OBJECT,
	  .handler = plain_object_put,
	  .query = &object_query,
	  .begin = plain_object_put_begin,
	  .page_types = PAGE_TYPES_TEXT },
	{ .method = "POST",
	  .path = OBJECT,
	  .handler = plain_object_post,
	  .query = &object_query,
	  .begin = plain_object_post_begin,
	  .page_types = PAGE_TYPES_TEXT },
	{ .method = "DELETE", .path = OBJECT, .handler = plain_object_delete, .query = &object_query },
	{ .method = "HEAD", .path = "/{bucket}", .handler = plain_bucket_head, .query = &bucket_query },
	{ .method = "GET", .path = "/{bucket}", .handler = plain_bucket_get, .query = &bucket_query },
	{ .method = "HEAD", .path = "/{bucket}/", .handler = plain_bucket_head, .query = &bucket_query },
	{ .method = "GET", .path = "/{bucket}/", .handler = plain_bucket_get, .query = &bucket_query },
	{ .method = NULL },
};

static bool is_one_of(const char *segment, const char *const *names)
{
	while (*names && strcmp(*names, segment) != 0)
		names++;
	return *names;
}

/* "v1", "v1p2beta3", "v2alpha", "v1internal". */
static bool is_version(const char *segment)
{
	static const char *const levels[] = { "alpha", "beta", "eap", "internal", NULL };
	static const char digits[] = "0123456789";

	if (*segment++ != 'v' || !strspn(segment, digits))
		return false;
	segment += strspn(segment, digits);
	if (*segment == 'p' && strspn(segment + 1, digits))
		segment += 1 + strspn(segment + 1, digits);
	for (const char *const *level = levels; *level; level++)
		if (strncmp(segment, *level, strlen(*level)) == 0)
			segment += strlen(*level) + strspn(segment + strlen(*level), digits);
	return !*segment;
}

/* Choice: an API version ("v1alpha1") is also a valid bucket name, so the rest of the path decides: a path with a
 * collection of Google's APIs or with a verb ("images:annotate") is an API call. An object with such a path can still be
 * read through the JSON API. */
static bool is_call(const char *const *segments, size_t count)
{
	static const char *const collections[] = { "projects",        "locations",  "operations", "folders",
						   "organizations",   "publishers", "services",   "media",
						   "billingAccounts", "accounts",   "users",      "customers",
						   NULL };

	if (count < 2)
		return false;
	if (!is_version(segments[0]))
		return strcmp(segments[0], "oauth2") == 0 && is_version(segments[1]);
	return is_one_of(segments[1], collections) || strchr(segments[count - 1], ':');
}

bool storage_plain_may_have(const char *const *segments, size_t count)
{
	static const char *const others[] = { "batch",   "discovery", "download", "resumable",
					      "storage", "upload",    NULL };

	return !is_one_of(segments[0], others) && !is_call(segments, count) && bucket_name_valid(segments[0]);
}

/* Source: https://cloud.google.com/storage/docs/xml-api/reference-status (read 2026-11-20) */
static const char *code_of(const struct error *err, unsigned http_status)
{
	static const struct {
		unsigned http_status;
		const char *code;
	} codes[] = {
		{ 400, "InvalidArgument" },
		{ 401, "AuthenticationRequired" },
		{ 403, "AccessDenied" },
		{ 404, "NoSuchBucket" },
		{ 405, "MethodNotAllowed" },
		{ 409, "Conflict" },
		{ 411, "MissingContentLength" },
		{ 412, "PreconditionFailed" },
		{ 415, "InvalidArgument" }, /* Choice: the documented list has no code for it */
		{ 416, "InvalidRange" },
		{ 429, "SlowDown" }, /* Source: https://github.com/nextcloud/server/issues/12537 */
		{ 501, "NotImplemented" },
		{ 503, "ServiceUnavailable" },
		{ 507, "InsufficientStorage" },
	};

	if (storage_error_has_code(err))
		return err->reason;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].http_status == http_status)
			return codes[i].code;
	return "InternalError";
}

/* The text for <Details> that the error carries: clients expect that element in every 400. NULL: none. */
static const char *details_of(const struct error *err)
{
	for (size_t i = 0; i < err->metadata_count; i++)
		if (err->metadata[i].key && strcmp(err->metadata[i].key, "details") == 0)
			return err->metadata[i].value;
	return NULL;
}

/* For codes with a fixed sentence in the XML API, that sentence is the <Message> and the store's text the <Details>. */
const char *storage_plain_error_render(const struct call *call, const struct error *err, unsigned http_status,
				       struct text *body)
{
	const char *code = code_of(err, http_status);
	const char *text = error_message(err);

	if (plain_is_elsewhere(call))
		return storage_error_render(call, err, http_status, body);
	if (strcmp(code, "NoSuchKey") == 0)
		xml_error_write(body, code, "The specified key does not exist.", text);
	else if (strcmp(code, "BadDigest") == 0)
		xml_error_write(
			body, code,
			"The MD5 or CRC32C you specified in Content-MD5 or x-goog-hash did not match what we "
			"computed.",
			text);
	else if (strcmp(code, "InvalidArgument") == 0)
		xml_error_write(body, code, "Invalid argument.", text);
	else
		xml_error_write(body, code, text, details_of(err));
	return xml_media_type;
}
