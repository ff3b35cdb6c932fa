/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/bucket_render.c: buckets as clients see them.
 * Source: https://cloud.google.com/storage/docs/json_api/v1/buckets#resource (read 2026-11-22) */
#include <inttypes.h>
#include <string.h>

#include "api/storage/bucket_parts.h"
#include "api/storage/parts.h"
#include "api/storage/resource.h"
#include "api/storage/storage.h"
#include "daemon/base/json.h"

/* Source: https://cloud.google.com/storage/docs/locations (read 2026-11-22) */
const char *location_type(const char *location)
{
	static const char *const multi[] = { "US", "EU", "ASIA" };
	static const char *const dual[] = { "NAM4", "EUR4", "EUR5", "EUR7", "EUR8", "ASIA1" };

	for (size_t i = 0; i < sizeof(multi) / sizeof(multi[0]); i++)
		if (strcmp(multi[i], location) == 0)
			return "multi-region";
	for (size_t i = 0; i < sizeof(dual) / sizeof(dual[0]); i++)
		if (strcmp(dual[i], location) == 0)
			return "dual-region";
	return "region";
}

const char *bucket_location(const struct bucket *bucket)
{
	const char *location = json_text_at(bucket->metadata, "location");

	return location ? location : "US";
}

static bool access_is_uniform(const struct bucket *bucket)
{
	const json_t *given = json_object_get(bucket->metadata, "iamConfiguration");

	return json_true_at(json_object_get(given, "uniformBucketLevelAccess"), "enabled") ||
	       json_true_at(json_object_get(given, "bucketPolicyOnly"), "enabled");
}

static void iam_write(struct text *text, const struct bucket *bucket)
{
	const json_t *given = json_object_get(bucket->metadata, "iamConfiguration");
	const char *prevention = json_text_at(given, "publicAccessPrevention");
	const char *uniform = access_is_uniform(bucket) ? "true" : "false";

	text_printf(text,
		    ",\"iamConfiguration\":{\"bucketPolicyOnly\":{\"enabled\":%s},"
		    "\"uniformBucketLevelAccess\":{\"enabled\":%s}",
		    uniform, uniform);
	string_write(text, "publicAccessPrevention", prevention ? prevention : "inherited");
	text_putc(text, '}');
}

static void link_write(struct text *text, const struct call *call, const struct bucket *bucket)
{
	struct text url AUTO_TEXT = { 0 };

	if (!*call->host)
		return;
	text_printf(&url, "%s://%s/storage/v1/b/%s", call_scheme(call), call->host, bucket->name);
	if (!url.failed)
		string_write(text, "selfLink", url.data);
	text->failed |= url.failed;
}

void bucket_write(struct text *text, const struct call *call, const struct bucket *bucket)
{
	static const char *const said[] = { "location", "storageClass", "iamConfiguration", NULL };
	const struct storage_context *context = call->context;
	const char *storage_class = json_text_at(bucket->metadata, "storageClass");
	char etag[ETAG_SIZE];

	etag_make(bucket->metageneration, -1, etag);
	text_puts(text, "{\"kind\":\"storage#bucket\"");
	link_write(text, call, bucket);
	string_write(text, "id", bucket->name);
	string_write(text, "name", bucket->name);
	string_write(text, "projectNumber", context->project_number);
	text_printf(text, ",\"generation\":\"%" PRId64 "\",\"metageneration\":\"%" PRId64 "\"",
		    bucket->created_us, bucket->metageneration);
	string_write(text, "location", bucket_location(bucket));
	string_write(text, "locationType", location_type(bucket_location(bucket)));
	string_write(text, "storageClass", storage_class ? storage_class : "STANDARD");
	string_write(text, "etag", etag);
	text_puts(text, ",\"timeCreated\":");
	time_write(text, bucket->created_us);
	text_puts(text, ",\"updated\":");
	time_write(text, bucket->updated_us);
	iam_write(text, bucket);
	members_write(text, bucket->metadata, said);
	text_putc(text, '}');
}

enum status bucket_answer(struct call *call, const struct bucket *bucket, struct error *err)
{
	bucket_write(&call->answer, call, bucket);
	return call->answer.failed ? error_no_memory(err) : STATUS_OK;
}
