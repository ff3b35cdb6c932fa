/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/bucket_update.c: PATCH and PUT /storage/v1/b/{bucket}. */
#include "api/storage/bucket_parts.h"
#include "api/storage/bucket_rules.h"
#include "api/storage/handlers.h"
#include "api/storage/messages.h"
#include "api/storage/resource.h"
#include "api/storage/storage.h"
#include "daemon/base/json.h"

/* Makes the new metadata of the bucket. Its location and its name cannot change. */
static enum status metadata_make(const struct bucket *bucket, const json_t *base, const json_t *given,
				 json_t **ret_metadata, struct error *err)
{
	json_t *location = json_object_get(bucket->metadata, "location");
	AUTO(json) json_t *metadata = NULL;
	enum status rc = resource_merge(&storage_bucket, base, given, &metadata, err);

	if (rc)
		return rc;
	json_object_del(metadata, "name");
	json_object_del(metadata, "location");
	if (location)
		json_object_set(metadata, "location", location);
	rc = bucket_rules_check(metadata, err);
	if (!rc)
		*ret_metadata = TAKE(metadata);
	return rc;
}

/* A change_try. */
static enum status bucket_change(struct call *call, enum change change, const json_t *given, bool *ret_again,
				 struct error *err)
{
	const struct storage_context *context = call->context;
	const struct conditions asked = bucket_conditions_read(call);
	struct conditions seen = CONDITIONS_NONE;
	struct bucket bucket AUTO_BUCKET = { 0 };
	struct bucket changed AUTO_BUCKET = { 0 };
	AUTO(json) json_t *metadata = NULL;
	enum status rc = bucket_get(context->objects, call_param(call, "bucket"), &bucket, err);

	if (!rc && conditions_check(&asked, 1, bucket.metageneration) != CONDITIONS_HOLD)
		rc = error_conditions(err);
	if (!rc)
		rc = metadata_make(&bucket, change == CHANGE_MERGES ? bucket.metadata : NULL, given,
				   &metadata, err);
	if (rc)
		return rc;
	seen.metageneration_match = bucket.metageneration;
	rc = bucket_update(context->objects, bucket.name, &seen, metadata, &changed, err);
	*ret_again = rc == STATUS_FAILED_PRECONDITION;
	return rc ? rc : bucket_answer(call, &changed, err);
}

enum status buckets_patch(struct call *call, struct error *err)
{
	return resource_change(call, bucket_change, CHANGE_MERGES, err);
}

enum status buckets_update(struct call *call, struct error *err)
{
	return resource_change(call, bucket_change, CHANGE_REPLACES, err);
}
