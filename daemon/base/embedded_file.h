/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/embedded_file.h: source files that are part of the program: an array for each folder, made by
 * deploy/build-aux/embed-files.sh. */
#include <stddef.h>

struct embedded_file {
	const char *name; /* "page.js"; NULL: end of the array */
	const char *data;
	size_t bytes;          /* size of data, without its final NUL */
	size_t unpacked_bytes; /* data is gzip that decompresses to this number of bytes; 0: data is not compressed */
};
