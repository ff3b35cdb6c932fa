/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/connections.h: the connections of a listener, and for how long each may keep it waiting.
 *
 * libmicrohttpd only knows an idle time, which begins anew with each byte: a client that sent a byte a second held a
 * connection for ever. Here a head has one deadline as a whole, and a body must arrive at BODY_BYTES_PER_S at least, measured
 * over the idle time; the time that handlers take does not count. A late connection is shut down; one that is late with its head
 * gets a 408 first. When nearly all places are taken, each new connection takes the place of the one that has been awaited
 * longest, for its first head or the next one, or, where clients must authenticate, of one that has not and does anything
 * else. No deadline: an answer that its client reads slowly has libmicrohttpd's idle time only. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct connection;
struct connections;
struct exchange;
struct sockaddr;

/* What one address is told from another by: of IPv6 a /64 is one. This machine's own, which all its users share, is
 * all zeros, and is not counted. NULL: likewise. */
enum { ADDRESS_KEY_BYTES = 16 };
void address_key_make(const struct sockaddr *address, unsigned char ret_key[ADDRESS_KEY_BYTES]);
bool address_key_counts(const unsigned char key[ADDRESS_KEY_BYTES]);

/* Choice: as Kestrel's, the HTTP server of ASP.NET. */
enum { BODY_BYTES_PER_S = 240 };

struct connection_limits {
	unsigned most;        /* of all */
	unsigned per_address; /* of one that is not this machine's own; of IPv6 a /64 is one. 0: no limit */
	unsigned head_ms;     /* 0: nobody is hurried, and no thread is started for it */
	unsigned idle_ms;
};

enum status connections_open(const struct connection_limits *limits, struct connections **ret_connections,
			     struct error *err);
/* Once all have ended. NULL is harmless. */
void connections_close(struct connections *connections);

/* Ends all, and returns when the last one has ended: waits for handlers, however long they take. Nobody is admitted from
 * then on. */
void connections_drain(struct connections *connections);

/* Whether one more from @address may come: it begins next. Thread: any. */
bool connections_admit(struct connections *connections, const struct sockaddr *address, size_t size);
/* A connection that has sent no head yet. @fd must stay open until connection_end(). */
struct connection *connection_begin(struct connections *connections, int fd, const struct sockaddr *address);
void connection_end(struct connections *connections, struct connection *connection);

/* ---- thread: the connection's ---- */
void connection_head_begins(struct connection *connection); /* its first line is there */
/* Whether its client has authenticated, or need not. */
void connection_known(struct connection *connection, bool known);
void connection_body_begins(struct connection *connection); /* its head is there */
/* Around what is done with @bytes of the body. */
void connection_busy(struct connection *connection);
void connection_received(struct connection *connection, size_t bytes);
/* What its requests are made of, one after the other; its holder frees it before the connection's end. NULL: nothing yet. */
struct exchange *connection_exchange(const struct connection *connection);
void connection_hold(struct connection *connection, struct exchange *exchange);
/* What follows an answer is a wait for the next request. */
void connection_request_over(struct connection *connection);
