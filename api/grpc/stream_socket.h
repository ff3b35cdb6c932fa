/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/stream_socket.h: a client's connection, with TLS or without; GnuTLS does the former. Thread: one. */
#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/error.h"

/* A server's key and certificate, shared by all its connections. */
struct tls_keys;
/* PEM. INTERNAL: they are none. */
enum status tls_keys_new(const char *key, const char *certificate, struct tls_keys **ret_keys,
			 struct error *err);
void tls_keys_free(struct tls_keys *keys);

/* Listens at an IP address; @port 0: any free one. *ret_fd is the caller's also after a failure, if it is not -1.
 * INVALID_ARGUMENT: it is no address; UNAVAILABLE. */
enum status stream_listen(const char *address, uint16_t port, int *ret_fd, uint16_t *ret_port, struct error *err);
/* Whether what a client says first begins TLS, and not by HTTP/2 alone. Waits for it; nothing of it is taken. */
bool stream_socket_is_rest(int fd);

struct stream_socket {
	int fd;               /* the caller's */
	gnutls_session_t tls; /* NULL: without */
};

/* What a read of nothing means. */
enum { STREAM_SOCKET_END = 0, STREAM_SOCKET_BROKEN = -1, STREAM_SOCKET_IDLE = -2 };

/* Looks at the first byte: with @keys, a client that begins TLS gets it. False: it says nothing for ten seconds, left,
 * or the two do not come to terms. */
bool stream_socket_begin(struct stream_socket *socket, int fd, struct tls_keys *keys);
void stream_socket_end(struct stream_socket *socket);
#define AUTO_STREAM_SOCKET __attribute__((cleanup(stream_socket_end)))

/* Waits so long for the first bytes; a TLS record that has begun must be whole after thirty seconds. @wake_fd: an eventfd, or
 * -1: once it is written to, it is emptied, and the wait ends as one of nothing. */
ssize_t stream_socket_read(struct stream_socket *socket, void *buffer, size_t size, int idle_ms,
			   int wake_fd);
/* All of it; a client that takes nothing for thirty seconds is given up. */
bool stream_socket_write(struct stream_socket *socket, const void *data, size_t length);
