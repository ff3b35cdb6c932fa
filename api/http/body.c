/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/body.h"

#include <limits.h>
#include <zlib.h>

#include "daemon/base/cleanup.h"

void body_deinit(struct body *body)
{
	text_deinit(&body->bytes);
	*body = (struct body){ 0 };
}

void body_receive(struct body *body, const char *data, size_t length, size_t limit_bytes)
{
	body->received_bytes += length;
	if (body->received_bytes > limit_bytes) {
		body->too_large = true;
		text_deinit(&body->bytes);
	}
	if (!body->too_large)
		text_append(&body->bytes, data, length);
}

static enum status refuse_large(size_t limit_bytes, enum refusal *ret_refusal, struct error *err)
{
	*ret_refusal = REFUSAL_TOO_LARGE;
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			 "Request payload size exceeds the limit: %zu bytes.", limit_bytes);
}

static void inflate_close(z_stream *stream)
{
	inflateEnd(stream);
}

DEFINE_AUTO(inflate, z_stream *, inflate_close)

enum unpacked { UNPACKED_ALL, UNPACKED_TOO_MUCH, UNPACKED_BROKEN };

/* One member after the other, until the input ends where a member does. */
static enum unpacked unpack(z_stream *stream, size_t limit_bytes, struct text *out)
{
	unsigned char piece[16384];

	for (;;) {
		int rc;

		stream->next_out = piece;
		stream->avail_out = sizeof(piece);
		rc = inflate(stream, Z_NO_FLUSH);
		text_append(out, piece, sizeof(piece) - stream->avail_out);
		if (out->length > limit_bytes)
			return UNPACKED_TOO_MUCH;
		if (rc == Z_STREAM_END && stream->avail_in == 0)
			return UNPACKED_ALL;
		if (rc == Z_STREAM_END ? inflateReset(stream) != Z_OK : rc != Z_OK)
			return UNPACKED_BROKEN;
	}
}

static enum status body_unpack(struct body *body, size_t limit_bytes, enum refusal *ret_refusal,
			       struct error *err)
{
	struct text out AUTO_TEXT = { 0 };
	z_stream stream = { .next_in = (unsigned char *)body->bytes.data,
			    .avail_in = (uInt)body->bytes.length };

	if (body->bytes.length > UINT_MAX || inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
		return error_set(err, STATUS_INTERNAL, NULL, "gzip cannot be unpacked");
	AUTO(inflate) z_stream *open_stream = &stream;

	switch (unpack(open_stream, limit_bytes, &out)) {
	case UNPACKED_TOO_MUCH:
		return refuse_large(limit_bytes, ret_refusal, err);
	case UNPACKED_BROKEN:
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "Invalid request: the body is no whole gzip stream.");
	case UNPACKED_ALL:
		break;
	}
	text_deinit(&body->bytes);
	body->bytes = out;
	out = (struct text){ 0 };
	return STATUS_OK;
}

enum status body_finish(struct body *body, bool gzip, size_t limit_bytes, enum refusal *ret_refusal,
			struct error *err)
{
	enum status rc = STATUS_OK;

	if (body->too_large)
		return refuse_large(limit_bytes, ret_refusal, err);
	if (gzip && body->bytes.length)
		rc = body_unpack(body, limit_bytes, ret_refusal, err);
	if (!rc && body->bytes.failed)
		rc = error_no_memory(err);
	return rc;
}
