/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/blob_writer.h: a file among the uploads that grows at its end, and the checksums of what it has.
 *
 * It can be closed and opened again: a session's rests between requests. What is written is in the file when
 * blob_writer_rest() returns; blob_writer_end() tells where the next byte goes. Thread: one at a time. */
#include <stdbool.h>
#include <stdint.h>

#include "store/objects/blob_files.h"
#include "store/objects/hasher.h"

struct blob_writer {
	const struct blob_files *files;
	int64_t blob;
	int fd;             /* -1: at rest */
	int64_t written;    /* bytes in the file */
	size_t run_bytes;   /* that came since it was opened */
	char *block;        /* the ring's, being filled; NULL: none */
	size_t block_bytes; /* in it */
	struct hasher hasher;
};

void blob_writer_init(struct blob_writer *writer, const struct blob_files *files, int64_t blob);
/* Opens the file, which may have bytes from before. Harmless when it is open. */
enum status blob_writer_open(struct blob_writer *writer, struct error *err);
/* RESOURCE_EXHAUSTED, UNAVAILABLE: some of the bytes may be there, blob_writer_end() says how many. */
enum status blob_writer_write(struct blob_writer *writer, const char *data, size_t length, struct error *err);
int64_t blob_writer_end(const struct blob_writer *writer);
/* Everything is in the file and in the sums, nothing runs, the file is closed. */
enum status blob_writer_rest(struct blob_writer *writer, struct error *err);
/* The bytes are complete: blob_writer_rest(), and what they come to. */
enum status blob_writer_finish(struct blob_writer *writer, struct checksums *ret_sums, struct error *err);
/* Gives up the file. */
void blob_writer_discard(struct blob_writer *writer);
