/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/blob_files.h: the files with the bytes of objects.
 *
 * A blob has a number. While its bytes arrive it is the file uploads/<number>; soon after its object is stored it is
 * moved to blobs/<last two digits>/<number> (hexadecimal). So a file in uploads belongs to a session, or to an object
 * and was not moved yet, or is an orphan. After a crash only that small directory has to be checked. Thread: any. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct blob_files {
	int state_fd, blobs_fd, uploads_fd, tree_fd; /* directories; -1: not open */
	int64_t last_number;                         /* atomic */
};

/* Makes and opens the directories below @state_dir. */
enum status blob_files_open(struct blob_files *files, const char *state_dir, struct error *err);
void blob_files_close(struct blob_files *files);

/* Sets *err from errno: RESOURCE_EXHAUSTED: the disk or the quota is full; UNAVAILABLE: it may work later. */
enum status file_error(struct error *err, int error_number, const char *doing);

enum { BLOB_PATH_SIZE = 32 };
/* Writes the path of a blob below blobs_fd. */
void blob_path(int64_t blob, char ret_path[BLOB_PATH_SIZE]);

/* Returns a number that was never used for a blob. */
int64_t blob_number_make(struct blob_files *files);
/* Opens the file of an upload for writing, and makes it if it does not exist. */
enum status blob_upload_open(const struct blob_files *files, int64_t blob, int *ret_fd, struct error *err);
/* Returns in *ret_bytes the size of an upload's file; 0: there is no file. */
enum status blob_upload_size(const struct blob_files *files, int64_t blob, int64_t *ret_bytes,
			     struct error *err);
/* Moves a blob from uploads to blobs, once an object has it. A failure does no harm: blobs are looked for in both. */
void blob_move_to_place(const struct blob_files *files, int64_t blob);
/* Makes a hard link to the blob, wherever it is. False with errno. */
bool blob_link(const struct blob_files *files, int64_t blob, int directory_fd, const char *name);
/* Opens the blob for reading. -1 with errno: ENOENT: it does not exist. */
int blob_open(const struct blob_files *files, int64_t blob);
/* Removes the blob, wherever it is. False with errno: it still exists. */
bool blob_remove(const struct blob_files *files, int64_t blob);

/* Calls @each for every file in uploads that has a blob's name. */
enum status blob_uploads_each(const struct blob_files *files,
			      enum status (*each)(void *arg, int64_t blob, struct error *err), void *arg,
			      struct error *err);

/* Copies the first @size_bytes of a file to another, at @to_offset, by the file system if it can. */
enum status file_join(int from_fd, int64_t size_bytes, int to_fd, int64_t to_offset, struct error *err);
