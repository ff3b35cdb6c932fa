/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/handlers.h: handlers of the methods that transfer no bytes. Their rows are in routes.c; for other
 * handlers see parts.h. */
#include "api/http/http.h"

enum status buckets_insert(struct call *call, struct error *err);
enum status buckets_get(struct call *call, struct error *err);
enum status buckets_list(struct call *call, struct error *err);
enum status buckets_patch(struct call *call, struct error *err);
enum status buckets_update(struct call *call, struct error *err);
enum status buckets_delete(struct call *call, struct error *err);
enum status buckets_layout_get(struct call *call, struct error *err);
enum status buckets_policy_get(struct call *call, struct error *err);
enum status buckets_permissions_test(struct call *call, struct error *err);
/* Answers with an empty list, for resources that do not exist here: managed folders, notifications, access controls. */
enum status empty_list(struct call *call, struct error *err);
enum status service_account_get(struct call *call, struct error *err);

enum status objects_get(struct call *call, struct error *err);
enum status objects_list(struct call *call, struct error *err);
enum status objects_patch(struct call *call, struct error *err);
enum status objects_update(struct call *call, struct error *err);
enum status objects_delete(struct call *call, struct error *err);
enum status objects_copy(struct call *call, struct error *err);
enum status objects_rewrite(struct call *call, struct error *err);
enum status objects_move(struct call *call, struct error *err);
enum status objects_compose(struct call *call, struct error *err);
/* Refuses POST …/o without /upload/ before it. */
enum status objects_insert_refuse(struct call *call, struct error *err);
