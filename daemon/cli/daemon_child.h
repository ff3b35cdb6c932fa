/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/daemon_child.h: a daemon in a process that a command has forked, and the line by which the daemon reports
 * "trainyard: listening on URL". */
#include <stddef.h>

enum ready { READY_NOT_YET, READY, READY_NEVER };

struct ready_line {
	char data[4352]; /* room for a path and the words before it */
	size_t length;
	const char *url; /* in @data, once READY */
};

/* Reads the output that is available. READY_NEVER: the output has ended, or does not come from a daemon. */
enum ready ready_line_read(struct ready_line *line, int fd);

/* Prepares a forked process for the daemon. It begins a session, so that a terminal neither sends it signals nor stops
 * its output. Its input is empty, its output is @ready_fd, its log @log_fd (-1: unchanged); all other descriptors are
 * closed. */
void daemon_child_begin(int ready_fd, int log_fd);
