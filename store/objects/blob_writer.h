/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/blob_writer.h: appends to a file of an upload, and computes its checksums.
 *
 * It can be closed and reopened, because sessions rest between requests. After blob_writer_rest() all bytes are in the
 * file; blob_writer_end() returns the offset of the next byte. Thread: one at a time. */
#include <stdbool.h>
#include <stdint.h>

#include "store/objects/blob_files.h"
#include "store/objects/hasher.h"

struct blob_writer {
	const struct blob_files *files;
	int64_t blob;
	int fd;             /* -1: at rest */
	int64_t written;    /* bytes in the file */
	size_t run_bytes;   /* since it was opened */
	char *block;        /* a block of the ring, being filled; NULL: none */
	size_t block_bytes; /* bytes in block */
	struct hasher hasher;
};

void blob_writer_init(struct blob_writer *writer, const struct blob_files *files, int64_t blob);
/* Opens the file, which may have earlier bytes. Harmless if it is open. */
enum status blob_writer_open(struct blob_writer *writer, struct error *err);
/* Adds the bytes to the file. RESOURCE_EXHAUSTED, UNAVAILABLE: some of them may be written, see blob_writer_end(). */
enum status blob_writer_write(struct blob_writer *writer, const char *data, size_t length, struct error *err);
int64_t blob_writer_end(const struct blob_writer *writer);
/* Writes all bytes, completes the checksums, ends the thread, closes the file. */
enum status blob_writer_rest(struct blob_writer *writer, struct error *err);
/* The bytes are complete: blob_writer_rest(), and returns their checksums. */
enum status blob_writer_finish(struct blob_writer *writer, struct checksums *ret_sums, struct error *err);
/* Removes the unfinished file. */
void blob_writer_discard(struct blob_writer *writer);
