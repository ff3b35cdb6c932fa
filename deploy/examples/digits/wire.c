/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c: frames over TCP. What the frames mean is in trainer.h, at enum frame_kind.
 *
 * getaddrinfo() works in a static binary and in an image without any file of libc: since glibc 2.34
 * /etc/hosts and DNS are read by code inside libc.a (and musl never did otherwise). */
#include "trainer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { CHUNK_WORDS = 4096, BACKLOG = 64, PEER_TIMEOUT_S = 30, RETRY_MS = 100 };

static _Thread_local const char *problem = "";

static int failed(const char *why)
{
	problem = why;
	return -1;
}

const char *wire_error(void)
{
	return problem;
}

static int failed_errno(void)
{
	/* A socket timeout reads "Resource temporarily unavailable", which does not say what happened. */
	return failed(strerror(errno == EAGAIN ? ETIMEDOUT : errno));
}

/* Looks up "host:port". Returns 0, or -1. */
static int resolve(const char *address, struct sockaddr_in *ret)
{
	char host[256];
	const char *colon = strrchr(address, ':');
	if (!colon || (size_t)(colon - address) >= sizeof(host))
		return failed("not \"host:port\"");
	memcpy(host, address, colon - address);
	host[colon - address] = '\0';

	struct addrinfo *found = NULL;
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
	int rc = getaddrinfo(host, colon + 1, &hints, &found);
	if (rc)
		return failed(gai_strerror(rc));
	memcpy(ret, found->ai_addr, sizeof(*ret));
	freeaddrinfo(found);
	return 0;
}

static void set_option(int fd, int level, int option, int value)
{
	setsockopt(fd, level, option, &value, sizeof(value));
}

int wire_listen(const char *address)
{
	/* Only the port is taken from the address: a container may know itself by another name than its
	 * peers do. Loopback stays loopback, so that a run by hand opens no port to the outside. */
	bool loopback = strncmp(address, "127.", 4) == 0 || strncmp(address, "localhost:", 10) == 0;
	const char *colon = strrchr(address, ':');
	struct sockaddr_in own = {
		.sin_family = AF_INET,
		.sin_port = htons(atoi(colon ? colon + 1 : "0")),
		.sin_addr.s_addr = htonl(loopback ? INADDR_LOOPBACK : INADDR_ANY),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0)
		die(1, "socket: %s", strerror(errno));
	set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (bind(fd, (struct sockaddr *)&own, sizeof(own)) || listen(fd, BACKLOG))
		die(1, "cannot listen for %s: %s", address, strerror(errno));
	return fd;
}

static void prepare(int fd)
{
	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1); /* a step is one small question and its answer */
	set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1); /* notices a peer on a machine that is gone */
	set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, PEER_TIMEOUT_S);
	set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, PEER_TIMEOUT_S / 3);
	set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

int wire_accept(int listener)
{
	int fd = accept(listener, NULL, NULL);
	if (fd < 0)
		return failed_errno();
	prepare(fd);
	return fd;
}

static int connect_once(const char *address)
{
	struct sockaddr_in peer;
	if (resolve(address, &peer))
		return -1;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0)
		return failed_errno();
	prepare(fd);
	struct timeval timeout = { .tv_sec = PEER_TIMEOUT_S };
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)); /* counts for connect() too */
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, (struct sockaddr *)&peer, sizeof(peer)) == 0)
		return fd;
	failed(strerror(errno == EINPROGRESS ? ETIMEDOUT : errno));
	close(fd);
	return -1;
}

int wire_connect(const char *address, double deadline_s)
{
	/* The replicas of a job start in any order. That a peer's name is unknown or its port closed is
	 * therefore normal at first. */
	int fd = connect_once(address);
	while (fd < 0 && now_s() < deadline_s) {
		pause_ms(RETRY_MS);
		fd = connect_once(address);
	}
	return fd;
}

static int send_all(int fd, const void *bytes, size_t count)
{
	for (const char *next = bytes; count > 0;) {
		ssize_t sent = send(fd, next, count, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return failed_errno();
		next += sent;
		count -= sent;
	}
	return 0;
}

static int receive_all(int fd, void *bytes, size_t count)
{
	for (char *next = bytes; count > 0;) {
		ssize_t got = recv(fd, next, count, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return failed_errno();
		if (got == 0)
			return failed("it closed the connection");
		next += got;
		count -= got;
	}
	return 0;
}

int frame_send(int fd, enum frame_kind kind, const void *words, uint32_t count)
{
	uint32_t chunk[CHUNK_WORDS] = { htonl(kind), htonl(count) };
	size_t used = 2;
	for (uint32_t i = 0; i < count; i++) {
		if (used == CHUNK_WORDS) {
			if (send_all(fd, chunk, sizeof(chunk)))
				return -1;
			used = 0;
		}
		uint32_t word;
		memcpy(&word, (const char *)words + i * sizeof(word), sizeof(word));
		chunk[used++] = htonl(word);
	}
	return send_all(fd, chunk, used * sizeof(chunk[0]));
}

int frame_receive(int fd, void *words, uint32_t capacity, uint32_t *ret_count)
{
	uint32_t header[2];
	if (receive_all(fd, header, sizeof(header)))
		return -1;
	uint32_t kind = ntohl(header[0]), count = ntohl(header[1]);
	if (kind < FRAME_HELLO || kind > FRAME_NOT_READY || count > capacity)
		return failed("it sent a frame that makes no sense");
	if (receive_all(fd, words, count * sizeof(uint32_t)))
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t word;
		memcpy(&word, (char *)words + i * sizeof(word), sizeof(word));
		word = ntohl(word);
		memcpy((char *)words + i * sizeof(word), &word, sizeof(word));
	}
	*ret_count = count;
	return kind;
}
