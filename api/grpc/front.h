/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/front.h: the way in for clients that speak gRPC, as Google's libraries do unless told otherwise.
 *
 * One port for clients with TLS and without: the first byte tells. A connection has a thread; 128 at most, the next wait
 * to be accepted. Each call becomes the request that it stands for (rpc.h) and is answered by the families' handlers. */
#include <stdint.h>

#include "api/grpc/rpc.h"
#include "api/http/http.h"

struct front;

struct front_options {
	const char *address;              /* an IP address */
	uint16_t port;                    /* 0: any free one */
	const struct rpc *const *tables;  /* each ends with a NULL path; the list with NULL */
	const struct message *const *any; /* what a google.protobuf.Any in an answer may be; ends with NULL */
	const struct family *families;
	const struct clock *clock;
	const struct call_gate *gate;          /* as a listener's */
	const char *refused_network;           /* as a listener's */
	struct caller_rule caller;             /* likewise */
	const char *tls_key, *tls_certificate; /* PEM, copied; NULL: clients come without TLS only */
};

/* Serves from the moment it returns. Tables, families, types and clock must live until it is closed.
 * INVALID_ARGUMENT: the address or the network is none; UNAVAILABLE: it cannot be bound; INTERNAL. */
enum status front_open(const struct front_options *options, struct front **ret_front, struct error *err);
uint16_t front_port(const struct front *front);
/* Ends all connections; calls under way are answered, if their clients take the answers within five seconds. NULL is
 * harmless. */
void front_close(struct front *front);
/* "nghttp2 1.52.0" is appended. */
void front_versions_write(struct text *text);
