/* SPDX-License-Identifier: Apache-2.0 */
/* store/objects/assembly_parts.c: the parts of an upload in parts. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "store/objects/assembly_rows.h"
#include "store/objects/uploads.h"

/* ---- receiving a part ---- */

enum status part_begin(struct objects *objects, const struct assembly_key *key, unsigned number,
		       struct upload **ret_upload, struct error *err)
{
	struct assembly_row row AUTO_ASSEMBLY_ROW = { .bucket = 0 };
	const struct object_target target = { .bucket = key->bucket,
					      .name = key->name,
					      .conditions = CONDITIONS_NONE };
	enum status rc = assembly_row_read(objects, key, &row, err);

	if (rc)
		return rc;
	AUTO(upload) struct upload *upload = memory_calloc(1, sizeof(*upload));

	upload->objects = objects;
	upload->part_number = number;
	snprintf(upload->assembly, sizeof(upload->assembly), "%s", row.assembly.id);
	blob_writer_init(&upload->own, &objects->files, blob_number_make(&objects->files));
	upload_target_copy(&target, &upload->wanted);
	rc = blob_writer_open(&upload->own, err);
	if (rc)
		return rc;
	*ret_upload = TAKE(upload);
	return STATUS_OK;
}

struct part_change {
	const struct upload *upload;
	struct part part;
};

/* Removes the part that has had the number until now. */
static enum status number_free(struct connection *connection, const struct upload *upload, struct error *err)
{
	AUTO(statement) sqlite3_stmt *delete = connection_statement(connection, PART_DELETE);
	bool row = false;
	enum status rc;

	bind_text(delete, ":assembly", upload->assembly);
	bind_int(delete, ":number", upload->part_number);
	rc = statement_step(delete, &row, err);
	if (rc || !row)
		return rc;
	return post_commit_add(connection, upload->wanted.bucket, NULL, sqlite3_column_int64(delete, 0), err);
}

static enum status part_finish_run(struct connection *connection, int64_t now_ns, void *arg,
				   struct error *err)
{
	struct part_change *change = arg;
	const struct upload *upload = change->upload;
	const struct assembly_key key = { upload->wanted.bucket, upload->wanted.name, upload->assembly };
	struct assembly_row row AUTO_ASSEMBLY_ROW = { .bucket = 0 };
	enum status rc = assembly_row_get(connection, &key, now_ns / 1000, &row, err);

	if (!rc)
		rc = number_free(connection, upload, err);
	if (rc)
		return rc;
	change->part.created_us = now_ns / 1000;
	AUTO(statement) sqlite3_stmt *insert = connection_statement(connection, PART_INSERT);

	bind_text(insert, ":assembly", upload->assembly);
	bind_int(insert, ":number", upload->part_number);
	bind_int(insert, ":size", change->part.size_bytes);
	bind_int(insert, ":now", change->part.created_us);
	bind_int(insert, ":crc32c", change->part.crc32c);
	sqlite3_bind_blob(insert, sqlite3_bind_parameter_index(insert, ":md5"), change->part.md5,
			  sizeof(change->part.md5), SQLITE_STATIC);
	bind_int(insert, ":blob", upload->own.blob);
	return statement_run(insert, err);
}

enum status part_finish(struct upload *upload, struct part *ret_part, struct error *err)
{
	struct part_change change = { .upload = upload, .part = { .number = upload->part_number } };
	struct checksums sums;
	enum status rc = upload_sums(upload, &sums, err);

	if (rc)
		return rc;
	change.part.size_bytes = upload->own.written;
	change.part.crc32c = sums.crc32c;
	memcpy(change.part.md5, sums.md5, sizeof(sums.md5));
	rc = objects_change(upload->objects, part_finish_run, &change, err);
	if (rc)
		return rc;
	upload->finished = true;
	*ret_part = change.part;
	return STATUS_OK;
}

/* ---- listing ---- */

void part_page_deinit(struct part_page *page)
{
	free(page->parts);
	*page = (struct part_page){ .parts = NULL };
}

static enum status page_fill(sqlite3_stmt *rows, unsigned most, struct part_page *page, struct error *err)
{
	bool row = false;
	enum status rc;

	for (;;) {
		rc = statement_step(rows, &row, err);
		if (rc || !row)
			return rc;
		page->more = page->count == most;
		if (page->more)
			return STATUS_OK;
		page->parts[page->count++] = part_row_read(rows).part;
	}
}

enum status part_list(struct objects *objects, const struct assembly_key *key, unsigned after, unsigned most,
		      struct part_page *ret_page, struct error *err)
{
	struct part_page page AUTO_PART_PAGE = { .parts = memory_calloc(most, sizeof(*page.parts)) };
	struct assembly_row row AUTO_ASSEMBLY_ROW = { .bucket = 0 };
	struct reader reader AUTO_READER = { 0 };
	enum status rc = objects_read(objects, &reader, err);

	if (!rc)
		rc = assembly_row_get(reader.connection, key, clock_wall_us(objects->clock), &row, err);
	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, PARTS_AFTER);

	bind_text(rows, ":assembly", key->id);
	bind_int(rows, ":after", after);
	rc = page_fill(rows, most, &page, err);
	if (rc)
		return rc;
	*ret_page = page;
	page = (struct part_page){ .parts = NULL };
	return STATUS_OK;
}
