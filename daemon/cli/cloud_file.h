/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/cloud_file.h: a file that has its name when it is whole. Thread: the first; one file at a time. */
#include "daemon/base/error.h"

struct cloud_file {
	int fd;
	char *path, *written; /* NULL: it is written where it is: a device, a pipe */
};
#define AUTO_CLOUD_FILE __attribute__((cleanup(cloud_file_drop)))

/* From now on SIGINT and SIGTERM remove the file that is being written before they end the process. */
void cloud_file_guard(void);
/* Makes the directories of @path and a file in the last of them. A file at @path stays as it is until cloud_file_keep(). */
enum status cloud_file_open(struct cloud_file *file, const char *path, struct error *err);
/* Gives it its name, and the permissions of the file that had it. */
enum status cloud_file_keep(struct cloud_file *file, struct error *err);
/* Closes it, and removes it unless it was kept. */
void cloud_file_drop(struct cloud_file *file);
/* "a/b/": all of these directories. */
enum status cloud_directory_make(const char *path, struct error *err);
