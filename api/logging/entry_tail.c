/* SPDX-License-Identifier: Apache-2.0 */
#include "api/logging/entry_tail.h"

#include <stdlib.h>
#include <string.h>

#include "api/logging/entry_list.h"
#include "api/logging/handlers.h"
#include "api/logging/messages.h"
#include "api/logging/routes.h"
#include "api/message/message_write.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/timestamp.h"
#include "store/logs/entry_watch.h"

enum {
	US_PER_S = 1000000,
	WINDOW_US_DEFAULT = 2 * US_PER_S,
	WINDOW_US_MAX = 60 * US_PER_S,
	MINUTE_US = 60 * US_PER_S,
	RATE_MAX = 60000,            /* entries a minute */
	CONSUMED_US = 10 * US_PER_S, /* a client that reads nothing for longer loses entries */
	/* reads of the store in one window: an entry is late by a twentieth of a window, or LOOK_US_MIN if longer */
	LOOKS_MAX = 20,
	LOOK_US_MIN = 20000,
	QUIET_US = 500000,
};
#define SESSION_US (INT64_C(3600) * US_PER_S)

/* Reasons for leaving entries out, with the numbers of the service's enum. */
enum suppression { SUPPRESSION_RATE = 1, SUPPRESSION_NOT_CONSUMED, SUPPRESSION_COUNT };

struct tail {
	const struct clock *clock;
	struct entry_watch *watch;
	int64_t window_us, ends_us;
	int64_t look_us;   /* time of the next read of the store; INT64_MAX: a window after the next batch */
	int64_t asked_us;  /* time of the last call of next() */
	int64_t minute_us; /* start of the minute in which given counts entries */
	unsigned given;
	int64_t consumed_ns; /* entries stored until then are left out, because the client read nothing meanwhile */
	uint64_t suppressed[SUPPRESSION_COUNT];
	struct entry_rendering rendering;
};

static void tail_close(void *arg)
{
	struct tail *tail = arg;

	if (!tail)
		return;
	entry_watch_close(tail->watch);
	text_deinit(&tail->rendering.name);
	free(tail);
}

static enum status window_read(const json_t *request, int64_t *ret_us, struct error *err)
{
	const char *window = json_text_at(request, "bufferWindow");

	*ret_us = WINDOW_US_DEFAULT;
	if (window && (!duration_parse(window, ret_us) || *ret_us < 0 || *ret_us > WINDOW_US_MAX))
		return error_set(err, STATUS_INVALID_ARGUMENT, "buffer_window",
				 "buffer_window must be between 0 and 60000 milliseconds.");
	return STATUS_OK;
}

static enum status tail_open(void *context_arg, const json_t *request, int wake_fd, void **ret_tail,
			     struct error *err)
{
	const struct logging_context *context = context_arg;
	__attribute__((cleanup(projects_deinit))) struct projects projects = { .count = 0 };
	const int64_t now_us = clock_mono_us(context->clock);
	struct tail *tail = memory_calloc(1, sizeof(*tail));
	enum status rc = projects_read(context, request, &projects, err);

	*tail = (struct tail){ .clock = context->clock,
			       .ends_us = now_us + SESSION_US,
			       .look_us = now_us,
			       .asked_us = now_us,
			       .minute_us = now_us };
	if (!rc)
		rc = window_read(request, &tail->window_us, err);
	if (!rc)
		rc = entry_watch_open(context->store,
				      &(struct entry_watch_spec){
					      .projects = (const char *const *)projects.ids,
					      .project_count = projects.count,
					      .filter = json_text_at(request, "filter"),
					      .window_ns = tail->window_us * 1000,
					      .wake_fd = wake_fd,
				      },
				      &tail->watch, err);
	if (rc)
		tail_close(tail);
	else
		*ret_tail = tail;
	return rc;
}

/* ---- one message ---- */

static void entry_take(void *arg, const struct log_entry *entry)
{
	struct tail *tail = arg;

	if (entry->received_ns <= tail->consumed_ns) {
		tail->suppressed[SUPPRESSION_NOT_CONSUMED]++;
	} else if (tail->given >= RATE_MAX) {
		tail->suppressed[SUPPRESSION_RATE]++;
	} else {
		tail->given++;
		entry_put(&tail->rendering, entry);
	}
}

static bool any_suppressed(const struct tail *tail)
{
	return tail->suppressed[SUPPRESSION_RATE] || tail->suppressed[SUPPRESSION_NOT_CONSUMED];
}

static void suppression_put(struct tail *tail, struct writer *message)
{
	struct writer list = member_list(message, "suppressionInfo");

	for (int reason = SUPPRESSION_RATE; reason < SUPPRESSION_COUNT; reason++) {
		struct writer info;

		if (!tail->suppressed[reason])
			continue;
		info = element_message(&list);
		member_text(&info, "reason", reason == SUPPRESSION_RATE ? "RATE_LIMIT" : "NOT_CONSUMED");
		member_int(&info, "suppressedCount",
			   tail->suppressed[reason] < INT32_MAX ? (int64_t)tail->suppressed[reason]
								: INT32_MAX);
		message_close(&info);
		tail->suppressed[reason] = 0;
	}
	message_close(&list);
}

/* Appends a message with the new entries. *ret_count: the number of entries, sent or left out; if it is 0, nothing
 * is appended. */
static enum status page_put(struct tail *tail, struct text *text, unsigned *ret_count, bool *ret_held,
			    struct error *err)
{
	struct text page AUTO_TEXT = { .may_fail = true };
	struct writer message = message_open(&page, &logging_tail_entries_response);
	enum status rc;

	tail->rendering.entries = member_list(&message, "entries");
	rc = entry_watch_read(tail->watch, entry_take, tail, ret_count, ret_held, err);
	message_close(&tail->rendering.entries);
	if (any_suppressed(tail))
		suppression_put(tail, &message);
	message_close(&message);
	if (!rc && page.failed)
		rc = error_no_memory(err);
	if (!rc && *ret_count)
		text_append(text, page.data, page.length);
	return rc;
}

/* Returns when to read the store again after a read that gave no entry. @held: entries may be stored that are not due
 * yet, so the next read is a short step later, and the entries go out in small messages. Otherwise INT64_MAX. */
static int64_t look_next(const struct tail *tail, bool held, int64_t now_us)
{
	const int64_t pause_us = tail->window_us / LOOKS_MAX;

	if (!held)
		return INT64_MAX;
	return now_us + (pause_us > LOOK_US_MIN ? pause_us : LOOK_US_MIN);
}

static enum status tail_next(void *arg, struct text *text, int64_t *ret_wake_us, struct error *err)
{
	struct tail *tail = arg;
	const int64_t now_us = clock_mono_us(tail->clock);
	bool held = false;
	unsigned count = 0;
	enum status rc;

	if (now_us >= tail->ends_us)
		return error_set(err, STATUS_OUT_OF_RANGE, NULL,
				 "The maximum duration of a tail session was reached.");
	if (tail->look_us > now_us + tail->window_us && entry_watch_has_news(tail->watch))
		tail->look_us = now_us + tail->window_us;
	if (now_us - tail->asked_us > CONSUMED_US && now_us - tail->look_us > CONSUMED_US)
		tail->consumed_ns = clock_wall_ns(tail->clock) - (tail->window_us + CONSUMED_US) * 1000;
	tail->asked_us = now_us;
	if (now_us - tail->minute_us >= MINUTE_US) {
		tail->minute_us = now_us;
		tail->given = 0;
	}
	if (now_us >= tail->look_us) {
		rc = page_put(tail, text, &count, &held, err);
		if (rc)
			return rc;
		if (!count)
			tail->look_us = look_next(tail, held, now_us);
	}
	*ret_wake_us = tail->look_us < tail->ends_us ? tail->look_us : tail->ends_us;
	return STATUS_OK;
}

const struct rpc_feed entry_tail_feed = { tail_open, tail_next, tail_close };

/* ---- over HTTP: an array of messages, which ends with the session ---- */

struct array {
	const struct call *call;
	struct tail *tail;
	struct text pending;
	size_t sent;
	bool is_begun, is_ended;
};

static void array_close(void *arg)
{
	struct array *array = arg;

	tail_close(array->tail);
	text_deinit(&array->pending);
	free(array);
}

/* False: there is nothing now. */
static bool array_more(struct array *array, struct error *err)
{
	int64_t wake_us = 0, wait_us;
	enum status rc;

	text_clear(&array->pending);
	array->sent = 0;
	if (array->is_begun)
		text_puts(&array->pending, ",\n");
	else
		text_putc(&array->pending, '[');
	rc = call_closing(array->call) ? STATUS_UNAVAILABLE
				       : tail_next(array->tail, &array->pending, &wake_us, err);
	if (rc || array->pending.failed) {
		text_clear(&array->pending);
		text_puts(&array->pending, array->is_begun ? "]" : "[]");
		array->is_ended = true;
		return true;
	}
	if (array->pending.length > 2 || (!array->is_begun && array->pending.length > 1)) {
		array->is_begun = true;
		return true;
	}
	text_clear(&array->pending);
	wait_us = wake_us - clock_mono_us(array->tail->clock);
	entry_watch_wait(array->tail->watch, wait_us < 0 ? 0 : wait_us < QUIET_US ? wait_us : QUIET_US);
	return false;
}

static ssize_t array_read(void *arg, char *buffer, size_t size)
{
	struct array *array = arg;
	struct error err AUTO_ERROR = { 0 };

	if (array->sent == array->pending.length) {
		if (array->is_ended)
			return STREAM_END;
		if (!array_more(array, &err))
			return STREAM_QUIET;
	}
	return (ssize_t)text_piece(&array->pending, &array->sent, buffer, size);
}

enum status entry_tail(struct call *call, struct error *err)
{
	struct array *array;
	void *tail = NULL;
	enum status rc = tail_open(call->context, call->body, -1, &tail, err);

	if (rc)
		return rc;
	array = memory_calloc(1, sizeof(*array));
	*array = (struct array){ .call = call, .tail = tail, .pending.may_fail = true };
	call->content_type = "application/json; charset=UTF-8";
	call->stream = (struct answer_stream){ array_read, array_close, array, -1 };
	return STATUS_OK;
}
