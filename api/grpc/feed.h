/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/feed.h: an answer of many messages on its way into a stream of HTTP/2: one message is there at a time, and the
 * next is asked for when the client lets more come. Thread: the session's. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "api/grpc/rpc.h"

/* Where the messages come from. */
struct session_feed {
	/* Appends the next message, binary. None: *ret_wake_us, monotonic, is when to ask again at the latest. False: there is no
	 * more, and @outcome, which is GRPC_OK at first, says why. */
	bool (*next)(void *arg, struct text *bytes, int64_t *ret_wake_us, struct rpc_outcome *outcome);
	void (*close)(void *arg); /* called once */
	void *arg;
};

struct feed {
	struct session_feed source;
	struct text message; /* with its frame */
	size_t sent;
	int64_t wake_us; /* while it waits */
	bool waits;      /* for something to send */
	bool is_over;
	struct rpc_outcome outcome;
};

struct feed *feed_new(const struct session_feed *source);
/* NULL is harmless. */
void feed_free(struct feed *feed);

enum { FEED_WAITS = 0, FEED_OVER = -1 };
/* Bytes for the client, FEED_WAITS, or FEED_OVER. */
ssize_t feed_read(struct feed *feed, void *buffer, size_t size);
/* It is over once the message under way was read. */
void feed_end(struct feed *feed, unsigned code, const char *text);

/* Puts before @bytes how long they are. */
void feed_frame(struct text *frame, const struct text *bytes);

/* The length of the first message in @body, with its frame; 0: it is not whole yet. */
size_t feed_request_length(const struct text *body);

/* The messages of @route's feed for the request with this JSON. @outcome: why there are none. */
bool feed_source_open(const struct route *route, void *context, const struct message *const *any,
		      const struct text *request, int wake_fd, struct session_feed *ret_source,
		      struct rpc_outcome *outcome);
