/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/job_times.h: times of jobs for clients: never in the wrong order, whatever their precision. Pure.
 * Thread: any. */
#include <stdint.h>

/* Returns the whole second, in microseconds, to show for an event at @time_us that followed an event at @before_us:
 * @time_us rounded down or, if that is before @before_us, @before_us rounded up. So an event is never shown before the
 * earlier one, even if the clock was set back between them. @time_us 0 (never) stays 0.
 * Choice: the service's own rule is unknown; no time in seconds of its jobs was observed to be before the creation. */
int64_t second_shown(int64_t time_us, int64_t before_us);
