/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/daemon_child.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum ready ready_line_read(struct ready_line *line, int fd)
{
	static const char words[] = "trainyard: listening on ";
	const ssize_t length = read(fd, line->data + line->length, sizeof(line->data) - 1 - line->length);
	char *end;

	if (length < 0 && (errno == EINTR || errno == EAGAIN))
		return READY_NOT_YET;
	if (length <= 0)
		return READY_NEVER;
	line->length += (size_t)length;
	line->data[line->length] = '\0';
	end = strchr(line->data, '\n');
	if (!end)
		return READY_NOT_YET;
	*end = '\0';
	if (strncmp(line->data, words, strlen(words)) != 0)
		return READY_NEVER;
	line->url = line->data + strlen(words);
	return READY;
}

void daemon_child_begin(int ready_fd, int log_fd)
{
	const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	setsid();
	dup2(null_fd, STDIN_FILENO);
	dup2(ready_fd, STDOUT_FILENO);
	if (log_fd >= 0)
		dup2(log_fd, STDERR_FILENO);
	closefrom(STDERR_FILENO + 1);
}
