/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/small_file.h: files that are read and written as a whole: keys, certificates. A file is written completely or
 * not at all, also after a crash, and survives a power loss once it is in place. Thread: any. */
#include <stddef.h>
#include <sys/types.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"

/* Appends the contents of @path. NOT_FOUND: there is no file; FAILED_PRECONDITION: it cannot be read, or is larger. */
enum status small_file_read(const char *path, size_t bytes_max, struct text *ret_content, struct error *err);

enum placing {
	PLACE_FIRST, /* an existing file stays, and the second writer uses its contents */
	PLACE_NEW,   /* replaces an existing file */
};

/* Makes the file. FAILED_PRECONDITION: it cannot be made. */
enum status small_file_place(const char *path, const struct text *content, mode_t mode, enum placing placing,
			     struct error *err);

/* Removes from @directory the temporary files of killed writers; those of running writers stay. */
void small_files_sweep(const char *directory);

enum { SMALL_FILE_SUFFIX_SIZE = 18 };
/* Writes a random suffix for temporary files, such as ".0123456789abcdef". */
void small_file_suffix(char ret_suffix[SMALL_FILE_SUFFIX_SIZE]);
