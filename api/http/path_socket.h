/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/path_socket.h: a listening unix socket at a path, which only its owner may connect to. */
#include <sys/types.h>

#include "daemon/base/error.h"

struct path_socket {
	int fd;     /* -1: none, or given away: it is closed only while it is here */
	char *path; /* NULL: there is nothing to remove */
	dev_t device;
	ino_t inode;
};

/* Mode 0600 from its first moment, whatever the umask. A socket that nobody listens at is replaced.
 * INVALID_ARGUMENT: @path is too long; UNAVAILABLE: somebody listens there, or it cannot be made. */
enum status path_socket_open(struct path_socket *socket, const char *path, struct error *err);
/* Removes the path if it is still this socket's. A second time is harmless. */
void path_socket_close(struct path_socket *socket);
