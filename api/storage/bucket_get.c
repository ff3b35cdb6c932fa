/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/bucket_get.c: GET /storage/v1/b/{bucket}, and what else is asked about one bucket. */
#include <string.h>

#include "api/storage/bucket_parts.h"
#include "api/storage/handlers.h"
#include "api/storage/resource.h"
#include "api/storage/storage.h"
#include "daemon/base/json.h"

static enum status bucket_find(const struct call *call, struct bucket *ret_bucket, struct error *err)
{
	const struct storage_context *context = call->context;
	enum status rc = caller_admit(call, err);

	return rc ? rc : bucket_get(context->objects, call_param(call, "bucket"), ret_bucket, err);
}

static enum status answer_check(const struct call *call, struct error *err)
{
	return call->answer.failed ? error_no_memory(err) : STATUS_OK;
}

enum status buckets_get(struct call *call, struct error *err)
{
	struct bucket bucket AUTO_BUCKET = { 0 };
	bool unchanged = false;
	enum status rc = bucket_find(call, &bucket, err);

	if (!rc)
		rc = soft_deleted_refuse(call, err);
	if (!rc)
		rc = bucket_conditions_judge(call, &bucket, &unchanged, err);
	return rc || unchanged ? rc : bucket_answer(call, &bucket, err);
}

enum status buckets_layout_get(struct call *call, struct error *err)
{
	struct bucket bucket AUTO_BUCKET = { 0 };
	enum status rc = bucket_find(call, &bucket, err);

	if (rc)
		return rc;
	text_puts(&call->answer, "{\"kind\":\"storage#storageLayout\"");
	string_write(&call->answer, "bucket", bucket.name);
	string_write(&call->answer, "location", bucket_location(&bucket));
	string_write(&call->answer, "locationType", location_type(bucket_location(&bucket)));
	text_puts(&call->answer, ",\"hierarchicalNamespace\":{\"enabled\":false}}");
	return answer_check(call, err);
}

/* What every new bucket has. Source: https://cloud.google.com/storage/docs/access-control/iam-roles (read 2026-11-22) */
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
	if (!policy)
		return error_no_memory(err);
	json_write(&call->answer, policy);
	return answer_check(call, err);
}

enum status buckets_permissions_test(struct call *call, struct error *err)
{
	const json_t *asked = json_object_get(call->query, "permissions");
	struct bucket bucket AUTO_BUCKET = { 0 };
	enum status rc = bucket_find(call, &bucket, err);

	if (rc)
		return rc;
	text_puts(&call->answer, "{\"kind\":\"storage#testIamPermissionsResponse\"");
	if (json_array_size(asked)) {
		text_puts(&call->answer, ",\"permissions\":");
		json_write(&call->answer, asked);
	}
	text_putc(&call->answer, '}');
	return answer_check(call, err);
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
	return answer_check(call, err);
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
	return answer_check(call, err);
}
