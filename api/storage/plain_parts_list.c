/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/plain_parts_list.c: lists of uploads in parts, and of the parts of one.
 * Source: https://cloud.google.com/storage/docs/xml-api/get-object-multipart, …/get-bucket-uploads (read 2026-11-22) */
#include <stdlib.h>
#include <string.h>

#include "api/storage/media_answer.h"
#include "api/storage/plain.h"
#include "api/storage/storage.h"
#include "api/storage/xml.h"
#include "store/objects/assemblies.h"

enum { PAGE_MOST = 1000 };

static const char *storage_class_of(const struct assembly *assembly)
{
	return assembly->storage_class ? assembly->storage_class : "STANDARD";
}

/* Reads a query parameter that says where a list begins or how long it is. *ret_number is @otherwise if it is not
 * given. INVALID_ARGUMENT: not a number, or less than @least. */
static enum status number_read(const struct call *call, const char *parameter, unsigned least,
			       unsigned otherwise, unsigned *ret_number, struct error *err)
{
	const char *value = call_query(call, parameter);
	const bool is_number =
		value && *value && strlen(value) <= 9 && strspn(value, "0123456789") == strlen(value);

	*ret_number = is_number ? (unsigned)strtoul(value, NULL, 10) : otherwise;
	if (!value || !*value || (is_number && *ret_number >= least))
		return STATUS_OK;
	return error_parameter(err, "invalid", parameter, "Invalid value for the parameter %s: '%.40s'.",
			       parameter, value);
}

static enum status most_read(const struct call *call, const char *parameter, unsigned *ret_most,
			     struct error *err)
{
	enum status rc = number_read(call, parameter, 1, PAGE_MOST, ret_most, err);

	if (*ret_most > PAGE_MOST)
		*ret_most = PAGE_MOST;
	return rc;
}

/* ---- parts ---- */

static void part_write(struct text *text, const struct part *part)
{
	struct object identity = { .has_md5 = true };
	char etag[MEDIA_ETAG_SIZE];

	memcpy(identity.md5, part->md5, sizeof(part->md5));
	media_etag_write(&identity, MEDIA_XML, etag);
	text_puts(text, "<Part>");
	xml_number(text, "PartNumber", part->number);
	xml_time(text, "LastModified", part->created_us);
	xml_element(text, "ETag", etag);
	xml_number(text, "Size", part->size_bytes);
	text_puts(text, "</Part>");
}

struct part_question {
	struct assembly_key key;
	unsigned after, most;
};

static void parts_write(struct text *text, const struct part_question *question,
			const struct assembly *assembly, const struct part_page *page)
{
	const unsigned last = page->count ? page->parts[page->count - 1].number : question->after;

	xml_begin(text);
	text_puts(text, "<ListPartsResult xmlns='" XML_NAMESPACE "'>");
	xml_element(text, "Bucket", question->key.bucket);
	xml_element(text, "Key", question->key.name);
	xml_element(text, "UploadId", question->key.id);
	xml_element(text, "StorageClass", storage_class_of(assembly));
	xml_number(text, "PartNumberMarker", question->after);
	if (page->more)
		xml_number(text, "NextPartNumberMarker", last);
	xml_number(text, "MaxParts", question->most);
	xml_element(text, "IsTruncated", page->more ? "true" : "false");
	for (size_t i = 0; i < page->count; i++)
		part_write(text, &page->parts[i]);
	text_puts(text, "</ListPartsResult>");
}

enum status plain_part_list(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	struct part_question question = { .key = { call_param(call, "bucket"), call_param(call, "object"),
						   call_query(call, "uploadId") } };
	struct assembly assembly AUTO_ASSEMBLY = { .name = NULL };
	struct part_page page AUTO_PART_PAGE = { .parts = NULL };
	enum status rc = most_read(call, "max-parts", &question.most, err);

	if (!rc)
		rc = number_read(call, "part-number-marker", 0, 0, &question.after, err);
	if (!rc)
		rc = assembly_get(context->objects, &question.key, &assembly, err);
	if (!rc)
		rc = part_list(context->objects, &question.key, question.after, question.most, &page, err);
	if (rc)
		return rc;
	parts_write(&call->answer, &question, &assembly, &page);
	call->content_type = xml_media_type;
	return call->answer.failed ? error_no_memory(err) : STATUS_OK;
}

/* ---- uploads ---- */

/* Writes the name of an object; with "encoding-type=url" it is percent-encoded. */
static void name_element(struct text *text, const struct call *call, const char *element, const char *name)
{
	const char *encoding = call_query(call, "encoding-type");

	if (!name || !encoding || strcmp(encoding, "url") != 0) {
		xml_element(text, element, name);
		return;
	}
	text_printf(text, "<%s>", element);
	text_percent(text, name, URL_UNRESERVED);
	text_printf(text, "</%s>", element);
}

static void assembly_write(struct text *text, const struct call *call, const struct assembly *assembly)
{
	text_puts(text, "<Upload>");
	name_element(text, call, "Key", assembly->name);
	xml_element(text, "UploadId", assembly->id);
	xml_element(text, "StorageClass", storage_class_of(assembly));
	xml_time(text, "Initiated", assembly->created_us);
	text_puts(text, "</Upload>");
}

static void assemblies_write(struct text *text, const struct call *call, const struct assembly_query *query,
			     const struct assembly_page *page)
{
	xml_begin(text);
	text_puts(text, "<ListMultipartUploadsResult xmlns='" XML_NAMESPACE "'>");
	xml_element(text, "Bucket", query->bucket);
	name_element(text, call, "KeyMarker", query->after ? query->after : "");
	xml_element(text, "UploadIdMarker", query->after_id ? query->after_id : "");
	name_element(text, call, "NextKeyMarker", page->next);
	xml_element(text, "NextUploadIdMarker", page->next_id);
	name_element(text, call, "Delimiter", query->delimiter);
	name_element(text, call, "Prefix", query->prefix);
	xml_element(text, "EncodingType", call_query(call, "encoding-type"));
	xml_number(text, "MaxUploads", query->most);
	xml_element(text, "IsTruncated", page->next ? "true" : "false");
	for (size_t i = 0; i < page->count; i++)
		assembly_write(text, call, &page->assemblies[i]);
	for (size_t i = 0; i < page->prefix_count; i++) {
		text_puts(text, "<CommonPrefixes>");
		name_element(text, call, "Prefix", page->prefixes[i]);
		text_puts(text, "</CommonPrefixes>");
	}
	text_puts(text, "</ListMultipartUploadsResult>");
}

enum status plain_assembly_list(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	struct assembly_page page AUTO_ASSEMBLY_PAGE = { .count = 0 };
	struct assembly_query query = {
		.bucket = call_param(call, "bucket"),
		.prefix = call_query(call, "prefix"),
		.delimiter = call_query(call, "delimiter"),
		.after = call_query(call, "key-marker"),
		.after_id = call_query(call, "upload-id-marker"),
	};
	enum status rc = most_read(call, "max-uploads", &query.most, err);

	if (!rc)
		rc = assembly_list(context->objects, &query, &page, err);
	if (rc)
		return rc;
	assemblies_write(&call->answer, call, &query, &page);
	call->content_type = xml_media_type;
	return call->answer.failed ? error_no_memory(err) : STATUS_OK;
}
