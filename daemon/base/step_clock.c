/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/step_clock.h"

static int64_t step_wall_ns(void *arg)
{
	struct step_clock *clock = arg;

	return clock_wall_ns(&system_clock) + atomic_load(&clock->ahead_ns);
}

static int64_t step_mono_us(void *arg)
{
	struct step_clock *clock = arg;

	return clock_mono_us(&system_clock) + atomic_load(&clock->moved_us);
}

static int64_t step_ahead_ns(void *arg)
{
	struct step_clock *clock = arg;

	return atomic_load(&clock->ahead_ns);
}

void step_clock_init(struct step_clock *clock, int64_t ahead_ns)
{
	clock->clock = (struct clock){ step_wall_ns, step_mono_us, clock, step_ahead_ns };
	atomic_init(&clock->ahead_ns, ahead_ns);
	atomic_init(&clock->moved_us, 0);
}

void step_clock_move(struct step_clock *clock, int64_t by_ns)
{
	/* The order matters: a thread that sees the step of the wall clock also sees the step of the monotonic clock.
	 * Otherwise a deadline computed from both clocks could be too late. */
	atomic_fetch_add(&clock->moved_us, by_ns / 1000);
	atomic_fetch_add(&clock->ahead_ns, by_ns);
}
