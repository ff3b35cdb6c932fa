/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_tunnel_carry.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_hijack.h"
#include "scheduler/engine/tunnel/mux.h"
#include "scheduler/engine/tunnel/tunnel.h"

enum {
	FRAME_HEAD_BYTES = 8, /* the head of the frames in which the engine sends a container's output */
	FRAME_OUTPUT = 1,
	READ_BYTES = 64 * 1024,
	BACKLOG = 64,
	CONNECT_MS = 1000,
	US_PER_S = 1000 * 1000,
	WAKE = 0,
	INPUT,
	OUTPUT,
	REQUESTS,
	STREAMS,
	POLLED = STREAMS + MUX_STREAMS_MAX,
};

struct tunnel_carry {
	struct tunnel_carry_options options;
	int listener; /* a TCP listener on this machine, through which both ends of a connection are made */
	struct sockaddr_in listener_address;
	uint8_t frame_head[FRAME_HEAD_BYTES];
	size_t frame_head_bytes;
	uint32_t frame_left;
	int64_t heard_us, beat_us;
	struct pollfd polled[POLLED];
	char buffer[READ_BYTES];
	struct mux mux;
};

/* ---- connections ---- */

static bool would_wait(void)
{
	return errno == EAGAIN || errno == EINTR;
}

static long io_receive(int fd, void *data, size_t size)
{
	const ssize_t got = recv(fd, data, size, MSG_DONTWAIT);

	return got >= 0 ? (long)got : would_wait() ? MUX_WOULD_WAIT : MUX_BROKEN;
}

static long io_send(int fd, const void *data, size_t size)
{
	const ssize_t sent = send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);

	return sent >= 0 ? (long)sent : would_wait() ? MUX_WOULD_WAIT : MUX_BROKEN;
}

static void io_end(int fd)
{
	shutdown(fd, SHUT_WR);
}

static void io_close(int fd, bool cut)
{
	const struct linger reset = { 1, 0 };

	if (cut)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(fd);
}

static const struct mux_io io = { io_receive, io_send, io_end, io_close };

static bool listen_locally(struct tunnel_carry *carry)
{
	socklen_t size = sizeof(carry->listener_address);

	carry->listener_address = (struct sockaddr_in){ .sin_family = AF_INET,
							.sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) } };
	carry->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return carry->listener >= 0 &&
	       bind(carry->listener, (struct sockaddr *)&carry->listener_address, size) == 0 &&
	       listen(carry->listener, BACKLOG) == 0 &&
	       getsockname(carry->listener, (struct sockaddr *)&carry->listener_address, &size) == 0;
}

static bool is_ready(int fd, short events)
{
	struct pollfd polled = { .fd = fd, .events = events };

	return poll(&polled, 1, CONNECT_MS) == 1;
}

/* Accepts the connection of @fd at the listener and returns its other end; -1: it does not come. Other programs of
 * this machine may connect to the listener, too: they are refused. */
static int other_end(const struct tunnel_carry *carry, int fd)
{
	struct sockaddr_in own = { 0 }, peer = { 0 };
	socklen_t size = sizeof(own);

	if (getsockname(fd, (struct sockaddr *)&own, &size) != 0)
		return -1;
	while (is_ready(carry->listener, POLLIN)) {
		const int found = accept4(carry->listener, (struct sockaddr *)&peer, &size,
					  SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (found >= 0 && peer.sin_port == own.sin_port &&
		    peer.sin_addr.s_addr == own.sin_addr.s_addr)
			return found;
		if (found >= 0)
			close(found);
		else if (!would_wait() && errno != ECONNABORTED)
			return -1;
	}
	return -1;
}

/* Makes both ends of a connection. Choice: TCP on this machine instead of a pair of sockets, because the servers of
 * a gateway wait for a number of bytes (SO_RCVLOWAT) and set TCP options. The address of the connection's real peer
 * is passed separately. */
static bool ends_make(const struct tunnel_carry *carry, int ret_ends[2])
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

	if (fd < 0)
		return false;
	if (connect(fd, (const struct sockaddr *)&carry->listener_address, sizeof(carry->listener_address)) ==
		    0 ||
	    errno == EINPROGRESS) {
		ret_ends[0] = fd;
		ret_ends[1] = other_end(carry, fd);
		if (ret_ends[1] >= 0) {
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
			return true;
		}
	}
	close(fd);
	return false;
}

/* Makes the connection that the other end requests. Returns its descriptor; -1: it cannot be made. */
static int connection_make(const struct tunnel_carry *carry, const struct mux_origin *origin)
{
	const struct sockaddr_in peer = { .sin_family = AF_INET,
					  .sin_port = htons(origin->peer_port),
					  .sin_addr = { .s_addr = htonl(origin->address) } };
	int ends[2];

	if (carry->options.dial)
		return carry->options.dial(origin);
	if (!ends_make(carry, ends))
		return -1;
	carry->options.take(carry->options.arg, origin->port, &peer, ends[1]);
	return ends[0];
}

static void connections_make(struct tunnel_carry *carry)
{
	struct mux_stream *stream;

	while ((stream = mux_next_new(&carry->mux)) != NULL) {
		stream->fd = connection_make(carry, &stream->origin);
		if (stream->fd < 0)
			mux_refuse(stream);
	}
}

/* Reads the requested connections from the pipe. A request is never read in part, because a pipe moves so few bytes
 * as a whole. */
static void requests_take(struct tunnel_carry *carry)
{
	struct tunnel_request request;
	ssize_t got = sizeof(request);

	while (got == sizeof(request) && mux_has_room(&carry->mux)) {
		got = read(carry->options.requests_fd, &request, sizeof(request));
		if (got == sizeof(request))
			mux_accept(&carry->mux, request.fd,
				   &(struct mux_origin){ .address = request.address, .port = request.port });
	}
}

/* ---- the stream ---- */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Takes the container's output out of the engine's frames (docker_frames.h; here without times) and feeds it to the
 * mux. False: the bytes have another form. */
static bool frames_read(struct tunnel_carry *carry, const uint8_t *data, size_t size)
{
	while (size > 0) {
		size_t piece;

		if (carry->frame_left == 0) {
			piece = least(size, FRAME_HEAD_BYTES - carry->frame_head_bytes);
			memcpy(carry->frame_head + carry->frame_head_bytes, data, piece);
			carry->frame_head_bytes += piece;
			if (carry->frame_head_bytes == FRAME_HEAD_BYTES) {
				memcpy(&carry->frame_left, carry->frame_head + 4, 4);
				carry->frame_left = ntohl(carry->frame_left);
				carry->frame_head_bytes = 0;
			}
		} else {
			piece = least(size, carry->frame_left);
			if (carry->frame_head[0] == FRAME_OUTPUT && !mux_receive(&carry->mux, data, piece))
				return false;
			carry->frame_left -= (uint32_t)piece;
		}
		data += piece;
		size -= piece;
	}
	return true;
}

/* Receives bytes from the stream; returns their number; 0: none are there now; -1: the stream has ended. */
static ssize_t bytes_receive(struct tunnel_carry *carry)
{
	ssize_t got;

	if (carry->options.stream)
		return hijack_read(carry->options.stream, carry->buffer, sizeof(carry->buffer), 0);
	if (!(carry->polled[INPUT].revents))
		return 0;
	got = read(STDIN_FILENO, carry->buffer, sizeof(carry->buffer));
	return got > 0 ? got : got < 0 && would_wait() ? 0 : -1;
}

static ssize_t bytes_offer(const struct tunnel_carry *carry, const uint8_t *data, size_t size)
{
	ssize_t sent;

	if (carry->options.stream)
		return hijack_offer(carry->options.stream, data, size);
	sent = write(STDOUT_FILENO, data, size);
	return sent < 0 && would_wait() ? 0 : sent;
}

static enum status stream_read(struct tunnel_carry *carry, struct error *err)
{
	const ssize_t got = bytes_receive(carry);
	const uint8_t *data = (const uint8_t *)carry->buffer;

	if (got < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "its container or the engine has ended");
	if (got > 0 && !(carry->options.stream ? frames_read(carry, data, (size_t)got)
					       : mux_receive(&carry->mux, data, (size_t)got)))
		return error_set(err, STATUS_UNAVAILABLE, NULL,
				 "its container sends bytes that are not a tunnel's");
	return STATUS_OK;
}

static enum status stream_write(struct tunnel_carry *carry, bool *ret_more, struct error *err)
{
	const uint8_t *data;
	size_t size;

	*ret_more = false;
	while (!*ret_more && (size = mux_out(&carry->mux, &data)) > 0) {
		const ssize_t sent = bytes_offer(carry, data, size);

		if (sent < 0)
			return error_set(err, STATUS_UNAVAILABLE, NULL,
					 "the connection to its container broke");
		mux_sent(&carry->mux, (size_t)sent);
		*ret_more = sent == 0;
	}
	return STATUS_OK;
}

static void polled_fill(struct tunnel_carry *carry, bool has_output)
{
	struct hijack *stream = carry->options.stream;

	carry->polled[WAKE] = (struct pollfd){ .fd = carry->options.wake, .events = POLLIN };
	carry->polled[INPUT] = (struct pollfd){ .fd = stream ? hijack_descriptor(stream) : STDIN_FILENO,
						.events = POLLIN };
	carry->polled[OUTPUT] = (struct pollfd){
		.fd = !has_output ? -1 : stream ? hijack_descriptor(stream) : STDOUT_FILENO, .events = POLLOUT
	};
	carry->polled[REQUESTS] = (struct pollfd){
		.fd = carry->options.requests && mux_has_room(&carry->mux) ? carry->options.requests_fd : -1,
		.events = POLLIN
	};
	for (size_t i = 0; i < MUX_STREAMS_MAX; i++) {
		const struct mux_stream *connection = &carry->mux.streams[i];
		const short events = (short)((mux_wants_input(&carry->mux, connection) ? POLLIN : 0) |
					     (mux_wants_output(connection) ? POLLOUT : 0));

		/* A descriptor without events is left out, because poll() reports its hangup all the time. */
		carry->polled[STREAMS + i] =
			(struct pollfd){ .fd = events ? connection->fd : -1, .events = events };
	}
}

static enum status times_keep(struct tunnel_carry *carry, struct error *err)
{
	const int64_t now_us = clock_mono_us(&system_clock);

	if (carry->mux.is_heard)
		carry->heard_us = now_us;
	carry->mux.is_heard = false;
	if (now_us - carry->beat_us >= (int64_t)TUNNEL_BEAT_S * US_PER_S) {
		carry->beat_us = now_us;
		mux_beat(&carry->mux);
		if (!carry->options.requests) /* idle connections are not cut at the requesting end: a client that has
					       * sent everything may wait for the answer for long */
			mux_tick(&carry->mux, &io);
	}
	return now_us - carry->heard_us < (int64_t)TUNNEL_SILENCE_S * US_PER_S
		       ? STATUS_OK
		       : error_set(err, STATUS_UNAVAILABLE, NULL, "its container does not answer");
}

/* Moves bytes of all connections once. */
static enum status step(struct tunnel_carry *carry, struct error *err)
{
	bool has_output, is_ahead;
	enum status rc = stream_write(carry, &has_output, err);

	if (rc)
		return rc;
	polled_fill(carry, has_output);
	/* hijack_descriptor() is not readable for bytes that came together with the engine's answer, so they are
	 * asked for here. */
	is_ahead = carry->options.stream && hijack_wait(carry->options.stream, 0);
	if (poll(carry->polled, POLLED, is_ahead ? 0 : TUNNEL_BEAT_S * 1000) < 0 && errno != EINTR)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "cannot wait for connections: %s",
				 strerrordesc_np(errno));
	rc = stream_read(carry, err);
	if (rc)
		return rc;
	connections_make(carry);
	if (carry->polled[REQUESTS].revents)
		requests_take(carry);
	for (size_t i = 0; i < MUX_STREAMS_MAX; i++)
		mux_serve(&carry->mux, &carry->mux.streams[i], carry->polled[STREAMS + i].revents & ~POLLOUT,
			  &io);
	return times_keep(carry, err);
}

void tunnel_carry_close(struct tunnel_carry *carry)
{
	if (!carry)
		return;
	mux_cut_all(&carry->mux, &io);
	if (carry->mux.inboxes)
		munmap(carry->mux.inboxes, MUX_INBOXES_BYTES);
	if (carry->listener >= 0)
		close(carry->listener);
	free(carry);
}

DEFINE_AUTO(carry, struct tunnel_carry *, tunnel_carry_close)

enum status tunnel_carry_open(const struct tunnel_carry_options *options, struct tunnel_carry **ret_carry,
			      struct error *err)
{
	AUTO(carry) struct tunnel_carry *carry = memory_calloc(1, sizeof(*carry));
	/* Memory from mmap() is only used page by page: inboxes without a connection take none. */
	void *inboxes = mmap(NULL, MUX_INBOXES_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	enum status rc = STATUS_OK;

	carry->options = *options;
	carry->listener = -1;
	mux_init(&carry->mux, options->requests ? MUX_ACCEPTS : MUX_DIALS,
		 inboxes == MAP_FAILED ? NULL : inboxes);
	if (!carry->mux.inboxes || (options->take && !listen_locally(carry)))
		return error_set(err, STATUS_UNAVAILABLE, NULL, "cannot open the sockets of connections: %s",
				 strerrordesc_np(errno));
	carry->heard_us = carry->beat_us = clock_mono_us(&system_clock);
	if (options->requests)
		mux_greet(&carry->mux);
	while (!rc && !options->requests && !carry->mux.greeted && !carry->polled[WAKE].revents)
		rc = step(carry, err);
	if (rc)
		return rc;
	*ret_carry = TAKE(carry);
	return STATUS_OK;
}

enum status tunnel_carry_run(struct tunnel_carry *carry, struct error *err)
{
	enum status rc = STATUS_OK;

	while (!rc && !carry->polled[WAKE].revents)
		rc = step(carry, err);
	mux_cut_all(&carry->mux, &io);
	return rc;
}
