/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/step_clock.h: a clock that goes as the system's does, and can be put forward.
 *
 * Thread: any. A reader sees a step as soon as step_clock_move() has returned. */
#include <stdatomic.h>
#include <stdint.h>

#include "daemon/base/clock.h"

/* Not copied or moved once it is used. */
struct step_clock {
	struct clock clock;
	atomic_int_least64_t ahead_ns; /* of the wall clock: below 0 where it was started in the past */
	atomic_int_least64_t moved_us; /* of the monotonic one: by the steps since step_clock_init() */
};

void step_clock_init(struct step_clock *clock, int64_t ahead_ns);
/* Both clocks go on by @by_ns, which is not negative, at once. */
void step_clock_move(struct step_clock *clock, int64_t by_ns);
