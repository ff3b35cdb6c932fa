/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/cloud_file.h: a file that gets its name when it is complete. Thread: the first; one file at a time. */
#include "daemon/base/error.h"

struct cloud_file {
	int fd;
	char *path, *written; /* written: the temporary file; NULL: bytes go to path directly, because it is a device or
	                       * a pipe */
};
#define AUTO_CLOUD_FILE __attribute__((cleanup(cloud_file_drop)))

/* Installs handlers for SIGINT and SIGTERM that remove the unfinished file before the process ends. */
void cloud_file_guard(void);
/* Opens a temporary file for @path, and makes its directories. An existing file at @path stays unchanged until
 * cloud_file_keep(). */
enum status cloud_file_open(struct cloud_file *file, const char *path, struct error *err);
/* Renames the temporary file to its final name, with the permissions of the file that it replaces. */
enum status cloud_file_keep(struct cloud_file *file, struct error *err);
/* Closes the file, and removes the temporary file unless cloud_file_keep() was called. */
void cloud_file_drop(struct cloud_file *file);
/* Makes all directories of a path such as "a/b/". */
enum status cloud_directory_make(const char *path, struct error *err);
