/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/front.h: the server for clients that speak gRPC, the default of Google's libraries.
 *
 * One port serves clients with TLS and without, distinguished by their first byte. With TLS, REST may be served at the
 * same port, distinguished by the protocol list (ALPN) in the client's hello. Each connection has a thread; at most 128
 * are served, further ones wait to be accepted. Each call is converted to its HTTP request (rpc.h) and answered by the
 * families' handlers. */
#include <stdbool.h>
#include <stdint.h>

#include "api/grpc/rpc.h"
#include "api/http/http.h"

struct front;
struct sockaddr_in;

struct front_options {
	/* Only these members are used: address (an IP address), port, families (those rows are served that have a gRPC
	 * method), clock, gate, hosts, any_host, refused_network, caller, owner, ledger, tls_key and tls_certificate
	 * (NULL: without TLS only) and adopts_only. */
	struct listener_options common;
	/* Messages that a google.protobuf.Any in an answer may hold; ends with NULL */
	const struct message *const *any;
	/* Gets TLS clients that do not insist on HTTP/2; outlives the front. NULL: they are treated as gRPC clients. */
	struct listener *rest;
};

/* True if this build has gRPC; without gRPC, front_open() fails with FAILED_PRECONDITION. */
bool front_is_built(void);

/* Starts serving. Families, types and clock must live until the front is closed. INVALID_ARGUMENT: bad address or
 * network; UNAVAILABLE: the address cannot be bound; INTERNAL. */
enum status front_open(const struct front_options *options, struct front **ret_front, struct error *err);
uint16_t front_port(const struct front *front);
/* Serves a connection that the caller accepted and has not read from. Takes over @fd, and closes it if there is no
 * slot for it. Thread: any, until front_close(). */
void front_adopt(struct front *front, int fd, const struct sockaddr_in *peer);
/* Ends all connections. Running calls are answered if their clients read the answers within five seconds; calls that
 * take longer are abandoned. NULL is harmless. */
void front_close(struct front *front);
/* Appends "nghttp2 1.52.0". */
void front_versions_write(struct text *text);
