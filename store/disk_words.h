/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/disk_words.h: messages for users about a full file system and a damaged database, with what to do.
 * Thread: any. */
#include "daemon/base/text.h"

/* Appends a message about the full file system of @path, a file that exists or was to be made: "the file system at /var
 * is full: 12 KiB are left for /var/x/state.db; free 16 MiB at least". */
void disk_full_write(struct text *text, const char *path);

/* Appends that the database @path is damaged, with SQLite's message @words, what data is lost with it, and how to
 * continue without it. */
void database_damaged_write(struct text *text, const char *path, const char *words);
