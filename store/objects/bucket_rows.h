/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/bucket_rows.h: reads the rows of buckets. */
#include "store/connection.h"
#include "store/objects/objects.h"

enum { BUCKET_ABSENT = 0 };

/* Copies the current row, which must have BUCKET_COLUMNS. */
enum status bucket_row_copy(sqlite3_stmt *row, struct bucket *ret_bucket, struct error *err);
const char *bucket_row_name(sqlite3_stmt *row);
/* Looks for a bucket. *ret_id is BUCKET_ABSENT if there is none. @ret_bucket may be NULL. */
enum status bucket_look(struct connection *connection, const char *name, int64_t *ret_id,
			struct bucket *ret_bucket, struct error *err);
/* Reads a bucket; NOT_FOUND with Cloud Storage's text if there is none. */
enum status bucket_load(struct connection *connection, const char *name, int64_t *ret_id,
			struct bucket *ret_bucket, struct error *err);
/* As bucket_load(), but reads only the bucket's number. */
enum status bucket_find(struct connection *connection, const char *name, int64_t *ret_id, struct error *err);
enum status bucket_not_found(struct error *err);
