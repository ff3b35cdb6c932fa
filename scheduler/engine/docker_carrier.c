/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_carrier.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_ssh.h"
#include "scheduler/engine/docker_wire.h"

/* STACK_BYTES is small, because there may be a thread for each replica, but large enough for the name service and
 * GnuTLS. */
enum { STACK_BYTES = 1024 * 1024, ACCEPT_US = 10 * 1000 * 1000 };

struct carrier {
	struct endpoint *endpoint;
	int listener; /* accepts @near; -1: @near is connected already */
	int near;
};

/* Accepts the connection that this process makes to the listener. Other processes may find the listener's name, so
 * their connections are refused. Returns -1 if this process does not connect in time. */
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
		; /* the caller did not connect to the listener: there is nothing to carry */
	} else if (place->kind == ENDPOINT_SSH) {
		ssh_carry(carrier->endpoint, carrier->near);
	} else {
		struct wire near = { .fd = carrier->near }, far;
		const bool opened = wire_open(place, carrier->near, &far, problem, sizeof(problem));

		endpoint_problem_set(carrier->endpoint, problem);
		if (opened)
			wire_carry(&near, &far, problem, sizeof(problem));
		if (opened && problem[0])
			endpoint_problem_set(carrier->endpoint, problem);
		if (problem[0] && place->dialer.failed)
			place->dialer.failed(place->dialer.arg);
		wire_close(&far);
		wire_close(&near);
	}
	endpoint_close(carrier->endpoint);
	free(carrier);
	return NULL;
}

/* Starts the thread with all signals blocked, because the daemon's own threads handle signals. */
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
