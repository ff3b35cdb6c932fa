/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/engine/docker_logs_testing.h: the output of a container, and a sink that has little room for it. */
#include "tests/unit/scheduler/engine/docker_testing.h"

static const struct log_position beginning;

/* Appends one frame: a line of stdout or stderr with its time, as the engine sends it. */
static inline void frame_add(struct text *body, int stream, const char *stamp, const char *data, size_t length)
{
	size_t payload = strlen(stamp) + 1 + length;
	const char head[8] = {
		(char)stream, 0, 0, 0, (char)(payload >> 24), (char)(payload >> 16), (char)(payload >> 8),
		(char)payload
	};

	text_append(body, head, sizeof(head));
	text_printf(body, "%s ", stamp);
	text_append(body, data, length);
}

/* Appends lines of stdout; "1a 2b": the digit replaces the '?' of the timestamp, and the letter is the line, with a
 * newline. */
static inline void lines_add(struct text *body, const char *stamp, const char *lines)
{
	for (const char *at = lines; *at; at += at[2] ? 3 : 2) {
		char own[40];

		snprintf(own, sizeof(own), "%s", stamp);
		*strchr(own, '?') = at[0];
		frame_add(body, 1, own, (const char[]){ at[1], '\n' }, 2);
	}
}

static inline struct rule stream_rule(const char *request, const struct text *body)
{
	return (struct rule){ request, 200, body->data, .length = body->length };
}

static inline void follow(struct lab *lab)
{
	lab->engine->ops->follow_logs(lab->engine, &master, &beginning);
}

static inline void assert_lines(struct lab *lab, const char *lines)
{
	char seen[256];

	pthread_mutex_lock(&lab->lock); /* a failure here would leave the lock locked */
	snprintf(seen, sizeof(seen), "%s", lab->lines.data ? lab->lines.data : "");
	pthread_mutex_unlock(&lab->lock);
	assert_string_equal(seen, lines);
}

static inline bool room_is_used(struct lab *lab, void *arg)
{
	return lab->room == 0 && lab->refused >= *(unsigned *)arg;
}

/* Gives the sink room for this many more lines; waits until they have arrived, and @refusals more were refused. */
static inline void room_give(struct lab *lab, int room, unsigned refusals)
{
	unsigned refused;
	bool used;

	pthread_mutex_lock(&lab->lock);
	refused = lab->refused + refusals;
	lab->room = room;
	pthread_mutex_unlock(&lab->lock);
	lab->engine->ops->resume_logs(lab->engine);
	pthread_mutex_lock(&lab->lock);
	used = changes_await(lab, room_is_used, &refused);
	pthread_mutex_unlock(&lab->lock);
	assert_true(used);
}

static inline void room_give_all(struct lab *lab)
{
	pthread_mutex_lock(&lab->lock);
	lab->room = -1;
	pthread_mutex_unlock(&lab->lock);
	lab->engine->ops->resume_logs(lab->engine);
}
