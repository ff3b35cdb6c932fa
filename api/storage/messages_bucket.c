/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/messages.h"

#define END                                                                                                  \
	{                                                                                                    \
		NULL, FIELD_STRING, 0, NULL, NULL, NULL                                                      \
	}
#define PLAIN(name, type, help)                                                                              \
	{                                                                                                    \
		name, type, 0, NULL, NULL, help                                                              \
	}
/* A field for which 0 and false differ from unset. */
#define SET(name, type, help)                                                                                \
	{                                                                                                    \
		name, type, FIELD_PRESENCE, NULL, NULL, help                                                 \
	}
#define OUTPUT(name, type, help)                                                                             \
	{                                                                                                    \
		name, type, FIELD_OUTPUT_ONLY, NULL, NULL, help                                              \
	}
#define LIST(name, type, help)                                                                               \
	{                                                                                                    \
		name, type, FIELD_REPEATED, NULL, NULL, help                                                 \
	}
#define CHOICE(name, type, help)                                                                             \
	{                                                                                                    \
		name, FIELD_ENUM, 0, type, NULL, help                                                        \
	}
#define OBJECT(name, flags, message, help)                                                                   \
	{                                                                                                    \
		name, FIELD_MESSAGE, flags, NULL, message, help                                              \
	}
#define KIND(value) PLAIN("kind", FIELD_STRING, value)

static const struct field switch_fields[] = {
	SET("enabled", FIELD_BOOL, "Whether it is on."),
	OUTPUT("lockedTime", FIELD_TIMESTAMP, "Until when it can be changed."),
	END,
};
static const struct message access_switch = { "google.storage.v1.Bucket.UniformBucketLevelAccess",
					      switch_fields, "Access is set by policies alone." };
static const struct field iam_fields[] = {
	OBJECT("bucketPolicyOnly", 0, &access_switch, "The older name of uniformBucketLevelAccess."),
	OBJECT("uniformBucketLevelAccess", 0, &access_switch, "Access is set by policies alone."),
	PLAIN("publicAccessPrevention", FIELD_STRING, "inherited or enforced."),
	END,
};
static const struct message iam_configuration = { "google.storage.v1.Bucket.IamConfiguration", iam_fields,
						  "How access is set; without effect." };

static const struct field versioning_fields[] = {
	SET("enabled", FIELD_BOOL, "Keep what is replaced; without effect."),
	END,
};
static const struct message versioning = { "google.storage.v1.Bucket.Versioning", versioning_fields,
					   "Whether old generations are kept; without effect." };

static const struct field retention_fields[] = {
	PLAIN("retentionPeriod", FIELD_INT64, "Seconds."),
	OUTPUT("effectiveTime", FIELD_TIMESTAMP, "Since when."),
	OUTPUT("isLocked", FIELD_BOOL, "Whether it can be changed."),
	END,
};
static const struct message retention = { "google.storage.v1.Bucket.RetentionPolicy", retention_fields,
					  "How long objects must be kept; without effect." };

static const struct field soft_delete_fields[] = {
	SET("retentionDurationSeconds", FIELD_INT64, "Seconds; 0: deleted objects are gone."),
	OUTPUT("effectiveTime", FIELD_TIMESTAMP, "Since when."),
	END,
};
static const struct message soft_delete = { "google.storage.v1.Bucket.SoftDeletePolicy", soft_delete_fields,
					    "How long deleted objects are kept; without effect." };

static const struct field bucket_fields[] = {
	OUTPUT("kind", FIELD_STRING, "storage#bucket."),
	OUTPUT("selfLink", FIELD_STRING, "URL of this resource."),
	OUTPUT("id", FIELD_STRING, "The name."),
	PLAIN("name", FIELD_STRING, "3 to 63 lowercase letters, digits, '-', '_' and '.'."),
	OUTPUT("projectNumber", FIELD_INT64, "Project that it belongs to."),
	OUTPUT("generation", FIELD_INT64, "Tells buckets of the same name apart."),
	OUTPUT("metageneration", FIELD_INT64, "Which metadata: 1, and one more for every change."),
	PLAIN("location", FIELD_STRING, "Region or multi-region, US unless given: kept, without effect."),
	OUTPUT("locationType", FIELD_STRING, "region, dual-region or multi-region."),
	PLAIN("storageClass", FIELD_STRING, "STANDARD, NEARLINE, COLDLINE, ARCHIVE: kept, without effect."),
	OUTPUT("etag", FIELD_STRING, "A new value after every change."),
	OUTPUT("timeCreated", FIELD_TIMESTAMP, "When it was made."),
	OUTPUT("updated", FIELD_TIMESTAMP, "When the metadata changed last."),
	{ "labels", FIELD_STRING, FIELD_MAP, NULL, NULL, "At most 64 names and values." },
	OBJECT("iamConfiguration", 0, &iam_configuration, "How access is set; without effect."),
	OBJECT("versioning", 0, &versioning, "Whether old generations are kept; without effect."),
	PLAIN("lifecycle", FIELD_STRUCT, "When objects are deleted: kept, without effect."),
	{ "cors", FIELD_STRUCT, FIELD_REPEATED, NULL, NULL, "What browsers may do: kept, without effect." },
	PLAIN("website", FIELD_STRUCT, "Kept, without effect."),
	PLAIN("logging", FIELD_STRUCT, "Kept, without effect."),
	PLAIN("encryption", FIELD_STRUCT, "Kept, without effect."),
	PLAIN("billing", FIELD_STRUCT, "Kept, without effect."),
	PLAIN("autoclass", FIELD_STRUCT, "Kept, without effect."),
	PLAIN("hierarchicalNamespace", FIELD_STRUCT, "Kept, without effect."),
	PLAIN("customPlacementConfig", FIELD_STRUCT, "Kept, without effect."),
	OBJECT("retentionPolicy", 0, &retention, "How long objects must be kept; without effect."),
	OBJECT("softDeletePolicy", 0, &soft_delete, "How long deleted objects are kept; without effect."),
	SET("defaultEventBasedHold", FIELD_BOOL, "Kept, without effect."),
	PLAIN("rpo", FIELD_STRING, "Kept, without effect."),
	END,
};
static const char *const bucket_unset[] = {
	"acl",   "defaultObjectAcl", "hardDeleteTime", "ipFilter",       "objectRetention",
	"owner", "satisfiesPZI",     "satisfiesPZS",   "softDeleteTime", NULL
};
const struct message storage_bucket = { "google.storage.v1.Bucket", bucket_fields,
					"A bucket: a name under which objects have theirs.", bucket_unset };

static const struct field list_fields[] = {
	KIND("storage#buckets."),
	PLAIN("nextPageToken", FIELD_STRING, "Asks for the next page; absent on the last."),
	OBJECT("items", FIELD_REPEATED, &storage_bucket, "The buckets, by name."),
	END,
};
static const char *const list_unset[] = { "unreachable", NULL };
const struct message storage_bucket_list = { "google.storage.v1.Buckets", list_fields, "A page of buckets.",
					     list_unset };

static const struct field layout_fields[] = {
	KIND("storage#storageLayout."),
	PLAIN("bucket", FIELD_STRING, "Name of the bucket."),
	PLAIN("location", FIELD_STRING, "Where it is."),
	PLAIN("locationType", FIELD_STRING, "region, dual-region or multi-region."),
	PLAIN("hierarchicalNamespace", FIELD_STRUCT, "Whether folders are things of their own: never."),
	END,
};
static const char *const layout_unset[] = { "customPlacementConfig", NULL };
const struct message storage_bucket_layout = { "google.storage.v1.BucketStorageLayout", layout_fields,
					       "How a bucket is laid out.", layout_unset };

static const struct field policy_fields[] = {
	KIND("storage#policy."),
	PLAIN("resourceId", FIELD_STRING, "projects/_/buckets/BUCKET."),
	PLAIN("version", FIELD_INT32, "1."),
	PLAIN("etag", FIELD_STRING, "A new value after every change."),
	LIST("bindings", FIELD_STRUCT, "Roles and their members."),
	END,
};
const struct message storage_policy = { "google.storage.v1.Policy", policy_fields,
					"Access to a bucket: everyone may do everything." };

static const struct field permissions_fields[] = {
	KIND("storage#testIamPermissionsResponse."),
	LIST("permissions", FIELD_STRING, "What the caller may do of what was asked: all of it."),
	END,
};
const struct message storage_permissions = { "google.storage.v1.TestIamPermissionsResponse",
					     permissions_fields, "What the caller may do." };

static const struct field account_fields[] = {
	KIND("storage#serviceAccount."),
	PLAIN("email_address", FIELD_STRING, "The project's service agent of Cloud Storage."),
	END,
};
const struct message storage_service_account = { "google.storage.v1.ServiceAccount", account_fields,
						 "The account that Cloud Storage itself uses." };

static const struct field items_fields[] = {
	PLAIN("kind", FIELD_STRING, "What is listed."),
	LIST("items", FIELD_STRUCT, "Always empty."),
	END,
};
static const char *const folders_unset[] = { "nextPageToken", NULL };
const struct message storage_managed_folder_list = { "google.storage.v1.ManagedFolders", items_fields,
						     "Managed folders: there are none.", folders_unset };
const struct message storage_notification_list = { "google.storage.v1.Notifications", items_fields,
						   "Notifications: there are none." };
const struct message storage_access_control_list = { "google.storage.v1.AccessControls", items_fields,
						     "Access control lists: there are none." };

/* ---- queries ---- */

/* Sorted, as refusals list them. */
static const struct enum_value projections[] = {
	{ "full", 1, "All properties." },
	{ "noAcl", 2, "All properties but the access control lists." },
	{ .name = NULL },
};
const struct enum_type storage_projection = { "google.storage.v1.Projection", projections, .any_case = true };

static const struct enum_value bucket_acls[] = {
	{ "authenticatedRead", 1, "Owners own it; every Google account reads it." },
	{ "private", 2, "Owners own it; it is private to them." },
	{ "projectPrivate", 3, "Owners own it; the project's members have what their roles say." },
	{ "publicRead", 4, "Owners own it; everybody reads it." },
	{ "publicReadWrite", 5, "Owners own it; everybody reads and writes it." },
	{ .name = NULL },
};
const struct enum_type storage_bucket_acl = { "google.storage.v1.PredefinedBucketAcl", bucket_acls, .any_case = true };

static const struct enum_value object_acls[] = {
	{ "authenticatedRead", 1, "Owners own it; every Google account reads it." },
	{ "bucketOwnerFullControl", 2, "Owners own it; so do the bucket's owners." },
	{ "bucketOwnerRead", 3, "Owners own it; the bucket's owners read it." },
	{ "private", 4, "Owners own it; it is private to them." },
	{ "projectPrivate", 5, "Owners own it; the project's members have what their roles say." },
	{ "publicRead", 6, "Owners own it; everybody reads it." },
	{ .name = NULL },
};
const struct enum_type storage_object_acl = { "google.storage.v1.PredefinedObjectAcl", object_acls, .any_case = true };

#define COMMON                                                                                               \
	CHOICE("projection", &storage_projection, "Accepted: there are no access control lists to leave out."), \
		PLAIN("userProject", FIELD_STRING, "Accepted: nothing is billed."),                          \
		CHOICE("predefinedAcl", &storage_bucket_acl, "Accepted: there are no access control lists."),        \
		CHOICE("predefinedDefaultObjectAcl", &storage_object_acl,                                            \
		      "Accepted: there are no access control lists.")

static const struct field query_fields[] = {
	SET("ifMetagenerationMatch", FIELD_INT64, "Only if this is the metageneration."),
	SET("ifMetagenerationNotMatch", FIELD_INT64, "Only if this is not the metageneration."),
	PLAIN("softDeleted", FIELD_BOOL, "Refused: what is deleted is gone."),
	COMMON,
	END,
};
const struct message storage_bucket_query = { "google.storage.v1.BucketRequest", query_fields,
					      "What has to hold." };

static const struct field insert_query_fields[] = {
	{ "project", FIELD_STRING, FIELD_REQUIRED, NULL, NULL, "Project that gets the bucket." },
	PLAIN("enableObjectRetention", FIELD_BOOL, "Accepted: objects are not retained."),
	COMMON,
	END,
};
const struct message storage_bucket_insert_query = { "google.storage.v1.InsertBucketRequest",
						     insert_query_fields, "Where the bucket goes." };

static const struct field list_query_fields[] = {
	{ "project", FIELD_STRING, FIELD_REQUIRED, NULL, NULL, "Lists the buckets of this project." },
	PLAIN("prefix", FIELD_STRING, "Only names that begin with this."),
	SET("maxResults", FIELD_INT64,
	    "The maximum number of buckets in an answer: 1000 unless given, never more."),
	PLAIN("pageToken", FIELD_STRING, "nextPageToken of the previous answer."),
	PLAIN("softDeleted", FIELD_BOOL, "Refused: what is deleted is gone."),
	COMMON,
	END,
};
const struct message storage_bucket_list_query = { "google.storage.v1.ListBucketsRequest", list_query_fields,
						   "Asks for a page of buckets." };

static const struct field permissions_query_fields[] = {
	LIST("permissions", FIELD_STRING, "What is asked about."),
	PLAIN("userProject", FIELD_STRING, "Accepted: nothing is billed."),
	END,
};
const struct message storage_permissions_query = { "google.storage.v1.TestIamPermissionsRequest",
						   permissions_query_fields, "Asks what the caller may do." };
