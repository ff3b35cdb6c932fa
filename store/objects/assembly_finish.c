/* SPDX-License-Identifier: Apache-2.0 */
/* store/objects/assembly_finish.c: parts become an object.
 * Source: https://cloud.google.com/storage/docs/xml-api/post-object-complete (read 2026-11-22) */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/crc32c.h"
#include "daemon/base/memory.h"
#include "store/objects/assembly_rows.h"
#include "store/objects/uploads.h"

/* The state of joining. */
struct joining {
	struct objects *objects;
	const struct assembly_key *key;
	struct assembly_row row;
	struct part_row *parts;
	size_t count;
	int64_t blob, size_bytes;
	bool owns_blob; /* the blob belongs to no part */
	uint32_t crc32c;
	struct object object;
};

static void joining_deinit(struct joining *joining)
{
	assembly_row_deinit(&joining->row);
	free(joining->parts);
	if (joining->owns_blob)
		blob_remove(&joining->objects->files, joining->blob);
}

/* ---- checking the client's list of parts ---- */

static enum status refuse(struct error *err, const char *code, const char *sentence, unsigned number)
{
	char details[48];

	snprintf(details, sizeof(details), "Part number %u.", number);
	error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s", sentence);
	error_add_reason(err, code, "details", details);
	return STATUS_INVALID_ARGUMENT;
}

static enum status order_check(const struct part_claim *claims, size_t count, struct error *err)
{
	for (size_t i = 1; i < count; i++)
		if (claims[i].number <= claims[i - 1].number)
			return refuse(
				err, "InvalidPartOrder",
				"The list of parts was not in ascending order. Parts must be ordered by part number.",
				claims[i].number);
	return STATUS_OK;
}

static enum status part_find(struct connection *connection, const struct assembly_key *key,
			     const struct part_claim *claim, struct part_row *ret_row, struct error *err)
{
	AUTO(statement) sqlite3_stmt *get = connection_statement(connection, PART_GET);
	bool found = false;
	enum status rc;

	bind_text(get, ":assembly", key->id);
	bind_int(get, ":number", claim->number);
	rc = statement_step(get, &found, err);
	if (rc)
		return rc;
	if (found)
		*ret_row = part_row_read(get);
	if (found && claim->has_md5 && memcmp(claim->md5, ret_row->part.md5, sizeof(claim->md5)) == 0)
		return STATUS_OK;
	return refuse(err, "InvalidPart",
		      "One or more of the specified parts could not be found. The part may not have been "
		      "uploaded, or the specified entity tag may not match the part's entity tag.",
		      claim->number);
}

static enum status sizes_check(const struct joining *joining, struct error *err)
{
	int64_t sum = 0;

	for (size_t i = 0; i < joining->count; i++) {
		const struct part *part = &joining->parts[i].part;

		if (part->size_bytes < PART_LEAST_BYTES && i + 1 < joining->count)
			return refuse(err, "EntityTooSmall",
				      "Your proposed upload is smaller than the minimum allowed object size.",
				      part->number);
		sum += part->size_bytes;
		if (sum > OBJECT_MOST_BYTES)
			return refuse(err, "EntityTooLarge",
				      "Your proposed upload is larger than the maximum object size.",
				      part->number);
	}
	return STATUS_OK;
}

static enum status parts_find(struct joining *joining, const struct part_claim *claims, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = objects_read(joining->objects, &reader, err);

	if (!rc)
		rc = assembly_row_get(reader.connection, joining->key, clock_wall_us(joining->objects->clock),
				      &joining->row, err);
	if (!rc)
		rc = order_check(claims, joining->count, err);
	for (size_t i = 0; !rc && i < joining->count; i++)
		rc = part_find(reader.connection, joining->key, &claims[i], &joining->parts[i], err);
	return rc ? rc : sizes_check(joining, err);
}

/* ---- joining the bytes ---- */

/* Sets the error for a part without a file: the part was replaced, or the assembly has ended
 * since. */
static enum status part_missing(const struct joining *joining, struct error *err)
{
	struct assembly_row row AUTO_ASSEMBLY_ROW = { .bucket = 0 };
	enum status rc = assembly_row_read(joining->objects, joining->key, &row, err);

	return rc ? rc
		  : error_set(err, STATUS_ABORTED, NULL,
			      "A part was replaced while the upload was being completed.");
}

static enum status part_append(struct joining *joining, const struct part_row *row, int to_fd,
			       struct error *err)
{
	int fd = blob_open(&joining->objects->files, row->blob);
	enum status rc;

	if (fd < 0)
		return errno == ENOENT ? part_missing(joining, err) : file_error(err, errno, "read a part");
	rc = file_join(fd, row->part.size_bytes, to_fd, joining->size_bytes, err);
	close(fd);
	joining->size_bytes += row->part.size_bytes;
	joining->crc32c = crc32c_concat(joining->crc32c, row->part.crc32c, (uint64_t)row->part.size_bytes);
	return rc;
}

static enum status parts_append(struct joining *joining, struct error *err)
{
	int fd;
	enum status rc;

	joining->blob = blob_number_make(&joining->objects->files);
	rc = blob_upload_open(&joining->objects->files, joining->blob, &fd, err);
	if (rc)
		return rc;
	joining->owns_blob = true;
	for (size_t i = 0; !rc && i < joining->count; i++)
		rc = part_append(joining, &joining->parts[i], fd, err);
	close(fd);
	return rc;
}

/* If there is only one part, its file becomes the object's. It is in use then, so post_commit.h does
 * not remove it. */
static enum status bytes_join(struct joining *joining, struct error *err)
{
	const struct part_row *only = &joining->parts[0];

	if (joining->count > 1)
		return parts_append(joining, err);
	joining->blob = only->blob;
	joining->size_bytes = only->part.size_bytes;
	joining->crc32c = only->part.crc32c;
	return STATUS_OK;
}

/* ---- the change ---- */

/* If an object takes over the file of its only part: checks that the part was not replaced
 * meanwhile. */
static enum status part_confirm(struct connection *connection, const struct joining *joining,
				struct error *err)
{
	const struct part_row *only = &joining->parts[0];
	struct part_claim claim = { .number = only->part.number, .has_md5 = true };
	struct part_row now = { .blob = 0 };
	enum status rc;

	if (joining->owns_blob)
		return STATUS_OK;
	memcpy(claim.md5, only->part.md5, sizeof(claim.md5));
	rc = part_find(connection, joining->key, &claim, &now, err);
	if (!rc && now.blob != only->blob)
		rc = error_set(err, STATUS_ABORTED, NULL,
			       "A part was replaced while the upload was being completed.");
	return rc;
}

static enum status assembly_finish_run(struct connection *connection, int64_t now_ns, void *arg,
				       struct error *err)
{
	static const struct conditions none = CONDITIONS_NONE;
	struct joining *joining = arg;
	struct assembly_row row AUTO_ASSEMBLY_ROW = { .bucket = 0 };
	const struct object_draft draft = {
		.bucket = joining->key->bucket,
		.name = joining->key->name,
		.conditions = &none,
		.content_type = joining->row.content_type,
		.metadata = joining->row.metadata,
		.size_bytes = joining->size_bytes,
		.crc32c = joining->crc32c,
		.blob = joining->blob,
	};
	enum status rc = assembly_row_get(connection, joining->key, now_ns / 1000, &row, err);

	if (!rc)
		rc = part_confirm(connection, joining, err);
	if (!rc)
		rc = object_put(connection, now_ns, &draft, &joining->object, err);
	return rc ? rc : assembly_drop(connection, joining->key->id, joining->key->bucket, err);
}

enum status assembly_finish(struct objects *objects, const struct assembly_key *key,
			    const struct part_claim *claims, size_t count, struct object *ret_object,
			    struct error *err)
{
	struct joining joining __attribute__((
		cleanup(joining_deinit))) = { .objects = objects,
					      .key = key,
					      .count = count,
					      .parts = memory_calloc(count + 1, sizeof(*joining.parts)) };
	enum status rc = parts_find(&joining, claims, err);

	if (!rc && count == 0)
		rc = error_set(err, STATUS_INVALID_ARGUMENT, NULL, "You must specify at least one part.");
	if (!rc)
		rc = bytes_join(&joining, err);
	if (!rc)
		rc = objects_change(objects, assembly_finish_run, &joining, err);
	if (rc) {
		object_deinit(&joining.object);
		return rc;
	}
	joining.owns_blob = false;
	blob_move_to_place(&objects->files, joining.blob);
	*ret_object = joining.object;
	return STATUS_OK;
}
