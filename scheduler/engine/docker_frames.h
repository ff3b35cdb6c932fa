/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_frames.h: splits a container's log stream into lines.
 *
 * The engine sends frames: one byte for the stream (1 stdout, 2 stderr), three zero bytes, four bytes of length, big
 * endian, then "TIMESTAMP TEXT". A line is one frame, or one per 16 KiB with the same timestamp, of which only the last
 * ends in a newline. The pieces that are fed may split frames anywhere. Pure: no I/O; a line that is whole within one
 * piece is passed on without a copy. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FRAMES_HEADER_BYTES = 8, FRAMES_STAMP_MAX = 40 };

/* How exact the timestamps of a stream are. */
enum frames_times {
	FRAMES_TIMES_EXACT, /* each timestamp is an exact instant: a frame with another timestamp ends an unfinished line */
	/* All timestamps are whole seconds, and each frame has its own: only a newline ends an unfinished line. A
	 * line gets the time of its last frame (a line in parts: of the frame that completes the first part). Lines
	 * of the same second get times one nanosecond apart, so that times identify the lines that were read; for
	 * this, a stream has to begin with the first line of a second. */
	FRAMES_TIMES_SECONDS,
};

struct frames_line {
	int stream; /* 1 stdout, 2 stderr */
	int64_t time_ns;
	const char *data; /* without the newline */
	size_t length;
	bool continues;   /* the line's next part follows */
	int64_t begun_ns; /* the timestamp of the line's first frame */
};

/* Takes a line. False: there is no room now, and the same line will be offered again. */
typedef bool frames_taker(void *arg, const struct frames_line *line);

/* The line of one stream that is being received. */
struct frames_half {
	char *data;
	size_t length, size;
	int64_t begun_ns; /* the first timestamp */
	int64_t time_ns;
	bool open;     /* part of the current line was received */
	bool ready;    /* the line is complete, but was refused so far */
	bool numbered; /* FRAMES_TIMES_SECONDS: time_ns is final, because a part of the line was already handed over with
		        * it */
};

struct frames {
	frames_taker *take;
	void *arg;
	size_t line_max;
	unsigned char header[FRAMES_HEADER_BYTES];
	size_t header_length;
	char stamp[FRAMES_STAMP_MAX];
	size_t stamp_length;
	bool stamped;
	enum frames_times times;
	int64_t second_ns, nth; /* FRAMES_TIMES_SECONDS: the second of the last line, and how many lines had it so far */
	int stream;
	uint32_t left; /* bytes of the frame's payload that are still to come */
	int64_t time_ns;
	struct frames_half halves[2];
	char minute[16]; /* the minute of the last timestamp as text, "2026-11-20T21:29"; its time is minute_ns */
	int64_t minute_ns;
};

enum frames_result {
	FRAMES_TAKEN,  /* all bytes were taken */
	FRAMES_HELD,   /* a line was refused: feed the rest again later */
	FRAMES_BROKEN, /* the bytes are not a stream of frames */
};

/* Begins with a stream. @line_max: the most bytes of a line; longer lines are cut, but not inside a UTF-8 sequence. */
void frames_init(struct frames *frames, size_t line_max, frames_taker *take, void *arg);
void frames_deinit(struct frames *frames);
/* Drops unfinished frames and lines. To be called when a new stream begins. */
void frames_reset(struct frames *frames, enum frames_times times);
/* The first timestamp of the unfinished lines; INT64_MAX: there are none. */
int64_t frames_unfinished_ns(const struct frames *frames);

/* Feeds the next bytes of the stream. @ret_consumed: always set: how many bytes of @data must not be fed again. */
enum frames_result frames_feed(struct frames *frames, const char *data, size_t length, size_t *ret_consumed);
/* To be called at the end of the stream: hands over last lines that have no newline. Returns TAKEN or HELD. */
enum frames_result frames_end(struct frames *frames);

/* Parses "2026-11-20T21:29:51.000000001Z"; the number of decimals varies. False: it is not a time, or one before
 * 1678 or after 2261. */
bool frames_parse_stamp(struct frames *frames, const char *stamp, size_t length, int64_t *ret_ns);
