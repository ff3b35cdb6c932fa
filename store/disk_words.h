/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/disk_words.h: what a user reads of a file system without room and of a damaged database: which it is, and what to do.
 * Thread: any. */
#include "daemon/base/text.h"

/* Of @path, which is or would be a file there: "the file system at /var is full: 12 KiB are left for /var/x/state.db; free
 * 16 MiB at least". */
void disk_full_write(struct text *text, const char *path);

/* Of the database @path, with SQLite's @words: what is in it, and how to go on without it. */
void database_damaged_write(struct text *text, const char *path, const char *words);
