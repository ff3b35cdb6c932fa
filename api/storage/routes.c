/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/handlers.h"
#include "api/storage/messages.h"
#include "api/storage/parts.h"
#include "api/storage/storage.h"

/* The revision is that of the public document with the same fields. */
const struct discovery_api storage_api = {
	.name = "storage",
	.version = "v1",
	.revision = "20260911",
	.title = "Cloud Storage JSON API",
	.description = "Buckets and objects: what jobs read, and what they leave behind.",
	.canonical_name = "Storage",
	.documentation_link = "https://cloud.google.com/storage/docs/json_api",
	.short_names = true,
};

#define END                                                                                                  \
	{                                                                                                    \
		.method = NULL                                                                               \
	}
#define BUCKET "/storage/v1/b/{bucket}"
#define OBJECT BUCKET "/o/{object}"
#define COPY_FROM(VERB)                                                                                      \
	"/storage/v1/b/{sourceBucket}/o/{sourceObject}/" VERB "/b/{destinationBucket}/o/{destinationObject}"

/* Rows without a body, with a body that the handler reads whole, and with a body that is handled while it arrives. */
#define PLAIN(METHOD, PATH, HANDLER, QUERY, ID, RESPONSE, HELP)                                              \
	{                                                                                                    \
		.method = (METHOD), .path = (PATH), .handler = (HANDLER), .query = &(QUERY),                 \
		.doc = METHOD_DOC_NAMED(ID, NULL, RESPONSE, HELP),                                           \
	}
#define BODY(METHOD, PATH, HANDLER, QUERY, ID, REQUEST, RESPONSE, HELP)                                      \
	{                                                                                                    \
		.method = (METHOD), .path = (PATH), .handler = (HANDLER), .query = &(QUERY),                 \
		.body = &raw_body, .doc = METHOD_DOC_NAMED(ID, &(REQUEST), RESPONSE, HELP),                  \
	}
#define MEDIA(METHOD, PATH, BEGIN, HANDLER)                                                                  \
	{                                                                                                    \
		.method = (METHOD), .path = (PATH), .handler = (HANDLER),                                    \
		.query = &storage_object_insert_query, .begin = (BEGIN), .page_types = PAGE_TYPES_TEXT,      \
		.response = &storage_object,                                                                 \
	}

const struct route storage_routes[] = {
	BODY("POST", "/storage/v1/b", buckets_insert, storage_bucket_insert_query, "buckets.insert",
	     storage_bucket, storage_bucket, "Makes a bucket."),
	PLAIN("GET", "/storage/v1/b", buckets_list, storage_bucket_list_query, "buckets.list",
	      storage_bucket_list, "Lists the buckets of a project."),
	PLAIN("GET", BUCKET, buckets_get, storage_bucket_query, "buckets.get", storage_bucket,
	      "Describes a bucket."),
	BODY("PATCH", BUCKET, buckets_patch, storage_bucket_query, "buckets.patch", storage_bucket,
	     storage_bucket, "Changes the members that are given."),
	BODY("PUT", BUCKET, buckets_update, storage_bucket_query, "buckets.update", storage_bucket,
	     storage_bucket, "Replaces all that can be changed."),
	PLAIN("DELETE", BUCKET, buckets_delete, storage_bucket_query, "buckets.delete", storage_no_fields,
	      "Deletes an empty bucket."),
	PLAIN("GET", BUCKET "/storageLayout", buckets_layout_get, storage_bucket_query,
	      "buckets.getStorageLayout", storage_bucket_layout, "Tells how a bucket is laid out."),
	PLAIN("GET", BUCKET "/iam", buckets_policy_get, storage_bucket_query, "buckets.getIamPolicy",
	      storage_policy, "Tells the access to a bucket."),
	PLAIN("GET", BUCKET "/iam/testPermissions", buckets_permissions_test, storage_permissions_query,
	      "buckets.testIamPermissions", storage_permissions, "Tells what the caller may do."),
	PLAIN("GET", BUCKET "/managedFolders", empty_list, storage_bucket_query, "managedFolders.list",
	      storage_managed_folder_list, "Lists managed folders: there are none."),
	PLAIN("GET", BUCKET "/notificationConfigs", empty_list, storage_bucket_query, "notifications.list",
	      storage_notification_list, "Lists notifications: there are none."),
	PLAIN("GET", BUCKET "/acl", empty_list, storage_bucket_query, "bucketAccessControls.list",
	      storage_access_control_list, "Lists the users of a bucket: everyone, without a list."),
	PLAIN("GET", BUCKET "/defaultObjectAcl", empty_list, storage_bucket_query,
	      "defaultObjectAccessControls.list", storage_access_control_list,
	      "Lists the users of new objects: everyone, without a list."),

	PLAIN("GET", BUCKET "/o", objects_list, storage_object_list_query, "objects.list",
	      storage_object_list, "Lists objects by name."),
	{ .method = "POST",
	  .path = BUCKET "/o",
	  .handler = objects_insert_refuse,
	  .body = &raw_body,
	  .query = &storage_object_insert_query,
	  .response = &storage_object },
	PLAIN("GET", OBJECT, objects_get, storage_object_get_query, "objects.get", storage_object,
	      "Describes an object, or gives its bytes."),
	BODY("PATCH", OBJECT, objects_patch, storage_object_write_query, "objects.patch", storage_object,
	     storage_object, "Changes the members that are given."),
	BODY("PUT", OBJECT, objects_update, storage_object_write_query, "objects.update", storage_object,
	     storage_object, "Replaces all metadata."),
	PLAIN("DELETE", OBJECT, objects_delete, storage_object_write_query, "objects.delete",
	      storage_no_fields, "Deletes an object for good."),
	PLAIN("GET", OBJECT "/acl", empty_list, storage_object_get_query, "objectAccessControls.list",
	      storage_access_control_list, "Lists the users of an object: everyone, without a list."),
	BODY("POST", OBJECT "/compose", objects_compose, storage_compose_query, "objects.compose",
	     storage_compose_request, storage_object, "Joins objects of a bucket."),
	BODY("POST", COPY_FROM("copyTo"), objects_copy, storage_object_copy_query, "objects.copy",
	     storage_object, storage_object, "Copies an object."),
	BODY("POST", COPY_FROM("rewriteTo"), objects_rewrite, storage_object_copy_query, "objects.rewrite",
	     storage_object, storage_rewrite_response, "Copies an object, in one call."),
	BODY("POST", BUCKET "/o/{sourceObject}/moveTo/o/{destinationObject}", objects_move,
	     storage_object_copy_query, "objects.move", storage_no_fields, storage_object,
	     "Gives an object another name."),
	PLAIN("GET", "/storage/v1/projects/{projectId}/serviceAccount", service_account_get,
	      storage_permissions_query, "projects.serviceAccount.get", storage_service_account,
	      "Tells the account that Cloud Storage itself uses."),

	MEDIA("POST", "/upload/storage/v1/b/{bucket}/o", objects_insert_begin, objects_insert),
	MEDIA("PUT", "/upload/storage/v1/b/{bucket}/o", objects_resume_begin, objects_resume),
	MEDIA("DELETE", "/upload/storage/v1/b/{bucket}/o", NULL, objects_resume_cancel),
	MEDIA("POST", "/resumable/upload/storage/v1/b/{bucket}/o", objects_insert_begin, objects_insert),
	MEDIA("PUT", "/resumable/upload/storage/v1/b/{bucket}/o", objects_resume_begin, objects_resume),
	MEDIA("DELETE", "/resumable/upload/storage/v1/b/{bucket}/o", NULL, objects_resume_cancel),
	{ .method = "GET",
	  .path = "/download/storage/v1/b/{bucket}/o/{object}",
	  .handler = objects_media_get,
	  .query = &storage_object_get_query,
	  .response = &storage_object },
	{ .method = "POST", .path = "/batch/storage/v1", .handler = batch_run, .body = &raw_body },
	{ .method = "POST", .path = "/batch", .handler = batch_run, .body = &raw_body },
	END,
};

#define ABSENT(method_, path_)                                                                               \
	{                                                                                                    \
		.method = (method_), .path = (path_)                                                         \
	}

const struct route storage_absent[] = {
	ABSENT("PUT", BUCKET "/iam"),
	ABSENT("POST", BUCKET "/lockRetentionPolicy"),
	ABSENT("POST", BUCKET "/relocate"),
	ABSENT("POST", BUCKET "/restore"),
	ABSENT("POST", BUCKET "/acl"),
	ABSENT("GET", BUCKET "/acl/{entity}"),
	ABSENT("PUT", BUCKET "/acl/{entity}"),
	ABSENT("PATCH", BUCKET "/acl/{entity}"),
	ABSENT("DELETE", BUCKET "/acl/{entity}"),
	ABSENT("POST", BUCKET "/defaultObjectAcl"),
	ABSENT("GET", BUCKET "/defaultObjectAcl/{entity}"),
	ABSENT("PUT", BUCKET "/defaultObjectAcl/{entity}"),
	ABSENT("PATCH", BUCKET "/defaultObjectAcl/{entity}"),
	ABSENT("DELETE", BUCKET "/defaultObjectAcl/{entity}"),
	ABSENT("POST", BUCKET "/notificationConfigs"),
	ABSENT("GET", BUCKET "/notificationConfigs/{notification}"),
	ABSENT("DELETE", BUCKET "/notificationConfigs/{notification}"),
	ABSENT("GET", BUCKET "/folders"),
	ABSENT("POST", BUCKET "/folders"),
	ABSENT("GET", BUCKET "/folders/{folder}"),
	ABSENT("DELETE", BUCKET "/folders/{folder}"),
	ABSENT("POST", BUCKET "/managedFolders"),
	ABSENT("GET", BUCKET "/managedFolders/{managedFolder}"),
	ABSENT("DELETE", BUCKET "/managedFolders/{managedFolder}"),
	ABSENT("GET", BUCKET "/anywhereCaches"),
	ABSENT("POST", BUCKET "/anywhereCaches"),
	ABSENT("GET", BUCKET "/operations"),
	ABSENT("POST", BUCKET "/o/watch"),
	ABSENT("POST", BUCKET "/o/bulkRestore"),
	ABSENT("POST", OBJECT "/restore"),
	ABSENT("GET", OBJECT "/iam"),
	ABSENT("PUT", OBJECT "/iam"),
	ABSENT("POST", OBJECT "/acl"),
	ABSENT("GET", OBJECT "/acl/{entity}"),
	ABSENT("PUT", OBJECT "/acl/{entity}"),
	ABSENT("PATCH", OBJECT "/acl/{entity}"),
	ABSENT("DELETE", OBJECT "/acl/{entity}"),
	ABSENT("GET", "/storage/v1/projects/{projectId}/hmacKeys"),
	ABSENT("POST", "/storage/v1/projects/{projectId}/hmacKeys"),
	ABSENT("GET", "/storage/v1/projects/{projectId}/hmacKeys/{accessId}"),
	ABSENT("PUT", "/storage/v1/projects/{projectId}/hmacKeys/{accessId}"),
	ABSENT("DELETE", "/storage/v1/projects/{projectId}/hmacKeys/{accessId}"),
	END,
};
