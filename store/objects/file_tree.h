/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/file_tree.h: shows the live objects as files for users: gs/BUCKET/NAME, with the names of file_name.h.
 * A file is a hard link to the blob, mode 0444; on a file system without hard links a symbolic link. If there is an
 * object "a" and objects below "a/", the directory gets the name and the file is "a%file".
 *
 * Symbolic links in the path are not followed and nothing outside is touched, whatever users put into the tree. All
 * functions return false with errno. Thread: one at a time. */
#include <stdbool.h>
#include <stdint.h>

struct blob_files;

/* Makes or removes the directory of a bucket (one that is not empty stays). */
bool file_tree_bucket(const struct blob_files *files, const char *bucket, bool is_there);
bool file_tree_show(const struct blob_files *files, const char *bucket, const char *name, int64_t blob);
/* Also removes parent directories that become empty. */
bool file_tree_hide(const struct blob_files *files, const char *bucket, const char *name);
