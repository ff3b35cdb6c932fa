/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/feed.h: an answer of many messages in an HTTP/2 stream. One message is in memory at a time, and the next is
 * requested when the client's flow control allows. Thread: the session's. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "api/grpc/rpc.h"

/* Where the messages come from. */
struct session_feed {
	/* Appends the next message, in binary form. If there is none now, *ret_wake_us (monotonic) is the latest time
	 * of the next call. False: there are no more, and @outcome, GRPC_OK at first, has the reason. */
	bool (*next)(void *arg, struct text *bytes, int64_t *ret_wake_us, struct rpc_outcome *outcome);
	void (*close)(void *arg); /* called once */
	void *arg;
};

struct feed {
	struct session_feed source;
	struct text message; /* the message that is being sent, with its frame */
	size_t sent;
	int64_t wake_us; /* while the feed waits: the time to ask the source again */
	bool waits;      /* the source has nothing to send now */
	bool is_over;
	struct rpc_outcome outcome;
};

struct feed *feed_new(const struct session_feed *source);
/* NULL is harmless. */
void feed_free(struct feed *feed);

enum { FEED_WAITS = 0, FEED_OVER = -1 };
/* Copies bytes for the client to @buffer. Returns their number, FEED_WAITS, or FEED_OVER. */
ssize_t feed_read(struct feed *feed, void *buffer, size_t size);
/* Ends the feed with this outcome after the message that is being sent. */
void feed_end(struct feed *feed, unsigned code, const char *text);

/* Writes the length prefix of @bytes. */
void feed_frame(struct text *frame, const struct text *bytes);

/* Returns the length of the first message in @body with its length prefix; 0: the message is incomplete. */
size_t feed_request_length(const struct text *body);

/* Opens the feed of @route for a request with this JSON body. False: @outcome says why it could not be opened. */
bool feed_source_open(const struct route *route, void *context, const struct message *const *any,
		      const struct text *request, int wake_fd, struct session_feed *ret_source,
		      struct rpc_outcome *outcome);
