/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_files.h: files that are open, and how they become objects.
 *
 * A file that is only read has the object's bytes as they were when it was opened. The first change copies them into an
 * unnamed file in the state directory. Writes go to that file, and all of it becomes the object at flush (each close), at
 * fsync, and at the last close if a mapping wrote after that. The last store wins; other readers see the old object or the
 * new one, never a part.
 *
 * Handles of one name in the same container share the changes, as programs of one node do in the cloud, if the file had
 * changes when the later handle was opened, or if both handles are for writing; other containers see the stored object.
 * An open that truncates has a file of its own.
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

/* All arguments are borrowed. @state_fd: the directory for changed files. */
struct gcs_files *gcs_files_new(const struct gcs_index *index, struct gcs_client *client, int state_fd);
/* Closes open files: after the last unmount the kernel does not close each file. */
void gcs_files_free(struct gcs_files *files);
/* The containers that have open files; belongs to @files. */
struct gcs_nodes *gcs_files_nodes(struct gcs_files *files);

enum gcs_opening { GCS_READ, GCS_CHANGE, GCS_ANEW /* as an empty file, whether it exists or not */ };
/* Opens a file. ENOENT: the file does not exist, and @how does not make it. The handle is valid until gcs_close(). */
int gcs_open(struct gcs_files *files, const struct gcs_path *path, enum gcs_opening how, pid_t caller,
	     struct gcs_handle **ret_handle);
/* Stores unsaved changes, and closes. */
void gcs_close(struct gcs_handle *handle);
/* Frees a handle without storing its changes. Call it if the program gets an error instead of the file. */
void gcs_handle_free(struct gcs_handle *handle);
/* Stores the changes of a writable handle as an object. If that failed within the limits of gcs_wait.h, each later
 * flush tries again, but waits again only if the file was changed since. */
int gcs_flush(struct gcs_handle *handle, const struct gcs_call *call);

/* is_unsaved: a flush or a close has something to store. is_busy: a change must wait for a copy or for a flush. */
bool gcs_handle_is_unsaved(const struct gcs_handle *handle);
bool gcs_handle_is_busy(const struct gcs_handle *handle);
/* Returns, for a handle that changes its file, gcs_node_of() of the process that opened it. */
uint64_t gcs_handle_node(const struct gcs_handle *handle);
/* Notes that the program was killed before its flush began: the time limit for storing its changes counts from now. */
void gcs_handle_give_up(struct gcs_handle *handle);

/* Returns the descriptor to read the file's bytes from, at the same offsets; it belongs to the handle. */
int gcs_bytes(struct gcs_handle *handle);
/* Returns in *ret_fd the descriptor to write bytes to until gcs_write_end(); no flush happens in between. */
int gcs_write_begin(struct gcs_handle *handle, const struct gcs_call *call, int *ret_fd);
/* Reserves space; call between gcs_write_begin() and gcs_write_end(), before the file grows to @size_bytes. EFBIG,
 * ENOSPC (gcs_node.h). */
int gcs_write_room(struct gcs_handle *handle, int64_t size_bytes);
void gcs_write_end(struct gcs_handle *handle);
int gcs_resize(struct gcs_handle *handle, const struct gcs_call *call, int64_t size_bytes);
/* Sets the time of the file's last change, which is stored with unsaved changes. */
int gcs_set_time(struct gcs_handle *handle, const struct gcs_call *call, int64_t modified_ns);
void gcs_handle_facts(struct gcs_handle *handle, struct gcs_facts *ret_facts);

/* The size and time that a file has by its unsaved changes; false: there are none. */
bool gcs_changes_look(struct gcs_files *files, const struct gcs_path *path, pid_t caller,
		      struct gcs_facts *ret_facts);
/* Calls @each for the names in a directory that are not objects yet, with the part after @prefix. */
void gcs_changes_each(struct gcs_files *files, const char *bucket, const char *prefix, pid_t caller,
		      void (*each)(void *arg, const char *name), void *arg);

/* Removes a file. ENOENT: there is none. Open files of the name stay usable, but are no longer stored. */
int gcs_remove(struct gcs_files *files, pid_t caller, const struct gcs_path *path);
/* Renames a file, and replaces a file that has the new name. Unsaved changes follow the name. */
int gcs_rename(struct gcs_files *files, pid_t caller, const struct gcs_path *from, const struct gcs_path *to);
/* Makes a symbolic link; the caller has checked that nothing has its name. */
int gcs_link_make(struct gcs_files *files, pid_t caller, const struct gcs_path *path, const char *target);
/* A directory exists if something is below it, or if it has an object of its own. gcs_directory_make() makes that
 * object, gcs_directory_remove() removes it. */
int gcs_directory_make(struct gcs_files *files, pid_t caller, const struct gcs_path *path);
int gcs_directory_remove(struct gcs_files *files, pid_t caller, const struct gcs_path *path);
/* Renames all objects below a directory, one after the other; after a failure some have the old prefix and some the
 * new. */
int gcs_rename_directory(struct gcs_files *files, pid_t caller, const struct gcs_path *from,
			 const struct gcs_path *to);
