/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/blob_writer.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/tally.h"

/* INLINE_BYTES: up to this much is hashed by the writing thread, because starting another one would take longer.
 * HOLE_BYTES: from this many zeros on, a hole is left in the file. */
enum { INLINE_BYTES = 1024 * 1024, HOLE_BYTES = 32 * 1024 };

void blob_writer_init(struct blob_writer *writer, const struct blob_files *files, int64_t blob)
{
	*writer = (struct blob_writer){ .files = files, .blob = blob, .fd = -1 };
	hasher_init(&writer->hasher);
}

static void file_close(struct blob_writer *writer)
{
	if (writer->fd >= 0)
		close(writer->fd);
	writer->fd = -1;
}

/* Takes the size of the file as the number of bytes written. Checksums that cover more bytes than that start again. */
static enum status file_measure(struct blob_writer *writer, struct error *err)
{
	struct stat info;

	if (fstat(writer->fd, &info) != 0)
		return file_error(err, errno, "look at an upload");
	writer->written = info.st_size;
	if (writer->hasher.bytes > writer->written)
		hasher_init(&writer->hasher);
	return STATUS_OK;
}

enum status blob_writer_open(struct blob_writer *writer, struct error *err)
{
	enum status rc;

	if (writer->fd >= 0)
		return STATUS_OK;
	rc = blob_upload_open(writer->files, writer->blob, &writer->fd, err);
	if (rc)
		return rc;
	writer->run_bytes = 0;
	rc = file_measure(writer, err);
	if (!rc && writer->hasher.bytes < writer->written)
		rc = hasher_ring_start(&writer->hasher, writer->fd, writer->written, err);
	if (rc)
		file_close(writer);
	return rc;
}

int64_t blob_writer_end(const struct blob_writer *writer)
{
	return writer->written + (int64_t)writer->block_bytes;
}

static bool is_zero(const char *data, size_t length)
{
	return data[0] == 0 && memcmp(data, data + 1, length - 1) == 0;
}

/* Appends zeros as a hole, which takes no space on the disk. False: they are too few for one, or not all are zeros. */
static bool hole_append(struct blob_writer *writer, const char *data, size_t length)
{
	if (length < HOLE_BYTES || !is_zero(data, length) ||
	    ftruncate(writer->fd, writer->written + (int64_t)length) != 0)
		return false;
	writer->written += (int64_t)length;
	return true;
}

/* *ret_done bytes are in the file, also after a failure. */
static enum status file_append(struct blob_writer *writer, const char *data, size_t length, size_t *ret_done,
			       struct error *err)
{
	*ret_done = hole_append(writer, data, length) ? length : 0;
	while (*ret_done < length) {
		ssize_t done = pwrite(writer->fd, data + *ret_done, length - *ret_done, writer->written);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return file_error(err, done < 0 ? errno : ENOSPC, "store the bytes of an object");
		*ret_done += (size_t)done;
		writer->written += done;
	}
	return STATUS_OK;
}

/* Writes the block, and hashes as much of it as was written. */
static enum status block_flush(struct blob_writer *writer, struct error *err)
{
	size_t done;
	enum status rc;

	if (!writer->block)
		return STATUS_OK;
	rc = file_append(writer, writer->block, writer->block_bytes, &done, err);
	hasher_submit(&writer->hasher, done);
	writer->block = NULL;
	writer->block_bytes = 0;
	return rc;
}

static enum status blocks_fill(struct blob_writer *writer, const char *data, size_t length, struct error *err)
{
	while (length > 0) {
		size_t part = HASH_BLOCK_BYTES - writer->block_bytes;
		enum status rc;

		part = part < length ? part : length;
		if (!writer->block)
			writer->block = hasher_block(&writer->hasher);
		memcpy(writer->block + writer->block_bytes, data, part);
		writer->block_bytes += part;
		data += part;
		length -= part;
		rc = writer->block_bytes == HASH_BLOCK_BYTES ? block_flush(writer, err) : STATUS_OK;
		if (rc)
			return rc;
	}
	return STATUS_OK;
}

enum status blob_writer_write(struct blob_writer *writer, const char *data, size_t length, struct error *err)
{
	size_t done;
	enum status rc;

	writer->run_bytes += length;
	tally_add(TALLY_STORAGE_RECEIVED_BYTES, length);
	/* If the thread cannot be started, hashing is only slower. */
	if (!writer->hasher.ring && writer->run_bytes > INLINE_BYTES)
		hasher_ring_start(&writer->hasher, writer->fd, writer->written, NULL);
	if (writer->hasher.ring)
		return blocks_fill(writer, data, length, err);
	rc = file_append(writer, data, length, &done, err);
	hasher_add(&writer->hasher, data, done);
	return rc;
}

enum status blob_writer_rest(struct blob_writer *writer, struct error *err)
{
	enum status rc = STATUS_OK;
	enum status stopped;

	if (writer->fd >= 0)
		rc = block_flush(writer, err);
	stopped = hasher_ring_stop(&writer->hasher, rc ? NULL : err);
	file_close(writer);
	return rc ? rc : stopped;
}

enum status blob_writer_finish(struct blob_writer *writer, struct checksums *ret_sums, struct error *err)
{
	enum status rc = blob_writer_open(writer, err);

	if (!rc)
		rc = blob_writer_rest(writer, err);
	if (!rc)
		hasher_sums(&writer->hasher, ret_sums);
	return rc;
}

void blob_writer_discard(struct blob_writer *writer)
{
	blob_writer_rest(writer, NULL);
	blob_remove(writer->files, writer->blob);
}
