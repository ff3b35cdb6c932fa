/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gateway/relay.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/device_socket.h"
#include "daemon/base/memory.h"
#include "daemon/base/small_thread.h"
#include "daemon/base/text.h"

enum {
	PAIRS_MAX = 64,
	BUFFER_BYTES = 64 << 10,
	SIDES = 2,
	WAKE = PAIRS_MAX * SIDES,
	ENDPOINT,
	POLLED,
};

/* A buffer with the bytes that came from one side and that the other side has not accepted yet. */
struct flow {
	char *data;
	size_t from, to;
	bool ended;  /* the sending side has ended its stream */
	bool closed; /* the end was passed on to the other side */
};

/* Side 0 is the client. flows[i] comes from side i and goes to the other one. */
struct pair {
	int fds[SIDES]; /* fds[0] is -1: the pair is free */
	struct flow flows[SIDES];
	/* this client's number in the order in which clients ended their streams, from 1; 0: not ended */
	uint64_t left;
};

struct relay {
	struct relay_options options;
	int endpoint, wake;
	int hand; /* the socket through which relay_put() passes connections to the thread; -1 unless is_carried */
	uint16_t port;
	pthread_t thread;
	struct pair pairs[PAIRS_MAX];
	uint64_t left; /* number of clients that have ended their stream */
};

static void pair_end(struct pair *pair)
{
	for (int side = 0; side < SIDES; side++) {
		if (pair->fds[side] >= 0)
			close(pair->fds[side]);
		free(pair->flows[side].data);
	}
	*pair = (struct pair){ .fds = { -1, -1 } };
}

static bool would_wait(void)
{
	return errno == EAGAIN || errno == EINTR || errno == EINPROGRESS;
}

/* Reads bytes from the side @from into the buffer. False: the connection failed, and the pair must end. */
static bool flow_fill(struct flow *flow, int from)
{
	ssize_t got;

	if (flow->ended || flow->to)
		return true;
	got = recv(from, flow->data, BUFFER_BYTES, MSG_DONTWAIT);
	if (got < 0)
		return would_wait();
	flow->to = (size_t)got;
	flow->ended = got == 0;
	return true;
}

static bool flow_drain(struct flow *flow, int to)
{
	while (flow->from < flow->to) {
		ssize_t sent =
			send(to, flow->data + flow->from, flow->to - flow->from, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0)
			return would_wait();
		flow->from += (size_t)sent;
	}
	flow->from = flow->to = 0;
	if (flow->ended && !flow->closed)
		flow->closed = shutdown(to, SHUT_WR) == 0 || errno == ENOTCONN;
	return true;
}

static bool pair_serve(struct pair *pair, const struct pollfd polled[SIDES])
{
	for (int side = 0; side < SIDES; side++) {
		struct flow *flow = &pair->flows[side];

		if (polled[side].revents & (POLLIN | POLLHUP | POLLERR) && !flow_fill(flow, pair->fds[side]))
			return false;
		if ((flow->to || flow->ended) && !flow_drain(flow, pair->fds[!side]))
			return false;
	}
	return !(pair->flows[0].closed && pair->flows[1].closed);
}

/* Polls for what is possible: bytes while there is room, room while there are bytes. poll() always reports a side that
 * hangs up, so a side without anything to wait for is left out. */
static void pair_watch(const struct pair *pair, struct pollfd polled[SIDES])
{
	for (int side = 0; side < SIDES; side++) {
		short events = 0;

		if (!pair->flows[side].ended && !pair->flows[side].to)
			events |= POLLIN;
		if (pair->flows[!side].to)
			events |= POLLOUT;
		polled[side] = (struct pollfd){ .fd = events ? pair->fds[side] : -1, .events = events };
	}
}

static int target_call(const struct relay *relay)
{
	int fd = socket(relay->options.to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 &&
	    connect(fd, (const struct sockaddr *)&relay->options.to, relay->options.to_size) != 0 &&
	    errno != EINPROGRESS) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Finds a free pair; else the pair of the client that ended its stream first. That client has most likely given up: a
 * closed connection looks like one that has only ended its stream, and the target may never answer. NULL: there is
 * none. */
static struct pair *pair_find_room(struct relay *relay)
{
	struct pair *found = NULL;

	for (size_t i = 0; i < PAIRS_MAX; i++) {
		struct pair *pair = &relay->pairs[i];

		if (pair->fds[0] < 0)
			return pair;
		if (pair->left && (!found || pair->left < found->left))
			found = pair;
	}
	return found;
}

static void pair_note_left(struct relay *relay, struct pair *pair)
{
	if (pair->flows[0].ended && !pair->left)
		pair->left = ++relay->left;
}

static void client_admit(struct relay *relay, bool *ret_open)
{
	struct pair *pair = pair_find_room(relay);
	struct sockaddr_in peer;
	int fd = device_socket_accept_peer(relay->endpoint, &relay->options.peers, &peer, ret_open);

	if (fd < 0)
		return;
	if (!pair) {
		close(fd);
		return;
	}
	pair_end(pair);
	pair->fds[0] = fd;
	pair->fds[1] = target_call(relay);
	pair->flows[0].data = malloc(BUFFER_BYTES);
	pair->flows[1].data = malloc(BUFFER_BYTES);
	if (pair->fds[1] < 0 || !pair->flows[0].data || !pair->flows[1].data)
		pair_end(pair);
}

static void pairs_serve(struct relay *relay, const struct pollfd *polled)
{
	for (size_t i = 0; i < PAIRS_MAX; i++) {
		struct pair *pair = &relay->pairs[i];

		if (pair->fds[0] >= 0 && !pair_serve(pair, &polled[i * SIDES]))
			pair_end(pair);
		pair_note_left(relay, pair);
	}
}

static void *relay_main(void *arg)
{
	struct relay *relay = arg;
	struct pollfd polled[POLLED];
	bool open = true;

	do {
		/* Without room, a further client waits until another one has left. */
		const bool lets_in = open && pair_find_room(relay);

		for (size_t i = 0; i < PAIRS_MAX; i++)
			pair_watch(&relay->pairs[i], &polled[i * SIDES]);
		polled[WAKE] = (struct pollfd){ .fd = relay->wake, .events = POLLIN };
		polled[ENDPOINT] = (struct pollfd){ .fd = lets_in ? relay->endpoint : -1, .events = POLLIN };
		if (!device_socket_poll("relay", polled, POLLED, open ? -1 : DEVICE_SOCKET_PAUSE_MS))
			break;
		open = true;
		pairs_serve(relay, polled);
		if (polled[ENDPOINT].revents)
			client_admit(relay, &open);
	} while (!polled[WAKE].revents);
	shutdown(relay->endpoint,
		 SHUT_RDWR); /* new clients are refused at once instead of waiting for an answer */
	return NULL;
}

static void relay_free(struct relay *relay)
{
	for (size_t i = 0; i < PAIRS_MAX; i++)
		pair_end(&relay->pairs[i]);
	if (relay->endpoint >= 0)
		close(relay->endpoint);
	if (relay->hand >= 0)
		close(relay->hand);
	if (relay->wake >= 0)
		close(relay->wake);
	free(relay);
}

DEFINE_AUTO(relay, struct relay *, relay_free)

enum status relay_target_resolve(const char *url, struct relay_options *options, struct error *err)
{
	static const char scheme[] = "http://";
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	AUTO(string) char *host = memory_strdup(url + strlen(scheme));
	char *port = strrchr(host, ':'), *name = host;
	struct addrinfo *found = NULL;
	int problem;

	*port++ = '\0';
	if (name[0] == '[' && port[-2] == ']') { /* an IPv6 address */
		port[-2] = '\0';
		name++;
	}
	problem = getaddrinfo(name, port, &hints, &found);
	if (problem)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "%s: %s", url, gai_strerror(problem));
	memcpy(&options->to, found->ai_addr, found->ai_addrlen);
	options->to_size = found->ai_addrlen;
	freeaddrinfo(found);
	return STATUS_OK;
}

enum status relay_open(const struct relay_options *options, struct relay **ret_relay, struct error *err)
{
	AUTO(relay) struct relay *relay = memory_calloc(1, sizeof(*relay));
	enum status rc;

	relay->options = *options;
	relay->options.device = NULL; /* the caller's string may be freed after relay_open() */
	for (size_t i = 0; i < PAIRS_MAX; i++)
		relay->pairs[i] = (struct pair){ .fds = { -1, -1 } };
	relay->endpoint = relay->hand = -1;
	relay->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (relay->wake < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "no file descriptor is left");
	rc = options->is_carried ? device_socket_pair(&relay->endpoint, &relay->hand, err)
				 : device_socket_open(options->device, options->address, options->port,
						      &relay->endpoint, err);
	if (!rc) {
		relay->port = options->is_carried ? options->port : device_socket_port(relay->endpoint);
		rc = small_thread_start(&relay->thread, relay_main, relay, err);
	}
	if (rc)
		return rc;
	*ret_relay = TAKE(relay);
	return STATUS_OK;
}

void relay_put(struct relay *relay, const struct sockaddr_in *peer, int fd)
{
	device_socket_put(relay->hand, peer, fd);
}

uint16_t relay_port(const struct relay *relay)
{
	return relay->port;
}

void relay_close(struct relay *relay)
{
	if (!relay)
		return;
	eventfd_write(relay->wake, 1);
	pthread_join(relay->thread, NULL);
	relay_free(relay);
}
