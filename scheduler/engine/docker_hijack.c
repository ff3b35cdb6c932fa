/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_hijack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_endpoint.h"

struct hijack {
	int fd;
	size_t at, length; /* positions in ahead: of the next unread byte; of the end of the received bytes */
	char ahead[HIJACK_HEAD_MAX + 1];
};

void hijack_close(struct hijack *hijack)
{
	if (!hijack)
		return;
	if (hijack->fd >= 0)
		close(hijack->fd);
	free(hijack);
}

DEFINE_AUTO(hijack, struct hijack *, hijack_close)

static int64_t after_us(unsigned ms)
{
	return clock_mono_us(&system_clock) + ms * INT64_C(1000);
}

/* Waits for @events at most until @until_us. False: they did not come, or the wait failed. */
static bool await(int fd, short events, int64_t until_us)
{
	for (;;) {
		struct pollfd wanted = { fd, events, 0 };
		int64_t left_ms = (until_us - clock_mono_us(&system_clock) + 999) / 1000;
		int ready = poll(&wanted, 1, left_ms > INT_MAX ? INT_MAX : left_ms > 0 ? (int)left_ms : 0);

		if (ready > 0)
			return true;
		if (ready == 0 && left_ms <= 0)
			return false;
		if (ready < 0 && errno != EINTR)
			return false;
	}
}

static bool passes(int error)
{
	return error == EAGAIN || error == EINTR;
}

static bool send_until(int fd, const char *data, size_t length, int64_t until_us)
{
	while (length > 0) {
		ssize_t sent = send(fd, data, length, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && !passes(errno))
			return false;
		if (sent < 0 && !await(fd, POLLOUT, until_us))
			return false;
		data += sent > 0 ? sent : 0;
		length -= sent > 0 ? (size_t)sent : 0;
	}
	return true;
}

/* ---- the request ---- */

/* Returns @status, or replaces *err and returns UNAVAILABLE if there was no answer because the connection's carrier
 * could not reach the engine. */
static enum status silence_explain(const struct hijack_request *request, enum status status,
				   struct error *err)
{
	char problem[ENDPOINT_PROBLEM_SIZE];

	endpoint_problem(request->endpoint, problem);
	return problem[0] ? error_set(err, STATUS_UNAVAILABLE, NULL, "cannot reach the engine at %s: %s",
				      endpoint_name(request->endpoint), problem)
			  : status;
}

static enum status connect_to(const struct hijack_request *request, int *ret_fd, struct error *err)
{
	const int fd = endpoint_connect(request->endpoint, request->patience_ms);

	if (fd < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "cannot reach the engine at %s: %s",
				 endpoint_name(request->endpoint),
				 errno == EAGAIN ? "it does not accept a connection now"
						 : strerrordesc_np(errno));
	*ret_fd = fd;
	return STATUS_OK;
}

static enum status head_send(int fd, const struct hijack_request *request, const struct text *head, int64_t until_us,
			     struct error *err)
{
	if (send_until(fd, head->data, head->length, until_us))
		return STATUS_OK;
	return silence_explain(request,
			       error_set(err, STATUS_UNAVAILABLE, NULL, "the request cannot be sent to the engine"),
			       err);
}

/* Sends the request. Without @upgrade it is HTTP/1.0, so that the answer is not chunked and ends with the
 * connection. */
static enum status request_send(int fd, const struct hijack_request *request, bool upgrade, int64_t until_us,
				struct error *err)
{
	struct text head AUTO_TEXT = { 0 };
	const char *body = request->body ? request->body : "";

	text_printf(&head, "%s %s HTTP/1.%d\r\nHost: docker\r\n", request->method, request->path, upgrade);
	if (upgrade)
		text_puts(&head, "Connection: Upgrade\r\nUpgrade: tcp\r\n");
	if (request->body)
		text_puts(&head, "Content-Type: application/json\r\n");
	text_printf(&head, "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
	return head_send(fd, request, &head, until_us, err);
}

/* ---- the answer ---- */

/* Receives the next piece of bytes. *ret_length 0: the connection has ended. */
static enum status receive(int fd, char *buffer, size_t size, int64_t until_us, size_t *ret_length,
			   struct error *err)
{
	ssize_t got;

	do {
		if (!await(fd, POLLIN, until_us))
			return error_set(err, STATUS_UNAVAILABLE, NULL, "the engine did not answer in time");
		got = recv(fd, buffer, size, MSG_DONTWAIT);
	} while (got < 0 && passes(errno));
	if (got < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "the connection to the engine broke: %s",
				 strerrordesc_np(errno));
	*ret_length = (size_t)got;
	return STATUS_OK;
}

/* Reads to the end of the head, which becomes a string of its own; bytes after it stay in ahead. */
static enum status head_read(const struct hijack_request *request, struct hijack *hijack, int64_t until_us,
			     unsigned *ret_code, struct error *err)
{
	char *end = NULL;
	size_t got;

	while (!end) {
		enum status rc;

		if (hijack->length == HIJACK_HEAD_MAX)
			return error_set(err, STATUS_INTERNAL, NULL,
					 "the head of the engine's answer is too long");
		rc = receive(hijack->fd, hijack->ahead + hijack->length, HIJACK_HEAD_MAX - hijack->length,
			     until_us, &got, err);
		if (rc)
			return silence_explain(request, rc, err);
		if (got == 0)
			return silence_explain(
				request,
				error_set(err, STATUS_UNAVAILABLE, NULL,
					  "the engine closed the connection without an answer"),
				err);
		hijack->length += got;
		end = memmem(hijack->ahead, hijack->length, "\r\n\r\n", 4);
	}
	*end = '\0';
	hijack->at = (size_t)(end - hijack->ahead) + 4;
	if (sscanf(hijack->ahead, "HTTP/1.%*1[01] %3u", ret_code) != 1 || *ret_code < 100 || *ret_code > 999)
		return error_set(err, STATUS_INTERNAL, NULL, "the engine's answer is not HTTP");
	return STATUS_OK;
}

/* Returns the body's length from the head's Content-Length. Without a valid one, returns HIJACK_BODY_MAX: the body
 * then lasts to the end of the connection. */
static size_t length_wanted(const struct hijack *hijack)
{
	const char *line = strcasestr(hijack->ahead, "\r\nContent-Length:");
	size_t length;

	if (!line || sscanf(strchr(line, ':') + 1, " %9zu", &length) != 1 || length > HIJACK_BODY_MAX)
		return HIJACK_BODY_MAX;
	return length;
}

static enum status body_read(struct hijack *hijack, int64_t until_us, struct text *body, struct error *err)
{
	size_t wanted = length_wanted(hijack), got = 1;
	char piece[4096];

	text_clear(body);
	text_append(body, hijack->ahead + hijack->at, hijack->length - hijack->at);
	while (got > 0 && body->length < wanted) {
		enum status rc = receive(hijack->fd, piece, sizeof(piece), until_us, &got, err);

		if (rc)
			return rc;
		text_append(body, piece, got);
	}
	if (got > 0 && wanted == HIJACK_BODY_MAX)
		return error_set(err, STATUS_INTERNAL, NULL, "the engine's answer is too long");
	if (body->length > wanted) {
		body->length = wanted;
		body->data[wanted] = '\0';
	}
	return STATUS_OK;
}

/* Returns a hijack without a connection. */
static struct hijack *hijack_new(void)
{
	struct hijack *hijack = memory_alloc(sizeof(*hijack));

	hijack->fd = -1;
	hijack->at = hijack->length = 0;
	return hijack;
}

static int64_t patience_end_us(const struct hijack_request *request)
{
	return after_us(request->patience_ms + 1000 * endpoint_patience_s(request->endpoint));
}

static enum status exchange(const struct hijack_request *request, bool upgrade, struct hijack **ret_hijack,
			    unsigned *ret_code, struct text *body, struct error *err)
{
	const int64_t until_us = patience_end_us(request);
	AUTO(hijack) struct hijack *hijack = hijack_new();
	enum status rc = connect_to(request, &hijack->fd, err);

	if (!rc)
		rc = request_send(hijack->fd, request, upgrade, until_us, err);
	if (!rc)
		rc = head_read(request, hijack, until_us, ret_code, err);
	if (rc)
		return rc;
	if (upgrade && (*ret_code == 101 || *ret_code == 200))
		*ret_hijack = TAKE(hijack);
	else
		rc = body_read(hijack, until_us, body, err);
	return rc;
}

enum status hijack_ask(const struct hijack_request *request, unsigned *ret_code, struct text *body,
		       struct error *err)
{
	return exchange(request, false, NULL, ret_code, body, err);
}

enum status hijack_open(const struct hijack_request *request, struct hijack **ret_hijack, unsigned *ret_code,
			struct text *body, struct error *err)
{
	return exchange(request, true, ret_hijack, ret_code, body, err);
}

/* ---- a body in pieces ---- */

enum status hijack_upload(const struct hijack_request *request, const char *content_type, struct hijack **ret_hijack,
			  struct error *err)
{
	AUTO(hijack) struct hijack *hijack = hijack_new();
	struct text head AUTO_TEXT = { 0 };
	enum status rc = connect_to(request, &hijack->fd, err);

	text_printf(&head,
		    "%s %s HTTP/1.1\r\nHost: docker\r\nConnection: close\r\nContent-Type: %s\r\n"
		    "Transfer-Encoding: chunked\r\n\r\n",
		    request->method, request->path, content_type);
	if (!rc)
		rc = head_send(hijack->fd, request, &head, patience_end_us(request), err);
	if (!rc)
		*ret_hijack = TAKE(hijack);
	return rc;
}

void hijack_piece(char *piece, size_t length)
{
	char head[HIJACK_PIECE_HEAD + 1];

	snprintf(head, sizeof(head), "%08x\r\n", (unsigned)length);
	memcpy(piece, head, HIJACK_PIECE_HEAD);
	memcpy(piece + HIJACK_PIECE_HEAD + length, "\r\n", HIJACK_PIECE_TAIL);
}

enum status hijack_answer(struct hijack *hijack, const struct hijack_request *request, unsigned *ret_code,
			  struct text *body, struct error *err)
{
	const int64_t until_us = patience_end_us(request);
	const enum status rc = head_read(request, hijack, until_us, ret_code, err);

	return rc ? rc : body_read(hijack, until_us, body, err);
}

/* ---- the stream ---- */

bool hijack_wait(struct hijack *hijack, unsigned timeout_ms)
{
	return hijack->at < hijack->length || await(hijack->fd, POLLIN, after_us(timeout_ms));
}

ssize_t hijack_read(struct hijack *hijack, char *buffer, size_t size, unsigned timeout_ms)
{
	size_t ahead = hijack->length - hijack->at;
	ssize_t got;

	if (size == 0 || !hijack_wait(hijack, timeout_ms))
		return 0;
	if (ahead > 0) {
		size_t taken = ahead < size ? ahead : size;

		memcpy(buffer, hijack->ahead + hijack->at, taken);
		hijack->at += taken;
		return (ssize_t)taken;
	}
	got = recv(hijack->fd, buffer, size, MSG_DONTWAIT);
	if (got > 0)
		return got;
	return got < 0 && passes(errno) ? 0 : -1;
}

bool hijack_write(struct hijack *hijack, const char *data, size_t length, unsigned patience_ms)
{
	return send_until(hijack->fd, data, length, after_us(patience_ms));
}

ssize_t hijack_offer(struct hijack *hijack, const void *data, size_t length)
{
	const ssize_t sent = send(hijack->fd, data, length, MSG_NOSIGNAL | MSG_DONTWAIT);

	return sent < 0 && passes(errno) ? 0 : sent;
}

int hijack_descriptor(const struct hijack *hijack)
{
	return hijack->fd;
}

void hijack_end_writing(struct hijack *hijack)
{
	shutdown(hijack->fd, SHUT_WR);
}
