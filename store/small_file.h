/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/small_file.h: files that are read and written whole: keys, certificates. What is written is there whole or not
 * at all, also after a crash, and once it was placed it is there after a loss of power. Thread: any. */
#include <stddef.h>
#include <sys/types.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"

/* Appends what @path holds. NOT_FOUND: there is no file; FAILED_PRECONDITION: it cannot be read, or holds more. */
enum status small_file_read(const char *path, size_t bytes_max, struct text *ret_content, struct error *err);

enum placing {
	PLACE_FIRST, /* an existing file stays: the second writer takes that one */
	PLACE_NEW,   /* in the place of what was there */
};

/* FAILED_PRECONDITION: it cannot be made. */
enum status small_file_place(const char *path, const struct text *content, mode_t mode, enum placing placing,
			     struct error *err);

/* Removes from @directory the temporary files of writers that were killed; a running writer keeps its own. */
void small_files_sweep(const char *directory);

enum { SMALL_FILE_SUFFIX_SIZE = 18 };
/* ".0123456789abcdef", at random: how files in the making end. */
void small_file_suffix(char ret_suffix[SMALL_FILE_SUFFIX_SIZE]);
