/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/operations.h: long-running operations of the location resources, for later requests of clients.
 *
 * Choice: all of them are done when they are stored, because only deletions are operations, and a deletion is one
 * commit. They survive restarts, and are dropped when they are 30 days old or there are 10,000 newer ones.
 * Thread: any. */
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

struct store;

enum { OPERATIONS_KEPT = 10000, OPERATION_DAYS_KEPT = 30 };

struct operation {
	int64_t id; /* the store's number */
	char *project, *location;
	char *operation_id; /* decimal digits */
	char *target;       /* the resource: "customJobs/123" */
	int64_t created_us;
};
void operation_deinit(struct operation *operation);
#define AUTO_OPERATION __attribute__((cleanup(operation_deinit)))

/* Identifies an operation, or a list of operations. */
struct operation_name {
	const char *project, *location;
	const char *target; /* only those of this resource; NULL: of all */
	const char *id;     /* NULL: all of them */
};

/* Reads an operation. NOT_FOUND: the text names it. */
enum status operation_get(struct store *store, const struct operation_name *name,
			  struct operation *ret_operation, struct error *err);
/* Deletes an operation. NOT_FOUND. */
enum status operation_delete(struct store *store, const struct operation_name *name, struct error *err);

struct operation_list {
	struct operation *operations;
	size_t count;
	char *next_page_token; /* NULL on the last page */
};
void operation_list_deinit(struct operation_list *list);
#define AUTO_OPERATION_LIST __attribute__((cleanup(operation_list_deinit)))

/* Reads a page, newest first. @filter: done and createTime in the grammar of store/filter/filter.h. INVALID_ARGUMENT:
 * field filter or page_token. */
enum status operation_list_page(struct store *store, const struct operation_name *name, const char *filter,
				unsigned page_size, const char *page_token, struct operation_list *ret_list,
				struct error *err);
