/* SPDX-License-Identifier: Apache-2.0 */
/* tunnel PORT...: accepts connections at these ports, and carries them over its standard input and output as mux.h says.
 *
 * It is the only program of a container on a job's network, for engines that the daemon cannot join; the daemon is at the
 * other end of the container's input and output. Programs of the job reach the ports and nothing else. It ends when its
 * input ends, and when the daemon has said nothing for a while: connections are refused then, rather than kept waiting.
 *
 * It is linked with no library, as bare.h says. */
#include <linux/time_types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/engine/bare/bare.h"
#include "scheduler/engine/tunnel/mux.c"
#include "scheduler/engine/tunnel/tunnel.h"

/* Constants of libc's headers, which are not available here. The values are the kernel's, on both architectures. */
enum {
	FAMILY_INET = 2,
	SOCKET_STREAM = 1,
	SOCKET_NONBLOCK = 04000,
	SOCKET_CLOEXEC = 02000000,
	SHUT_WRITING = 1
};
enum { LEVEL_SOCKET = 1, OPTION_REUSEADDR = 2, OPTION_KEEPALIVE = 9, OPTION_LINGER = 13 };
enum { LEVEL_TCP = 6, TCP_OPTION_NODELAY = 1, TCP_OPTION_KEEPIDLE = 4, TCP_OPTION_KEEPINTVL = 5 };
enum { SEND_NOSIGNAL = 0x4000, GET_FLAGS = 3, SET_FLAGS = 4, FLAG_NONBLOCK = 04000 };
enum { AGAIN_EAGAIN = 11, INTERRUPTED_EINTR = 4 };
enum { POLL_IN = 1, POLL_OUT = 4 };
enum { MONOTONIC = 1, STANDARD_INPUT = 0, STANDARD_OUTPUT = 1 };

enum {
	BACKLOG = 128,
	INPUT_BYTES = 64 * 1024,
	KEEPALIVE_S = 60,
	INPUT = TUNNEL_PORTS_MAX, /* the index of the input in the polled array: the listeners come first */
	OUTPUT,
	STREAMS,
	POLLED = STREAMS + MUX_STREAMS_MAX,
};

struct address {
	uint16_t family, port; /* port, and address below: highest byte first */
	uint32_t address;
	uint8_t padding[8];
};

struct polled {
	int fd;
	short events, events_seen;
};

struct linger {
	int is_on, seconds;
};

static struct mux mux;
static uint8_t inboxes[MUX_INBOXES_BYTES], input[INPUT_BYTES];
static struct polled polled[POLLED];
static struct {
	int fd;
	uint16_t port;
} listeners[TUNNEL_PORTS_MAX];
static size_t listener_count;

__attribute__((noreturn)) static void finish(enum tunnel_end end)
{
	for (;;)
		kernel(__NR_exit_group, end, 0, 0, 0, 0, 0);
}

static bool would_wait(long result)
{
	return result == -AGAIN_EAGAIN || result == -INTERRUPTED_EINTR;
}

static int64_t now_s(void)
{
	struct __kernel_timespec now = { 0 };

	kernel(__NR_clock_gettime, MONOTONIC, (long)&now, 0, 0, 0, 0);
	return now.tv_sec;
}

static void option_set(int fd, int level, int option, int value)
{
	kernel(__NR_setsockopt, fd, level, option, (long)&value, sizeof(value), 0);
}

static void nonblock_set(int fd)
{
	const long flags = kernel(__NR_fcntl, fd, GET_FLAGS, 0, 0, 0, 0);

	kernel(__NR_fcntl, fd, SET_FLAGS, flags | FLAG_NONBLOCK, 0, 0, 0);
}

static uint16_t swapped(uint16_t number)
{
	return __builtin_bswap16(number);
}

/* ---- connections ---- */

static long io_receive(int fd, void *data, size_t size)
{
	const long got = kernel(__NR_read, fd, (long)data, (long)size, 0, 0, 0);

	return got >= 0 ? got : would_wait(got) ? MUX_WOULD_WAIT : MUX_BROKEN;
}

static long io_send(int fd, const void *data, size_t size)
{
	const long sent = kernel(__NR_sendto, fd, (long)data, (long)size, SEND_NOSIGNAL, 0, 0);

	return sent >= 0 ? sent : would_wait(sent) ? MUX_WOULD_WAIT : MUX_BROKEN;
}

static void io_end(int fd)
{
	kernel(__NR_shutdown, fd, SHUT_WRITING, 0, 0, 0, 0);
}

static void io_close(int fd, bool cut)
{
	const struct linger reset = { 1, 0 };

	if (cut)
		kernel(__NR_setsockopt, fd, LEVEL_SOCKET, OPTION_LINGER, (long)&reset, sizeof(reset), 0);
	kernel(__NR_close, fd, 0, 0, 0, 0, 0);
}

static const struct mux_io io = { io_receive, io_send, io_end, io_close };

static void port_open(uint16_t port)
{
	const struct address place = { .family = FAMILY_INET, .port = swapped(port) };
	const int fd = (int)kernel(__NR_socket, FAMILY_INET, SOCKET_STREAM | SOCKET_NONBLOCK | SOCKET_CLOEXEC,
				   0, 0, 0, 0);

	if (fd < 0)
		finish(TUNNEL_NO_PORT);
	option_set(fd, LEVEL_SOCKET, OPTION_REUSEADDR, 1);
	if (kernel(__NR_bind, fd, (long)&place, sizeof(place), 0, 0, 0) < 0 ||
	    kernel(__NR_listen, fd, BACKLOG, 0, 0, 0, 0) < 0)
		finish(TUNNEL_NO_PORT);
	listeners[listener_count].fd = fd;
	listeners[listener_count++].port = port;
}

static void client_accept(size_t listener)
{
	struct address peer = { 0 };
	int size = sizeof(peer);
	const int fd = (int)kernel(__NR_accept4, listeners[listener].fd, (long)&peer, (long)&size,
				   SOCKET_NONBLOCK | SOCKET_CLOEXEC, 0, 0);

	if (fd < 0)
		return;
	option_set(fd, LEVEL_TCP, TCP_OPTION_NODELAY, 1);
	/* Keepalive detects a container that is gone. */
	option_set(fd, LEVEL_SOCKET, OPTION_KEEPALIVE, 1);
	option_set(fd, LEVEL_TCP, TCP_OPTION_KEEPIDLE, KEEPALIVE_S);
	option_set(fd, LEVEL_TCP, TCP_OPTION_KEEPINTVL, KEEPALIVE_S);
	mux_accept(&mux, fd,
		   &(struct mux_origin){ .address = __builtin_bswap32(peer.address),
					 .port = listeners[listener].port,
					 .peer_port = swapped(peer.port) });
}

/* ---- the daemon ---- */

static void input_read(void)
{
	const long got = kernel(__NR_read, STANDARD_INPUT, (long)input, sizeof(input), 0, 0, 0);

	if (got == 0)
		finish(TUNNEL_LEFT);
	if (got < 0 && !would_wait(got))
		finish(TUNNEL_BROKEN);
	if (got > 0 && !mux_receive(&mux, input, (size_t)got))
		finish(TUNNEL_BROKEN);
}

/* Writes output as far as possible. True: some is left. */
static bool output_write(void)
{
	const uint8_t *data;
	size_t size;

	while ((size = mux_out(&mux, &data)) > 0) {
		const long sent = kernel(__NR_write, STANDARD_OUTPUT, (long)data, (long)size, 0, 0, 0);

		if (sent <= 0 && !would_wait(sent))
			finish(TUNNEL_BROKEN);
		if (sent <= 0)
			return true;
		mux_sent(&mux, (size_t)sent);
	}
	return false;
}

/* ---- the program ---- */

static void polled_fill(bool has_output)
{
	const bool has_room = mux_has_room(&mux);

	for (size_t i = 0; i < TUNNEL_PORTS_MAX; i++)
		polled[i] = (struct polled){ .fd = has_room && i < listener_count ? listeners[i].fd : -1,
					     .events = POLL_IN };
	polled[INPUT] = (struct polled){ .fd = STANDARD_INPUT, .events = POLL_IN };
	polled[OUTPUT] = (struct polled){ .fd = has_output ? STANDARD_OUTPUT : -1, .events = POLL_OUT };
	for (size_t i = 0; i < MUX_STREAMS_MAX; i++) {
		const struct mux_stream *stream = &mux.streams[i];
		const short events = (short)((mux_wants_input(&mux, stream) ? POLL_IN : 0) |
					     (mux_wants_output(stream) ? POLL_OUT : 0));

		/* A descriptor without events is left out, because poll() reports its hangup all the time. */
		polled[STREAMS + i] = (struct polled){ .fd = events ? stream->fd : -1, .events = events };
	}
}

static void poll_once(bool has_output)
{
	const struct __kernel_timespec patience = { .tv_sec = TUNNEL_SILENCE_S };

	polled_fill(has_output);
	if (kernel(__NR_ppoll, (long)polled, POLLED, (long)&patience, 0, 0, 0) < 0)
		return;
	if (polled[INPUT].events_seen)
		input_read();
	for (size_t i = 0; i < listener_count; i++)
		if (polled[i].events_seen && mux_has_room(&mux))
			client_accept(i);
	for (size_t i = 0; i < MUX_STREAMS_MAX; i++)
		mux_serve(&mux, &mux.streams[i], polled[STREAMS + i].events_seen & ~POLL_OUT, &io);
}

static uint16_t port_read(const char *text)
{
	uint32_t number = 0;

	for (; *text >= '0' && *text <= '9' && number <= UINT16_MAX; text++)
		number = number * 10 + (uint32_t)(*text - '0');
	if (*text || number == 0 || number > UINT16_MAX)
		finish(TUNNEL_CALLED_WRONG);
	return (uint16_t)number;
}

void bare_begin(char *const *stack)
{
	const size_t count = (uintptr_t)stack[0];
	int64_t heard_s = now_s();
	bool has_output = false;

	if (count < 2 || count > 1 + TUNNEL_PORTS_MAX)
		finish(TUNNEL_CALLED_WRONG);
	mux_init(&mux, MUX_ACCEPTS, inboxes);
	for (size_t i = 1; i < count; i++)
		port_open(port_read(stack[1 + i]));
	nonblock_set(STANDARD_INPUT);
	nonblock_set(STANDARD_OUTPUT);
	mux_greet(&mux);
	for (;;) {
		has_output = output_write();
		poll_once(has_output);
		if (mux.is_heard)
			heard_s = now_s();
		else if (now_s() - heard_s >= TUNNEL_SILENCE_S)
			finish(TUNNEL_LEFT);
		mux.is_heard = false;
	}
}
