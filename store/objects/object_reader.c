/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/memory.h"
#include "store/objects/object_rows.h"
#include "store/objects/objects_parts.h"

/* How often an object may be replaced between the look at its row and the opening of its file. */
enum { TRIES_MAX = 100 };

struct object_reader {
	int fd;
	struct object object;
};

void object_reader_close(struct object_reader *reader)
{
	if (!reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	object_deinit(&reader->object);
	free(reader);
}

const struct object *object_reader_object(const struct object_reader *reader)
{
	return &reader->object;
}

int object_reader_file(const struct object_reader *reader)
{
	return reader->fd;
}

static enum status bytes_missing(const struct object *object, const char *why, struct error *err)
{
	return error_set(err, STATUS_DATA_LOSS, NULL,
			 "The content of %s/%s#%lld is lost: %s. Upload the object again.", object->bucket,
			 object->name, (long long)object->generation, why);
}

static enum status size_check(const struct object_reader *reader, struct error *err)
{
	struct stat info;

	if (fstat(reader->fd, &info) != 0)
		return file_error(err, errno, "look at the file of an object");
	if (info.st_size != reader->object.size_bytes)
		return bytes_missing(&reader->object, "its file has another size", err);
	return STATUS_OK;
}

static enum status row_read(struct objects *objects, const char *bucket, const char *name, int64_t generation,
			    struct object_row *ret_row, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = objects_read(objects, &reader, err);

	return rc ? rc : object_row_get(reader.connection, bucket, name, generation, ret_row, err);
}

/* The row and its file; the file of an object that is replaced or deleted meanwhile is looked for anew. */
static enum status file_open(struct objects *objects, const char *bucket, const char *name,
			     int64_t generation, struct object_reader *reader, struct error *err)
{
	int64_t before = 0;

	for (int tries = 0; tries < TRIES_MAX; tries++) {
		struct object_row row AUTO_OBJECT_ROW = { 0 };
		enum status rc = row_read(objects, bucket, name, generation, &row, err);

		if (rc)
			return rc;
		reader->fd = blob_open(&objects->files, row.blob);
		if (reader->fd < 0 && errno != ENOENT)
			return file_error(err, errno, "open the file of an object");
		if (reader->fd < 0 && row.object.generation == before)
			return bytes_missing(&row.object, "its file is gone", err);
		before = row.object.generation;
		if (reader->fd < 0)
			continue;
		reader->object = row.object;
		row.object = (struct object){ 0 };
		return size_check(reader, err);
	}
	return error_set(err, STATUS_UNAVAILABLE, NULL, "%s/%s is replaced so often that it cannot be read. Try again.", bucket,
			 name);
}

enum status object_open(struct objects *objects, const char *bucket, const char *name, int64_t generation,
			struct object_reader **ret_reader, struct error *err)
{
	AUTO(object_reader) struct object_reader *reader = memory_calloc(1, sizeof(*reader));
	enum status rc;

	reader->fd = -1;
	rc = file_open(objects, bucket, name, generation, reader, err);
	if (rc)
		return rc;
	*ret_reader = TAKE(reader);
	return STATUS_OK;
}

ssize_t object_read(struct object_reader *reader, int64_t offset, char *buffer, size_t size,
		    struct error *err)
{
	int64_t left = reader->object.size_bytes - offset;
	ssize_t length;

	if (left <= 0 || size == 0)
		return 0;
	size = (int64_t)size < left ? size : (size_t)left;
	do
		length = pread(reader->fd, buffer, size, offset);
	while (length < 0 && errno == EINTR);
	if (length > 0)
		return length;
	if (length < 0)
		file_error(err, errno, "read the file of an object");
	else
		bytes_missing(&reader->object, "its file has become shorter", err);
	return -1;
}

enum status object_reader_append(struct object_reader *reader, int to_fd, int64_t to_offset,
				 struct error *err)
{
	return file_join(reader->fd, reader->object.size_bytes, to_fd, to_offset, err);
}
