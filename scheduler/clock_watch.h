/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/clock_watch.h: detects that the machine's clock was set.
 *
 * The wall clock and the monotonic clock advance together, however NTP adjusts their speed, until the wall clock is set
 * or the machine is suspended (the monotonic clock does not count suspended time). Moving the emulated clock forward
 * moves both. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/clock.h"

struct clock_watch {
	bool begun;
	int64_t apart_us; /* wall clock minus monotonic clock at the last look */
	int64_t set_us;   /* monotonic: when a step of the wall clock was last detected; 0: never */
};

/* By how much the wall clock has jumped since the last look. 0 at the first look, and for jumps of less than a second. */
int64_t clock_watch_look(struct clock_watch *watch, const struct clock *clock);
/* As clock_watch_look(); a jump is also logged and its time kept in set_us. */
void clock_watch_note(struct clock_watch *watch, const struct clock *clock);
