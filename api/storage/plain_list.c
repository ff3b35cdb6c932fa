/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/plain_list.c: a bucket's objects as XML.
 * Source: https://cloud.google.com/storage/docs/xml-api/get-bucket-list (read 2026-11-20) */
#include <stdlib.h>
#include <string.h>

#include "api/storage/media_answer.h"
#include "api/storage/plain.h"
#include "api/storage/storage.h"
#include "api/storage/xml.h"

enum { PAGE_MOST = 1000 };

static void object_element(struct text *text, const struct object *object)
{
	char etag[MEDIA_ETAG_SIZE];

	media_etag_write(object, MEDIA_XML, etag);
	text_puts(text, "<Contents>");
	xml_element(text, "Key", object->name);
	xml_number(text, "Generation", object->generation);
	xml_number(text, "MetaGeneration", object->metageneration);
	xml_time(text, "LastModified", object->updated_us);
	xml_element(text, "ETag", etag);
	xml_number(text, "Size", object->size_bytes);
	text_puts(text, "</Contents>");
}

static bool is_second(const struct call *call)
{
	const char *type = call_query(call, "list-type");

	return type && strcmp(type, "2") == 0;
}

static enum status most_read(const struct call *call, unsigned *ret_most, struct error *err)
{
	const char *most = call_query(call, "max-keys");
	long number = most ? strtol(most, NULL, 10) : PAGE_MOST;

	if (most && (strspn(most, "0123456789") != strlen(most) || number < 1))
		return error_parameter(err, "invalid", "max-keys",
				       "Argument maxKeys must be a positive number.");
	*ret_most = number < PAGE_MOST ? (unsigned)number : PAGE_MOST;
	return STATUS_OK;
}

static void page_write(struct text *text, const struct call *call, const struct object_query *query,
		       const struct object_page *page)
{
	xml_begin(text);
	text_puts(text, "<ListBucketResult xmlns='http://doc.s3.amazonaws.com/2006-03-01'>");
	xml_element(text, "Name", query->bucket);
	xml_element(text, "Prefix", query->prefix ? query->prefix : "");
	if (is_second(call)) {
		xml_number(text, "KeyCount", (int64_t)(page->count + page->prefix_count));
		xml_element(text, "ContinuationToken", call_query(call, "continuation-token"));
		xml_element(text, "StartAfter", call_query(call, "start-after"));
		xml_element(text, "NextContinuationToken", page->next);
	} else {
		xml_element(text, "Marker", query->after ? query->after : "");
		xml_element(text, "NextMarker", page->next);
	}
	xml_element(text, "Delimiter", query->delimiter);
	xml_number(text, "MaxKeys", query->most);
	xml_element(text, "IsTruncated", page->next ? "true" : "false");
	for (size_t i = 0; i < page->count; i++)
		object_element(text, &page->objects[i]);
	for (size_t i = 0; i < page->prefix_count; i++) {
		text_puts(text, "<CommonPrefixes>");
		xml_element(text, "Prefix", page->prefixes[i]);
		text_puts(text, "</CommonPrefixes>");
	}
	text_puts(text, "</ListBucketResult>");
}

/* Refuses requests for configurations of the bucket, which the XML API has at the same path. */
static enum status configuration_refuse(const struct call *call, struct error *err)
{
	static const char *const parameters[] = { "acl",     "cors",       "lifecycle", "location",
						  "logging", "versioning", "versions",  "website" };

	for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		if (call_query(call, parameters[i]))
			return error_set(
				err, STATUS_UNIMPLEMENTED, NULL,
				"A parameter you provided implies functionality that is not implemented: %s.",
				parameters[i]);
	return STATUS_OK;
}

enum status plain_bucket_get(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	const char *token = call_query(call, "continuation-token");
	struct object_page page AUTO_OBJECT_PAGE = { .count = 0 };
	struct object_query query = {
		.bucket = call_param(call, "bucket"),
		.prefix = call_query(call, "prefix"),
		.delimiter = call_query(call, "delimiter"),
		.after = is_second(call) ? (token ? token : call_query(call, "start-after"))
					 : call_query(call, "marker"),
	};
	enum status rc = caller_admit(call, err);

	if (!rc)
		rc = configuration_refuse(call, err);
	if (!rc && call_query(call, "uploads"))
		return plain_assembly_list(call, err);
	if (!rc)
		rc = most_read(call, &query.most, err);
	if (!rc)
		rc = object_list(context->objects, &query, &page, err);
	if (rc)
		return rc;
	page_write(&call->answer, call, &query, &page);
	call->content_type = xml_media_type;
	return call->answer.failed ? error_no_memory(err) : STATUS_OK;
}

enum status plain_bucket_head(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	struct bucket bucket AUTO_BUCKET = { .name = NULL };
	enum status rc = caller_admit(call, err);

	if (!rc)
		rc = bucket_get(context->objects, call_param(call, "bucket"), &bucket, err);
	call->content_type = xml_media_type;
	return rc;
}
