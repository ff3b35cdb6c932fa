/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gateway/sni_filter.h"

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
#include "daemon/base/device_socket.h"
#include "daemon/base/small_thread.h"

enum { CLIENTS_MAX = 64, WAKE = CLIENTS_MAX, DOOR, POLLED };

struct client {
	int fd; /* -1: none */
	int64_t until_us;
	struct sockaddr_in peer;
	int heard_bytes;
};

struct sni_filter {
	struct sni_filter_options options;
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
static void client_refuse(struct sni_filter *sni_filter, struct client *client, const char *host)
{
	static const uint8_t alert[] = { 21, 3, 3, 0, 2, 2, 49 };

	if (sni_filter->options.tried)
		sni_filter->options.tried(sni_filter->options.arg, host);
	/* What it said is read, so that it gets the answer rather than a reset. */
	(void)!recv(client->fd, sni_filter->heard, sizeof(sni_filter->heard), MSG_DONTWAIT);
	(void)!send(client->fd, alert, sizeof(alert), MSG_NOSIGNAL | MSG_DONTWAIT);
	client_end(client);
}

/* poll() tells of a client when there is more than was heard already. False: its kernel does not do so. */
static bool client_wake_after(const struct client *client, int bytes)
{
	const int more = bytes + 1;

	return setsockopt(client->fd, SOL_SOCKET, SO_RCVLOWAT, &more, sizeof(more)) == 0;
}

static bool client_serve(struct sni_filter *sni_filter, struct client *client,
			 const struct client_hello *hello)
{
	const struct sni_filter_options *options = &sni_filter->options;

	if (!options->serve || !client_wake_after(client, 0) ||
	    !options->serve(options->arg, hello, client->fd, &client->peer))
		return false;
	client->fd = -1;
	client_end(client);
	return true;
}

/* The bytes stay in the socket: the server that gets the connection reads them again. */
static void client_hear(struct sni_filter *sni_filter, struct client *client)
{
	ssize_t got = recv(client->fd, sni_filter->heard, sizeof(sni_filter->heard), MSG_PEEK | MSG_DONTWAIT);
	struct client_hello hello;
	enum hello read;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* No more than before: it has left. */
	if (got <= client->heard_bytes) {
		client_refuse(sni_filter, client, "");
		return;
	}
	client->heard_bytes = (int)got;
	read = client_hello_read(sni_filter->heard, (size_t)got, &hello);
	if (read == HELLO_INCOMPLETE && client_wake_after(client, client->heard_bytes))
		return;
	if (read != HELLO_NAMED || !client_serve(sni_filter, client, &hello))
		client_refuse(sni_filter, client, hello.name);
}

/* One more client than there is room for is not let in before somebody goes. */
static bool has_room(const struct sni_filter *sni_filter)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (sni_filter->clients[i].fd < 0)
			return true;
	return false;
}

static void client_admit(struct sni_filter *sni_filter, bool *ret_open)
{
	struct sockaddr_in peer;
	int fd = device_socket_accept_peer(sni_filter->door, &sni_filter->options.peers, &peer, ret_open);
	struct client *client = sni_filter->clients;

	if (fd < 0)
		return;
	while (client->fd >= 0) /* there is room for one */
		client++;
	client->fd = fd;
	client->peer = peer;
	client->until_us = clock_mono_us(&system_clock) + (int64_t)sni_filter->options.patience_ms * 1000;
}

/* How long poll() may wait: for who says nothing, and for a door that is left alone. */
static int patience_ms(const struct sni_filter *sni_filter, bool open)
{
	int64_t now_us = clock_mono_us(&system_clock);
	int64_t first_us = open ? INT64_MAX : now_us + (int64_t)DEVICE_SOCKET_PAUSE_MS * 1000;

	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (sni_filter->clients[i].fd >= 0 && sni_filter->clients[i].until_us < first_us)
			first_us = sni_filter->clients[i].until_us;
	if (first_us == INT64_MAX)
		return -1;
	return first_us > now_us ? (int)((first_us - now_us) / 1000) + 1 : 0;
}

static void clients_serve(struct sni_filter *sni_filter, const struct pollfd *polled)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *client = &sni_filter->clients[i];

		if (client->fd < 0)
			continue;
		if (polled[i].revents)
			client_hear(sni_filter, client);
		else if (client->until_us <= clock_mono_us(&system_clock))
			client_refuse(sni_filter, client, "");
	}
}

static void *sni_filter_main(void *arg)
{
	struct sni_filter *sni_filter = arg;
	struct pollfd polled[POLLED];
	bool open = true;

	do {
		for (size_t i = 0; i < CLIENTS_MAX; i++)
			polled[i] = (struct pollfd){ .fd = sni_filter->clients[i].fd, .events = POLLIN };
		polled[WAKE] = (struct pollfd){ .fd = sni_filter->wake, .events = POLLIN };
		polled[DOOR] = (struct pollfd){ .fd = open && has_room(sni_filter) ? sni_filter->door : -1,
						.events = POLLIN };
		if (!device_socket_poll("sni_filter", polled, POLLED, patience_ms(sni_filter, open)))
			break;
		open = true;
		clients_serve(sni_filter, polled);
		if (polled[DOOR].revents)
			client_admit(sni_filter, &open);
	} while (!polled[WAKE].revents);
	shutdown(sni_filter->door,
		 SHUT_RDWR); /* clients that come now are refused, rather than kept waiting */
	return NULL;
}

static void sni_filter_free(struct sni_filter *sni_filter)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		client_end(&sni_filter->clients[i]);
	if (sni_filter->door >= 0)
		close(sni_filter->door);
	if (sni_filter->wake >= 0)
		close(sni_filter->wake);
	free(sni_filter);
}

DEFINE_AUTO(sni_filter, struct sni_filter *, sni_filter_free)

enum status sni_filter_open(const struct sni_filter_options *options, struct sni_filter **ret_tripwire,
			    struct error *err)
{
	AUTO(sni_filter) struct sni_filter *sni_filter = calloc(1, sizeof(*sni_filter));
	enum status rc;

	if (!sni_filter)
		return error_no_memory(err);
	sni_filter->options = *options;
	sni_filter->options.device = NULL; /* the caller's */
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		sni_filter->clients[i].fd = -1;
	sni_filter->door = -1;
	sni_filter->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (sni_filter->wake < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "no descriptor to be had");
	rc = device_socket_open(options->device, options->address, options->port, &sni_filter->door, err);
	if (!rc) {
		sni_filter->port = device_socket_port(sni_filter->door);
		rc = small_thread_start(&sni_filter->thread, sni_filter_main, sni_filter, err);
	}
	if (rc)
		return rc;
	*ret_tripwire = TAKE(sni_filter);
	return STATUS_OK;
}

uint16_t sni_filter_port(const struct sni_filter *sni_filter)
{
	return sni_filter->port;
}

void sni_filter_close(struct sni_filter *sni_filter)
{
	if (!sni_filter)
		return;
	eventfd_write(sni_filter->wake, 1);
	pthread_join(sni_filter->thread, NULL);
	sni_filter_free(sni_filter);
}
