/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/bucket_render.c: buckets as clients see them.
 * Source: https://cloud.google.com/storage/docs/json_api/v1/buckets#resource (read 2026-11-22) */
#include <string.h>

#include "api/message/message_write.h"
#include "api/storage/bucket_parts.h"
#include "api/storage/messages.h"
#include "api/storage/parts.h"
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

static void iam_write(struct writer *answer, const struct bucket *bucket)
{
	static const char *const switches[] = { "bucketPolicyOnly", "uniformBucketLevelAccess" };
	const json_t *given = json_object_get(bucket->metadata, "iamConfiguration");
	const char *prevention = json_text_at(given, "publicAccessPrevention");
	struct writer configuration = member_message(answer, "iamConfiguration");

	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
		struct writer access = member_message(&configuration, switches[i]);

		member_bool(&access, "enabled", access_is_uniform(bucket));
		message_close(&access);
	}
	member_text(&configuration, "publicAccessPrevention", prevention ? prevention : "inherited");
	message_close(&configuration);
}

void bucket_write(struct text *text, const struct call *call, const struct bucket *bucket)
{
	static const char *const said[] = { "location", "storageClass", "iamConfiguration", NULL };
	const struct storage_context *context = call->context;
	const char *storage_class = json_text_at(bucket->metadata, "storageClass");
	struct writer answer = message_open(text, &storage_bucket);
	struct text url AUTO_TEXT = { 0 };
	char etag[ETAG_SIZE];

	etag_make(bucket->metageneration, -1, etag);
	if (*call->host)
		text_printf(&url, "%s://%s/storage/v1/b/%s", call_scheme(call), call->host, bucket->name);
	member_text(&answer, "kind", "storage#bucket");
	member_text(&answer, "selfLink", url.data);
	member_text(&answer, "id", bucket->name);
	member_text(&answer, "name", bucket->name);
	member_printf(&answer, "projectNumber", "%s", context->project_number);
	member_int(&answer, "generation", bucket->created_us);
	member_int(&answer, "metageneration", bucket->metageneration);
	member_text(&answer, "location", bucket_location(bucket));
	member_text(&answer, "locationType", location_type(bucket_location(bucket)));
	member_text(&answer, "storageClass", storage_class ? storage_class : "STANDARD");
	member_text(&answer, "etag", etag);
	member_time(&answer, "timeCreated", bucket->created_us, TIME_MILLISECONDS);
	member_time(&answer, "updated", bucket->updated_us, TIME_MILLISECONDS);
	iam_write(&answer, bucket);
	members_value(&answer, bucket->metadata, said);
	message_close(&answer);
}

enum status bucket_answer(struct call *call, const struct bucket *bucket, struct error *err)
{
	(void)err;
	bucket_write(&call->answer, call, bucket);
	return STATUS_OK;
}
