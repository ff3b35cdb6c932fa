/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/tunnel/mux.h: many connections carried over one stream of bytes, in both directions.
 *
 * One side accepts connections; for each, the other side makes a connection of its own. The stream consists of frames. A
 * frame has a head of eight bytes, and a payload of the length in the head; all numbers have their highest byte first:
 *
 *     kind (1), zero (1), length of the payload (2), number of the connection (4)
 *
 *     HELLO   0  the first frame, from the accepting side; the payload names this protocol
 *     BEAT    0  the sender is alive; the accepting side answers each BEAT with a BEAT
 *     OPEN    n  a connection was accepted: the peer's IPv4 address (4), own port (2), peer's port (2). n counts from 1
 *     DATA    n  1 to MUX_PAYLOAD_MAX bytes, no more than the other side has granted
 *     CREDIT  n  the other side may send this number (4) of further bytes, because the sender of this frame has passed
 *                on as many. It may send MUX_WINDOW bytes at first
 *     END     n  the sender sends no more data
 *     CLOSE   n  the sender has closed the connection; without an END before, the connection broke. Each side sends
 *                one, and the stream is free for another connection when both have
 *
 * These rules limit the buffered bytes, even if a reader is slow: to MUX_WINDOW for each of MUX_STREAMS_MAX connections. A
 * frame that breaks the rules ends the stream for good.
 *
 * The peers of accepted connections can only determine the payload of DATA, and no other part of the stream.
 *
 * Pure, except for the functions of struct mux_io. It is also compiled without libc, into tunnel.c. Thread: one at a time. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MUX_STREAMS_MAX = 256,
	MUX_WINDOW = 128 * 1024,
	MUX_PAYLOAD_MAX = 16 * 1024,
	MUX_HEAD_BYTES = 8,
	MUX_OUT_BYTES = 128 * 1024,
	MUX_SMALL_BYTES = 8, /* the longest payload of a frame other than DATA */
	MUX_INBOXES_BYTES = MUX_STREAMS_MAX * MUX_WINDOW,
	MUX_IDLE_TICKS = 12,
};

enum mux_side { MUX_ACCEPTS, MUX_DIALS };

enum mux_kind { MUX_HELLO = 1, MUX_BEAT, MUX_OPEN, MUX_DATA, MUX_CREDIT, MUX_END, MUX_CLOSE };

/* The addresses of an accepted connection, in host byte order. */
struct mux_origin {
	uint32_t address;
	uint16_t port, peer_port;
};

/* A connection at this end. */
struct mux_stream {
	uint32_t id; /* 0: the stream is unused */
	int fd;      /* -1: the connection is not made yet, or is closed */
	struct mux_origin origin;
	uint32_t credit;       /* the number of bytes that may still be sent to the other side */
	uint32_t owed;         /* the number of bytes that were passed on, but for which no new credit was granted yet */
	uint32_t from, length; /* the position of the first byte in the inbox, which is a ring, and the number of bytes
			        * in it */
	unsigned idle;         /* mux_tick() calls since bytes last came, after this end's descriptor had ended */
	bool end_due, ended;   /* the descriptor has ended: END has to be sent; END was sent */
	bool close_due, closed;
	bool peer_ended, peer_closed;
	bool shut; /* the descriptor's sending direction was ended, because the peer has ended */
};

struct mux {
	enum mux_side side;
	struct mux_stream streams[MUX_STREAMS_MAX];
	uint8_t *inboxes;
	uint32_t last_id;
	bool greeted;            /* HELLO was received */
	bool beat_due, is_heard; /* is_heard: bytes have come from the other side; the caller clears it */
	uint8_t head[MUX_HEAD_BYTES], small[MUX_SMALL_BYTES];
	size_t head_bytes, small_bytes, left; /* left: the bytes of the payload that are still to come */
	struct mux_stream *current;           /* the connection of the frame that is being received */
	size_t out_from, out_to;
	uint8_t out[MUX_OUT_BYTES];
};

/* The functions that move bytes through descriptors. None of them waits. */
struct mux_io {
	/* Both return the number of bytes moved, or MUX_WOULD_WAIT or MUX_BROKEN; receive() returns 0 at the end of
	 * the data. */
	long (*receive)(int fd, void *data, size_t size);
	long (*send)(int fd, const void *data, size_t size);
	void (*end)(int fd);             /* ends the sending direction */
	void (*close)(int fd, bool cut); /* closes it; cut: so that the peer sees a broken connection */
};
enum { MUX_WOULD_WAIT = -1, MUX_BROKEN = -2 }; /* results of receive() and send() instead of a number of bytes */

/* Initializes @mux. @inboxes: MUX_INBOXES_BYTES of memory, borrowed for as long as @mux is used. */
void mux_init(struct mux *mux, enum mux_side side, uint8_t *inboxes);

/* ---- the accepting side ---- */

void mux_greet(struct mux *mux);
/* Whether another connection can be accepted now: a number, and room for its OPEN frame, are free. */
bool mux_has_room(const struct mux *mux);
/* Adds an accepted connection. @fd belongs to the mux afterwards. To be called only if mux_has_room(). */
void mux_accept(struct mux *mux, int fd, const struct mux_origin *origin);

/* ---- the connecting side ---- */

/* Sends a BEAT. To be called regularly, so that the accepting side knows that this side is alive. */
void mux_beat(struct mux *mux);
/* Returns a connection that was opened by the other side and has no descriptor yet; NULL: there is none. */
struct mux_stream *mux_next_new(struct mux *mux);
/* To be called instead of setting a descriptor if the connection cannot be made: closes it. */
void mux_refuse(struct mux_stream *stream);
/* To be called regularly. If a connection's descriptor has ended and the peer does not end the connection within
 * MUX_IDLE_TICKS calls, cuts it: a program that keeps a connection for later does not notice that its server has closed
 * it. */
void mux_tick(struct mux *mux, const struct mux_io *io);

/* ---- both sides ---- */

/* Takes bytes from the other side. False: the other side broke the rules, and the mux cannot be used any more. */
bool mux_receive(struct mux *mux, const uint8_t *data, size_t size);
/* Returns the number of bytes to send to the other side, and where they are; 0: none. */
size_t mux_out(struct mux *mux, const uint8_t **ret_data);
void mux_sent(struct mux *mux, size_t size);
/* Moves the bytes of one connection as far as possible; its descriptor may get closed. @is_ready: the descriptor may
 * have bytes to read; otherwise it is not read. Does nothing for an unused stream. */
void mux_serve(struct mux *mux, struct mux_stream *stream, bool is_ready, const struct mux_io *io);
/* Whether the caller has to wait until the connection's descriptor can be read (input) or written (output). */
bool mux_wants_input(const struct mux *mux, const struct mux_stream *stream);
bool mux_wants_output(const struct mux_stream *stream);
/* Closes the descriptors of all connections, without sending anything to the other side. */
void mux_cut_all(struct mux *mux, const struct mux_io *io);
