/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/path_socket.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/memory.h"

/* Binds with mode 0600. Linux gives the file the mode of the socket, so there is no moment with another mode.
 * Source: unix_bind() in net/unix/af_unix.c of Linux 6.1 */
static bool fd_bind(int fd, const struct sockaddr_un *address)
{
	return fchmod(fd, S_IRUSR | S_IWUSR) == 0 &&
	       bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;
}

/* Whether nothing listens at the socket: a killed daemon has left it. */
static bool is_abandoned(const struct sockaddr_un *address)
{
	struct stat about;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool refused;

	if (fd < 0)
		return false;
	refused =
		connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 && errno == ECONNREFUSED;
	close(fd);
	return refused && lstat(address->sun_path, &about) == 0 && S_ISSOCK(about.st_mode);
}

static bool fd_place(int fd, const struct sockaddr_un *address)
{
	if (fd_bind(fd, address))
		return true;
	if (errno != EADDRINUSE)
		return false;
	if (is_abandoned(address) && unlink(address->sun_path) == 0)
		return fd_bind(fd, address);
	errno = EADDRINUSE;
	return false;
}

enum status path_socket_open(struct path_socket *ret_socket, const char *path, struct error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct path_socket own = { .fd = -1 };
	struct stat about;

	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s: too long for a socket", path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	own.path = memory_strdup(path);
	own.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (own.fd < 0 || !fd_place(own.fd, &address) || listen(own.fd, SOMAXCONN) != 0 ||
	    lstat(path, &about) != 0) {
		const int cause = errno;

		path_socket_close(&own);
		return error_set(err, STATUS_UNAVAILABLE, NULL, "cannot listen on %s: %s", path,
				 strerror(cause));
	}
	own.device = about.st_dev;
	own.inode = about.st_ino;
	*ret_socket = own;
	return STATUS_OK;
}

void path_socket_close(struct path_socket *socket)
{
	struct stat about;

	if (socket->fd >= 0)
		close(socket->fd);
	socket->fd = -1;
	/* A forked process may still have a copy of the descriptor, so the file at the path is compared instead of
	 * connecting to it. */
	if (socket->path && lstat(socket->path, &about) == 0 && about.st_dev == socket->device &&
	    about.st_ino == socket->inode)
		unlink(socket->path);
	free(socket->path);
	socket->path = NULL;
}
