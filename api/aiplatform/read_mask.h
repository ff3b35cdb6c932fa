/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/read_mask.h: which fields of a resource a list is to show. Pure. Thread: any.
 * Source: https://google.aip.dev/157 (read 2026-11-22) */
#include "daemon/base/error.h"

struct message;

/* @mask: canonical, lowerCamelCase paths joined by commas; may be NULL. *ret_mask is what fields_mask_write() takes, or
 * NULL: all is shown ("*" or nothing). INVALID_ARGUMENT on read_mask: a path that @message has not. */
enum status read_mask_check(const struct message *message, const char *mask, const char **ret_mask,
			    struct error *err);
