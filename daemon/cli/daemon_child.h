/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/daemon_child.h: a daemon in a process that a command has forked, and the line by which it tells the command
 * "trainyard: listening on URL". */
#include <stddef.h>

enum ready { READY_NOT_YET, READY, READY_NEVER };

struct ready_line {
	char data[4352]; /* a path and the words before it */
	size_t length;
	const char *url; /* in @data, once READY */
};

/* Reads what is there. READY_NEVER: the daemon's output ended, or is none of a daemon's. */
enum ready ready_line_read(struct ready_line *line, int fd);

/* In the new process: makes it a session of its own, so that no signal of a terminal reaches it and it may write to one
 * whatever the terminal's settings are. Its input is empty, its output @ready_fd, its log @log_fd (-1: stays as it is), and
 * it has none of its parent's other descriptors. */
void daemon_child_begin(int ready_fd, int log_fd);
