/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/operation_rows.h: an operation stored together with what it is about. */
#include "store/operations.h"

struct change_scope;

/* That COLLECTION/ID of the location was deleted; drops operations that are too many or too old. *ret_operation is the
 * caller's. */
enum status operation_row_insert(struct change_scope *scope, const char *project, const char *location,
				 const char *collection, const char *id, struct operation *ret_operation,
				 struct error *err);
