/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/embedded_file.h: files of the sources that are part of the program: an array for each folder of them,
 * made by deploy/build-aux/embed-files.sh. */
#include <stddef.h>

struct embedded_file {
	const char *name; /* "page.js"; NULL: the array ends here */
	const char *data;
	size_t bytes; /* of data, without the NUL that follows */
	size_t unpacked_bytes; /* data is gzip, of so many bytes; 0: data is the file as it is */
};
