/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/resource.h: resources written by clients, whole or as a patch. Pure. Thread: any. */
#include <jansson.h>
#include <stddef.h>

#include "daemon/base/error.h"

struct message;

/* Parses a body: no bytes count as {}. INVALID_ARGUMENT: not a JSON object. */
enum status resource_parse(const char *data, size_t length, json_t **ret_given, struct error *err);

/* Applies @given to @base (NULL: empty) by @table: members replace, objects are merged, null removes; members that
 * clients cannot write, and unknown ones, are ignored. The result is canonical (api/message/message.h).
 * INVALID_ARGUMENT: wrong types. Source: RFC 7396;
 * https://cloud.google.com/storage/docs/json_api/v1/how-tos/performance#patch (read 2026-11-22) */
enum status resource_merge(const struct message *table, const json_t *base, const json_t *given,
			   json_t **ret_merged, struct error *err);

/* Removes and returns a string member; NULL: there is none. */
char *resource_take(json_t *resource, const char *member);

/* Converts the member storageClass, if there is one, to capitals. INVALID_ARGUMENT: it is not a storage class. */
enum status storage_class_read(json_t *resource, struct error *err);
