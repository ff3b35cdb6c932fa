/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/clock_watch.h"

#include "daemon/base/log.h"

enum { SECOND_US = 1000000, LOOKS = 3 };

static int64_t apart_us(const struct clock *clock)
{
	return clock_wall_us(clock) - clock_mono_us(clock);
}

static bool is_jump(int64_t by_us)
{
	return by_us >= SECOND_US || by_us <= -SECOND_US;
}

/* Compares the clocks several times, because a thread that is preempted between two clock reads sees a false step, which
 * a second look does not confirm. */
int64_t clock_watch_look(struct clock_watch *watch, const struct clock *clock)
{
	int64_t now_us = apart_us(clock), by_us = now_us - watch->apart_us;

	for (int i = 1; watch->begun && is_jump(by_us) && i < LOOKS; i++) {
		const int64_t again_us = apart_us(clock);

		if (!is_jump(again_us - now_us))
			break;
		now_us = again_us;
		by_us = now_us - watch->apart_us;
	}
	if (watch->begun && !is_jump(by_us))
		return 0;
	watch->apart_us = now_us;
	if (!watch->begun)
		by_us = 0;
	watch->begun = true;
	return by_us;
}

void clock_watch_note(struct clock_watch *watch, const struct clock *clock)
{
	const int64_t by_us = clock_watch_look(watch, clock);

	if (!by_us)
		return;
	watch->set_us = clock_mono_us(clock);
	log_event(LOG_WARNING, "clock-jumped", "by_s=%+.3f hint=\"%s\"", (double)by_us / 1e6,
		  by_us > 0 ? "the machine's clock was put forward, or the machine slept"
			    : "the machine's clock was put back: times of jobs and logs stand still until it "
			      "has passed its former time");
}
