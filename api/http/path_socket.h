/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/path_socket.h: a listening unix socket at a path, to which only its owner can connect. */
#include <sys/types.h>

#include "daemon/base/error.h"

struct path_socket {
	int fd;     /* -1: none, or it was passed to another owner, which closes it */
	char *path; /* NULL: there is nothing to remove */
	dev_t device;
	ino_t inode;
};

/* Makes the socket, with mode 0600 from the start, whatever the umask. Replaces an existing socket if no process
 * listens on it. INVALID_ARGUMENT: @path is too long; UNAVAILABLE: a process listens there, or the socket cannot be
 * made. */
enum status path_socket_open(struct path_socket *socket, const char *path, struct error *err);
/* Closes the socket, and removes the path if it is still this socket. Harmless when repeated. */
void path_socket_close(struct path_socket *socket);
