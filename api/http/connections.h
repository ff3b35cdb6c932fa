/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/connections.h: the connections of a listener, and how long each may keep it waiting.
 *
 * libmicrohttpd has only an idle timeout, which every byte restarts: a client that sends a byte a second holds a
 * connection for ever. Here a head as a whole has one deadline, and a body must arrive at BODY_BYTES_PER_S or faster,
 * measured over the idle timeout; the time of handlers does not count. A late connection is shut down; if it is late
 * with its head, it gets a 408 first. When nearly all places are taken, each new connection replaces the one that the
 * listener has waited for longest: one that has not sent its next head or, if clients must authenticate, any that has
 * not authenticated. An answer has no deadline: if its client reads slowly, only libmicrohttpd's idle timeout applies. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct connection;
struct connections;
struct exchange;
struct sockaddr;

/* Identifies an address for counting: an IPv6 /64 counts as one address. All zeros, which is not counted: an address
 * of this machine (shared by all its users), or NULL. */
enum { ADDRESS_KEY_BYTES = 16 };
void address_key_make(const struct sockaddr *address, unsigned char ret_key[ADDRESS_KEY_BYTES]);
bool address_key_counts(const unsigned char key[ADDRESS_KEY_BYTES]);

/* Choice: the limit of Kestrel, the HTTP server of ASP.NET. */
enum { BODY_BYTES_PER_S = 240 };

struct connection_limits {
	unsigned most;        /* the maximum number of connections */
	/* connections per address, without those of this machine; an IPv6 /64 counts as one address. 0: no limit */
	unsigned per_address;
	unsigned head_ms; /* 0: no deadlines, and no thread that enforces them */
	unsigned idle_ms;
};

enum status connections_open(const struct connection_limits *limits, struct connections **ret_connections,
			     struct error *err);
/* Call when all connections have ended. NULL is harmless. */
void connections_close(struct connections *connections);

/* Ends all connections and waits until the last handler has returned, however long that takes. From the call on no
 * connection is admitted. */
void connections_drain(struct connections *connections);

/* True if one more connection from @address is admitted; the caller must then call connection_begin(). Thread: any. */
bool connections_admit(struct connections *connections, const struct sockaddr *address, size_t size);
/* Adds a connection before its first head has arrived. @fd must stay open until connection_end(). */
struct connection *connection_begin(struct connections *connections, int fd, const struct sockaddr *address);
void connection_end(struct connections *connections, struct connection *connection);

/* ---- thread: the connection's ---- */
void connection_head_begins(struct connection *connection); /* its request line has arrived */
/* Records whether the connection's client has authenticated or need not; if not, it may be cut off to make room. */
void connection_known(struct connection *connection, bool known);
void connection_body_begins(struct connection *connection); /* its head is there */
/* Call connection_busy() before @bytes of the body are processed, and connection_received() after. */
void connection_busy(struct connection *connection);
void connection_received(struct connection *connection, size_t bytes);
/* The exchange of the connection, used for one request after the other; the code that set it frees it before the
 * connection's end. NULL: none yet. */
struct exchange *connection_exchange(const struct connection *connection);
void connection_hold(struct connection *connection, struct exchange *exchange);
/* Call when the answer was sent: the listener now waits for the next request. */
void connection_request_over(struct connection *connection);
