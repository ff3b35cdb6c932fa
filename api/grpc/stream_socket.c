/* SPDX-License-Identifier: Apache-2.0 */
#include "api/grpc/stream_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "daemon/base/client_hello.h"
#include "daemon/base/clock.h"
#include "daemon/base/memory.h"

enum {
	HELLO_US = 10000000,
	/* for a client's first words */ HANDSHAKE_MS = 10000,
	SEND_S = 30,
	RECORD_MS = 30000,
	TLS_HANDSHAKE_RECORD = 22
};

struct tls_keys {
	gnutls_certificate_credentials_t credentials;
};

enum status tls_keys_new(const char *key, const char *certificate, struct tls_keys **ret_keys,
			 struct error *err)
{
	const gnutls_datum_t key_pem = { (unsigned char *)key, (unsigned)strlen(key) };
	const gnutls_datum_t certificate_pem = { (unsigned char *)certificate,
						 (unsigned)strlen(certificate) };
	struct tls_keys *keys = memory_calloc(1, sizeof(*keys));
	int code;

	code = gnutls_certificate_allocate_credentials(&keys->credentials);
	if (code >= 0)
		code = gnutls_certificate_set_x509_key_mem(keys->credentials, &certificate_pem, &key_pem,
							   GNUTLS_X509_FMT_PEM);
	if (code < 0) {
		tls_keys_free(keys);
		return error_set(err, STATUS_INTERNAL, NULL, "a certificate cannot be used: %s",
				 gnutls_strerror(code));
	}
	*ret_keys = keys;
	return STATUS_OK;
}

void tls_keys_free(struct tls_keys *keys)
{
	if (!keys)
		return;
	if (keys->credentials)
		gnutls_certificate_free_credentials(keys->credentials);
	free(keys);
}

/* Waits, also across signals. Returns 1: bytes or the end of the stream can be read; 0: timeout; -1: error. */
static int wait_readable(int fd, int timeout_ms)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	int ready;

	do
		ready = poll(&polled, 1, timeout_ms);
	while (ready < 0 && errno == EINTR);
	return ready;
}

static bool tls_begin(struct stream_socket *socket, struct tls_keys *keys)
{
	static const gnutls_datum_t protocols[] = { { (unsigned char *)"h2", 2 } };
	int code = gnutls_init(&socket->tls, GNUTLS_SERVER | GNUTLS_NO_SIGNAL);

	if (code < 0) {
		socket->tls = NULL;
		return false;
	}
	if (gnutls_set_default_priority(socket->tls) < 0 ||
	    gnutls_credentials_set(socket->tls, GNUTLS_CRD_CERTIFICATE, keys->credentials) < 0 ||
	    gnutls_alpn_set_protocols(socket->tls, protocols, 1, 0) < 0)
		return false;
	gnutls_transport_set_int(socket->tls, socket->fd);
	gnutls_handshake_set_timeout(socket->tls, HANDSHAKE_MS);
	gnutls_record_set_timeout(socket->tls, RECORD_MS); /* time limit for the rest of a record that has begun */
	do
		code = gnutls_handshake(socket->tls);
	while (code < 0 && !gnutls_error_is_fatal(code));
	return code >= 0;
}

bool stream_socket_begin(struct stream_socket *stream, int fd, struct tls_keys *keys)
{
	const struct timeval patience = { .tv_sec = SEND_S };
	unsigned char first = 0;

	*stream = (struct stream_socket){ .fd = fd };
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0 ||
	    wait_readable(fd, HANDSHAKE_MS) != 1 || recv(fd, &first, 1, MSG_PEEK) != 1)
		return false;
	return !keys || first != TLS_HANDSHAKE_RECORD || tls_begin(stream, keys);
}

void stream_socket_end(struct stream_socket *socket)
{
	if (!socket->tls)
		return;
	gnutls_bye(socket->tls, GNUTLS_SHUT_WR);
	gnutls_deinit(socket->tls);
	socket->tls = NULL;
}

static ssize_t read_once(struct stream_socket *socket, void *buffer, size_t size)
{
	return socket->tls ? gnutls_record_recv(socket->tls, buffer, size)
			   : recv(socket->fd, buffer, size, 0);
}

/* True if a failed read is to be repeated: after a signal, or an incomplete TLS record. */
static bool is_passing(const struct stream_socket *socket, ssize_t failure)
{
	return socket->tls ? !gnutls_error_is_fatal((int)failure) && failure != GNUTLS_E_REHANDSHAKE
			   : errno == EINTR;
}

/* Waits for the socket or for @wake_fd, which is reset. Returns 1: bytes or the end of the stream can be read; 0:
 * timeout, or woken; -1: error. */
static int read_wait(int fd, int wake_fd, int timeout_ms)
{
	struct pollfd polled[] = { { .fd = fd, .events = POLLIN }, { .fd = wake_fd, .events = POLLIN } };
	eventfd_t count;
	int ready;

	do
		ready = poll(polled, 2, timeout_ms);
	while (ready < 0 && errno == EINTR);
	if (ready > 0 && polled[1].revents)
		eventfd_read(wake_fd, &count);
	return ready < 0 ? ready : polled[0].revents != 0;
}

ssize_t stream_socket_read(struct stream_socket *socket, void *buffer, size_t size, int idle_ms, int wake_fd)
{
	ssize_t length;

	do {
		if (!socket->tls || gnutls_record_check_pending(socket->tls) == 0) {
			const int ready = read_wait(socket->fd, wake_fd, idle_ms);

			if (ready != 1)
				return ready == 0 ? STREAM_SOCKET_IDLE : STREAM_SOCKET_BROKEN;
		}
		length = read_once(socket, buffer, size);
	} while (length < 0 && is_passing(socket, length));
	return length < 0 ? STREAM_SOCKET_BROKEN : length;
}

bool stream_socket_write(struct stream_socket *socket, const void *data, size_t length)
{
	const char *at = data;

	while (length) {
		const ssize_t sent = socket->tls ? gnutls_record_send(socket->tls, at, length)
						 : send(socket->fd, at, length, MSG_NOSIGNAL);

		if (sent < 0 && socket->tls ? sent == GNUTLS_E_INTERRUPTED : sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		at += sent;
		length -= (size_t)sent;
	}
	return true;
}

bool stream_socket_is_rest(int fd)
{
	const int64_t until_us = clock_mono_us(&system_clock) + HELLO_US;
	const int usual = 1;
	struct client_hello hello = { 0 };
	uint8_t heard[HELLO_MAX_BYTES];
	enum hello read = HELLO_INCOMPLETE;

	while (read == HELLO_INCOMPLETE) {
		const int64_t left_us = until_us - clock_mono_us(&system_clock);
		struct pollfd polled = { .fd = fd, .events = POLLIN };
		ssize_t got;
		int more;

		if (left_us <= 0 || poll(&polled, 1, (int)(left_us / 1000) + 1) < 0)
			return false;
		got = recv(fd, heard, sizeof(heard), MSG_PEEK | MSG_DONTWAIT);
		if (got < 0 && errno == EAGAIN)
			continue;
		if (got <= 0 || heard[0] != TLS_HANDSHAKE_RECORD)
			return false;
		read = client_hello_read(heard, (size_t)got, &hello);
		more = (int)got + 1;
		if (read == HELLO_INCOMPLETE &&
		    (polled.revents & (POLLHUP | POLLERR) ||
		     setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &more, sizeof(more)) != 0))
			return false;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &usual, sizeof(usual));
	return !hello.http2_only;
}

enum status stream_listen(const char *address, uint16_t port, int *ret_fd, uint16_t *ret_port,
			  struct error *err)
{
	struct sockaddr_storage storage = { 0 };
	struct sockaddr_in *v4 = (struct sockaddr_in *)&storage;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&storage;
	socklen_t size = sizeof(*v4);
	const int on = 1;

	if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
	} else if (inet_pton(AF_INET6, address, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
		size = sizeof(*v6);
	} else {
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "\"%s\" is not an IP address", address);
	}
	*ret_fd = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*ret_fd < 0 || setsockopt(*ret_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    bind(*ret_fd, (struct sockaddr *)&storage, size) != 0 || listen(*ret_fd, SOMAXCONN) != 0 ||
	    getsockname(*ret_fd, (struct sockaddr *)&storage, &size) != 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "cannot listen on %s port %u: %s", address,
				 port, strerror(errno));
	*ret_port = ntohs(storage.ss_family == AF_INET ? v4->sin_port : v6->sin6_port);
	return STATUS_OK;
}
