/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/sink.h: a file among the uploads that grows at its end, and the checksums of what it has.
 *
 * It can be closed and opened again: a session's rests between requests. What is written is in the file when
 * sink_rest() returns; sink_end() tells where the next byte goes. Thread: one at a time. */
#include <stdbool.h>
#include <stdint.h>

#include "store/objects/blob_files.h"
#include "store/objects/hasher.h"

struct sink {
	const struct blob_files *files;
	int64_t blob;
	int fd;             /* -1: at rest */
	int64_t written;    /* bytes in the file */
	size_t run_bytes;   /* that came since it was opened */
	char *block;        /* the ring's, being filled; NULL: none */
	size_t block_bytes; /* in it */
	struct hasher hasher;
};

void sink_init(struct sink *sink, const struct blob_files *files, int64_t blob);
/* Opens the file, which may have bytes from before. Harmless when it is open. */
enum status sink_open(struct sink *sink, struct error *err);
/* RESOURCE_EXHAUSTED, UNAVAILABLE: some of the bytes may be there, sink_end() says how many. */
enum status sink_write(struct sink *sink, const char *data, size_t length, struct error *err);
int64_t sink_end(const struct sink *sink);
/* Everything is in the file and in the sums, nothing runs, the file is closed. */
enum status sink_rest(struct sink *sink, struct error *err);
/* The bytes are complete: sink_rest(), and what they come to. */
enum status sink_finish(struct sink *sink, struct checksums *ret_sums, struct error *err);
/* Gives up the file. */
void sink_discard(struct sink *sink);
