/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/operation_rows.h: an operation stored together with what it is about. */
#include "store/jobs/operations.h"
#include "store/state_writer.h"

struct store;

/* What is given to the run of deletion_change(). */
struct deletion {
	const void *what;           /* its name, as the caller has it; borrowed */
	struct operation operation; /* the run's, by operation_row_insert() */
};

/* Runs @run with a struct deletion. *ret_operation is the caller's when it succeeds. */
enum status deletion_change(struct store *store, change_run run, const void *what,
			    struct operation *ret_operation, struct error *err);

/* That COLLECTION/ID of the location was deleted; drops operations that are too many or too old. *ret_operation is the
 * caller's. */
enum status operation_row_insert(struct change_scope *scope, const char *project, const char *location,
				 const char *collection, const char *id, struct operation *ret_operation,
				 struct error *err);
