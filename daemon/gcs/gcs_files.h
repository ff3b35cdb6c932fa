/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_files.h: files that are open, and how they become objects.
 *
 * A file that is only read has the object's bytes as they were when it was opened. The first change copies them into an
 * unnamed file in the state directory. Writes go to that file, and all of it becomes the object at flush (each close), at
 * fsync, and at the last close if a mapping wrote after that. The last store wins; other readers see the old object or the
 * new one, never a part.
 *
 * Two opens in the same container share the changes if the name is open with changes, or is open for writing and is
 * opened for writing again, as programs of one node do in the cloud; other containers see the stored object. An open that
 * truncates has a file of its own.
 * Source: https://github.com/GoogleCloudPlatform/gcsfuse/blob/master/docs/semantics.md (read 2026-11-22)
 *
 * Thread: any. Results are 0 or a negative errno. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/gcs/gcs_index.h"
#include "daemon/gcs/gcs_path.h"

struct gcs_call;
struct gcs_client;
struct gcs_files;
struct gcs_handle;

/* All borrowed. @state_fd is the directory that changes are kept in. */
struct gcs_files *gcs_files_new(const struct gcs_index *index, struct gcs_client *client, int state_fd);
/* Closes what is open: a kernel that no longer has the file system does not say so for each file. */
void gcs_files_free(struct gcs_files *files);
/* The containers that have something open, the files'. */
struct gcs_nodes *gcs_files_nodes(struct gcs_files *files);

enum gcs_opening { GCS_READ, GCS_CHANGE, GCS_ANEW /* empty, there or not */ };
/* ENOENT: there is none, and it is not opened anew. The handle is good until gcs_close(). */
int gcs_open(struct gcs_files *files, const struct gcs_path *path, enum gcs_opening how, pid_t caller,
	     struct gcs_handle **ret_handle);
/* Stores what is not stored yet. */
void gcs_close(struct gcs_handle *handle);
/* Closes it, and stores nothing: the program is told that it failed. */
void gcs_handle_free(struct gcs_handle *handle);
/* Makes the object of what a handle that changes has changed. What could not be stored for as long as one waits
 * (gcs_wait.h) is tried anew at each flush, and waited for again when it was changed. */
int gcs_flush(struct gcs_handle *handle, const struct gcs_call *call);

/* Whether a flush, and a close, has something to store; whether a change has to wait for a copy or for a flush. */
bool gcs_handle_is_unsaved(const struct gcs_handle *handle);
bool gcs_handle_is_busy(const struct gcs_handle *handle);
/* For a handle that changes its file: gcs_node_of() the process that opened it. */
uint64_t gcs_handle_node(const struct gcs_handle *handle);
/* The program was killed before its flush began. */
void gcs_handle_give_up(struct gcs_handle *handle);

/* The file that bytes are to be read from, from their beginning; the handle's. */
int gcs_bytes(struct gcs_handle *handle);
/* The file that bytes are to be written to, until gcs_write_end(): no flush is in between. */
int gcs_write_begin(struct gcs_handle *handle, const struct gcs_call *call, int *ret_fd);
/* In between, before bytes are written up to @size_bytes. EFBIG, ENOSPC (gcs_node.h). */
int gcs_write_room(struct gcs_handle *handle, int64_t size_bytes);
void gcs_write_end(struct gcs_handle *handle);
int gcs_resize(struct gcs_handle *handle, const struct gcs_call *call, int64_t size_bytes);
/* Sets when it was changed. What is not stored yet is stored with that. */
int gcs_set_time(struct gcs_handle *handle, const struct gcs_call *call, int64_t modified_ns);
void gcs_handle_facts(struct gcs_handle *handle, struct gcs_facts *ret_facts);

/* Of a name: what changes that are not stored make of it; false: there are none. */
bool gcs_changes_look(struct gcs_files *files, const struct gcs_path *path, pid_t caller,
		      struct gcs_facts *ret_facts);
/* Names in a directory that are no objects yet. @each is told the part behind @prefix. */
void gcs_changes_each(struct gcs_files *files, const char *bucket, const char *prefix, pid_t caller,
		      void (*each)(void *arg, const char *name), void *arg);

/* ENOENT. What is open stays as it is, and becomes nothing. */
int gcs_remove(struct gcs_files *files, pid_t caller, const struct gcs_path *path);
/* A file, in place of what has the other name. Changes go with it. */
int gcs_rename(struct gcs_files *files, pid_t caller, const struct gcs_path *from, const struct gcs_path *to);
/* A symbolic link, where nothing is. */
int gcs_link_make(struct gcs_files *files, pid_t caller, const struct gcs_path *path, const char *target);
/* A directory exists if something is below it, or if it has an object of its own: makes that object; the other removes
 * it. */
int gcs_directory_make(struct gcs_files *files, pid_t caller, const struct gcs_path *path);
int gcs_directory_remove(struct gcs_files *files, pid_t caller, const struct gcs_path *path);
/* Renames all objects below a directory, one after the other; after a failure some have the old prefix and some the
 * new. */
int gcs_rename_directory(struct gcs_files *files, pid_t caller, const struct gcs_path *from,
			 const struct gcs_path *to);
