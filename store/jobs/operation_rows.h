/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/operation_rows.h: stores an operation together with the change that it stands for. */
#include "store/jobs/operations.h"
#include "store/state_writer.h"

struct store;

/* The argument of deletion_change()'s run. */
struct deletion {
	const void *what;           /* the name, from the caller; borrowed */
	struct operation operation; /* set by the run with operation_row_insert() */
};

/* Runs @run with a struct deletion. *ret_operation is the caller's if it succeeds. */
enum status deletion_change(struct store *store, change_run run, const void *what,
			    struct operation *ret_operation, struct error *err);

/* Stores that COLLECTION/ID of the location was deleted; drops excess or old operations. *ret_operation is the
 * caller's. */
enum status operation_row_insert(struct change_scope *scope, const char *project, const char *location,
				 const char *collection, const char *id, struct operation *ret_operation,
				 struct error *err);
