/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/clock.h: the source of time. All code that needs time takes a clock, so that tests control it; only
 * clock.c asks the system. Thread: any. */
#include <stdint.h>

struct clock {
	int64_t (*wall_ns)(void *arg); /* since 1970, UTC; may jump */
	int64_t (*mono_us)(void *arg); /* never goes back; for waiting */
	void *arg;
	/* How far wall_ns is ahead of the system's clock, which engines and other programs use; NULL: not at all. When
	 * it grows, mono_us grows by the same amount. */
	int64_t (*ahead_ns)(void *arg);
};

extern const struct clock system_clock;

static inline int64_t clock_wall_ns(const struct clock *clock)
{
	return clock->wall_ns(clock->arg);
}
static inline int64_t clock_wall_us(const struct clock *clock)
{
	return clock->wall_ns(clock->arg) / 1000;
}
static inline int64_t clock_mono_us(const struct clock *clock)
{
	return clock->mono_us(clock->arg);
}
static inline int64_t clock_ahead_ns(const struct clock *clock)
{
	return clock->ahead_ns ? clock->ahead_ns(clock->arg) : 0;
}
/* Converts a time of the system's clock, @outside_ns, to this clock's time for the same instant, limited to the range of
 * 64 bits. */
static inline int64_t clock_from_outside_ns(const struct clock *clock, int64_t outside_ns)
{
	const int64_t ahead_ns = clock_ahead_ns(clock);
	int64_t wall_ns;

	if (__builtin_add_overflow(outside_ns, ahead_ns, &wall_ns))
		return ahead_ns < 0 ? INT64_MIN : INT64_MAX;
	return wall_ns;
}
/* Returns the present time of the system's clock, which other programs of this machine use. */
static inline int64_t clock_outside_ns(const struct clock *clock)
{
	return clock->wall_ns(clock->arg) - clock_ahead_ns(clock);
}
