/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_carrier.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_ssh.h"
#include "scheduler/engine/docker_wire.h"

/* STACK_BYTES: the name service and GnuTLS want more than a pump does; there may be a thread for each replica. */
enum { FLOW_BYTES = 32 * 1024, STACK_BYTES = 1024 * 1024, ACCEPT_US = 10 * 1000 * 1000 };

struct carrier {
	struct endpoint *endpoint;
	int listener; /* -1: near is there already */
	int near;
	struct wire wire;
	bool heard; /* the engine has sent something */
};

/* Bytes on their way in one direction: received once all before them were sent, as GnuTLS wants to be given the same bytes
 * again that it could not send. */
struct flow {
	char data[FLOW_BYTES];
	size_t from, to;
	bool ended;
};

static bool flow_is_empty(const struct flow *flow)
{
	return flow->from == flow->to;
}

static ssize_t near_receive(struct carrier *carrier, struct flow *flow)
{
	const ssize_t got = recv(carrier->near, flow->data, sizeof(flow->data), MSG_DONTWAIT);

	return got >= 0 ? got : errno == EAGAIN || errno == EINTR ? WIRE_AGAIN : WIRE_BROKEN;
}

static ssize_t near_send(struct carrier *carrier, const char *data, size_t length)
{
	const ssize_t sent = send(carrier->near, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);

	return sent >= 0 ? sent : errno == EAGAIN || errno == EINTR ? WIRE_AGAIN : WIRE_BROKEN;
}

/* If the connection breaks before the engine has sent anything, the engine was not reached. */
static ssize_t far_receive(struct carrier *carrier, struct flow *flow)
{
	char why[ENDPOINT_PROBLEM_SIZE] = "";
	const ssize_t got =
		wire_receive(&carrier->wire, flow->data, sizeof(flow->data), why, sizeof(why));

	if (got == WIRE_BROKEN && !carrier->heard)
		endpoint_problem_set(carrier->endpoint, why);
	carrier->heard |= got > 0;
	return got;
}

/* Moves what can be moved at once. False: the connection is over. */
static bool out_move(struct carrier *carrier, struct flow *out, bool *moved)
{
	ssize_t count;

	if (flow_is_empty(out) && !out->ended) {
		count = near_receive(carrier, out);
		if (count == WIRE_BROKEN)
			return false;
		out->from = 0;
		out->to = count > 0 ? (size_t)count : 0;
		out->ended = count == 0;
		*moved |= count >= 0;
		if (out->ended)
			wire_end_sending(&carrier->wire);
	}
	while (!flow_is_empty(out)) {
		count = wire_send(&carrier->wire, out->data + out->from, out->to - out->from);
		if (count < 0)
			return count == WIRE_AGAIN;
		out->from += (size_t)count;
		*moved = true;
	}
	return true;
}

/* Likewise. What the engine has ended is over once all of it was handed on. */
static bool in_move(struct carrier *carrier, struct flow *in, bool *moved)
{
	ssize_t count;

	if (flow_is_empty(in)) {
		count = far_receive(carrier, in);
		if (count == WIRE_BROKEN || count == 0)
			return false;
		in->from = 0;
		in->to = count > 0 ? (size_t)count : 0;
		*moved |= count > 0;
	}
	while (!flow_is_empty(in)) {
		count = near_send(carrier, in->data + in->from, in->to - in->from);
		if (count < 0)
			return count == WIRE_AGAIN;
		in->from += (size_t)count;
		*moved = true;
	}
	return true;
}

/* False: the caller has closed its end, and waits for nothing more. */
static bool carrier_wait(const struct carrier *carrier, const struct flow *out, const struct flow *in)
{
	struct pollfd polled[] = { { carrier->near, 0, 0 }, { carrier->wire.fd, 0, 0 } };

	if (flow_is_empty(out) && !out->ended)
		polled[0].events |= POLLIN;
	if (!flow_is_empty(out))
		polled[1].events |= POLLOUT;
	if (!flow_is_empty(in))
		polled[0].events |= POLLOUT;
	else if (!wire_holds_bytes(&carrier->wire))
		polled[1].events |= POLLIN;
	else
		return true;
	if (poll(polled, 2, -1) < 0)
		return errno == EINTR;
	return !(polled[0].revents & (POLLHUP | POLLERR)) || (polled[0].revents & POLLIN);
}

static void wire_carry(struct carrier *carrier)
{
	AUTO(string) char *memory = memory_calloc(2, sizeof(struct flow));
	struct flow *out = (struct flow *)(void *)memory, *in = out + 1;
	bool moved, goes_on = true;

	do {
		do {
			moved = false;
			goes_on = out_move(carrier, out, &moved) && in_move(carrier, in, &moved);
		} while (goes_on && moved);
	} while (goes_on && carrier_wait(carrier, out, in));
}

/* Any process may find the listener's name. -1: this one does not come. */
static int own_accept(int listener)
{
	const int64_t until_us = clock_mono_us(&system_clock) + ACCEPT_US;
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);

	for (;;) {
		const int64_t left_us = until_us - clock_mono_us(&system_clock);
		struct pollfd polled = { listener, POLLIN, 0 };
		int fd;

		if (left_us <= 0 || (poll(&polled, 1, (int)(left_us / 1000) + 1) < 0 && errno != EINTR))
			return -1;
		fd = polled.revents ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
		if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == getpid())
			return fd;
		if (fd >= 0)
			close(fd);
	}
}

static void *carrier_main(void *arg)
{
	struct carrier *carrier = arg;
	const struct endpoint_address *place = endpoint_address(carrier->endpoint);
	char problem[ENDPOINT_PROBLEM_SIZE] = "";

	if (carrier->listener >= 0) {
		carrier->near = own_accept(carrier->listener);
		close(carrier->listener);
	}
	if (carrier->near < 0) {
		; /* the caller has changed its mind */
	} else if (place->kind == ENDPOINT_SSH) {
		ssh_carry(carrier->endpoint, carrier->near);
	} else {
		const bool opened =
			wire_open(place, carrier->near, &carrier->wire, problem, sizeof(problem));

		endpoint_problem_set(carrier->endpoint, problem);
		if (opened)
			wire_carry(carrier);
		wire_close(&carrier->wire);
		close(carrier->near);
	}
	endpoint_close(carrier->endpoint);
	free(carrier);
	return NULL;
}

/* Signals are for the daemon's own threads. */
static int start(struct endpoint *endpoint, int listener, int near)
{
	struct carrier *carrier = memory_calloc(1, sizeof(*carrier));
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int rc;

	*carrier = (struct carrier){ .endpoint = endpoint_hold(endpoint), .listener = listener, .near = near };
	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, &attributes, carrier_main, carrier);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (rc) {
		endpoint_close(endpoint);
		free(carrier);
	}
	return rc;
}

int carrier_start(struct endpoint *endpoint, int near)
{
	return start(endpoint, -1, near);
}

int carrier_start_listening(struct endpoint *endpoint, int listener)
{
	return start(endpoint, listener, -1);
}
