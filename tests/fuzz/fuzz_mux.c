/* SPDX-License-Identifier: Apache-2.0 */
/* What comes by a tunnel, at both ends of it: any bytes, in one piece, and cut as the first byte says.
 *
 * What must hold beside not crashing: how the bytes are cut makes no difference; no connection holds or owes more than a
 * window. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/engine/tunnel/mux.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ACCEPTED = 3, TAKES_BYTES = 700, SAYS_BYTES = 5 };

/* How often each descriptor was read: the first read has SAYS_BYTES; at the next, even ones have ended and odd ones have
 * no more for now. */
static unsigned said[MUX_STREAMS_MAX + 1];

static long io_receive(int fd, void *data, size_t size)
{
	if (said[fd]++)
		return fd % 2 ? MUX_WOULD_WAIT : 0;
	memset(data, fd, size < SAYS_BYTES ? size : SAYS_BYTES);
	return size < SAYS_BYTES ? (long)size : SAYS_BYTES;
}

static long io_send(int fd, const void *data, size_t size)
{
	const volatile uint8_t *last = (const uint8_t *)data + size - 1;

	(void)*last;
	if (fd % 5 == 4)
		return MUX_BROKEN;
	return size < TAKES_BYTES ? (long)size : TAKES_BYTES;
}

static void io_end(int fd)
{
	(void)fd;
}

static void io_close(int fd, bool cut)
{
	(void)fd;
	(void)cut;
}

static const struct mux_io io = { io_receive, io_send, io_end, io_close };

/* Buffers are large and are reused, so bytes of the last input must not be taken for those of a connection. */
static void mux_begin(struct mux *mux, enum mux_side side)
{
	static uint8_t inboxes[2][MUX_INBOXES_BYTES];
	static unsigned turn;

	mux_init(mux, side, inboxes[turn++ % 2]);
	if (side == MUX_ACCEPTS) {
		mux_greet(mux);
		for (int i = 0; i < ACCEPTED; i++)
			mux_accept(mux, i, &(struct mux_origin){ .port = 443 });
	}
}

static void bounds_check(const struct mux *mux)
{
	for (size_t i = 0; i < MUX_STREAMS_MAX; i++)
		if (mux->streams[i].length + mux->streams[i].owed > MUX_WINDOW ||
		    mux->streams[i].credit > MUX_WINDOW)
			abort();
}

static bool read_all(struct mux *mux, const uint8_t *data, size_t size, size_t step)
{
	bool good = true;

	for (size_t at = 0; at < size && good; at += step) {
		const size_t piece = size - at < step ? size - at : step;
		uint8_t *copy = malloc(piece);

		memcpy(copy, data + at, piece);
		good = mux_receive(mux, copy, piece);
		free(copy);
		bounds_check(mux);
	}
	return good;
}

static void same_check(const struct mux *a, const struct mux *b)
{
	for (size_t i = 0; i < MUX_STREAMS_MAX; i++) {
		const struct mux_stream *one = &a->streams[i], *other = &b->streams[i];

		if (one->id != other->id || one->length != other->length || one->credit != other->credit ||
		    one->peer_ended != other->peer_ended || one->peer_closed != other->peer_closed ||
		    memcmp(a->inboxes + i * MUX_WINDOW, b->inboxes + i * MUX_WINDOW, one->length) != 0)
			abort();
	}
}

static void serve_all(struct mux *mux)
{
	const uint8_t *out;
	struct mux_stream *stream;
	size_t size;
	int fd = 0;

	memset(said, 0, sizeof(said));
	while ((stream = mux_next_new(mux)) != NULL)
		stream->fd = fd++;
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < MUX_STREAMS_MAX; i++)
			mux_serve(mux, &mux->streams[i], true, &io);
		bounds_check(mux);
		size = mux_out(mux, &out);
		if (size > MUX_OUT_BYTES)
			abort();
		mux_sent(mux, size / 2);
	}
	mux_tick(mux, &io);
	mux_cut_all(mux, &io);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mux whole, pieces;

	if (size < 2)
		return 0;
	mux_begin(&whole, data[0] & 1 ? MUX_ACCEPTS : MUX_DIALS);
	mux_begin(&pieces, data[0] & 1 ? MUX_ACCEPTS : MUX_DIALS);
	if (read_all(&whole, data + 1, size - 1, size) !=
	    read_all(&pieces, data + 1, size - 1, 1 + data[0] / 2))
		abort();
	same_check(&whole, &pieces);
	serve_all(&whole);
	return 0;
}
