/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/job_times.h: times of jobs for clients: never in the wrong order, whatever their precision. Pure.
 * Thread: any. */
#include <stdint.h>

/* The whole second to show for @time_us, an event after @before_us: its own second, or the first one that is not before
 * the second shown for that. 0 (never) stays 0. A clock that was set back in between is hidden.
 * Choice: the service's own rule is unknown; times in seconds of its jobs were never observed before the creation. */
int64_t second_shown(int64_t time_us, int64_t before_us);
