/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/job_times.h: times of jobs as clients see them: never in the wrong order, whatever their digits. Pure.
 * Thread: any. */
#include <stdint.h>

/* The whole second at which a client sees @time_us, which came after what it sees at @before_us: its own, or the first that
 * is not before that. 0 (never) stays 0. A clock that was set back meanwhile does not show.
 * Choice: the service's own rule is not known; its jobs' times in seconds were never seen before the creation. */
int64_t second_shown(int64_t time_us, int64_t before_us);
