/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/device_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/log.h"

enum { BACKLOG = 128 };

static bool socket_listen(int fd, const char *device, uint32_t address, uint16_t port)
{
	const struct sockaddr_in place = { .sin_family = AF_INET,
					   .sin_port = htons(port),
					   .sin_addr = { .s_addr = htonl(address) } };
	const int on = 1;

	/* Needs no privilege since Linux 5.7. */
	if (device && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, (socklen_t)strlen(device) + 1) != 0)
		return false;
	return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	       bind(fd, (const struct sockaddr *)&place, sizeof(place)) == 0 && listen(fd, BACKLOG) == 0;
}

enum status device_socket_open(const char *device, uint32_t address, uint16_t port, int *ret_fd,
			       struct error *err)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	enum status rc = STATUS_OK;

	if (fd >= 0 && socket_listen(fd, device, address, port)) {
		*ret_fd = fd;
		return STATUS_OK;
	}
	rc = error_set(err, STATUS_UNAVAILABLE, NULL, "cannot listen on port %u of device %s: %s", port,
		       device ? device : "any", strerror(errno));
	if (fd >= 0)
		close(fd);
	return rc;
}

int device_socket_accept(int endpoint, bool *ret_open)
{
	int fd = accept4(endpoint, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	*ret_open = fd >= 0 || errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
	return fd;
}

bool device_socket_poll(const char *server, struct pollfd *polled, size_t count, int timeout_ms)
{
	if (poll(polled, count, timeout_ms) >= 0)
		return true;
	for (size_t i = 0; i < count; i++)
		polled[i].revents = 0;
	if (errno == EINTR)
		return true;
	log_event(LOG_ERROR, "poll-failed", "server=%s descriptors=%zu error=\"%s\"", server, count,
		  strerror(errno));
	return false;
}

int device_socket_accept_peer(int endpoint, const struct device_peers *peers, struct sockaddr_in *ret_peer,
			      bool *ret_open)
{
	struct sockaddr_in peer = { 0 };
	socklen_t size = sizeof(peer);
	int fd = device_socket_accept(endpoint, ret_open);

	if (fd < 0)
		return fd;
	getpeername(fd, (struct sockaddr *)&peer, &size); /* one that has left already has none */
	if (peers->count && ntohl(peer.sin_addr.s_addr) - peers->first >= peers->count) {
		close(fd);
		return -1;
	}
	*ret_peer = peer;
	return fd;
}

uint16_t device_socket_port(int fd)
{
	struct sockaddr_in place = { 0 };
	socklen_t size = sizeof(place);

	getsockname(fd, (struct sockaddr *)&place, &size);
	return ntohs(place.sin_port);
}
