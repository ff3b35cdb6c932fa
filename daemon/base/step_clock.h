/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/step_clock.h: a clock that follows the system's and can be moved forward.
 *
 * Thread: any. All readers see a step once step_clock_move() has returned. */
#include <stdatomic.h>
#include <stdint.h>

#include "daemon/base/clock.h"

/* Must not be copied or moved once it is used. */
struct step_clock {
	struct clock clock;
	atomic_int_least64_t ahead_ns; /* lead of the wall clock; negative if the clock was started in the past */
	atomic_int_least64_t
		moved_us; /* lead of the monotonic clock: the sum of the steps since step_clock_init() */
};

void step_clock_init(struct step_clock *clock, int64_t ahead_ns);
/* Moves both clocks forward by @by_ns, which must not be negative. */
void step_clock_move(struct step_clock *clock, int64_t by_ns);
