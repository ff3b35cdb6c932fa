/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/session.h: one HTTP/2 connection with gRPC calls, without a socket: bytes in, bytes out. nghttp2 does the
 * framing. A call with one answer is answered before the next bytes are read, because no handler waits for a job. A
 * call with a feed has one request, continues when its client has ended its side, and makes one message at a time as
 * flow control allows. Authentication is checked as soon as a call's head has arrived: the body of a refused call is
 * dropped.
 *
 * Limits: 100 calls at once, of which 10 have feeds; 10 MiB in one body, and 16 MiB in the bodies of all calls that are
 * not answered yet; no call proceeds while more than 32 MiB of answers wait for the client. Memory of connections
 * beyond 256 KiB each is taken from common pools: 96 MiB for bodies; 128 MiB for answers, which one call of each
 * connection may exceed. A head of more than 32 KiB, decompressed, resets its stream. A connection is ended
 * (ENHANCE_YOUR_CALM) if the heads that led to no call have more than 1 MiB in all, or if a head has more than 64 KiB
 * or nine frames.
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
	const char *path, *authority; /* authority: "" if the client sent none */
	/* Metadata "authorization", "x-goog-api-key", "origin", "sec-fetch-site"; NULL: not sent. */
	const char *authorization, *api_key, *origin, *sec_fetch_site;
	const void *data;
	size_t length;
};

/* Counts the memory that all connections together use; initially zeroed. Thread: any. */
struct session_pool {
	atomic_size_t body_bytes, answer_bytes;
};

struct session_options {
	struct session_pool *pool; /* outlives the session */
	/* Called when the head of @call has arrived. False: the call is refused; @outcome says why. */
	bool (*admit)(void *arg, const struct session_call *call, struct rpc_outcome *outcome);
	/* Answers a call: appends the message to @bytes, or sets a failure. */
	void (*call)(void *arg, const struct session_call *call, struct text *bytes,
		     struct rpc_outcome *outcome);
	/* True if a feed answers the calls with this path. NULL: there are no feeds. */
	bool (*has_feed)(void *arg, const char *path);
	/* Called instead of call(): opens the call's feed, or sets @outcome. */
	void (*feed)(void *arg, const struct session_call *call, struct session_feed *ret_feed,
		     struct rpc_outcome *outcome);
	void *arg;
};

/* Returns NULL if nghttp2 cannot make a session. */
struct session *session_new(const struct session_options *options);
void session_free(struct session *session);
DEFINE_AUTO(session, struct session *, session_free)

/* Takes bytes that have arrived. False: close the connection after session_send() has nothing left. */
bool session_receive(struct session *session, const void *data, size_t length);
/* Sets *ret_data to the next bytes to send, which are valid until the next call of a function of this file. Returns their
 * number; 0: there is nothing to send at the moment; -1: the connection has to be closed. */
ssize_t session_send(struct session *session, const uint8_t **ret_data);
/* True while the session may still receive or send anything. */
bool session_lives(const struct session *session);
/* Asks all waiting feeds for messages, which session_send() then returns. */
void session_wake(struct session *session);
/* The latest monotonic time to call session_wake(); INT64_MAX: no feed waits. */
int64_t session_wake_us(const struct session *session);
/* True if the session has a feed that has not ended. */
bool session_has_feeds(const struct session *session);
/* Ends all feeds with this status code and text. */
void session_feeds_end(struct session *session, unsigned code, const char *text);
/* Asks the client to use a new connection (GOAWAY). */
void session_end(struct session *session);
