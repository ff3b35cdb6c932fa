/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/object_rows.h: reads and writes the rows of objects. */
#include <stdbool.h>
#include <stdint.h>

#include "store/connection.h"
#include "store/objects/objects.h"

/* The result of looking for an object. It owns the object's strings. */
struct object_row {
	int64_t bucket; /* its number */
	bool found;
	struct object object;
	int64_t blob;
};
#define AUTO_OBJECT_ROW __attribute__((cleanup(object_row_deinit)))
void object_row_deinit(struct object_row *row);

/* Copies the current row. @bucket: the bucket's name. */
enum status object_row_copy(sqlite3_stmt *statement, const char *bucket, struct object *ret_object,
			    int64_t *ret_blob, struct error *err);

/* Looks for an object; there may be none. NOT_FOUND: there is no such bucket. */
enum status object_row_find(struct connection *connection, const char *bucket, const char *name,
			    struct object_row *ret_row, struct error *err);
/* As object_row_find(), but NOT_FOUND, with Cloud Storage's text, if there is no such object, or if it has another
 * generation (0: any). */
enum status object_row_get(struct connection *connection, const char *bucket, const char *name,
			   int64_t generation, struct object_row *ret_row, struct error *err);
/* Adds the current row of OBJECT_VIEW to the view of the name @wanted. */
enum status object_view_add(struct object_view *view, sqlite3_stmt *row, const char *bucket,
			    const char *wanted, struct error *err);
enum status object_not_found(const char *bucket, const char *name, struct error *err);

/* FAILED_PRECONDITION with Cloud Storage's text: a condition of a writing request does not hold. */
enum status conditions_demand(const struct conditions *conditions, int64_t generation, int64_t metageneration,
			      struct error *err);

/* An object to be stored. Strings are borrowed. */
struct object_draft {
	const char *bucket, *name;
	const struct conditions *conditions;
	const char *content_type; /* NULL: none */
	const char *metadata;     /* JSON */
	int64_t size_bytes;
	uint32_t crc32c;
	const unsigned char *md5; /* NULL: none */
	unsigned component_count;
	int64_t blob;
};
/* Inside a change: checks the conditions, stores the object in place of an earlier one, and leaves work on files to
 * post_commit.h. NOT_FOUND: the bucket; FAILED_PRECONDITION. */
enum status object_put(struct connection *connection, int64_t now_ns, const struct object_draft *draft,
		       struct object *ret_object, struct error *err);
/* Inside a change: a new generation: @now_ns in microseconds, or one more than the last if that is later. */
enum status generation_next(struct connection *connection, int64_t now_ns, int64_t *ret_generation,
			    struct error *err);

/* Inside a change: adds a row of work for post_commit.h. @name may be NULL; @blob 0: none. */
enum status post_commit_add(struct connection *connection, const char *bucket, const char *name, int64_t blob,
			    struct error *err);
