/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/object_render.c: objects as clients see them.
 * Source: https://cloud.google.com/storage/docs/json_api/v1/objects#resource (read 2026-11-22) */
#include <inttypes.h>
#include <sodium.h>
#include <string.h>

#include "api/storage/bucket_parts.h"
#include "api/storage/resource.h"
#include "daemon/base/json.h"

static size_t varint_put(unsigned char *at, uint64_t number)
{
	size_t length = 0;

	for (; number >= 0x80; number >>= 7)
		at[length++] = (unsigned char)(number | 0x80);
	at[length++] = (unsigned char)number;
	return length;
}

/* Base64 of a protocol buffer { 1: generation, 2: metageneration }, as the service's own look; of a bucket the
 * metageneration alone. */
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

/* "http://HOST/PREFIXstorage/v1/b/BUCKET/o/NAME" as a member, without its closing quote. */
static void link_write(struct text *text, const struct call *call, const char *name, const char *prefix,
		       const struct object *object)
{
	text_printf(text, ",\"%s\":\"%s://%s/%sstorage/v1/b/", name, call_scheme(call), call->host, prefix);
	text_percent(text, object->bucket, URL_UNRESERVED);
	text_puts(text, "/o/");
	text_percent(text, object->name, URL_UNRESERVED);
}

static void links_write(struct text *text, const struct call *call, const struct object *object)
{
	static const char characters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:[]%";

	if (!*call->host || call->host[strspn(call->host, characters)])
		return; /* HTTP/1.0, or a name that is none */
	link_write(text, call, "selfLink", "", object);
	text_putc(text, '"');
	link_write(text, call, "mediaLink", "download/", object);
	text_printf(text, "?generation=%" PRId64 "&alt=media\"", object->generation);
}

static void id_write(struct text *text, const struct object *object)
{
	struct text id AUTO_TEXT = { 0 };

	text_printf(&id, "%s/%s/%" PRId64, object->bucket, object->name, object->generation);
	if (!id.failed)
		string_write(text, "id", id.data);
	text->failed |= id.failed;
}

static void checksums_write(struct text *text, const struct object *object)
{
	char crc32c[CRC32C_TEXT_SIZE], md5[MD5_TEXT_SIZE];

	if (object->has_md5) {
		md5_encode(object->md5, md5);
		string_write(text, "md5Hash", md5);
	}
	crc32c_encode(object->crc32c, crc32c);
	string_write(text, "crc32c", crc32c);
	if (object->component_count)
		text_printf(text, ",\"componentCount\":%u", object->component_count);
}

static void times_write(struct text *text, const struct object *object)
{
	const struct {
		const char *name;
		int64_t time_us;
	} times[] = {
		{ "timeCreated", object->created_us },
		{ "updated", object->updated_us },
		{ "timeStorageClassUpdated", object->created_us },
		{ "timeFinalized", object->created_us },
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		text_printf(text, ",\"%s\":", times[i].name);
		time_write(text, times[i].time_us);
	}
}

void object_write(struct text *text, const struct call *call, const struct object *object)
{
	static const char *const said[] = { "storageClass", NULL };
	const char *storage_class = json_text_at(object->metadata, "storageClass");
	char etag[ETAG_SIZE];

	object_etag(object, etag);
	text_puts(text, "{\"kind\":\"storage#object\"");
	id_write(text, object);
	links_write(text, call, object);
	string_write(text, "name", object->name);
	string_write(text, "bucket", object->bucket);
	text_printf(text, ",\"generation\":\"%" PRId64 "\",\"metageneration\":\"%" PRId64 "\"",
		    object->generation, object->metageneration);
	if (object->content_type)
		string_write(text, "contentType", object->content_type);
	string_write(text, "storageClass", storage_class ? storage_class : "STANDARD");
	text_printf(text, ",\"size\":\"%" PRId64 "\"", object->size_bytes);
	checksums_write(text, object);
	string_write(text, "etag", etag);
	times_write(text, object);
	members_write(text, object->metadata, said);
	text_putc(text, '}');
}

enum status object_answer(struct call *call, const struct object *object, struct error *err)
{
	object_write(&call->answer, call, object);
	return call->answer.failed ? error_no_memory(err) : STATUS_OK;
}
