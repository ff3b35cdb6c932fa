/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/resource.h: resources as clients write them: whole, or as a patch. Pure. Thread: any. */
#include <jansson.h>
#include <stddef.h>

#include "daemon/base/error.h"

struct message;

/* Parses a body: zero bytes are {}. INVALID_ARGUMENT: no JSON object. */
enum status resource_parse(const char *data, size_t length, json_t **ret_given, struct error *err);

/* What @given makes of @base (NULL: nothing yet): members replace, objects are merged, null removes, all by @table:
 * what no client may write and what it does not know is passed over. In canonical form (api/message/message.h).
 * INVALID_ARGUMENT: types.
 * Source: RFC 7396; https://cloud.google.com/storage/docs/json_api/v1/how-tos/performance#patch (read 2026-11-22) */
enum status resource_merge(const struct message *table, const json_t *base, const json_t *given,
			   json_t **ret_merged, struct error *err);

/* Takes a string member out; NULL when there is none. */
char *resource_take(json_t *resource, const char *member);

/* The member storageClass, if there is one, in capitals; clients may write it otherwise. INVALID_ARGUMENT: it is no class. */
enum status storage_class_read(json_t *resource, struct error *err);
