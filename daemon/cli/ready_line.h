/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/ready_line.h: reads "trainyard: listening on URL" from a daemon that starts. */
#include <stddef.h>

enum ready { READY_NOT_YET, READY, READY_NEVER };

struct ready_line {
	char data[4352]; /* a path and the words before it */
	size_t length;
	const char *url; /* in @data, once READY */
};

/* Reads what is there. READY_NEVER: the daemon's output ended, or is none of a daemon's. */
enum ready ready_line_read(struct ready_line *line, int fd);
