/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gateway/lookup.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "daemon/base/small_thread.h"

enum { ADDRESSES_MAX = 4, HOST_SIZE = 256, PORT_SIZE = 6, WAITED = 2, US_PER_MS = 1000 };

/* Shared by the caller and the thread that calls the resolver. The thread may run longer than the call; the last of the
 * two frees it. */
struct lookup {
	atomic_int holders;
	int done; /* eventfd */
	char host[HOST_SIZE], port[PORT_SIZE];
	int problem; /* result of getaddrinfo() */
	struct sockaddr_storage addresses[ADDRESSES_MAX];
	socklen_t sizes[ADDRESSES_MAX];
	size_t count;
};

static void lookup_leave(struct lookup *lookup)
{
	if (atomic_fetch_sub(&lookup->holders, 1) > 1)
		return;
	if (lookup->done >= 0)
		close(lookup->done);
	free(lookup);
}

DEFINE_AUTO(lookup, struct lookup *, lookup_leave)

static void *lookup_main(void *arg)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct lookup *lookup = arg;
	struct addrinfo *found = NULL;

	pthread_detach(pthread_self());
	lookup->problem = getaddrinfo(lookup->host, lookup->port, &hints, &found);
	for (const struct addrinfo *one = found; one && lookup->count < ADDRESSES_MAX; one = one->ai_next) {
		memcpy(&lookup->addresses[lookup->count], one->ai_addr, one->ai_addrlen);
		lookup->sizes[lookup->count++] = one->ai_addrlen;
	}
	if (found)
		freeaddrinfo(found);
	eventfd_write(lookup->done, 1);
	lookup_leave(lookup);
	return NULL;
}

/* Waits for @events of @fd. Returns false if @wake became readable or @until_us has passed. */
static bool wait_for(int fd, short events, int wake, int64_t until_us)
{
	struct pollfd polled[WAITED] = { { .fd = fd, .events = events }, { .fd = wake, .events = POLLIN } };

	for (;;) {
		const int64_t left_us = until_us - clock_mono_us(&system_clock);
		const int ready = left_us > 0 ? poll(polled, WAITED, (int)(left_us / US_PER_MS) + 1) : 0;

		if (ready < 0 && errno == EINTR)
			continue;
		return ready > 0 && !polled[1].revents;
	}
}

/* Connects to one address. Returns the socket; -1: it does not answer. */
static int address_call(const struct lookup *lookup, size_t which, int wake, int64_t until_us)
{
	const struct sockaddr_storage *address = &lookup->addresses[which];
	int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int problem = 0;
	socklen_t size = sizeof(problem);

	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)address, lookup->sizes[which]) == 0)
		return fd;
	problem = errno;
	if (problem == EINPROGRESS) {
		problem = ETIMEDOUT;
		if (wait_for(fd, POLLOUT, wake, until_us))
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &size);
	}
	if (problem == 0)
		return fd;
	errno = problem;
	return fd_drop(fd);
}

static struct lookup *lookup_new(const char *host, const char *port)
{
	AUTO(lookup) struct lookup *lookup = memory_calloc(1, sizeof(*lookup));

	atomic_init(&lookup->holders, 1);
	lookup->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	strncat(lookup->host, host, HOST_SIZE - 1);
	strncat(lookup->port, port, PORT_SIZE - 1);
	return lookup->done < 0 ? NULL : TAKE(lookup);
}

enum status lookup_connect(const char *host, const char *port, int wake, unsigned limit_ms, int *ret_fd,
			   struct error *err)
{
	const int64_t until_us = clock_mono_us(&system_clock) + (int64_t)limit_ms * US_PER_MS;
	AUTO(lookup) struct lookup *lookup = lookup_new(host, port);
	pthread_t thread;
	enum status rc;

	if (!lookup)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "no file descriptor is left");
	atomic_fetch_add(&lookup->holders, 1);
	rc = small_thread_start(&thread, lookup_main, lookup, err);
	if (rc) {
		lookup_leave(lookup);
		return rc;
	}
	if (!wait_for(lookup->done, POLLIN, wake, until_us))
		return error_set(err, STATUS_UNAVAILABLE, NULL, "the resolver does not answer");
	if (lookup->problem)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "%s", gai_strerror(lookup->problem));
	for (size_t i = 0; i < lookup->count; i++) {
		*ret_fd = address_call(lookup, i, wake, until_us);
		if (*ret_fd >= 0)
			return STATUS_OK;
	}
	return error_set(err, STATUS_UNAVAILABLE, NULL, "%s", strerror(errno));
}
