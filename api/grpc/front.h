/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/front.h: the way in for clients that speak gRPC, as Google's libraries do unless told otherwise.
 *
 * One port for clients with TLS and without: the first byte tells. By TLS REST may be served at the same port: what a
 * client offers in its hello (ALPN) tells. A connection has a thread; 128 at most, the next wait
 * to be accepted. Each call becomes the request that it stands for (rpc.h) and is answered by the families' handlers. */
#include <stdbool.h>
#include <stdint.h>

#include "api/grpc/rpc.h"
#include "api/http/http.h"

struct front;
struct sockaddr_in;

struct front_options {
	const char *address;              /* an IP address */
	uint16_t port;                    /* 0: any free one */
	const struct message *const *any; /* what a google.protobuf.Any in an answer may be; ends with NULL */
	const struct family *families;    /* the rows with a call of gRPC are served */
	const struct clock *clock;
	const struct call_gate *gate;          /* as a listener's */
	const char *const *hosts;              /* likewise */
	bool any_host, adopts_only;            /* likewise */
	const char *refused_network;           /* likewise */
	struct caller_rule caller;             /* likewise */
	int64_t owner;                         /* likewise */
	struct ledger *ledger;                 /* likewise */
	const char *tls_key, *tls_certificate; /* PEM, copied; NULL: clients come without TLS only */
	/* Takes clients of TLS that do not insist on HTTP/2; outlives the front. NULL: they are taken for gRPC's. */
	struct listener *rest;
};

/* Serves from the moment it returns. Families, types and clock must live until it is closed.
 * INVALID_ARGUMENT: the address or the network is none; UNAVAILABLE: it cannot be bound; INTERNAL. */
enum status front_open(const struct front_options *options, struct front **ret_front, struct error *err);
uint16_t front_port(const struct front *front);
/* Serves a connection that was accepted elsewhere, and of which nothing was read; @fd is the front's, also when it has no
 * room for it. Thread: any, until front_close(). */
void front_adopt(struct front *front, int fd, const struct sockaddr_in *peer);
/* Ends all connections; calls under way are answered, if their clients take the answers within five seconds, and those
 * that take long are given up. NULL is harmless. */
void front_close(struct front *front);
/* "nghttp2 1.52.0" is appended. */
void front_versions_write(struct text *text);
