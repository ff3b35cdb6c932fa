/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gateway/host_filter.h"

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
#include "daemon/base/host_header.h"
#include "daemon/base/memory.h"
#include "daemon/base/small_thread.h"

enum { CLIENTS_MAX = 64, WAKE = CLIENTS_MAX, ENDPOINT, POLLED };

struct client {
	int fd; /* -1: none */
	int64_t until_us;
	struct sockaddr_in peer;
	int heard_bytes;
};

struct host_filter {
	struct host_filter_options options;
	int endpoint, wake;
	int hand; /* the socket through which host_filter_put() passes connections to the thread; -1 unless is_carried */
	uint16_t port;
	pthread_t thread;
	struct client clients[CLIENTS_MAX];
	uint8_t heard[HELLO_MAX_BYTES];
};

/* Source: https://www.rfc-editor.org/rfc/rfc8446 (6) */
static const uint8_t alert[] = { 21, 3, 3, 0, 2, 2, 49 };
static const char forbidden[] = "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 67\r\n"
				"Connection: close\r\n\r\n"
				"trainyard: the daemon cuts jobs off from this host (--egress none)\n";

const struct host_protocol host_protocol_tls = { .read = client_hello_read,
						 .refusal = alert,
						 .refusal_bytes = sizeof(alert) };
const struct host_protocol host_protocol_plain = { .read = host_header_read,
						   .refusal = forbidden,
						   .refusal_bytes = sizeof(forbidden) - 1,
						   .serves_unnamed = true };

static void client_end(struct client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	*client = (struct client){ .fd = -1 };
}

static void client_refuse(struct host_filter *host_filter, struct client *client, const char *host)
{
	const struct host_filter_options *options = &host_filter->options;

	if (options->tried)
		options->tried(options->arg, host);
	/* Reads the client's bytes, because close() with unread bytes would send a reset and the client would lose the
	 * refusal. */
	(void)!recv(client->fd, host_filter->heard, sizeof(host_filter->heard), MSG_DONTWAIT);
	(void)!send(client->fd, options->protocol->refusal, options->protocol->refusal_bytes,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
	client_end(client);
}

/* Makes poll() report the client only when it has sent more than @bytes bytes. Returns false if the kernel refuses. */
static bool client_wake_after(const struct client *client, int bytes)
{
	const int more = bytes + 1;

	return setsockopt(client->fd, SOL_SOCKET, SO_RCVLOWAT, &more, sizeof(more)) == 0;
}

static bool client_serve(struct host_filter *host_filter, struct client *client,
			 const struct client_hello *hello)
{
	const struct host_filter_options *options = &host_filter->options;

	if (!options->serve || !client_wake_after(client, 0) ||
	    !options->serve(options->arg, hello, client->fd, &client->peer))
		return false;
	client->fd = -1;
	client_end(client);
	return true;
}

/* Handles a client that has left, was silent for too long, or names no host. */
static void client_unnamed(struct host_filter *host_filter, struct client *client)
{
	const struct client_hello nothing = { 0 };

	if (!host_filter->options.protocol->serves_unnamed || !client_serve(host_filter, client, &nothing))
		client_refuse(host_filter, client, "");
}

/* Peeks at the client's first bytes to find the host. The bytes stay in the socket for the server that gets the
 * connection. */
static void client_hear(struct host_filter *host_filter, struct client *client)
{
	ssize_t got =
		recv(client->fd, host_filter->heard, sizeof(host_filter->heard), MSG_PEEK | MSG_DONTWAIT);
	struct client_hello hello;
	enum hello read;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* poll() woke without new bytes: the client has left. */
	if (got <= client->heard_bytes) {
		client_unnamed(host_filter, client);
		return;
	}
	client->heard_bytes = (int)got;
	read = host_filter->options.protocol->read(host_filter->heard, (size_t)got, &hello);
	if (read == HELLO_INCOMPLETE && client_wake_after(client, client->heard_bytes))
		return;
	if (read != HELLO_NAMED)
		client_unnamed(host_filter, client);
	else if (!client_serve(host_filter, client, &hello))
		client_refuse(host_filter, client, hello.name);
}

/* Returns true if a further client can be accepted. If false, clients wait until another one has left. */
static bool has_room(const struct host_filter *host_filter)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (host_filter->clients[i].fd < 0)
			return true;
	return false;
}

static void client_admit(struct host_filter *host_filter, bool *ret_open)
{
	struct sockaddr_in peer;
	int fd = device_socket_accept_peer(host_filter->endpoint, &host_filter->options.peers, &peer,
					   ret_open);
	struct client *client = host_filter->clients;

	if (fd < 0)
		return;
	while (client->fd >= 0) /* has_room() was true */
		client++;
	client->fd = fd;
	client->peer = peer;
	client->until_us = clock_mono_us(&system_clock) + (int64_t)host_filter->options.patience_ms * 1000;
}

/* The timeout for poll(), until the first silent client is too late or a failed listener is tried again; -1: no limit. */
static int patience_ms(const struct host_filter *host_filter, bool open)
{
	int64_t now_us = clock_mono_us(&system_clock);
	int64_t first_us = open ? INT64_MAX : now_us + (int64_t)DEVICE_SOCKET_PAUSE_MS * 1000;

	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (host_filter->clients[i].fd >= 0 && host_filter->clients[i].until_us < first_us)
			first_us = host_filter->clients[i].until_us;
	if (first_us == INT64_MAX)
		return -1;
	return first_us > now_us ? (int)((first_us - now_us) / 1000) + 1 : 0;
}

static void clients_serve(struct host_filter *host_filter, const struct pollfd *polled)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *client = &host_filter->clients[i];

		if (client->fd < 0)
			continue;
		if (polled[i].revents)
			client_hear(host_filter, client);
		else if (client->until_us <= clock_mono_us(&system_clock))
			client_unnamed(host_filter, client);
	}
}

static void *host_filter_main(void *arg)
{
	struct host_filter *host_filter = arg;
	struct pollfd polled[POLLED];
	bool open = true;

	do {
		for (size_t i = 0; i < CLIENTS_MAX; i++)
			polled[i] = (struct pollfd){ .fd = host_filter->clients[i].fd, .events = POLLIN };
		polled[WAKE] = (struct pollfd){ .fd = host_filter->wake, .events = POLLIN };
		polled[ENDPOINT] =
			(struct pollfd){ .fd = open && has_room(host_filter) ? host_filter->endpoint : -1,
					 .events = POLLIN };
		if (!device_socket_poll("host_filter", polled, POLLED, patience_ms(host_filter, open)))
			break;
		open = true;
		clients_serve(host_filter, polled);
		if (polled[ENDPOINT].revents)
			client_admit(host_filter, &open);
	} while (!polled[WAKE].revents);
	shutdown(host_filter->endpoint,
		 SHUT_RDWR); /* new clients are refused at once instead of waiting for an answer */
	return NULL;
}

static void host_filter_free(struct host_filter *host_filter)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		client_end(&host_filter->clients[i]);
	if (host_filter->endpoint >= 0)
		close(host_filter->endpoint);
	if (host_filter->hand >= 0)
		close(host_filter->hand);
	if (host_filter->wake >= 0)
		close(host_filter->wake);
	free(host_filter);
}

DEFINE_AUTO(host_filter, struct host_filter *, host_filter_free)

enum status host_filter_open(const struct host_filter_options *options, struct host_filter **ret_host_filter,
			     struct error *err)
{
	AUTO(host_filter) struct host_filter *host_filter = memory_calloc(1, sizeof(*host_filter));
	enum status rc;

	host_filter->options = *options;
	host_filter->options.device = NULL; /* borrowed from the caller only for this call */
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		host_filter->clients[i].fd = -1;
	host_filter->endpoint = host_filter->hand = -1;
	host_filter->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (host_filter->wake < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "no file descriptor is left");
	rc = options->is_carried ? device_socket_pair(&host_filter->endpoint, &host_filter->hand, err)
				 : device_socket_open(options->device, options->address, options->port,
						      &host_filter->endpoint, err);
	if (!rc) {
		host_filter->port =
			options->is_carried ? options->port : device_socket_port(host_filter->endpoint);
		rc = small_thread_start(&host_filter->thread, host_filter_main, host_filter, err);
	}
	if (rc)
		return rc;
	*ret_host_filter = TAKE(host_filter);
	return STATUS_OK;
}

void host_filter_put(struct host_filter *host_filter, const struct sockaddr_in *peer, int fd)
{
	device_socket_put(host_filter->hand, peer, fd);
}

uint16_t host_filter_port(const struct host_filter *host_filter)
{
	return host_filter->port;
}

void host_filter_close(struct host_filter *host_filter)
{
	if (!host_filter)
		return;
	eventfd_write(host_filter->wake, 1);
	pthread_join(host_filter->thread, NULL);
	host_filter_free(host_filter);
}
