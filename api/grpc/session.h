/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/session.h: one connection of HTTP/2 with calls of gRPC on it, without a socket: bytes in, bytes out. nghttp2
 * does the framing. A call with one answer is answered before the next bytes are read, for no handler waits for a job; one
 * with a feed takes one request, goes on when its client has ended its side, and a message more is made when the client lets
 * it come.
 * Authentication is checked as soon as a call's head is there: the body of a refused call is not kept.
 *
 * Bounds: 100 calls at once, of which 10 have feeds, 16 MiB of unanswered bodies, 10 MiB in one; no call goes on while more than 32 MiB of
 * answers wait for the client. What connections hold of either beyond 256 KiB each comes out of a pool of all: 96 MiB of
 * bodies; 128 MiB of answers, which a call of each connection may go beyond. A head of more than 32 KiB,
 * unpacked, resets its stream; a connection is ended (ENHANCE_YOUR_CALM) if its heads led to no call for 1 MiB in all, or if a
 * head comes in more than 64 KiB or nine frames.
 * Thread: one at a time.
 * Source: RFC 9113, https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md (read 2026-11-22) */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "api/grpc/feed.h"
#include "api/grpc/rpc.h"
#include "daemon/base/cleanup.h"

struct session;

struct session_call {
	const char *path, *authority; /* authority: "" when the client said none */
	/* Metadata "authorization", "x-goog-api-key", "origin", "sec-fetch-site"; NULL: not said. */
	const char *authorization, *api_key, *origin, *sec_fetch_site;
	const void *data;
	size_t length;
};

/* What is taken out by all connections that share it; zeroes at the beginning. Thread: any. */
struct session_pool {
	atomic_size_t body_bytes, answer_bytes;
};

struct session_options {
	struct session_pool *pool; /* outlives the session */
	/* False: @call, of which the head alone is there, may not come in; @outcome tells. */
	bool (*admit)(void *arg, const struct session_call *call, struct rpc_outcome *outcome);
	/* Appends the answer's message to @bytes, or fails. */
	void (*call)(void *arg, const struct session_call *call, struct text *bytes,
		     struct rpc_outcome *outcome);
	/* Whether the call with this path is answered by a feed. NULL: none is. */
	bool (*has_feed)(void *arg, const char *path);
	/* In the place of call(): its feed, or @outcome. */
	void (*feed)(void *arg, const struct session_call *call, struct session_feed *ret_feed,
		     struct rpc_outcome *outcome);
	void *arg;
};

/* NULL: nghttp2 makes no session. */
struct session *session_new(const struct session_options *options);
void session_free(struct session *session);
DEFINE_AUTO(session, struct session *, session_free)

/* False: the connection is to be closed, once what there is to send was sent. */
bool session_receive(struct session *session, const void *data, size_t length);
/* The next bytes to send, borrowed until the next call of any of these; 0: none for now; -1: close. */
ssize_t session_send(struct session *session, const uint8_t **ret_data);
/* Whether anything may still come or go. */
bool session_lives(const struct session *session);
/* Asks all feeds that wait. session_send() has what they give. */
void session_wake(struct session *session);
/* When they want to be asked at the latest, monotonic; INT64_MAX: there is none that waits. */
int64_t session_wake_us(const struct session *session);
/* Whether there is a feed that is not over. */
bool session_has_feeds(const struct session *session);
/* Ends all feeds so. */
void session_feeds_end(struct session *session, unsigned code, const char *text);
/* Tells the client to come again by another connection. */
void session_end(struct session *session);
