/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/file_tree.h: the live objects as files for people and plain tools: gs/BUCKET/NAME, under the names of
 * file_name.h. A file is a hard link to the blob, mode 0444; where the file system has none, a symbolic link.
 * Where an object "a" meets objects below "a/", the directory has the name and the file is "a%file".
 *
 * No symbolic link is followed on the way and nothing outside is touched, whatever people put into the tree.
 * All return false with errno. Thread: one at a time. */
#include <stdbool.h>
#include <stdint.h>

struct blob_files;

/* The directory of a bucket is there, or not (one that holds something stays). */
bool file_tree_bucket(const struct blob_files *files, const char *bucket, bool is_there);
bool file_tree_show(const struct blob_files *files, const char *bucket, const char *name, int64_t blob);
/* With the directories above it that hold nothing more. */
bool file_tree_hide(const struct blob_files *files, const char *bucket, const char *name);
