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

	/* This needs no privilege since Linux 5.7. */
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

enum status device_socket_pair(int *ret_endpoint, int *ret_hand, struct error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "cannot open a socket pair: %s",
				 strerror(errno));
	*ret_endpoint = pair[0];
	*ret_hand = pair[1];
	return STATUS_OK;
}

/* A control message with one descriptor, aligned for the kernel. */
union descriptor_room {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

void device_socket_put(int hand, const struct sockaddr_in *peer, int fd)
{
	union descriptor_room room = { 0 };
	struct iovec body = { (void *)(uintptr_t)peer, sizeof(*peer) };
	struct msghdr message = {
		.msg_iov = &body, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof(room)
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	(void)!sendmsg(hand, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static bool is_pair(int endpoint)
{
	int domain = AF_INET;
	socklen_t size = sizeof(domain);

	return getsockopt(endpoint, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

/* Receives a connection that was put into the socket pair. */
static int pair_accept(int endpoint, struct sockaddr_in *ret_peer, bool *ret_open)
{
	union descriptor_room room = { 0 };
	struct iovec body = { ret_peer, sizeof(*ret_peer) };
	struct msghdr message = {
		.msg_iov = &body, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof(room)
	};
	const ssize_t got = recvmsg(endpoint, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	const struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	int fd = -1;

	*ret_open = got > 0 || errno == EAGAIN || errno == EINTR;
	/* If this process has no free descriptor, the message arrives without its descriptor: fd stays -1. */
	if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

static int endpoint_accept(int endpoint, struct sockaddr_in *ret_peer, bool *ret_open)
{
	socklen_t size = sizeof(*ret_peer);
	int fd;

	if (is_pair(endpoint))
		return pair_accept(endpoint, ret_peer, ret_open);
	fd = device_socket_accept(endpoint, ret_open);
	if (fd >= 0)
		getpeername(fd, (struct sockaddr *)ret_peer,
			    &size); /* fails for a client that has left already */
	return fd;
}

int device_socket_accept_peer(int endpoint, const struct device_peers *peers, struct sockaddr_in *ret_peer,
			      bool *ret_open)
{
	struct sockaddr_in peer = { 0 };
	int fd = endpoint_accept(endpoint, &peer, ret_open);

	if (fd < 0)
		return fd;
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
