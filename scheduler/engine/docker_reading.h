/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_reading.h: what was read of a container's output, and whether a line of another reading of it
 * is among that.
 *
 * Lines carry the time at which the engine had them. Within a stream it grows, but where the engine's clock is put back:
 * then lines lie behind the latest of them that are not as late, and only their number tells which of them were read.
 * So a reading goes by the clock up to the latest line, and counts from there on.
 * Pure: no I/O. */
#include <stdbool.h>

#include "scheduler/engine/docker_frames.h"
#include "scheduler/engine/engine.h"

struct stream_reading {
	struct log_reach reach; /* of what was handed over */
	int64_t seen;           /* so many of reach.parts, which are not handed over again */
	bool arrived;           /* the reading has come to the latest line */
	int64_t known;          /* so many lines behind that are still among those handed over */
};

struct reading {
	struct stream_reading streams[2];
	bool rewound; /* the clock was put back far: times do not tell where to read on */
};

void reading_init(struct reading *reading, const struct log_position *from);
/* The output is read anew, from its beginning or from a line that is known on. */
void reading_begin(struct reading *reading);

/* True when the line was handed over before. Of each line of a reading, in their order; of one that is not known once
 * more for each time that it finds no room. */
bool reading_knows(struct reading *reading, const struct frames_line *line);
/* What the stream's reach is with @line, which is not known. */
struct log_reach reading_reach_with(const struct reading *reading, const struct frames_line *line);
/* It was handed over. */
void reading_advance(struct reading *reading, const struct frames_line *line);

/* The instant from which on the rest is to be asked for; 0: all of it. */
int64_t reading_since_ns(const struct reading *reading);
/* Whether times tell what was read: no line lies behind one that is later, but for what the two streams do to each other. */
bool reading_is_in_order(const struct reading *reading);
/* Whether what was read now has come to a line that was the last before, if there was one. */
bool reading_has_arrived(const struct reading *reading);
