/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_logs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_core.h"
#include "scheduler/engine/docker_emit.h"
#include "scheduler/engine/docker_frames.h"
#include "scheduler/engine/docker_make.h"
#include "scheduler/engine/docker_reading.h"
#include "scheduler/engine/docker_replica.h"

/* Following a container's output to its very end.
 *
 *                    ┌────────── it runs: once more ──────────┐
 *   WAITING ──> FOLLOW ── end of stream ──> inspect ── it has exited ──> TAIL ── a gap ──> REST ──> ended
 *      ^           │                                                      └── nothing new ─────────> ended
 *      └── lost ───┘
 *
 * The end of a followed stream does not prove that the log has ended: a rotation ends the stream, and Podman ends it too
 * early. So after the container's exit the last lines of the log are read once more (TAIL). The lines that were handed over
 * are the beginning of the log: if the first of its last lines is known, all lines before it are known, too. Otherwise the
 * rest is read from the time of the last known line on, or the whole log if the engine's clock was set back
 * (docker_reading.h).
 *
 * Where followed streams lose lines (docker_make.h), a follower takes lines from complete readings only:
 *
 *   WAITING ──> FOLLOW ── an unknown line ──> pause ──> READ ──> FOLLOW ── …
 *
 * The last line of a reading may be cut off. It is handed over when another line follows it, or when the followed stream
 * has an equal line. The pause is a multiple of the time that a reading takes, because such an engine reads the log from
 * its beginning for each request.
 *
 * A follower may be the only observer of an exit shortly before a reconnect. At an exit the engine first sends the
 * event, and then lists the container as running for some more time, until it has disconnected the container from its
 * network. So the event may be older than the new stream of events, and the listing may still have the container as
 * running. So the follower reports the exit at the end of the output. */

enum {
	TAIL_LINES = 256,
	NS_PER_S = 1000 * 1000 * 1000,
	PAUSE_FACTOR = 3,
	PAUSE_LEAST_US = 100 * MILLISECOND_US,
	PAUSE_MOST_US = 30 * SECOND_US,
	RETRY_FIRST_US = 200 * MILLISECOND_US,
	RETRY_MOST_US = 5 * SECOND_US,
};

enum stage { STAGE_WAITING, STAGE_FOLLOW, STAGE_READ, STAGE_TAIL, STAGE_REST, STAGE_LAST_LINES };

/* Follows the output of one replica. It has at most one exchange or timer at a time. */
struct follower {
	struct follower *next;
	struct docker *docker;
	struct replica_key key;
	enum stage stage;
	struct reading reading;
	struct frames frames;
	struct http_exchange *exchange;
	char *held; /* the bytes of the stream from a refused line on: they are fed again later */
	size_t held_length, held_size;
	bool ended; /* the exchange has ended with this result, but not all of its bytes were taken: */
	struct outcome outcome;
	unsigned code;
	struct timer again;
	bool moved; /* a line was handed over since the stream was opened */
	bool more;  /* in STAGE_FOLLOW: a line came that was not handed over yet, so the log has to be read again */
	struct frames_line last; /* READ: the last line so far, which may be cut off and is not handed over yet; its
				  * stream 0: none */
	struct text last_data;
	int64_t whole_ns; /* lines that began before this time are complete and were handed over */
	int64_t opened_us, pause_us;
	bool judged, gap; /* TAIL: the first line was checked; it was unknown, so lines before it are missing */
	int64_t retry_us;
	bool exited,
		exit_reported; /* exited: the container's end is known, and is in exit; exit_reported: the engine's events
				* have reported it */
	bool looking;          /* the exchange inspects the container */
	struct replica_status exit;
};

static void open_stream(struct follower *follower, enum stage stage);
static void exit_look(struct follower *follower);
static void stream_resolve(struct follower *follower);

static void follower_free(struct follower *follower)
{
	struct follower **at = &follower->docker->followers;

	while (*at != follower)
		at = &(*at)->next;
	*at = follower->next;
	frames_deinit(&follower->frames);
	text_deinit(&follower->last_data);
	free(follower->held);
	free(follower);
}

/* Whether this follower has to report the container's end itself. Events since the engine's last known time
 * (link.engine_ns) are requested at each connection, and report all later ends. */
static bool exit_is_unreported(const struct follower *follower)
{
	int64_t asked_ns = follower->docker->link.engine_ns;

	return follower->exited && !follower->exit_reported &&
	       !replica_is_starting(follower->docker, &follower->key) &&
	       (!asked_ns || follower->exit.finished_ns < asked_ns);
}

static void follower_end(struct follower *follower)
{
	if (exit_is_unreported(follower))
		emit_replica(follower->docker, ENGINE_REPLICA_EXITED, &follower->exit);
	emit_key(follower->docker, ENGINE_LOGS_ENDED, &follower->key);
	follower_free(follower);
}

/* ---- lines ---- */

static bool line_hand_over(struct follower *follower, const struct frames_line *line)
{
	const struct engine_sink *sink = &follower->docker->sink;

	if (!sink->line(sink->arg,
			&(struct replica_line){ .key = follower->key,
						.stream = line->stream,
						.time_ns = line->time_ns,
						.data = line->data,
						.length = line->length,
						.continues = line->continues,
						.reach = reading_reach_with(&follower->reading, line) }))
		return false;
	reading_advance(&follower->reading, line);
	follower->moved = true;
	return true;
}

static bool last_hand_over(struct follower *follower)
{
	if (follower->last.stream && !line_hand_over(follower, &follower->last))
		return false;
	follower->last.stream = 0;
	return true;
}

/* STAGE_READ: takes a line of a complete reading. The last line may still be being written, so each line is kept
 * until the next one comes. */
static bool reading_take(struct follower *follower, const struct frames_line *line)
{
	if (!last_hand_over(follower))
		return false;
	if (line->continues)
		return line_hand_over(follower, line);
	text_clear(&follower->last_data);
	text_append(&follower->last_data, line->data, line->length);
	follower->last = *line;
	follower->last.data = follower->last_data.data ? follower->last_data.data : "";
	return true;
}

/* Takes a line of a stream that may leave out lines. It is only a signal: it confirms the kept last line if both are
 * equal; otherwise the log has to be read again. */
static bool signal_take(struct follower *follower, const struct frames_line *line)
{
	const struct frames_line *last = &follower->last;

	if (!follower->more && last->stream == line->stream && last->time_ns == line->time_ns &&
	    !line->continues && last->length == line->length &&
	    memcmp(last->data, line->data, line->length) == 0)
		return last_hand_over(follower);
	follower->more = true;
	return true;
}

static bool take_line(void *arg, const struct frames_line *line)
{
	struct follower *follower = arg;
	const bool known = reading_knows(&follower->reading, line);

	if (follower->stage == STAGE_TAIL && !follower->judged) {
		follower->judged = true;
		follower->gap = !known;
	}
	if (known || follower->gap)
		return true;
	if (follower->stage == STAGE_READ)
		return reading_take(follower, line);
	if (follower->stage == STAGE_FOLLOW && follower->docker->link.make->streams_lose_lines)
		return signal_take(follower, line);
	return line_hand_over(follower, line);
}

/* Keeps the bytes after a refused line. */
static void hold(struct follower *follower, const char *data, size_t length)
{
	follower->held_length = 0;
	if (length == 0)
		return;
	if (length > follower->held_size) {
		follower->held = memory_realloc(follower->held, length);
		follower->held_size = length;
	}
	memcpy(follower->held, data, length);
	follower->held_length = length;
}

/* Whether bytes or lines are kept because the sink has no room. The kept bytes may be an incomplete line. */
static bool is_held(const struct follower *follower)
{
	return follower->held_length > 0 || follower->frames.halves[0].ready ||
	       follower->frames.halves[1].ready;
}

static enum http_outcome stream_data(void *arg, const char *data, size_t length)
{
	struct follower *follower = arg;
	size_t consumed;

	if (is_held(follower))
		return HTTP_PAUSE;
	switch (frames_feed(&follower->frames, data, length, &consumed)) {
	case FRAMES_TAKEN:
		return follower->gap || follower->more ? HTTP_BREAK : HTTP_TAKEN;
	case FRAMES_HELD:
		hold(follower, data + consumed, length - consumed);
		return HTTP_TAKEN;
	case FRAMES_BROKEN:
		break;
	}
	return HTTP_BREAK;
}

/* ---- the next step after a stream ---- */

static void retry_fire(void *arg)
{
	struct follower *follower = arg;

	if (follower->docker->closing)
		follower_free(follower);
	else if (!link_is_up(follower->docker))
		follower->stage = STAGE_WAITING;
	else if (follower->more && follower->exit_reported)
		exit_look(follower);
	else
		open_stream(follower, follower->more ? STAGE_READ : STAGE_FOLLOW);
}

static void pause_before_reading(struct follower *follower)
{
	follower->stage = STAGE_WAITING;
	docker_after(follower->docker, &follower->again, follower->pause_us, retry_fire, follower);
}

static void reading_end(struct follower *follower)
{
	const int64_t took_us = clock_mono_us(&system_clock) - follower->opened_us;

	follower->pause_us = took_us * PAUSE_FACTOR;
	if (follower->pause_us < PAUSE_LEAST_US)
		follower->pause_us = PAUSE_LEAST_US;
	if (follower->pause_us > PAUSE_MOST_US)
		follower->pause_us = PAUSE_MOST_US;
	follower->whole_ns = frames_unfinished_ns(&follower->frames);
	if (follower->last.stream && follower->last.begun_ns < follower->whole_ns)
		follower->whole_ns = follower->last.begun_ns;
	if (follower->exit_reported)
		exit_look(follower);
	else
		open_stream(follower, STAGE_FOLLOW);
}

/* Called when a stream breaks. A line of the other stream (stderr, stdout) may have been handed over after an unfinished
 * line began, so the next reading has to begin at the time of the unfinished line. */
static void unfinished_note(struct follower *follower)
{
	const int64_t begun_ns = frames_unfinished_ns(&follower->frames);

	if (begun_ns < follower->whole_ns)
		follower->whole_ns = begun_ns;
}

static void retry(struct follower *follower)
{
	struct docker *docker = follower->docker;
	int64_t delay_us = follower->retry_us;

	unfinished_note(follower);
	follower->more = false;
	follower->stage = STAGE_WAITING;
	if (!link_is_up(docker))
		return; /* followers_reconnect() continues */
	follower->retry_us = delay_us * 2 < RETRY_MOST_US ? delay_us * 2 : RETRY_MOST_US;
	docker_after(docker, &follower->again, delay_us, retry_fire, follower);
}

static void exit_find(struct follower *follower, const struct replica_status *exit)
{
	follower->exited = true;
	follower->exit = *exit;
	open_stream(follower,
		    reading_is_in_order(&follower->reading) && !follower->docker->link.make->streams_lose_lines
			    ? STAGE_TAIL
			    : STAGE_REST);
}

static void exit_looked(void *arg, const struct http_answer *answer)
{
	struct follower *follower = arg;
	AUTO(json) json_t *container = docker_parse(answer->body, answer->body_length, JSON_OBJECT);
	struct replica_status status;
	struct outcome outcome;

	follower->looking = false;
	docker_outcome(follower->docker, answer, &outcome);
	if (answer->code == 404) {
		follower_end(follower);
		return;
	}
	if (outcome.status || !docker_container_inspected(container, &status)) {
		retry(follower);
		return;
	}
	switch (status.observed) {
	case REPLICA_EXITED:
		exit_find(follower, &status);
		break;
	case REPLICA_CREATED:
		if (replica_is_starting(follower->docker, &follower->key))
			retry(follower);
		else
			follower_end(follower);
		break;
	case REPLICA_RUNNING:
		if (follower->moved)
			follower->retry_us = RETRY_FIRST_US;
		retry(follower);
		break;
	}
}

static void exit_look(struct follower *follower)
{
	if (follower->exit_reported) {
		exit_find(follower, &follower->exit);
		return;
	}
	follower->looking = true;
	docker_container_call(follower->docker, &follower->key, "/json",
			      (struct http_request){ .method = "GET",
						     .timeout_s = CALL_TIMEOUT_S,
						     .done = exit_looked,
						     .arg = follower,
						     .slot = &follower->exchange });
}

/* Hands over the lines that have no newline at their ends. Returns true if the sink has no room for them; otherwise
 * the follower has ended. */
static bool last_lines_hand_over(struct follower *follower)
{
	follower->stage = STAGE_LAST_LINES;
	if (frames_end(&follower->frames) != FRAMES_TAKEN)
		return true;
	follower_end(follower);
	return false;
}

/* Whether the tail has only lines that are older than the last known line, but not that line itself. The lines may
 * still be new, if the engine's clock was set back, so the whole log has to be read. */
static bool tail_is_astray(const struct follower *follower)
{
	return follower->stage == STAGE_TAIL && follower->judged && !reading_has_arrived(&follower->reading);
}

/* Chooses the next stage after a stream has ended and all its bytes were taken. */
static void stream_resolve(struct follower *follower)
{
	char name[32];

	follower->ended = false;
	if (follower->gap) {
		open_stream(follower, STAGE_REST);
	} else if (follower->more) {
		pause_before_reading(follower);
	} else if (follower->code == 404 || follower->code == 409) { /* the container is gone, or is being removed */
		follower_end(follower);
	} else if (follower->code == 501) { /* 501: the engine cannot read the log driver's logs */
		docker_replica_name(&follower->key, name);
		log_event(LOG_WARNING, "logs-unreadable", "job=%" PRId64 " replica=%s error=\"%s\"",
			  follower->key.job, name, follower->outcome.text);
		follower_end(follower);
	} else if (follower->outcome.status) {
		docker_replica_name(&follower->key, name);
		log_event(LOG_INFO, "logs-broke", "job=%" PRId64 " replica=%s error=\"%s\"",
			  follower->key.job, name, follower->outcome.text);
		retry(follower);
	} else if (follower->stage == STAGE_FOLLOW) {
		exit_look(follower);
	} else if (follower->stage == STAGE_READ) {
		reading_end(follower);
	} else if (tail_is_astray(follower)) {
		follower->reading.rewound = true;
		open_stream(follower, STAGE_REST);
	} else {
		last_lines_hand_over(follower);
	}
}

static void stream_done(void *arg, const struct http_answer *answer)
{
	struct follower *follower = arg;

	link_watch(follower->docker, answer);
	outcome_read(answer, &follower->outcome);
	follower->code = answer->code;
	follower->ended = true;
	if (!is_held(follower))
		stream_resolve(follower);
}

static void open_stream(struct follower *follower, enum stage stage)
{
	const bool tells_seconds = follower->docker->link.make->tells_seconds;
	int64_t since = reading_since_ns(&follower->reading);
	char suffix[160], range[64] = "";

	if (tells_seconds) {
		since = since < follower->whole_ns ? since : follower->whole_ns;
		since -= since % NS_PER_S;
	}
	frames_reset(&follower->frames, tells_seconds ? FRAMES_TIMES_SECONDS : FRAMES_TIMES_EXACT);
	reading_begin(&follower->reading);
	follower->stage = stage;
	follower->judged = follower->gap = follower->moved = follower->more = false;
	follower->opened_us = clock_mono_us(&system_clock);
	if (stage != STAGE_FOLLOW)
		follower->last.stream = 0;
	follower->held_length = 0;
	if (stage == STAGE_TAIL)
		snprintf(range, sizeof(range), "&tail=%d", TAIL_LINES);
	else if (since > 0)
		snprintf(range, sizeof(range), "&since=%" PRId64 ".%09" PRId64, since / 1000000000,
			 since % 1000000000);
	snprintf(suffix, sizeof(suffix), "/logs?stdout=1&stderr=1&timestamps=1%s%s",
		 stage == STAGE_FOLLOW ? "&follow=1" : "", range);
	docker_container_call(follower->docker, &follower->key, suffix,
			      (struct http_request){ .method = "GET",
						     .lane = stage == STAGE_FOLLOW ? LANE_FOLLOW : LANE_READ,
						     .data = stream_data,
						     .done = stream_done,
						     .arg = follower,
						     .slot = &follower->exchange });
}

/* ---- calls from other files ---- */

static struct follower *follower_find(const struct docker *docker, const struct replica_key *key)
{
	struct follower *follower = docker->followers;

	while (follower && !docker_key_equal(&follower->key, key))
		follower = follower->next;
	return follower;
}

void follower_note_exit(struct docker *docker, const struct replica_status *exit)
{
	struct follower *follower = follower_find(docker, &exit->key);

	if (!follower)
		return;
	follower->exit_reported = true;
	follower->exit = *exit;
	if (timer_is_set(&follower->again))
		docker_after(docker, &follower->again, 0, retry_fire, follower);
	/* An inspection has nothing more to find. A queued stream is given up, because the streams before it in the lane
	 * may run without end. */
	if (follower->exchange && (follower->looking || (follower->stage == STAGE_FOLLOW &&
							 http_is_queued(follower->exchange)))) {
		http_cancel(follower->exchange);
		follower->looking = false;
		exit_look(follower);
	}
}

void follower_begin_run(struct docker *docker, struct command *command)
{
	struct follower *follower;

	if (follower_find(docker, &command->key))
		return;
	follower = memory_calloc(1, sizeof(*follower));
	follower->docker = docker;
	follower->key = command->key;
	reading_init(&follower->reading, &command->from);
	follower->retry_us = RETRY_FIRST_US;
	follower->pause_us = PAUSE_LEAST_US;
	frames_init(&follower->frames, ENGINE_LINE_MAX, take_line, follower);
	follower->next = docker->followers;
	docker->followers = follower;
	if (link_is_up(docker))
		open_stream(follower, STAGE_FOLLOW);
}

/* Feeds the kept bytes again; may end the follower. Returns true if the sink still has no room for all of them. */
static bool follower_resume(struct follower *follower)
{
	enum frames_result result;
	size_t consumed;

	if (follower->stage == STAGE_LAST_LINES)
		return last_lines_hand_over(follower);
	if (!is_held(follower))
		return false;
	result = frames_feed(&follower->frames, follower->held, follower->held_length, &consumed);
	follower->held_length -= consumed;
	if (follower->held_length > 0)
		memmove(follower->held, follower->held + consumed, follower->held_length);
	if (result == FRAMES_HELD)
		return true;
	if (result == FRAMES_BROKEN || (follower->more && follower->exchange)) {
		if (follower->exchange)
			http_cancel(follower->exchange);
		follower->held_length = 0;
		follower->ended = false;
		if (result == FRAMES_BROKEN)
			retry(follower);
		else
			pause_before_reading(follower);
	} else if (follower->ended) {
		stream_resolve(follower);
	} else if (follower->exchange) {
		http_resume(follower->exchange);
	}
	return false;
}

/* Rotates the list of followers: @first and all followers behind it are moved to its front. */
static void followers_turn(struct docker *docker, struct follower *first)
{
	struct follower *head = docker->followers, *last = head, *last_served = NULL;

	for (; last->next; last = last->next)
		if (last->next == first)
			last_served = last;
	if (!last_served)
		return;
	last->next = head;
	last_served->next = NULL;
	docker->followers = first;
}

/* Lets the followers hand over their kept lines. The first one that finds no room is the first in the next call:
 * otherwise a few streams with much output would leave no room to those behind them. */
void followers_resume(struct docker *docker)
{
	struct follower *refused = NULL, *next;

	for (struct follower *follower = docker->followers; follower; follower = next) {
		next = follower->next;
		if (follower_resume(follower) && !refused)
			refused = follower;
	}
	if (refused)
		followers_turn(docker, refused);
}

void followers_reconnect(struct docker *docker)
{
	struct follower *next;

	for (struct follower *follower = docker->followers; follower; follower = next) {
		next = follower->next;
		follower->retry_us = RETRY_FIRST_US;
		if (follower->stage == STAGE_WAITING && !timer_is_set(&follower->again))
			open_stream(follower, STAGE_FOLLOW);
	}
}

void followers_close(struct docker *docker)
{
	struct follower *next;

	for (struct follower *follower = docker->followers; follower; follower = next) {
		next = follower->next;
		if (timer_is_set(&follower->again))
			continue; /* its timer frees it */
		if (follower->exchange)
			http_cancel(follower->exchange);
		follower_free(follower);
	}
}
