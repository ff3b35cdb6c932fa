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
	struct log_reach reach; /* the reach of the lines that were handed over */
	int64_t seen;  /* the number of lines of reach.parts that this reading has met and does not hand over again */
	bool arrived;  /* this reading has reached the latest line that was handed over */
	int64_t known; /* how many of this reading's next lines were already handed over */
};

struct reading {
	struct stream_reading streams[2];
	bool rewound; /* the clock was set back far: times do not show where to continue, so the output is read from its
		       * beginning */
};

void reading_init(struct reading *reading, const struct log_position *from);
/* To be called before the output is read again, from its beginning or from a known line on. */
void reading_begin(struct reading *reading);

/* True if the line was handed over before. To be called for each line of a reading, in order, and again for the same
 * line each time that the sink had no room for it. */
bool reading_knows(struct reading *reading, const struct frames_line *line);
/* The stream's reach including @line, which must be new. */
struct log_reach reading_reach_with(const struct reading *reading, const struct frames_line *line);
/* To be called after the new line @line was handed over. */
void reading_advance(struct reading *reading, const struct frames_line *line);

/* The time from which output has to be requested; 0: the whole output. */
int64_t reading_since_ns(const struct reading *reading);
/* Whether times alone show which lines were read: no line is earlier than the line before it in its stream. */
bool reading_is_in_order(const struct reading *reading);
/* Whether this reading has reached the latest line that was handed over before it; true if there was none. */
bool reading_has_arrived(const struct reading *reading);
