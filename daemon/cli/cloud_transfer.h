/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/cloud_transfer.h: transfers the bytes of one object, and compares checksums at the end.
 *
 * Memory is bounded for any size: an upload of more than one piece is resumable and keeps one piece, from which it
 * continues after the connection broke. Each function below fails with DATA_LOSS if the bytes do not have the checksums
 * that the daemon reports. Thread: one at a time. */
#include <stdint.h>

#include "daemon/base/error.h"

struct client;
struct cloud_found;
struct cloud_url;

/* The progress of a command that transfers many objects. */
struct cloud_progress {
	size_t file_count, files_done;
	int64_t total_bytes, done_bytes; /* total_bytes < 0: unknown */
	int64_t begun_us, shown_us;
};
void cloud_progress_begin(struct cloud_progress *progress);
/* Prints "3 files, 1.2 MiB in 2s" on stderr if that is a terminal, in place of the progress line. */
void cloud_progress_end(const struct cloud_progress *progress);

/* Uploads the bytes of @fd up to its end. ABORTED: @fd cannot be read. On DATA_LOSS the object is removed. */
enum status cloud_upload(struct client *client, int fd, const struct cloud_url *to,
			 struct cloud_progress *progress, struct error *err);
/* Writes an object's bytes to @fd; an object that is stored as gzip is decompressed. ABORTED: @fd cannot be written. */
enum status cloud_download(struct client *client, const char *bucket, const struct cloud_found *from, int fd,
			   struct cloud_progress *progress, struct error *err);
/* Copies an object within the daemon. On DATA_LOSS the copy is removed. */
enum status cloud_copy(struct client *client, const char *bucket, const struct cloud_found *from,
		       const struct cloud_url *to, struct cloud_progress *progress, struct error *err);
/* Deletes an object if it has that generation; 0: any generation. NOT_FOUND: there is none. */
enum status cloud_delete(struct client *client, const char *bucket, const char *object, int64_t generation,
			 struct error *err);
