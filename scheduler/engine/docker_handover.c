/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_handover.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_credentials.h"
#include "scheduler/engine/docker_hijack.h"
#include "scheduler/engine/docker_progress.h"

enum { SLICE_MS = 250, REPORT_US = 2 * SECOND_US, ANSWER_MS = 10 * 1000 };
/* An engine may write the whole image to a file before it sends the first byte, and unpacks it after the last one. */
enum { SILENCE_S = 60, PREPARATION_S = 1800 };

struct copy {
	const struct handover *handover;
	struct hijack_request request;
	struct hijack *into;
	char piece[HIJACK_PIECE_HEAD + HANDOVER_PIECE + HIJACK_PIECE_TAIL];
	int64_t bytes;
	int64_t moved_us, reported_us; /* monotonic: when bytes last moved, or were reported */
	bool over;                     /* the exchange with the origin is over */
	struct outcome outcome;        /* the outcome of that exchange */
	struct outcome refusal;        /* the refusal of the other engine */
};

static void refuse(struct copy *copy, enum status status, const char *text)
{
	if (copy->refusal.status)
		return;
	copy->refusal.status = status;
	snprintf(copy->refusal.text, sizeof(copy->refusal.text), "%s", text);
}

static bool is_stopped(struct copy *copy)
{
	struct pollfd polled = { copy->handover->stop_fd, POLLIN, 0 };

	if (poll(&polled, 1, 0) > 0)
		refuse(copy, STATUS_CANCELLED, "the copy was ended");
	return copy->refusal.status == STATUS_CANCELLED;
}

/* ---- the engine that gets the image ---- */

/* Waits for @events of the connection. False: they did not come within @limit_s, or the copy is to end. */
static bool into_wait(struct copy *copy, short events, unsigned limit_s)
{
	const int64_t until_us = clock_mono_us(&system_clock) + limit_s * (int64_t)SECOND_US;
	struct pollfd polled[] = { { hijack_descriptor(copy->into), events, 0 },
				   { copy->handover->stop_fd, POLLIN, 0 } };

	while (poll(polled, 2, SLICE_MS) <= 0)
		if (!atomic_load(&copy->handover->docker->answers) || clock_mono_us(&system_clock) > until_us) {
			refuse(copy, STATUS_UNAVAILABLE, "the engine takes no more of the image");
			return false;
		}
	return !is_stopped(copy);
}

/* Reads the engine's answer. @is_early: the connection broke before all of the image was sent. */
static void answer_read(struct copy *copy, bool is_early)
{
	struct text body AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };
	struct progress progress = { 0 };
	char text[DOCKER_TEXT_SIZE];
	unsigned code;

	if (hijack_answer(copy->into, &copy->request, &code, &body, &err)) {
		refuse(copy, STATUS_UNAVAILABLE, err.text ? err.text : "");
		return;
	}
	docker_message(body.data, body.length, text);
	progress_feed(&progress, body.data, body.length);
	progress_end(&progress);
	if (code >= 300)
		refuse(copy, docker_code_status(code), text);
	else if (progress.problem[0])
		refuse(copy, STATUS_INTERNAL, progress.problem);
	else if (is_early)
		refuse(copy, STATUS_UNAVAILABLE, "the engine ended the connection");
	progress_deinit(&progress);
}

static bool piece_send(struct copy *copy, const char *data, size_t length)
{
	const size_t all = HIJACK_PIECE_HEAD + length + HIJACK_PIECE_TAIL;
	size_t at = 0;

	if (length)
		memcpy(copy->piece + HIJACK_PIECE_HEAD, data, length);
	hijack_piece(copy->piece, length);
	while (at < all) {
		const ssize_t sent = hijack_offer(copy->into, copy->piece + at, all - at);

		if (sent < 0)
			answer_read(copy, true);
		if (sent < 0 || (sent == 0 && !into_wait(copy, POLLOUT, SILENCE_S)))
			return false;
		at += (size_t)sent;
	}
	return true;
}

static bool into_open(struct copy *copy)
{
	struct error err AUTO_ERROR = { 0 };

	if (!copy->into && hijack_upload(&copy->request, "application/x-tar", &copy->into, &err))
		refuse(copy, STATUS_UNAVAILABLE, err.text ? err.text : "");
	return copy->into != NULL;
}

/* ---- the engine that has the image ---- */

static enum http_outcome origin_data(void *arg, const char *data, size_t length)
{
	struct copy *copy = arg;
	const struct handover *handover = copy->handover;

	while (length > 0) {
		const size_t piece = length < HANDOVER_PIECE ? length : HANDOVER_PIECE;

		if (is_stopped(copy) || !into_open(copy) || !piece_send(copy, data, piece))
			return HTTP_BREAK;
		copy->bytes += (int64_t)piece;
		data += piece;
		length -= piece;
	}
	copy->moved_us = clock_mono_us(&system_clock);
	if (copy->moved_us - copy->reported_us >= REPORT_US) {
		copy->reported_us = copy->moved_us;
		handover->moved(handover->arg, copy->bytes);
	}
	return HTTP_TAKEN;
}

static void origin_done(void *arg, const struct http_answer *answer)
{
	struct copy *copy = arg;

	copy->over = true;
	outcome_read(answer, &copy->outcome);
}

/* Whether the origin may still send. If the origin's machine is gone, TCP alone would notice it only after a quarter
 * of an hour. */
static bool goes_on(struct copy *copy)
{
	const struct handover *handover = copy->handover;
	const unsigned limit_s = copy->bytes ? SILENCE_S : PREPARATION_S;

	if (!is_stopped(copy) && !group_answers(handover->docker, handover->origin.other))
		refuse(copy, STATUS_UNAVAILABLE, "its engine does not answer any more");
	else if (clock_mono_us(&system_clock) - copy->moved_us > limit_s * (int64_t)SECOND_US)
		refuse(copy, STATUS_UNAVAILABLE, "its engine sends no more of the image");
	return !copy->refusal.status;
}

static void origin_read(struct copy *copy, struct http *http)
{
	char name[3 * REFERENCE_SIZE], path[3 * REFERENCE_SIZE + 32];

	docker_query_encode(copy->handover->image, name, sizeof(name));
	snprintf(path, sizeof(path), "/images/%s/get", name);
	http_set_version(http, copy->handover->origin.version);
	http_start(http, &(struct http_request){ .method = "GET",
						 .path = path,
						 .lane = LANE_PULL,
						 .data = origin_data,
						 .done = origin_done,
						 .arg = copy });
	for (http_move(http); !copy->over && goes_on(copy); http_move(http))
		http_wait(http, SLICE_MS);
	http_fail_all(http);
}

/* ---- the copy ---- */

/* Sends the end of the body, which is the end of the image, and reads the answer. */
static void copy_end(struct copy *copy)
{
	if (!copy->bytes)
		refuse(copy, STATUS_INTERNAL, "its engine sent an empty archive");
	else if (piece_send(copy, NULL, 0) && into_wait(copy, POLLIN, PREPARATION_S))
		answer_read(copy, false);
}

static enum status turn_await(const struct copy *copy, struct error *err)
{
	struct pollfd polled = { copy->handover->stop_fd, POLLIN, 0 };

	while (!group_turn_take(copy->handover->docker))
		if (poll(&polled, 1, SLICE_MS) > 0)
			return error_set(err, STATUS_CANCELLED, NULL, "the copy was ended");
	return STATUS_OK;
}

static enum status copy_run(struct copy *copy, struct error *err)
{
	AUTO(http) struct http *http = NULL;
	enum status rc = http_new(copy->handover->origin.endpoint, &http, err);

	if (rc)
		return rc;
	copy->moved_us = copy->reported_us = clock_mono_us(&system_clock);
	origin_read(copy, http);
	/* The other engine's refusal comes first: the origin's exchange was broken because of it. */
	if (!copy->refusal.status && copy->outcome.status)
		refuse(copy, copy->outcome.status, copy->outcome.text);
	if (!copy->refusal.status)
		copy_end(copy);
	hijack_close(copy->into);
	return copy->refusal.status ? error_set(err, copy->refusal.status, NULL, "%s", copy->refusal.text)
				    : STATUS_OK;
}

enum status handover_run(const struct handover *handover, struct error *err)
{
	AUTO(string) char *path = memory_printf("/v%s/images/load?quiet=1", handover->version);
	AUTO(string) char *memory = memory_calloc(1, sizeof(struct copy));
	struct copy *copy = (struct copy *)(void *)memory;
	enum status rc;

	copy->handover = handover;
	copy->request = (struct hijack_request){ .endpoint = handover->docker->endpoint,
						 .method = "POST",
						 .path = path,
						 .patience_ms = ANSWER_MS };
	rc = turn_await(copy, err);
	if (rc)
		return rc;
	rc = copy_run(copy, err);
	group_turn_end(handover->docker);
	return rc;
}
