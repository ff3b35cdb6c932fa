/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/clock_watch.h: whether somebody has set the machine's clock.
 *
 * The wall clock and the one that never jumps go side by side, however the machine corrects their speed, until the first
 * is set, or the machine sleeps, which the second does not count. A clock that users put forward moves both. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/clock.h"

struct clock_watch {
	bool begun;
	int64_t apart_us; /* by how much the wall clock was ahead of the other */
	int64_t set_us;   /* monotonic: when it was last seen to be set; 0: never */
};

/* By how much the wall clock has jumped since the last look; 0 at the first look, and for less than a second. */
int64_t clock_watch_look(struct clock_watch *watch, const struct clock *clock);
/* The same, told in the daemon's log and kept in set_us. */
void clock_watch_note(struct clock_watch *watch, const struct clock *clock);
