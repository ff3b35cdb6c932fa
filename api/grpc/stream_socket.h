/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/stream_socket.h: a client's connection, with TLS (by GnuTLS) or without. Thread: one. */
#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/error.h"

/* A server's key and certificate, shared by all its connections. */
struct tls_keys;
/* Reads a key and its certificate, which are PEM. INTERNAL: they are not valid. */
enum status tls_keys_new(const char *key, const char *certificate, struct tls_keys **ret_keys,
			 struct error *err);
void tls_keys_free(struct tls_keys *keys);

/* Listens on an IP address; @port 0: any free port. The caller closes *ret_fd if it is not -1, even after a failure.
 * INVALID_ARGUMENT: not an address; UNAVAILABLE. */
enum status stream_listen(const char *address, uint16_t port, int *ret_fd, uint16_t *ret_port, struct error *err);
/* True if the client begins TLS and does not offer HTTP/2 as the only protocol, so that it speaks REST. Waits for
 * the client's first bytes, and leaves them unread. */
bool stream_socket_is_rest(int fd);

struct stream_socket {
	int fd;               /* the caller closes it */
	gnutls_session_t tls; /* NULL: without */
};

/* Results of a read without data. */
enum { STREAM_SOCKET_END = 0, STREAM_SOCKET_BROKEN = -1, STREAM_SOCKET_IDLE = -2 };

/* Reads the first byte: if the client begins TLS and there are @keys, makes the TLS handshake. False: the client
 * sends nothing for ten seconds or has left, or the handshake fails. */
bool stream_socket_begin(struct stream_socket *socket, int fd, struct tls_keys *keys);
void stream_socket_end(struct stream_socket *socket);
#define AUTO_STREAM_SOCKET __attribute__((cleanup(stream_socket_end)))

/* Waits at most @idle_ms for the first bytes; a TLS record that has begun must be complete after thirty seconds.
 * @wake_fd: an eventfd, or -1; when another thread writes to it, it is reset, and the read ends as if nothing had
 * arrived. */
ssize_t stream_socket_read(struct stream_socket *socket, void *buffer, size_t size, int idle_ms,
			   int wake_fd);
/* Writes all bytes. False: the connection failed, or the client read nothing for thirty seconds. */
bool stream_socket_write(struct stream_socket *socket, const void *data, size_t length);
