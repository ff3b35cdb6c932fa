/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_reading.h"

/* How much older a line may be than an earlier line of the other stream. Choice: far more than was ever observed
 * (milliseconds); reading a little twice is cheap, a whole log is not. */
static const int64_t disorder_ns = INT64_C(60) * 1000000000;

void reading_init(struct reading *reading, const struct log_position *from)
{
	*reading = (struct reading){ 0 };
	for (int i = 0; i < 2; i++)
		reading->streams[i].reach = from->streams[i];
}

void reading_begin(struct reading *reading)
{
	for (int i = 0; i < 2; i++) {
		reading->streams[i].seen = 0;
		reading->streams[i].arrived = false;
		reading->streams[i].known = 0;
	}
}

static struct stream_reading *stream_of(struct reading *reading, const struct frames_line *line)
{
	return &reading->streams[line->stream - 1];
}

static int64_t latest_ns(const struct reading *reading)
{
	const int64_t out = reading->streams[0].reach.time_ns, errors = reading->streams[1].reach.time_ns;

	return out > errors ? out : errors;
}

/* Whether the line is, by its time, among the lines that were handed over in an earlier reading. */
static bool is_reached(struct stream_reading *stream, const struct frames_line *line)
{
	const struct log_reach *reach = &stream->reach;

	if (line->time_ns == reach->time_ns) {
		stream->known = stream->arrived ? stream->known : reach->behind;
		stream->arrived = true;
		return true;
	}
	if (line->time_ns > reach->time_ns) {
		stream->arrived = true;
		stream->known = 0;
		return false;
	}
	if (!stream->arrived)
		return true;
	if (!stream->known)
		return false;
	stream->known -= !line->continues;
	return true;
}

bool reading_knows(struct reading *reading, const struct frames_line *line)
{
	struct stream_reading *stream = stream_of(reading, line);

	if (is_reached(stream, line))
		return true;
	reading->rewound = reading->rewound || line->time_ns < latest_ns(reading) - disorder_ns;
	if (!line->continues || line->time_ns != stream->reach.parts_ns ||
	    stream->seen >= stream->reach.parts)
		return false;
	stream->seen++;
	return true;
}

struct log_reach reading_reach_with(const struct reading *reading, const struct frames_line *line)
{
	struct log_reach reach = reading->streams[line->stream - 1].reach;

	if (line->continues) {
		reach.parts = line->time_ns == reach.parts_ns ? reach.parts + 1 : 1;
		reach.parts_ns = line->time_ns;
		return reach;
	}
	if (line->time_ns > reach.time_ns)
		return (struct log_reach){ .time_ns = line->time_ns };
	return (struct log_reach){ .time_ns = reach.time_ns, .behind = reach.behind + 1 };
}

void reading_advance(struct reading *reading, const struct frames_line *line)
{
	struct stream_reading *stream = stream_of(reading, line);

	stream->reach = reading_reach_with(reading, line);
	stream->seen = stream->reach.parts;
}

bool reading_is_in_order(const struct reading *reading)
{
	return !reading->rewound && !reading->streams[0].reach.behind && !reading->streams[1].reach.behind;
}

/* The engine's parameter "since" includes lines of that time. Some engines compare each line with it. Others skip
 * lines only up to the first one that is late enough: earlier lines behind it are found only by reading the whole
 * log. */
int64_t reading_since_ns(const struct reading *reading)
{
	const int64_t out = reading->streams[0].reach.time_ns, errors = reading->streams[1].reach.time_ns;
	const int64_t early = out < errors ? out : errors, late = latest_ns(reading);

	if (!reading_is_in_order(reading))
		return 0;
	return early > late - disorder_ns ? early : late - disorder_ns;
}

bool reading_has_arrived(const struct reading *reading)
{
	return reading->streams[0].arrived || reading->streams[1].arrived || !latest_ns(reading);
}
