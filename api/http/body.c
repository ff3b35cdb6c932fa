/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/body.h"

#include <limits.h>
#include <zlib.h>

#include "daemon/base/cleanup.h"

void body_deinit(struct body *body)
{
	text_deinit(&body->bytes);
	hold_change(&body->hold, 0);
	*body = (struct body){ .hold = { .pool = body->hold.pool } };
}

static bool body_crowds(struct body *body, size_t bytes)
{
	hold_change(&body->hold, bytes);
	return hold_is_crowded(&body->hold, HOLD_POOL_BODY_BYTES);
}

void body_receive(struct body *body, const char *data, size_t length, size_t limit_bytes)
{
	body->received_bytes += length;
	body->too_large |= body->received_bytes > limit_bytes;
	body->crowded |= !body->too_large && body_crowds(body, body->received_bytes);
	if (!body->too_large && !body->crowded) {
		body->bytes.may_fail = true;
		text_append(&body->bytes, data, length);
		return;
	}
	text_deinit(&body->bytes);
	hold_change(&body->hold, 0);
}

static enum status refuse_large(size_t limit_bytes, enum refusal *ret_refusal, struct error *err)
{
	*ret_refusal = REFUSAL_TOO_LARGE;
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			 "Request payload size exceeds the limit: %zu bytes.", limit_bytes);
}

static enum status refuse_crowd(struct error *err)
{
	return error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL,
			 "Too many large requests are being received: try again later.");
}

static void inflate_close(z_stream *stream)
{
	inflateEnd(stream);
}

DEFINE_AUTO(inflate, z_stream *, inflate_close)

enum unpacked { UNPACKED_ALL, UNPACKED_TOO_MUCH, UNPACKED_CROWD, UNPACKED_NO_MEMORY, UNPACKED_BROKEN };

/* Unpacks all members of the gzip data (RFC 1952 allows several) and appends their content to @out. */
static enum unpacked unpack(struct body *body, z_stream *stream, size_t limit_bytes, struct text *out)
{
	unsigned char piece[16384];

	for (;;) {
		int rc;

		stream->next_out = piece;
		stream->avail_out = sizeof(piece);
		rc = inflate(stream, Z_NO_FLUSH);
		text_append(out, piece, sizeof(piece) - stream->avail_out);
		if (out->failed)
			return UNPACKED_NO_MEMORY;
		if (out->length > limit_bytes)
			return UNPACKED_TOO_MUCH;
		if (body_crowds(body, body->bytes.length + out->length))
			return UNPACKED_CROWD;
		if (rc == Z_STREAM_END && stream->avail_in == 0)
			return UNPACKED_ALL;
		if (rc == Z_STREAM_END ? inflateReset(stream) != Z_OK : rc != Z_OK)
			return UNPACKED_BROKEN;
	}
}

static enum status body_unpack(struct body *body, size_t limit_bytes, enum refusal *ret_refusal,
			       struct error *err)
{
	struct text out AUTO_TEXT = { .may_fail = true };
	z_stream stream = { .next_in = (unsigned char *)body->bytes.data,
			    .avail_in = (uInt)body->bytes.length };

	if (body->bytes.length > UINT_MAX || inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
		return error_set(err, STATUS_INTERNAL, NULL, "cannot prepare to decompress gzip");
	AUTO(inflate) z_stream *open_stream = &stream;

	switch (unpack(body, open_stream, limit_bytes, &out)) {
	case UNPACKED_TOO_MUCH:
		return refuse_large(limit_bytes, ret_refusal, err);
	case UNPACKED_CROWD:
		return refuse_crowd(err);
	case UNPACKED_NO_MEMORY:
		return error_no_memory(err);
	case UNPACKED_BROKEN:
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "Invalid request: the body is not a complete gzip stream.");
	case UNPACKED_ALL:
		break;
	}
	text_deinit(&body->bytes);
	hold_change(&body->hold, out.length);
	body->bytes = out;
	out = (struct text){ 0 };
	return STATUS_OK;
}

enum status body_finish(struct body *body, bool gzip, size_t limit_bytes, enum refusal *ret_refusal,
			struct error *err)
{
	if (body->too_large)
		return refuse_large(limit_bytes, ret_refusal, err);
	if (body->crowded)
		return refuse_crowd(err);
	if (body->bytes.failed)
		return error_no_memory(err);
	return gzip && body->bytes.length ? body_unpack(body, limit_bytes, ret_refusal, err) : STATUS_OK;
}
