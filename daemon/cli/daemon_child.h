/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/daemon_child.h: a daemon in a process that a command has forked, and the line by which the daemon reports
 * "trainyard: listening on URL". */
#include <stddef.h>

enum ready { READY_NOT_YET, READY, READY_NEVER };

struct ready_line {
	char data[4352]; /* a path and the words before it */
	size_t length;
	const char *url; /* in @data, once READY */
};

/* Reads available output. READY_NEVER: the output ended, or is not a daemon's. */
enum ready ready_line_read(struct ready_line *line, int fd);

/* In the new process: starts a session, so that no terminal's signal reaches it and it may write to a terminal whatever
 * the terminal's settings. Its input is empty, its output @ready_fd, its log @log_fd (-1: unchanged), and all other
 * descriptors are closed. */
void daemon_child_begin(int ready_fd, int log_fd);
