/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/tunnel/mux.h"

enum {
	GRANT_LEAST = MUX_WINDOW / 4, /* smaller credits are not sent, to save frames */
	OPEN_BYTES = 8,
	CREDIT_BYTES = 4,
	/* The most that stream_pack() appends for one connection: a CREDIT, an END and a CLOSE frame. */
	PACK_BYTES = 3 * MUX_HEAD_BYTES + CREDIT_BYTES,
};

static const uint8_t greeting[MUX_SMALL_BYTES] = { 't', 'y', 'm', 'u', 'x', 0, 0, 1 };

void mux_init(struct mux *mux, enum mux_side side, uint8_t *inboxes)
{
	__builtin_memset(mux, 0, sizeof(*mux));
	mux->side = side;
	mux->inboxes = inboxes;
	for (size_t i = 0; i < MUX_STREAMS_MAX; i++)
		mux->streams[i].fd = -1;
}

static uint8_t *inbox_of(const struct mux *mux, const struct mux_stream *stream)
{
	return mux->inboxes + (size_t)(stream - mux->streams) * MUX_WINDOW;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void number_write(uint8_t *at, uint32_t number, unsigned bytes)
{
	while (bytes-- > 0) {
		at[bytes] = (uint8_t)number;
		number >>= 8;
	}
}

static uint32_t number_read(const uint8_t *at, unsigned bytes)
{
	uint32_t number = 0;

	for (unsigned i = 0; i < bytes; i++)
		number = number << 8 | at[i];
	return number;
}

static bool is_used(const struct mux_stream *stream)
{
	return stream->id != 0;
}

static void stream_begin(struct mux *mux, struct mux_stream *stream, uint32_t id)
{
	*stream = (struct mux_stream){ .id = id, .fd = -1, .credit = MUX_WINDOW };
	mux->last_id = id;
}

static void stream_free_if_done(struct mux_stream *stream)
{
	if (stream->closed && stream->peer_closed)
		*stream = (struct mux_stream){ .fd = -1 };
}

static struct mux_stream *stream_find(struct mux *mux, uint32_t id)
{
	for (size_t i = 0; i < MUX_STREAMS_MAX; i++)
		if (mux->streams[i].id == id)
			return &mux->streams[i];
	return NULL;
}

/* ---- sending ---- */

static size_t out_room(const struct mux *mux)
{
	return MUX_OUT_BYTES - (mux->out_to - mux->out_from);
}

/* Returns the position for the next @bytes of output; the caller has checked that there is room. */
static uint8_t *out_place(struct mux *mux, size_t bytes)
{
	if (MUX_OUT_BYTES - mux->out_to < bytes) {
		__builtin_memmove(mux->out, mux->out + mux->out_from, mux->out_to - mux->out_from);
		mux->out_to -= mux->out_from;
		mux->out_from = 0;
	}
	return mux->out + mux->out_to;
}

static void head_write(uint8_t *at, enum mux_kind kind, uint32_t id, size_t length)
{
	at[0] = (uint8_t)kind;
	at[1] = 0;
	number_write(at + 2, (uint32_t)length, 2);
	number_write(at + 4, id, 4);
}

static void frame_put(struct mux *mux, enum mux_kind kind, uint32_t id, const uint8_t *payload, size_t length)
{
	uint8_t *at = out_place(mux, MUX_HEAD_BYTES + length);

	head_write(at, kind, id, length);
	__builtin_memcpy(at + MUX_HEAD_BYTES, payload, length);
	mux->out_to += MUX_HEAD_BYTES + length;
}

static void stream_pack(struct mux *mux, struct mux_stream *stream)
{
	uint8_t credit[CREDIT_BYTES];

	if (stream->owed >= GRANT_LEAST && !stream->peer_ended && !stream->close_due) {
		number_write(credit, stream->owed, CREDIT_BYTES);
		frame_put(mux, MUX_CREDIT, stream->id, credit, CREDIT_BYTES);
		stream->owed = 0;
	}
	if (stream->end_due && !stream->ended && !stream->closed) {
		frame_put(mux, MUX_END, stream->id, credit, 0);
		stream->ended = true;
	}
	if (stream->close_due && !stream->closed) {
		frame_put(mux, MUX_CLOSE, stream->id, credit, 0);
		stream->closed = true;
		stream_free_if_done(stream);
	}
}

size_t mux_out(struct mux *mux, const uint8_t **ret_data)
{
	if (mux->beat_due && out_room(mux) >= PACK_BYTES) {
		frame_put(mux, MUX_BEAT, 0, greeting, 0);
		mux->beat_due = false;
	}
	for (size_t i = 0; i < MUX_STREAMS_MAX && out_room(mux) >= PACK_BYTES; i++)
		if (is_used(&mux->streams[i]) && !mux->streams[i].closed)
			stream_pack(mux, &mux->streams[i]);
	*ret_data = mux->out + mux->out_from;
	return mux->out_to - mux->out_from;
}

void mux_sent(struct mux *mux, size_t size)
{
	mux->out_from += size;
	if (mux->out_from == mux->out_to)
		mux->out_from = mux->out_to = 0;
}

void mux_greet(struct mux *mux)
{
	frame_put(mux, MUX_HELLO, 0, greeting, sizeof(greeting));
}

void mux_beat(struct mux *mux)
{
	mux->beat_due = true;
}

bool mux_has_room(const struct mux *mux)
{
	for (size_t i = 0; i < MUX_STREAMS_MAX; i++)
		if (!is_used(&mux->streams[i]))
			return out_room(mux) >= MUX_HEAD_BYTES + OPEN_BYTES && mux->last_id < UINT32_MAX;
	return false;
}

void mux_accept(struct mux *mux, int fd, const struct mux_origin *origin)
{
	struct mux_stream *stream = stream_find(mux, 0);
	uint8_t payload[OPEN_BYTES];

	stream_begin(mux, stream, mux->last_id + 1);
	stream->fd = fd;
	stream->origin = *origin;
	number_write(payload, origin->address, 4);
	number_write(payload + 4, origin->port, 2);
	number_write(payload + 6, origin->peer_port, 2);
	frame_put(mux, MUX_OPEN, stream->id, payload, sizeof(payload));
}

/* ---- receiving ---- */

static bool open_take(struct mux *mux, uint32_t id)
{
	struct mux_stream *stream = stream_find(mux, 0);

	if (!stream || id != mux->last_id + 1)
		return false;
	stream_begin(mux, stream, id);
	stream->origin = (struct mux_origin){ .address = number_read(mux->small, 4),
					      .port = (uint16_t)number_read(mux->small + 4, 2),
					      .peer_port = (uint16_t)number_read(mux->small + 6, 2) };
	return true;
}

static bool credit_take(const struct mux *mux, struct mux_stream *stream)
{
	const uint32_t granted = number_read(mux->small, CREDIT_BYTES);

	if (granted > MUX_WINDOW - stream->credit)
		return false;
	stream->credit += granted;
	return true;
}

static bool end_take(struct mux_stream *stream)
{
	if (stream->peer_ended)
		return false;
	stream->peer_ended = true;
	return true;
}

/* Acts on a frame that was received completely; the payload of DATA was taken as it arrived. False: it breaks the
 * rules. */
static bool frame_take(struct mux *mux)
{
	struct mux_stream *stream = mux->current;

	switch ((enum mux_kind)mux->head[0]) {
	case MUX_HELLO:
		mux->greeted = __builtin_memcmp(mux->small, greeting, sizeof(greeting)) == 0;
		return mux->greeted;
	case MUX_BEAT:
		mux->beat_due |= mux->side == MUX_ACCEPTS;
		return true;
	case MUX_OPEN:
		return open_take(mux, number_read(mux->head + 4, 4));
	case MUX_DATA:
		return true;
	case MUX_CREDIT:
		return credit_take(mux, stream);
	case MUX_END:
		return end_take(stream);
	case MUX_CLOSE:
		stream->peer_closed = true;
		stream_free_if_done(stream);
		return true;
	}
	return false;
}

static bool length_is_right(enum mux_kind kind, size_t length)
{
	switch (kind) {
	case MUX_HELLO:
		return length == sizeof(greeting);
	case MUX_OPEN:
		return length == OPEN_BYTES;
	case MUX_CREDIT:
		return length == CREDIT_BYTES;
	case MUX_DATA:
		return length > 0 && length <= MUX_PAYLOAD_MAX;
	case MUX_BEAT:
	case MUX_END:
	case MUX_CLOSE:
		return length == 0;
	}
	return false;
}

/* Whether a frame of this kind may come now. Only the accepting side sends HELLO, once and first, and OPEN. */
static bool kind_is_due(const struct mux *mux, enum mux_kind kind)
{
	if (mux->side == MUX_ACCEPTS)
		return kind != MUX_HELLO && kind != MUX_OPEN;
	return mux->greeted ? kind != MUX_HELLO : kind == MUX_HELLO;
}

static bool stream_allows(const struct mux_stream *stream, enum mux_kind kind, size_t length)
{
	if (!stream || stream->peer_closed)
		return false;
	if (kind != MUX_DATA || stream->close_due)
		return true;
	return !stream->peer_ended && stream->length + stream->owed + length <= MUX_WINDOW;
}

static bool head_take(struct mux *mux)
{
	const enum mux_kind kind = (enum mux_kind)mux->head[0];
	const size_t length = number_read(mux->head + 2, 2);
	const uint32_t id = number_read(mux->head + 4, 4);
	const bool is_of_all = kind == MUX_HELLO || kind == MUX_BEAT;

	if (mux->head[1] || !length_is_right(kind, length) || !kind_is_due(mux, kind) ||
	    is_of_all != (id == 0))
		return false;
	mux->left = length;
	mux->small_bytes = 0;
	mux->current = is_of_all || kind == MUX_OPEN ? NULL : stream_find(mux, id);
	return is_of_all || kind == MUX_OPEN || stream_allows(mux->current, kind, length);
}

/* Appends data to the connection's inbox; stream_allows() has checked that there is room. Data for a connection that
 * this end has closed is dropped. */
static void data_take(const struct mux *mux, struct mux_stream *stream, const uint8_t *data, size_t size)
{
	if (stream->close_due)
		return;
	while (size > 0) {
		const uint32_t at = (stream->from + stream->length) % MUX_WINDOW;
		const size_t piece = least(size, MUX_WINDOW - at);

		__builtin_memcpy(inbox_of(mux, stream) + at, data, piece);
		stream->length += (uint32_t)piece;
		data += piece;
		size -= piece;
	}
}

static size_t payload_take(struct mux *mux, const uint8_t *data, size_t size)
{
	const size_t piece = least(size, mux->left);

	if (mux->head[0] == MUX_DATA) {
		data_take(mux, mux->current, data, piece);
	} else {
		__builtin_memcpy(mux->small + mux->small_bytes, data, piece);
		mux->small_bytes += piece;
	}
	mux->left -= piece;
	return piece;
}

bool mux_receive(struct mux *mux, const uint8_t *data, size_t size)
{
	while (size > 0) {
		size_t piece;

		mux->is_heard = true;
		if (mux->head_bytes < MUX_HEAD_BYTES) {
			piece = least(size, MUX_HEAD_BYTES - mux->head_bytes);
			__builtin_memcpy(mux->head + mux->head_bytes, data, piece);
			mux->head_bytes += piece;
			if (mux->head_bytes == MUX_HEAD_BYTES && !head_take(mux))
				return false;
		} else {
			piece = payload_take(mux, data, size);
		}
		data += piece;
		size -= piece;
		if (mux->head_bytes < MUX_HEAD_BYTES || mux->left > 0)
			continue;
		if (!frame_take(mux))
			return false;
		mux->head_bytes = 0;
	}
	return true;
}

/* ---- descriptors ---- */

static void stream_close(struct mux_stream *stream, const struct mux_io *io, bool cut)
{
	if (stream->fd >= 0)
		io->close(stream->fd, cut);
	stream->fd = -1;
	stream->length = 0;
	stream->close_due = true;
}

struct mux_stream *mux_next_new(struct mux *mux)
{
	for (size_t i = 0; i < MUX_STREAMS_MAX; i++)
		if (is_used(&mux->streams[i]) && mux->streams[i].fd < 0 && !mux->streams[i].close_due)
			return &mux->streams[i];
	return NULL;
}

void mux_refuse(struct mux_stream *stream)
{
	stream->close_due = true;
	stream->length = 0;
}

bool mux_wants_input(const struct mux *mux, const struct mux_stream *stream)
{
	return stream->fd >= 0 && !stream->end_due && stream->credit > 0 &&
	       out_room(mux) >= MUX_HEAD_BYTES + MUX_PAYLOAD_MAX + PACK_BYTES;
}

bool mux_wants_output(const struct mux_stream *stream)
{
	return stream->fd >= 0 && stream->length > 0;
}

/* Reads from the connection's descriptor into the output. False: the connection broke. */
static bool input_take(struct mux *mux, struct mux_stream *stream, const struct mux_io *io)
{
	while (mux_wants_input(mux, stream)) {
		uint8_t *at = out_place(mux, MUX_HEAD_BYTES + MUX_PAYLOAD_MAX);
		const long got =
			io->receive(stream->fd, at + MUX_HEAD_BYTES, least(stream->credit, MUX_PAYLOAD_MAX));

		if (got == MUX_WOULD_WAIT)
			return true;
		if (got < 0)
			return false;
		if (got == 0) {
			stream->end_due = true;
			return true;
		}
		head_write(at, MUX_DATA, stream->id, (size_t)got);
		mux->out_to += MUX_HEAD_BYTES + (size_t)got;
		stream->credit -= (uint32_t)got;
		if ((size_t)got < MUX_PAYLOAD_MAX)
			return true;
	}
	return true;
}

static bool output_give(const struct mux *mux, struct mux_stream *stream, const struct mux_io *io)
{
	while (stream->length > 0) {
		const size_t piece = least(stream->length, MUX_WINDOW - stream->from);
		const long sent = io->send(stream->fd, inbox_of(mux, stream) + stream->from, piece);

		if (sent == MUX_WOULD_WAIT)
			return true;
		if (sent < 0)
			return false;
		stream->from = (uint32_t)((stream->from + (size_t)sent) % MUX_WINDOW);
		stream->length -= (uint32_t)sent;
		stream->owed += (uint32_t)sent;
		stream->idle = 0;
	}
	return true;
}

void mux_serve(struct mux *mux, struct mux_stream *stream, bool is_ready, const struct mux_io *io)
{
	if (!is_used(stream) || stream->fd < 0) {
		if (is_used(stream) && stream->peer_closed)
			mux_refuse(stream);
		return;
	}
	if (stream->peer_closed && !stream->peer_ended) {
		stream_close(stream, io, true);
		return;
	}
	if (!output_give(mux, stream, io) ||
	    (is_ready && !stream->peer_closed && !input_take(mux, stream, io))) {
		stream_close(stream, io, true);
		return;
	}
	if (stream->peer_ended && stream->length == 0 && !stream->shut) {
		io->end(stream->fd);
		stream->shut = true;
	}
	if (stream->shut && (stream->end_due || stream->peer_closed))
		stream_close(stream, io, false);
}

void mux_tick(struct mux *mux, const struct mux_io *io)
{
	for (size_t i = 0; i < MUX_STREAMS_MAX; i++) {
		struct mux_stream *stream = &mux->streams[i];

		if (stream->fd >= 0 && stream->end_due && ++stream->idle > MUX_IDLE_TICKS)
			stream_close(stream, io, true);
	}
}

void mux_cut_all(struct mux *mux, const struct mux_io *io)
{
	for (size_t i = 0; i < MUX_STREAMS_MAX; i++)
		if (mux->streams[i].fd >= 0)
			stream_close(&mux->streams[i], io, true);
}
