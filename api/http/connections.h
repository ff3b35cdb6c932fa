/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/connections.h: who is connected to a listener, and for how long he may keep it waiting.
 *
 * libmicrohttpd knows an idle time alone, which each byte begins anew: a byte a second held a connection for ever. Here
 * a head has one deadline as a whole, and a body must come at BODY_BYTES_PER_S at least, measured over the idle time; what
 * handlers take themselves does not count. A connection that is late is shut down, in its head with a 408 before. When
 * nearly all places are taken, each new one takes that of who is waited for longest, for the first head or the next, or,
 * where clients have to say who they are, of who has not and is at anything else.
 * No deadline: an answer that its client reads slowly has libmicrohttpd's idle time only. */
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
/* A connection whose first head is awaited. @fd must stay open until connection_end(). */
struct connection *connection_begin(struct connections *connections, int fd, const struct sockaddr *address);
void connection_end(struct connections *connections, struct connection *connection);

/* ---- thread: the connection's ---- */
void connection_head_begins(struct connection *connection); /* its first line is there */
/* Whether its client has said who he is, or nobody has to. */
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
