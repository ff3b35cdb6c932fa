/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/object_rows.h"

#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "store/objects/bucket_rows.h"

/* The columns in the order of OBJECT_COLUMNS. */
enum {
	COLUMN_NAME,
	COLUMN_GENERATION,
	COLUMN_METAGENERATION,
	COLUMN_SIZE,
	COLUMN_CREATED,
	COLUMN_UPDATED,
	COLUMN_CONTENT_TYPE,
	COLUMN_METADATA,
	COLUMN_CRC32C,
	COLUMN_MD5,
	COLUMN_COMPONENT_COUNT,
	COLUMN_BLOB,
	COLUMN_HOLDER, /* of OBJECT_BY_NAME only: the bucket */
};

void object_deinit(struct object *object)
{
	free(object->bucket);
	free(object->name);
	free(object->content_type);
	json_decref(object->metadata);
	*object = (struct object){ 0 };
}

void object_row_deinit(struct object_row *row)
{
	object_deinit(&row->object);
}

enum status object_row_copy(sqlite3_stmt *statement, const char *bucket, struct object *ret_object,
			    int64_t *ret_blob, struct error *err)
{
	struct object object AUTO_OBJECT = {
		.bucket = memory_strdup(bucket),
		.name = column_copy(statement, COLUMN_NAME),
		.generation = sqlite3_column_int64(statement, COLUMN_GENERATION),
		.metageneration = sqlite3_column_int64(statement, COLUMN_METAGENERATION),
		.size_bytes = sqlite3_column_int64(statement, COLUMN_SIZE),
		.created_us = sqlite3_column_int64(statement, COLUMN_CREATED),
		.updated_us = sqlite3_column_int64(statement, COLUMN_UPDATED),
		.content_type = column_copy(statement, COLUMN_CONTENT_TYPE),
		.crc32c = (uint32_t)sqlite3_column_int64(statement, COLUMN_CRC32C),
		.has_md5 = sqlite3_column_bytes(statement, COLUMN_MD5) == sizeof(object.md5),
		.component_count = (unsigned)sqlite3_column_int(statement, COLUMN_COMPONENT_COUNT),
	};
	enum status rc = json_parse_own(column_text(statement, COLUMN_METADATA), &object.metadata, err);

	if (rc)
		return rc;
	if (object.has_md5)
		memcpy(object.md5, sqlite3_column_blob(statement, COLUMN_MD5), sizeof(object.md5));
	*ret_blob = sqlite3_column_int64(statement, COLUMN_BLOB);
	*ret_object = object;
	object = (struct object){ 0 };
	return STATUS_OK;
}

enum status object_not_found(const char *bucket, const char *name, struct error *err)
{
	error_set(err, STATUS_NOT_FOUND, NULL, "No such object: %s/%s", bucket, name);
	error_add_reason(err, "NoSuchKey", NULL, NULL);
	return STATUS_NOT_FOUND;
}

enum status object_row_find(struct connection *connection, const char *bucket, const char *name,
			    struct object_row *ret_row, struct error *err)
{
	AUTO(statement) sqlite3_stmt *get = connection_statement(connection, OBJECT_BY_NAME);
	struct object_row row = { 0 };
	bool has_bucket = false;
	enum status rc;

	bind_text(get, ":bucket", bucket);
	bind_text(get, ":name", name);
	rc = statement_step(get, &has_bucket, err);
	if (!rc && !has_bucket)
		rc = bucket_not_found(err);
	if (rc)
		return rc;
	row.bucket = sqlite3_column_int64(get, COLUMN_HOLDER);
	row.found = sqlite3_column_type(get, COLUMN_NAME) != SQLITE_NULL;
	if (row.found)
		rc = object_row_copy(get, bucket, &row.object, &row.blob, err);
	if (!rc)
		*ret_row = row;
	return rc;
}

enum status object_row_get(struct connection *connection, const char *bucket, const char *name,
			   int64_t generation, struct object_row *ret_row, struct error *err)
{
	struct object_row row AUTO_OBJECT_ROW = { 0 };
	enum status rc = object_row_find(connection, bucket, name, &row, err);

	if (rc)
		return rc;
	if (!row.found || (generation && generation != row.object.generation))
		return object_not_found(bucket, name, err);
	*ret_row = row;
	row = (struct object_row){ 0 };
	return STATUS_OK;
}

enum status object_view_add(struct object_view *view, sqlite3_stmt *row, const char *bucket,
			    const char *wanted, struct error *err)
{
	const char *name = column_text(row, COLUMN_NAME);
	const size_t length = strlen(wanted);
	int64_t blob;

	if (strcmp(name, wanted) == 0) {
		view->is_object = true;
		return object_row_copy(row, bucket, &view->object, &blob, err);
	}
	if (strncmp(name, wanted, length) == 0 && name[length] == '/') {
		view->is_directory = true;
		if (!name[length + 1])
			view->directory_us = sqlite3_column_int64(row, COLUMN_UPDATED);
	}
	return STATUS_OK;
}

enum status conditions_demand(const struct conditions *conditions, int64_t generation, int64_t metageneration,
			      struct error *err)
{
	if (conditions_check(conditions, generation, metageneration) == CONDITIONS_HOLD)
		return STATUS_OK;
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
			 "At least one of the pre-conditions you specified did not hold.");
}

/* Generations are times in microseconds, increasing, as in the cloud. The last one is stored in the database only,
 * because a number in memory would not be rolled back with a change. */
enum status generation_next(struct connection *connection, int64_t now_ns, int64_t *ret_generation,
			    struct error *err)
{
	AUTO(statement) sqlite3_stmt *next = connection_statement(connection, GENERATION_NEXT);
	bool row = false;
	enum status rc;

	bind_int(next, ":now", now_ns / 1000);
	rc = statement_step(next, &row, err);
	if (!rc && !row)
		rc = error_set(err, STATUS_INTERNAL, NULL,
			       "storage.db is damaged: its counter of generations is missing. Stop the daemon and "
			       "put a copy of the file back.");
	if (!rc)
		*ret_generation = sqlite3_column_int64(next, 0);
	return rc;
}

static enum status draft_insert(struct connection *connection, int64_t now_ns, int64_t bucket,
				int64_t generation, const struct object_draft *draft, struct error *err)
{
	AUTO(statement) sqlite3_stmt *put = connection_statement(connection, OBJECT_PUT);

	bind_int(put, ":bucket", bucket);
	bind_text(put, ":name", draft->name);
	bind_int(put, ":generation", generation);
	bind_int(put, ":size", draft->size_bytes);
	bind_int(put, ":now", now_ns / 1000);
	bind_text(put, ":content_type", draft->content_type);
	bind_text(put, ":metadata", draft->metadata);
	bind_int(put, ":crc32c", draft->crc32c);
	if (draft->md5)
		sqlite3_bind_blob(put, sqlite3_bind_parameter_index(put, ":md5"), draft->md5, 16,
				  SQLITE_STATIC);
	bind_int(put, ":component_count", draft->component_count);
	bind_int(put, ":blob", draft->blob);
	return statement_run(put, err);
}

enum status object_put(struct connection *connection, int64_t now_ns, const struct object_draft *draft,
		       struct object *ret_object, struct error *err)
{
	struct object_row before AUTO_OBJECT_ROW = { 0 };
	struct object_row after AUTO_OBJECT_ROW = { 0 };
	int64_t generation;
	enum status rc = object_row_find(connection, draft->bucket, draft->name, &before, err);

	if (!rc)
		rc = conditions_demand(draft->conditions, before.object.generation,
				       before.object.metageneration, err);
	if (!rc)
		rc = generation_next(connection, now_ns, &generation, err);
	if (!rc)
		rc = draft_insert(connection, now_ns, before.bucket, generation, draft, err);
	if (!rc)
		rc = post_commit_add(connection, draft->bucket, draft->name, before.blob, err);
	if (!rc)
		rc = object_row_get(connection, draft->bucket, draft->name, generation, &after, err);
	if (rc)
		return rc;
	*ret_object = after.object;
	after.object = (struct object){ 0 };
	return STATUS_OK;
}

enum status post_commit_add(struct connection *connection, const char *bucket, const char *name, int64_t blob,
			    struct error *err)
{
	AUTO(statement) sqlite3_stmt *add = connection_statement(connection, POST_COMMIT_ADD);

	bind_text(add, ":bucket", bucket);
	bind_text(add, ":name", name);
	if (blob)
		bind_int(add, ":blob", blob);
	return statement_run(add, err);
}
