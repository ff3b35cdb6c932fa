/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/sink.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/tally.h"

/* So much is hashed where it is: a thread costs more than that. */
enum { INLINE_BYTES = 1024 * 1024, HOLE_BYTES = 32 * 1024 };

void sink_init(struct sink *sink, const struct blob_files *files, int64_t blob)
{
	*sink = (struct sink){ .files = files, .blob = blob, .fd = -1 };
	hasher_init(&sink->hasher);
}

static void file_close(struct sink *sink)
{
	if (sink->fd >= 0)
		close(sink->fd);
	sink->fd = -1;
}

/* The file says how many bytes there are, whatever was believed before. */
static enum status file_measure(struct sink *sink, struct error *err)
{
	struct stat info;

	if (fstat(sink->fd, &info) != 0)
		return file_error(err, errno, "look at an upload");
	sink->written = info.st_size;
	if (sink->hasher.bytes > sink->written)
		hasher_init(&sink->hasher);
	return STATUS_OK;
}

enum status sink_open(struct sink *sink, struct error *err)
{
	enum status rc;

	if (sink->fd >= 0)
		return STATUS_OK;
	rc = blob_upload_open(sink->files, sink->blob, &sink->fd, err);
	if (rc)
		return rc;
	sink->run_bytes = 0;
	rc = file_measure(sink, err);
	if (!rc && sink->hasher.bytes < sink->written)
		rc = hasher_ring_start(&sink->hasher, sink->fd, sink->written, err);
	if (rc)
		file_close(sink);
	return rc;
}

int64_t sink_end(const struct sink *sink)
{
	return sink->written + (int64_t)sink->block_bytes;
}

static bool is_zero(const char *data, size_t length)
{
	return data[0] == 0 && memcmp(data, data + 1, length - 1) == 0;
}

/* So many zeros that they are worth a hole: the file ends behind them, and the disk has nothing of them. */
static bool hole_append(struct sink *sink, const char *data, size_t length)
{
	if (length < HOLE_BYTES || !is_zero(data, length) ||
	    ftruncate(sink->fd, sink->written + (int64_t)length) != 0)
		return false;
	sink->written += (int64_t)length;
	return true;
}

/* *ret_done bytes are in the file, also after a failure. */
static enum status file_append(struct sink *sink, const char *data, size_t length, size_t *ret_done,
			       struct error *err)
{
	*ret_done = hole_append(sink, data, length) ? length : 0;
	while (*ret_done < length) {
		ssize_t done = pwrite(sink->fd, data + *ret_done, length - *ret_done, sink->written);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return file_error(err, done < 0 ? errno : ENOSPC, "store the bytes of an object");
		*ret_done += (size_t)done;
		sink->written += done;
	}
	return STATUS_OK;
}

/* Writes the block and hands to the sums what of it came into the file. */
static enum status block_flush(struct sink *sink, struct error *err)
{
	size_t done;
	enum status rc;

	if (!sink->block)
		return STATUS_OK;
	rc = file_append(sink, sink->block, sink->block_bytes, &done, err);
	hasher_submit(&sink->hasher, done);
	sink->block = NULL;
	sink->block_bytes = 0;
	return rc;
}

static enum status blocks_fill(struct sink *sink, const char *data, size_t length, struct error *err)
{
	while (length > 0) {
		size_t part = HASH_BLOCK_BYTES - sink->block_bytes;
		enum status rc;

		part = part < length ? part : length;
		if (!sink->block)
			sink->block = hasher_block(&sink->hasher);
		memcpy(sink->block + sink->block_bytes, data, part);
		sink->block_bytes += part;
		data += part;
		length -= part;
		rc = sink->block_bytes == HASH_BLOCK_BYTES ? block_flush(sink, err) : STATUS_OK;
		if (rc)
			return rc;
	}
	return STATUS_OK;
}

enum status sink_write(struct sink *sink, const char *data, size_t length, struct error *err)
{
	size_t done;
	enum status rc;

	sink->run_bytes += length;
	tally_add(TALLY_STORAGE_RECEIVED_BYTES, length);
	/* Without a thread it is slower, and no worse. */
	if (!sink->hasher.ring && sink->run_bytes > INLINE_BYTES)
		hasher_ring_start(&sink->hasher, sink->fd, sink->written, NULL);
	if (sink->hasher.ring)
		return blocks_fill(sink, data, length, err);
	rc = file_append(sink, data, length, &done, err);
	hasher_add(&sink->hasher, data, done);
	return rc;
}

enum status sink_rest(struct sink *sink, struct error *err)
{
	enum status rc = STATUS_OK;
	enum status stopped;

	if (sink->fd >= 0)
		rc = block_flush(sink, err);
	stopped = hasher_ring_stop(&sink->hasher, rc ? NULL : err);
	file_close(sink);
	return rc ? rc : stopped;
}

enum status sink_finish(struct sink *sink, struct checksums *ret_sums, struct error *err)
{
	enum status rc = sink_open(sink, err);

	if (!rc)
		rc = sink_rest(sink, err);
	if (!rc)
		hasher_sums(&sink->hasher, ret_sums);
	return rc;
}

void sink_discard(struct sink *sink)
{
	sink_rest(sink, NULL);
	blob_remove(sink->files, sink->blob);
}
