/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/web_files.h: what browsers get to see, part of the program (see deploy/build-aux/embed-files.sh). */
#include <stddef.h>

struct web_file {
	const char *name; /* "page.js" */
	const char *data;
	size_t bytes;
};

extern const struct web_file web_shell_files[]; /* ends with a NULL name */
