/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/line_stream.h"

#include <stdlib.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"

enum { ROOM_KEPT_BYTES = 1 << 20 };

struct line_stream {
	const struct route *route;
	struct line_source source;
	struct text pending;
	size_t sent;
};

static void stream_close(void *arg)
{
	struct line_stream *stream = arg;

	stream->source.close(stream->source.arg);
	text_deinit(&stream->pending);
	free(stream);
}

static ssize_t stream_fail(const struct line_stream *stream, const struct error *err)
{
	log_event(LOG_WARNING, "stream-failed", "route=%s error=\"%s\"", stream->route->path,
		  err->text ? err->text : "");
	return STREAM_CUT;
}

static ssize_t stream_read(void *arg, char *buffer, size_t size)
{
	struct line_stream *stream = arg;
	struct error err AUTO_ERROR = { 0 };

	while (stream->sent == stream->pending.length) {
		ssize_t over = 1;
		enum status rc;

		text_renew(&stream->pending, ROOM_KEPT_BYTES);
		stream->sent = 0;
		rc = stream->source.more(stream->source.arg, &stream->pending, &over, &err);
		if (!rc && stream->pending.failed)
			rc = error_no_memory(&err);
		if (rc)
			return stream_fail(stream, &err);
		if (over <= 0)
			return over;
	}
	return (ssize_t)text_piece(&stream->pending, &stream->sent, buffer, size);
}

void line_stream_begin(struct call *call, const struct line_source *source)
{
	struct line_stream *stream = memory_calloc(1, sizeof(*stream));

	*stream = (struct line_stream){ .route = call->route, .source = *source, .pending.may_fail = true };
	call->content_type = "application/x-ndjson";
	call->stream = (struct answer_stream){ stream_read, stream_close, stream, -1 };
}
