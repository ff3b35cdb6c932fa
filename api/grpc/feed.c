/* SPDX-License-Identifier: Apache-2.0 */
#include "api/grpc/feed.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"

enum { FRAME_BYTES = 5, ROOM_KEPT_BYTES = 64 << 10 };

struct feed *feed_new(const struct session_feed *source)
{
	struct feed *feed = memory_calloc(1, sizeof(*feed));

	feed->source = *source;
	feed->message.may_fail = true;
	return feed;
}

void feed_free(struct feed *feed)
{
	if (!feed)
		return;
	feed->source.close(feed->source.arg);
	text_deinit(&feed->message);
	rpc_outcome_deinit(&feed->outcome);
	free(feed);
}

void feed_end(struct feed *feed, unsigned code, const char *text)
{
	if (feed->is_over)
		return;
	feed->is_over = true;
	rpc_outcome_fail(&feed->outcome, code, text);
}

void feed_frame(struct text *frame, const struct text *bytes)
{
	const uint32_t length = htonl((uint32_t)bytes->length);

	text_putc(frame, 0);
	text_append(frame, &length, sizeof(length));
	text_append(frame, bytes->length ? bytes->data : "", bytes->length);
}

size_t feed_request_length(const struct text *body)
{
	uint32_t length;

	if (body->length < FRAME_BYTES)
		return 0;
	memcpy(&length, body->data + 1, sizeof(length));
	return body->length - FRAME_BYTES < ntohl(length) ? 0 : (size_t)ntohl(length) + FRAME_BYTES;
}

static void message_next(struct feed *feed)
{
	struct text bytes AUTO_TEXT = { .may_fail = true };

	text_renew(&feed->message, ROOM_KEPT_BYTES);
	feed->sent = 0;
	feed->is_over = !feed->source.next(feed->source.arg, &bytes, &feed->wake_us, &feed->outcome);
	if (!feed->is_over && bytes.length)
		feed_frame(&feed->message, &bytes);
	if (bytes.failed || feed->message.failed) {
		text_deinit(&feed->message);
		feed_end(feed, GRPC_UNAVAILABLE, "There is no memory for the answer now.");
	}
}

ssize_t feed_read(struct feed *feed, void *buffer, size_t size)
{
	size_t length;

	if (feed->sent == feed->message.length && !feed->is_over)
		message_next(feed);
	length = feed->message.length - feed->sent;
	if (!length)
		return feed->is_over ? FEED_OVER : FEED_WAITS;
	if (length > size)
		length = size;
	memcpy(buffer, feed->message.data + feed->sent, length);
	feed->sent += length;
	return (ssize_t)length;
}

/* ---- the feed of a row ---- */

struct source {
	const struct route *route;
	const struct message *const *any;
	void *arg;
	struct text json;
};

static void source_close(void *arg)
{
	struct source *source = arg;

	source->route->rpc->feed->close(source->arg);
	text_deinit(&source->json);
	free(source);
}

static bool source_next(void *arg, struct text *bytes, int64_t *ret_wake_us, struct rpc_outcome *outcome)
{
	struct source *source = arg;
	struct error err AUTO_ERROR = { 0 };

	text_renew(&source->json, ROOM_KEPT_BYTES);
	if (source->route->rpc->feed->next(source->arg, &source->json, ret_wake_us, &err))
		rpc_error_read(&err, outcome);
	else if (source->json.failed)
		rpc_outcome_fail(outcome, GRPC_UNAVAILABLE, "There is no memory for the answer now.");
	else if (source->json.length)
		rpc_answer_read(source->route, source->any, 200, source->json.data, source->json.length,
				bytes, outcome);
	return outcome->code == GRPC_OK;
}

bool feed_source_open(const struct route *route, void *context, const struct message *const *any,
		      const struct text *request, int wake_fd, struct session_feed *ret_source,
		      struct rpc_outcome *outcome)
{
	AUTO(json) json_t *wanted = json_loadb(request->data, request->length, 0, NULL);
	struct error err AUTO_ERROR = { 0 };
	struct source *source;
	void *arg = NULL;

	if (route->rpc->feed->open(context, wanted, wake_fd, &arg, &err)) {
		rpc_error_read(&err, outcome);
		return false;
	}
	source = memory_calloc(1, sizeof(*source));
	*source = (struct source){ .route = route, .any = any, .arg = arg, .json.may_fail = true };
	*ret_source = (struct session_feed){ source_next, source_close, source };
	return true;
}
