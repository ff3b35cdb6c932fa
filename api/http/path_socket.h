/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/path_socket.h: a listening unix socket at a path, to which only its owner can connect. */
#include <sys/types.h>

#include "daemon/base/error.h"

struct path_socket {
	int fd;     /* -1: none, or another owner has taken it; path_socket_close() closes it otherwise */
	char *path; /* NULL: there is nothing to remove */
	dev_t device;
	ino_t inode;
};

/* The socket has mode 0600 from the start, whatever the umask. An existing socket is replaced if no process listens on
 * it. INVALID_ARGUMENT: @path is too long; UNAVAILABLE: a process listens there, or the socket cannot be made. */
enum status path_socket_open(struct path_socket *socket, const char *path, struct error *err);
/* Removes the path if it is still this socket. Harmless when repeated. */
void path_socket_close(struct path_socket *socket);
