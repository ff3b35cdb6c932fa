/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/tripwire.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/client_hello.h"
#include "daemon/base/clock.h"
#include "daemon/device_socket.h"
#include "daemon/small_thread.h"

enum { CLIENTS_MAX = 64, WAKE = CLIENTS_MAX, DOOR, POLLED };

struct client {
	int fd; /* -1: none */
	int64_t until_us;
	struct sockaddr_in peer;
	int heard_bytes;
};

struct tripwire {
	struct tripwire_options options;
	int door, wake;
	uint16_t port;
	pthread_t thread;
	struct client clients[CLIENTS_MAX];
	uint8_t heard[HELLO_MAX_BYTES];
};

static void client_end(struct client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	*client = (struct client){ .fd = -1 };
}

/* Programs show it as "access denied". Source: https://www.rfc-editor.org/rfc/rfc8446 (6) */
static void client_refuse(struct tripwire *tripwire, struct client *client, const char *host)
{
	static const uint8_t alert[] = { 21, 3, 3, 0, 2, 2, 49 };

	if (tripwire->options.tried)
		tripwire->options.tried(tripwire->options.arg, host);
	/* What it said is read, so that it gets the answer rather than a reset. */
	(void)!recv(client->fd, tripwire->heard, sizeof(tripwire->heard), MSG_DONTWAIT);
	(void)!send(client->fd, alert, sizeof(alert), MSG_NOSIGNAL | MSG_DONTWAIT);
	client_end(client);
}

/* poll() tells of a client when there is more than was heard already. False: its kernel does not do so. */
static bool client_wake_after(const struct client *client, int bytes)
{
	const int more = bytes + 1;

	return setsockopt(client->fd, SOL_SOCKET, SO_RCVLOWAT, &more, sizeof(more)) == 0;
}

static bool client_serve(struct tripwire *tripwire, struct client *client, const struct client_hello *hello)
{
	const struct tripwire_options *options = &tripwire->options;

	if (!options->serve || !client_wake_after(client, 0) ||
	    !options->serve(options->arg, hello, client->fd, &client->peer))
		return false;
	client->fd = -1;
	client_end(client);
	return true;
}

/* Its words stay where they are for whom it is handed to. */
static void client_hear(struct tripwire *tripwire, struct client *client)
{
	ssize_t got = recv(client->fd, tripwire->heard, sizeof(tripwire->heard), MSG_PEEK | MSG_DONTWAIT);
	struct client_hello hello;
	enum hello read;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* No more than before: it has left. */
	if (got <= client->heard_bytes) {
		client_refuse(tripwire, client, "");
		return;
	}
	client->heard_bytes = (int)got;
	read = client_hello_read(tripwire->heard, (size_t)got, &hello);
	if (read == HELLO_INCOMPLETE && client_wake_after(client, client->heard_bytes))
		return;
	if (read != HELLO_NAMED || !client_serve(tripwire, client, &hello))
		client_refuse(tripwire, client, hello.name);
}

/* One more client than there is room for is not let in before somebody goes. */
static bool has_room(const struct tripwire *tripwire)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (tripwire->clients[i].fd < 0)
			return true;
	return false;
}

static void client_admit(struct tripwire *tripwire, bool *ret_open)
{
	struct sockaddr_in peer;
	int fd = device_socket_accept_peer(tripwire->door, &tripwire->options.peers, &peer, ret_open);
	struct client *client = tripwire->clients;

	if (fd < 0)
		return;
	while (client->fd >= 0) /* there is room for one */
		client++;
	client->fd = fd;
	client->peer = peer;
	client->until_us = clock_mono_us(&system_clock) + (int64_t)tripwire->options.patience_ms * 1000;
}

/* How long poll() may wait: for who says nothing, and for a door that is left alone. */
static int patience_ms(const struct tripwire *tripwire, bool open)
{
	int64_t now_us = clock_mono_us(&system_clock);
	int64_t first_us = open ? INT64_MAX : now_us + (int64_t)DEVICE_SOCKET_PAUSE_MS * 1000;

	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (tripwire->clients[i].fd >= 0 && tripwire->clients[i].until_us < first_us)
			first_us = tripwire->clients[i].until_us;
	if (first_us == INT64_MAX)
		return -1;
	return first_us > now_us ? (int)((first_us - now_us) / 1000) + 1 : 0;
}

static void clients_serve(struct tripwire *tripwire, const struct pollfd *polled)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *client = &tripwire->clients[i];

		if (client->fd < 0)
			continue;
		if (polled[i].revents)
			client_hear(tripwire, client);
		else if (client->until_us <= clock_mono_us(&system_clock))
			client_refuse(tripwire, client, "");
	}
}

static void *tripwire_main(void *arg)
{
	struct tripwire *tripwire = arg;
	struct pollfd polled[POLLED];
	bool open = true;

	do {
		for (size_t i = 0; i < CLIENTS_MAX; i++)
			polled[i] = (struct pollfd){ .fd = tripwire->clients[i].fd, .events = POLLIN };
		polled[WAKE] = (struct pollfd){ .fd = tripwire->wake, .events = POLLIN };
		polled[DOOR] = (struct pollfd){ .fd = open && has_room(tripwire) ? tripwire->door : -1,
						.events = POLLIN };
		if (!device_socket_poll("tripwire", polled, POLLED, patience_ms(tripwire, open)))
			break;
		open = true;
		clients_serve(tripwire, polled);
		if (polled[DOOR].revents)
			client_admit(tripwire, &open);
	} while (!polled[WAKE].revents);
	shutdown(tripwire->door, SHUT_RDWR); /* clients that come now are refused, rather than kept waiting */
	return NULL;
}

static void tripwire_free(struct tripwire *tripwire)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		client_end(&tripwire->clients[i]);
	if (tripwire->door >= 0)
		close(tripwire->door);
	if (tripwire->wake >= 0)
		close(tripwire->wake);
	free(tripwire);
}

DEFINE_AUTO(tripwire, struct tripwire *, tripwire_free)

enum status tripwire_open(const struct tripwire_options *options, struct tripwire **ret_tripwire,
			  struct error *err)
{
	AUTO(tripwire) struct tripwire *tripwire = calloc(1, sizeof(*tripwire));
	enum status rc;

	if (!tripwire)
		return error_no_memory(err);
	tripwire->options = *options;
	tripwire->options.device = NULL; /* the caller's */
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		tripwire->clients[i].fd = -1;
	tripwire->door = -1;
	tripwire->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (tripwire->wake < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "no descriptor to be had");
	rc = device_socket_open(options->device, options->address, options->port, &tripwire->door, err);
	if (!rc) {
		tripwire->port = device_socket_port(tripwire->door);
		rc = small_thread_start(&tripwire->thread, tripwire_main, tripwire, err);
	}
	if (rc)
		return rc;
	*ret_tripwire = TAKE(tripwire);
	return STATUS_OK;
}

uint16_t tripwire_port(const struct tripwire *tripwire)
{
	return tripwire->port;
}

void tripwire_close(struct tripwire *tripwire)
{
	if (!tripwire)
		return;
	eventfd_write(tripwire->wake, 1);
	pthread_join(tripwire->thread, NULL);
	tripwire_free(tripwire);
}
