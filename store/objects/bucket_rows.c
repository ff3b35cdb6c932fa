/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/bucket_rows.h"

#include <stdlib.h>

#include "daemon/base/json.h"

/* The columns, in the order of BUCKET_COLUMNS. */
enum {
	COLUMN_ID,
	COLUMN_NAME,
	COLUMN_PROJECT,
	COLUMN_CREATED,
	COLUMN_UPDATED,
	COLUMN_METAGENERATION,
	COLUMN_METADATA,
};

void bucket_deinit(struct bucket *bucket)
{
	free(bucket->name);
	free(bucket->project);
	json_decref(bucket->metadata);
	*bucket = (struct bucket){ 0 };
}

enum status bucket_row_copy(sqlite3_stmt *row, struct bucket *ret_bucket, struct error *err)
{
	struct bucket bucket AUTO_BUCKET = {
		.name = column_copy(row, COLUMN_NAME),
		.project = column_copy(row, COLUMN_PROJECT),
		.created_us = sqlite3_column_int64(row, COLUMN_CREATED),
		.updated_us = sqlite3_column_int64(row, COLUMN_UPDATED),
		.metageneration = sqlite3_column_int64(row, COLUMN_METAGENERATION),
	};
	enum status rc = json_parse_own(column_text(row, COLUMN_METADATA), &bucket.metadata, err);

	if (rc)
		return rc;
	*ret_bucket = bucket;
	bucket = (struct bucket){ 0 };
	return STATUS_OK;
}

/* Looks for a bucket. *ret_id is BUCKET_ABSENT if there is none. @ret_bucket may be NULL. */
enum status bucket_look(struct connection *connection, const char *name, int64_t *ret_id,
			struct bucket *ret_bucket, struct error *err)
{
	AUTO(statement) sqlite3_stmt *get = connection_statement(connection, BUCKET_BY_NAME);
	bool row = false;
	enum status rc;

	bind_text(get, ":name", name);
	rc = statement_step(get, &row, err);
	if (rc)
		return rc;
	*ret_id = row ? sqlite3_column_int64(get, COLUMN_ID) : BUCKET_ABSENT;
	return row && ret_bucket ? bucket_row_copy(get, ret_bucket, err) : STATUS_OK;
}

enum status bucket_not_found(struct error *err)
{
	return error_set(err, STATUS_NOT_FOUND, NULL, "The specified bucket does not exist.");
}

enum status bucket_load(struct connection *connection, const char *name, int64_t *ret_id,
			struct bucket *ret_bucket, struct error *err)
{
	enum status rc = bucket_look(connection, name, ret_id, ret_bucket, err);

	return !rc && *ret_id == BUCKET_ABSENT ? bucket_not_found(err) : rc;
}

enum status bucket_find(struct connection *connection, const char *name, int64_t *ret_id, struct error *err)
{
	return bucket_load(connection, name, ret_id, NULL, err);
}

const char *bucket_row_name(sqlite3_stmt *row)
{
	return column_text(row, COLUMN_NAME);
}
