/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/presence.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

bool instance_valid(const char *instance)
{
	size_t length = strlen(instance);

	return length > 0 && length <= INSTANCE_MAX &&
	       strspn(instance, "abcdefghijklmnopqrstuvwxyz0123456789") == length;
}

/* An abstract name begins with a NUL and has no end of its own: the address's length is its end. */
static socklen_t address_make(const char *instance, struct sockaddr_un *address)
{
	int length;

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	length = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "trainyard/%.32s", instance);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* Of datagrams, so that it is there for others once it is bound; nobody sends it any. */
static int socket_open(void)
{
	return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

enum status presence_take(const char *instance, int *ret_fd, struct error *err)
{
	struct sockaddr_un address;
	socklen_t length = address_make(instance, &address);
	int problem, fd = socket_open();

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, length) == 0) {
		shutdown(fd, SHUT_RD);
		*ret_fd = fd;
		return STATUS_OK;
	}
	problem = errno;
	if (fd >= 0)
		close(fd);
	if (problem == EADDRINUSE)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "another process of this machine works for instance %s: a daemon that runs, "
				 "or trainyard clean",
				 instance);
	return error_set(err, STATUS_UNAVAILABLE, NULL, "no socket to be had: %s", strerror(problem));
}

bool presence_seen(const char *instance)
{
	struct sockaddr_un address;
	socklen_t length = address_make(instance, &address);
	int fd = socket_open();
	bool seen = fd >= 0 && connect(fd, (const struct sockaddr *)&address, length) == 0;

	if (fd >= 0)
		close(fd);
	return seen;
}
