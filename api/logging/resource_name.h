/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/logging/resource_name.h: parses the resource names in requests about logs. Pure. */
#include <stdbool.h>

#include "daemon/base/error.h"

struct logging_context;

/* Returns the id of the project with this id or number; the caller frees. */
char *project_resolve(const struct logging_context *context, const char *name);

/* Reads the project of "projects/P" or "projects/P/locations/L/buckets/B/views/V"; *ret_project is NULL for folders,
 * organizations and billing accounts, which have no logs here. INVALID_ARGUMENT: another form. */
enum status resource_name_read(const struct logging_context *context, const char *name, char **ret_project,
			       struct error *err);

/* Splits "projects/P/logs/NAME" (slashes in NAME are then encoded). INVALID_ARGUMENT: it is not such a name, or too
 * long. The caller frees both. */
enum status log_name_read(const struct logging_context *context, const char *name, char **ret_project,
			  char **ret_log, struct error *err);
