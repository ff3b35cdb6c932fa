/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/assembly_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/objects/bucket_rows.h"
#include "store/objects/object_rows.h"

/* The columns of ASSEMBLY_GET and ASSEMBLIES_FROM. */
enum {
	COLUMN_ID,
	COLUMN_NAME,
	COLUMN_CREATED,
	COLUMN_STORAGE_CLASS,
	COLUMN_CONTENT_TYPE,
	COLUMN_METADATA,
};

void assembly_deinit(struct assembly *assembly)
{
	free(assembly->name);
	free(assembly->storage_class);
	*assembly = (struct assembly){ .name = NULL };
}

void assembly_row_deinit(struct assembly_row *row)
{
	assembly_deinit(&row->assembly);
	free(row->content_type);
	free(row->metadata);
	*row = (struct assembly_row){ .bucket = 0 };
}

void assembly_row_copy(sqlite3_stmt *row, struct assembly *ret_assembly)
{
	snprintf(ret_assembly->id, sizeof(ret_assembly->id), "%s", column_text(row, COLUMN_ID));
	ret_assembly->name = column_copy(row, COLUMN_NAME);
	ret_assembly->storage_class = column_copy(row, COLUMN_STORAGE_CLASS);
	ret_assembly->created_us = sqlite3_column_int64(row, COLUMN_CREATED);
}

const char *assembly_row_name(sqlite3_stmt *row)
{
	return column_text(row, COLUMN_NAME);
}

static enum status assembly_not_found(struct error *err)
{
	error_set(err, STATUS_NOT_FOUND, NULL, "The requested upload was not found.");
	error_add_reason(err, "NoSuchUpload", NULL, NULL);
	return STATUS_NOT_FOUND;
}

enum status assembly_row_get(struct connection *connection, const struct assembly_key *key, int64_t now_us,
			     struct assembly_row *ret_row, struct error *err)
{
	struct assembly_row row AUTO_ASSEMBLY_ROW = { .bucket = 0 };
	bool found = false;
	enum status rc = bucket_find(connection, key->bucket, &row.bucket, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *get = connection_statement(connection, ASSEMBLY_GET);

	bind_text(get, ":id", key->id);
	bind_int(get, ":bucket", row.bucket);
	rc = statement_step(get, &found, err);
	if (rc)
		return rc;
	if (found) {
		assembly_row_copy(get, &row.assembly);
		row.content_type = column_copy(get, COLUMN_CONTENT_TYPE);
		row.metadata = column_copy(get, COLUMN_METADATA);
	}
	if (!found || strcmp(row.assembly.name, key->name) != 0 ||
	    row.assembly.created_us + SESSION_LIFETIME_US < now_us)
		return assembly_not_found(err);
	*ret_row = row;
	row = (struct assembly_row){ .bucket = 0 };
	return STATUS_OK;
}

enum status assembly_row_read(struct objects *objects, const struct assembly_key *key,
			      struct assembly_row *ret_row, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = objects_read(objects, &reader, err);

	return rc ? rc
		  : assembly_row_get(reader.connection, key, clock_wall_us(objects->clock), ret_row, err);
}

enum status assembly_drop(struct connection *connection, const char *id, const char *bucket,
			  struct error *err)
{
	AUTO(statement) sqlite3_stmt *drop = connection_statement(connection, ASSEMBLY_DELETE);
	AUTO(statement) sqlite3_stmt *parts = connection_statement(connection, PARTS_DELETE);
	enum status rc = STATUS_OK;

	bind_text(parts, ":assembly", id);
	while (statement_next(parts, &rc, err))
		rc = post_commit_add(connection, bucket, NULL, sqlite3_column_int64(parts, 0), err);
	bind_text(drop, ":id", id);
	return rc ? rc : statement_run(drop, err);
}

/* Removes assemblies one at a time, as long as the statement @choose returns one, with its bucket's
 * name. */
static enum status chosen_drop(struct connection *connection, sqlite3_stmt *choose, struct error *err)
{
	bool found;

	for (;;) {
		AUTO(string) char *id = NULL;
		AUTO(string) char *bucket = NULL;
		enum status rc = statement_step(choose, &found, err);

		if (rc || !found)
			return rc;
		id = column_copy(choose, 0);
		bucket = column_copy(choose, 1);
		sqlite3_reset(choose);
		rc = assembly_drop(connection, id, bucket, err);
		if (rc)
			return rc;
	}
}

enum status assemblies_expire(struct connection *connection, int64_t before_us, struct error *err)
{
	AUTO(statement) sqlite3_stmt *choose = connection_statement(connection, ASSEMBLY_OLD);

	bind_int(choose, ":before", before_us);
	return chosen_drop(connection, choose, err);
}

enum status assemblies_of_bucket_drop(struct connection *connection, int64_t bucket, struct error *err)
{
	AUTO(statement) sqlite3_stmt *choose = connection_statement(connection, ASSEMBLY_OF_BUCKET);

	bind_int(choose, ":bucket", bucket);
	return chosen_drop(connection, choose, err);
}

/* The columns of PART_GET and PARTS_AFTER. */
enum {
	PART_COLUMN_NUMBER,
	PART_COLUMN_SIZE,
	PART_COLUMN_CREATED,
	PART_COLUMN_CRC32C,
	PART_COLUMN_MD5,
	PART_COLUMN_BLOB,
};

struct part_row part_row_read(sqlite3_stmt *statement)
{
	struct part_row row = {
		.part = { .number = (unsigned)sqlite3_column_int(statement, PART_COLUMN_NUMBER),
			  .size_bytes = sqlite3_column_int64(statement, PART_COLUMN_SIZE),
			  .created_us = sqlite3_column_int64(statement, PART_COLUMN_CREATED),
			  .crc32c = (uint32_t)sqlite3_column_int64(statement, PART_COLUMN_CRC32C) },
		.blob = sqlite3_column_int64(statement, PART_COLUMN_BLOB),
	};

	if (sqlite3_column_bytes(statement, PART_COLUMN_MD5) == sizeof(row.part.md5))
		memcpy(row.part.md5, sqlite3_column_blob(statement, PART_COLUMN_MD5), sizeof(row.part.md5));
	return row;
}
