/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/logging/resource_name.h: the names of projects, and of others, that requests about logs carry. Pure. */
#include <stdbool.h>

#include "daemon/base/error.h"

struct logging_context;

/* The id of the project that @name (an id or a number) means; the caller frees. */
char *project_resolve(const struct logging_context *context, const char *name);

/* The project of "projects/P" or "projects/P/locations/L/buckets/B/views/V"; *ret_project is NULL for
 * folders, organizations and billing accounts, which hold nothing here. INVALID_ARGUMENT otherwise. */
enum status resource_name_read(const struct logging_context *context, const char *name, char **ret_project,
			       struct error *err);

/* Splits "projects/P/logs/NAME" (NAME may also come with slashes, which are then encoded).
 * INVALID_ARGUMENT when it is none, or too long. The caller frees both. */
enum status log_name_read(const struct logging_context *context, const char *name, char **ret_project,
			  char **ret_log, struct error *err);
