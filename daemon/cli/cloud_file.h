/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/cloud_file.h: a file that gets its name when it is complete. Thread: the first; one file at a time. */
#include "daemon/base/error.h"

struct cloud_file {
	int fd;
	char *path, *written; /* NULL: written in place: a device, a pipe */
};
#define AUTO_CLOUD_FILE __attribute__((cleanup(cloud_file_drop)))

/* From now on SIGINT and SIGTERM remove the unfinished file before they end the process. */
void cloud_file_guard(void);
/* Makes the directories of @path and a temporary file. A file at @path stays unchanged until cloud_file_keep(). */
enum status cloud_file_open(struct cloud_file *file, const char *path, struct error *err);
/* Renames it to its name, with the permissions of the file that it replaces. */
enum status cloud_file_keep(struct cloud_file *file, struct error *err);
/* Closes it, and removes it unless it was kept. */
void cloud_file_drop(struct cloud_file *file);
/* "a/b/": makes all of these directories. */
enum status cloud_directory_make(const char *path, struct error *err);
