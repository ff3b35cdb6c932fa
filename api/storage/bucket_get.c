/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/bucket_get.c: GET /storage/v1/b/{bucket}, and the other methods that read one bucket. */
#include <string.h>

#include "api/message/message_write.h"
#include "api/storage/bucket_parts.h"
#include "api/storage/handlers.h"
#include "api/storage/messages.h"
#include "api/storage/storage.h"
#include "daemon/base/json.h"

static enum status bucket_find(const struct call *call, struct bucket *ret_bucket, struct error *err)
{
	const struct storage_context *context = call->context;
	enum status rc = caller_admit(call, err);

	return rc ? rc : bucket_get(context->objects, call_param(call, "bucket"), ret_bucket, err);
}

enum status buckets_get(struct call *call, struct error *err)
{
	struct bucket bucket AUTO_BUCKET = { 0 };
	bool unchanged = false;
	enum status rc = bucket_find(call, &bucket, err);

	if (!rc)
		rc = soft_deleted_refuse(call, err);
	if (!rc)
		rc = bucket_conditions_answer(call, &bucket, &unchanged, err);
	return rc || unchanged ? rc : bucket_answer(call, &bucket, err);
}

enum status buckets_layout_get(struct call *call, struct error *err)
{
	struct bucket bucket AUTO_BUCKET = { 0 };
	struct writer answer;
	enum status rc = bucket_find(call, &bucket, err);

	if (rc)
		return rc;
	answer = message_open(&call->answer, &storage_bucket_layout);
	member_text(&answer, "kind", "storage#storageLayout");
	member_text(&answer, "bucket", bucket.name);
	member_text(&answer, "location", bucket_location(&bucket));
	member_text(&answer, "locationType", location_type(bucket_location(&bucket)));
	member_json(&answer, "hierarchicalNamespace", "{\"enabled\":false}");
	message_close(&answer);
	return STATUS_OK;
}

/* The policy of every new bucket. Source: https://cloud.google.com/storage/docs/access-control/iam-roles (read
 * 2026-11-22) */
enum status buckets_policy_get(struct call *call, struct error *err)
{
	struct bucket bucket AUTO_BUCKET = { 0 };
	AUTO(json) json_t *policy = NULL;
	enum status rc = bucket_find(call, &bucket, err);

	if (rc)
		return rc;
	policy = json_pack("{s:s, s:s+, s:i, s:s, s:[{s:s, s:[s+, s+]}, {s:s, s:[s+]}]}", "kind",
			   "storage#policy", "resourceId", "projects/_/buckets/", bucket.name, "version", 1,
			   "etag", "CAE=", "bindings", "role", "roles/storage.legacyBucketOwner", "members",
			   "projectEditor:", bucket.project, "projectOwner:", bucket.project, "role",
			   "roles/storage.legacyBucketReader", "members", "projectViewer:", bucket.project);
	json_write(&call->answer, policy);
	return STATUS_OK;
}

enum status buckets_permissions_test(struct call *call, struct error *err)
{
	const json_t *asked = json_object_get(call->query, "permissions");
	struct bucket bucket AUTO_BUCKET = { 0 };
	struct writer answer;
	enum status rc = bucket_find(call, &bucket, err);

	if (rc)
		return rc;
	answer = message_open(&call->answer, &storage_permissions);
	member_text(&answer, "kind", "storage#testIamPermissionsResponse");
	if (json_array_size(asked))
		member_value(&answer, "permissions", asked);
	message_close(&answer);
	return STATUS_OK;
}

static const char *list_kind(const char *path)
{
	static const struct {
		const char *end, *kind;
	} kinds[] = {
		{ "/managedFolders", "storage#managedFolders" },
		{ "/notificationConfigs", "storage#notifications" },
		{ "{bucket}/acl", "storage#bucketAccessControls" },
		{ "/defaultObjectAcl", "storage#objectAccessControls" },
	};
	const size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const size_t end = strlen(kinds[i].end);

		if (length > end && strcmp(path + length - end, kinds[i].end) == 0)
			return kinds[i].kind;
	}
	return "storage#objectAccessControls";
}

enum status empty_list(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	const char *name = call_param(call, "object");
	struct bucket bucket AUTO_BUCKET = { 0 };
	struct object object AUTO_OBJECT = { 0 };
	enum status rc = bucket_find(call, &bucket, err);

	if (!rc && name)
		rc = object_get(context->objects, bucket.name, name, 0, &object, err);
	if (rc)
		return rc;
	text_printf(&call->answer, "{\"kind\":\"%s\"}", list_kind(call->route->path));
	return STATUS_OK;
}

enum status service_account_get(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	enum status rc = caller_admit(call, err);

	if (rc)
		return rc;
	text_printf(&call->answer,
		    "{\"kind\":\"storage#serviceAccount\","
		    "\"email_address\":\"service-%s@gs-project-accounts.iam.gserviceaccount.com\"}",
		    context->project_number);
	return STATUS_OK;
}
