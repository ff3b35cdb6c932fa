/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/messages.h: the messages of the Cloud Storage JSON API, as far as trainyard has its methods. Clients may
 * write those fields of a resource that do not have the flag FIELD_OUTPUT_ONLY.
 * Source: https://cloud.google.com/storage/docs/json_api/v1 (read 2026-11-22) */
#include "api/message/message.h"

/* The values of parameters about access control lists. */
extern const struct enum_type storage_projection, storage_bucket_acl, storage_object_acl;

/* messages_bucket.c */
extern const struct message storage_bucket;
extern const struct message storage_bucket_list;
extern const struct message storage_bucket_layout;
extern const struct message storage_policy;
extern const struct message storage_permissions;
extern const struct message storage_service_account;
extern const struct message storage_managed_folder_list;
extern const struct message storage_notification_list;
extern const struct message storage_access_control_list;
extern const struct message storage_bucket_query;        /* ifMetagenerationMatch, projection … */
extern const struct message storage_bucket_insert_query; /* project … */
extern const struct message storage_bucket_list_query;
extern const struct message storage_permissions_query;

/* messages_object.c */
extern const struct message storage_object;
extern const struct message storage_object_list;
extern const struct message storage_compose_request;
extern const struct message storage_rewrite_response;
extern const struct message storage_object_list_query;
extern const struct message storage_object_write_query; /* patch, update, delete */
extern const struct message storage_object_copy_query;  /* copyTo, rewriteTo, moveTo */
extern const struct message storage_compose_query;
extern const struct message storage_no_fields;
/* storage_object_get_query, storage_object_insert_query: parts.h */
