/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_reading.h: tracks what was read of a container's output, to recognize lines that are read a
 * second time.
 *
 * Lines carry the engine's time of receipt. It grows within a stream unless the engine's clock is set back; then later
 * lines have earlier times, and only their number tells which of them were read. So a new reading goes by time up to
 * the latest line, and counts lines from there on. Pure: no I/O. */
#include <stdbool.h>

#include "scheduler/engine/docker_frames.h"
#include "scheduler/engine/engine.h"

struct stream_reading {
	struct log_reach reach; /* of the lines that were handed over */
	int64_t seen;  /* lines of reach.parts that this reading has met, and does not hand over again */
	bool arrived;  /* the reading has reached the latest line */
	int64_t known; /* how many of the next lines were handed over already */
};

struct reading {
	struct stream_reading streams[2];
	bool rewound; /* the clock was set back far: times do not tell where to continue */
};

void reading_init(struct reading *reading, const struct log_position *from);
/* The output is read again, from its beginning or from a known line on. */
void reading_begin(struct reading *reading);

/* True if the line was handed over before. To be called for each line of a reading, in order; again for the same line
 * each time that a new line found no room. */
bool reading_knows(struct reading *reading, const struct frames_line *line);
/* The stream's reach including @line, which must be new. */
struct log_reach reading_reach_with(const struct reading *reading, const struct frames_line *line);
/* It was handed over. */
void reading_advance(struct reading *reading, const struct frames_line *line);

/* The time from which on output must be requested; 0: all of it. */
int64_t reading_since_ns(const struct reading *reading);
/* Whether times are sufficient to tell what was read: no line is earlier than the one before it in its stream. */
bool reading_is_in_order(const struct reading *reading);
/* Whether this reading has reached the line that was the last before, if there was one. */
bool reading_has_arrived(const struct reading *reading);
