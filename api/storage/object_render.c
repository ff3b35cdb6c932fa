/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/object_render.c: objects as clients see them.
 * Source: https://cloud.google.com/storage/docs/json_api/v1/objects#resource (read 2026-11-22) */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "api/message/message_write.h"
#include "api/storage/bucket_parts.h"
#include "api/storage/messages.h"
#include "daemon/base/json.h"

static size_t varint_put(unsigned char *at, uint64_t number)
{
	size_t length = 0;

	for (; number >= 0x80; number >>= 7)
		at[length++] = (unsigned char)(number | 0x80);
	at[length++] = (unsigned char)number;
	return length;
}

/* Encodes a protocol buffer { 1: generation, 2: metageneration } in base64, as the service's etags are; a
 * bucket's etag has its metageneration only. */
void etag_make(int64_t first, int64_t second, char ret_etag[ETAG_SIZE])
{
	unsigned char bytes[2 * (1 + 10)];
	size_t length = 0;

	bytes[length++] = 1 << 3;
	length += varint_put(bytes + length, (uint64_t)first);
	if (second >= 0) {
		bytes[length++] = 2 << 3;
		length += varint_put(bytes + length, (uint64_t)second);
	}
	sodium_bin2base64(ret_etag, ETAG_SIZE, bytes, length, sodium_base64_VARIANT_ORIGINAL);
}
_Static_assert(sodium_base64_ENCODED_LEN(22, sodium_base64_VARIANT_ORIGINAL) <= ETAG_SIZE, "two numbers fit");

void object_etag(const struct object *object, char ret_etag[ETAG_SIZE])
{
	etag_make(object->generation, object->metageneration, ret_etag);
}

/* http://HOST/PREFIXstorage/v1/b/BUCKET/o/NAME */
static void link_write(struct writer *answer, const char *name, const struct call *call, const char *prefix,
		       const struct object *object, const char *query)
{
	struct text *text = member_begin(answer, name);

	text_printf(text, "\"%s://%s/%sstorage/v1/b/", call_scheme(call), call->host, prefix);
	text_percent(text, object->bucket, URL_UNRESERVED);
	text_puts(text, "/o/");
	text_percent(text, object->name, URL_UNRESERVED);
	text_printf(text, "%s\"", query);
}

static void links_write(struct writer *answer, const struct call *call, const struct object *object)
{
	static const char characters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:[]%";
	char query[64];

	if (!*call->host || call->host[strspn(call->host, characters)])
		return; /* HTTP/1.0, or an invalid host name */
	snprintf(query, sizeof(query), "?generation=%" PRId64 "&alt=media", object->generation);
	link_write(answer, "selfLink", call, "", object, "");
	link_write(answer, "mediaLink", call, "download/", object, query);
}

static void checksums_write(struct writer *answer, const struct object *object)
{
	char crc32c[CRC32C_TEXT_SIZE], md5[MD5_TEXT_SIZE];

	if (object->has_md5) {
		md5_encode(object->md5, md5);
		member_text(answer, "md5Hash", md5);
	}
	crc32c_encode(object->crc32c, crc32c);
	member_text(answer, "crc32c", crc32c);
	if (object->component_count)
		member_int(answer, "componentCount", object->component_count);
}

void object_write(struct text *text, const struct call *call, const struct object *object)
{
	static const char *const said[] = { "storageClass", NULL };
	const char *storage_class = json_text_at(object->metadata, "storageClass");
	struct writer answer = message_open(text, &storage_object);
	struct text id AUTO_TEXT = { 0 };
	char etag[ETAG_SIZE];

	object_etag(object, etag);
	text_printf(&id, "%s/%s/%" PRId64, object->bucket, object->name, object->generation);
	member_text(&answer, "kind", "storage#object");
	member_text(&answer, "id", id.data);
	links_write(&answer, call, object);
	member_text(&answer, "name", object->name);
	member_text(&answer, "bucket", object->bucket);
	member_int(&answer, "generation", object->generation);
	member_int(&answer, "metageneration", object->metageneration);
	member_text(&answer, "contentType", object->content_type);
	member_text(&answer, "storageClass", storage_class ? storage_class : "STANDARD");
	member_int(&answer, "size", object->size_bytes);
	checksums_write(&answer, object);
	member_text(&answer, "etag", etag);
	member_time(&answer, "timeCreated", object->created_us, TIME_MILLISECONDS);
	member_time(&answer, "updated", object->updated_us, TIME_MILLISECONDS);
	member_time(&answer, "timeStorageClassUpdated", object->created_us, TIME_MILLISECONDS);
	member_time(&answer, "timeFinalized", object->created_us, TIME_MILLISECONDS);
	members_value(&answer, object->metadata, said);
	message_close(&answer);
}

enum status object_answer(struct call *call, const struct object *object, struct error *err)
{
	(void)err;
	object_write(&call->answer, call, object);
	return STATUS_OK;
}
