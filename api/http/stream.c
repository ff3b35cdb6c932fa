/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/stream.h"

#include <poll.h>
#include <stdlib.h>

#include "api/http/exchange.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"

enum { PIECE_BYTES = 64 << 10 };

struct stream {
	struct MHD_Connection *connection;
	const struct exchange *exchange;
};

bool stream_is_used(const struct exchange *exchange)
{
	return exchange->call.stream.read != NULL;
}

bool client_gone(int fd)
{
	struct pollfd client = { .fd = fd, .events = POLLRDHUP };

	return fd > 0 && poll(&client, 1, 0) > 0 && client.revents;
}

bool client_lost(int fd)
{
	struct pollfd client = { .fd = fd, .events = 0 };

	return fd > 0 && poll(&client, 1, 0) > 0 && client.revents;
}

/* libmicrohttpd counts the time in which a stream sent nothing as idleness of its client. The idle time starts over
 * only when a timeout is set while there is none, so the timeout is removed and set again. Source:
 * https://git.gnunet.org/libmicrohttpd.git v0.9.75, connection.c, MHD_set_connection_option */
static void idleness_begin_anew(const struct stream *stream)
{
	MHD_set_connection_option(stream->connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
	MHD_set_connection_option(stream->connection, MHD_CONNECTION_OPTION_TIMEOUT,
				  stream->exchange->rules->idle_timeout_s);
}

static ssize_t stream_cut(const struct stream *stream, const char *why)
{
	log_event(LOG_DEBUG, "stream-cut", "route=%s reason=%s", stream->exchange->call.route->path, why);
	return MHD_CONTENT_READER_END_WITH_ERROR;
}

static ssize_t on_read(void *arg, uint64_t position, char *buffer, size_t size)
{
	struct stream *stream = arg;
	const struct exchange *exchange = stream->exchange;
	const struct answer_stream *source = &exchange->call.stream;
	ssize_t got;

	(void)position;
	for (;;) {
		if (atomic_load(exchange->rules->cutting))
			return stream_cut(stream, "closing");
		got = source->read(source->arg, buffer, size);
		if (got != STREAM_QUIET)
			break;
		if (client_gone(exchange->client_fd))
			return stream_cut(stream, "client-gone");
	}
	if (got == STREAM_END && source->length < 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (got <= 0 || (size_t)got > size)
		return stream_cut(stream, "failed");
	idleness_begin_anew(stream);
	return got;
}

/* The answer to HEAD must not have a length that only reading the stream would show. With chunked coding, libmicrohttpd
 * 0.9.75 would send a last chunk, which is content. Source: RFC 9110 section 8.6 */
static void length_hide(struct MHD_Response *response)
{
	MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

struct MHD_Response *stream_response(struct MHD_Connection *connection, const struct exchange *exchange)
{
	const int64_t length = exchange->call.stream.length;
	struct stream *stream = memory_alloc(sizeof(*stream));
	struct MHD_Response *response;

	*stream = (struct stream){ .connection = connection, .exchange = exchange };
	response = MHD_create_response_from_callback(length < 0 ? MHD_SIZE_UNKNOWN : (uint64_t)length,
						     PIECE_BYTES, on_read, stream, free);
	if (!response)
		free(stream);
	else if (length < 0 && exchange->head_only)
		length_hide(response);
	return response;
}
