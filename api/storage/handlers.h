/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/handlers.h: the methods that transfer no bytes. Their rows are in routes.c; for the others see parts.h. */
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
/* Lists of things that buckets and objects never have here: managed folders, notifications, access controls. */
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
/* POST …/o without /upload/ in front. */
enum status objects_insert_refuse(struct call *call, struct error *err);
