/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/measurement_list.h: the measurements of one trial, of which only so many are kept.
 *
 * Choice: of more than MEASUREMENTS_KEPT_MAX every second one is let go, then of those that come as well, and so on: a
 * curve keeps its shape, and the last one is always there. Pure. Thread: any, one at a time. */
#include <stdbool.h>
#include <stddef.h>

#include "scheduler/tuning/study.h"

enum { MEASUREMENTS_KEPT_MAX = 8192 };

/* Start zeroed. */
struct measurement_list {
	struct measurement *all;
	size_t count, size;
	size_t seen_count, stride; /* every stride-th of all that came is kept, and the last; 0: every one */
};

void measurement_list_deinit(struct measurement_list *list);
void measurement_list_append(struct measurement_list *list, const struct measurement *measurement);

/* Puts @count lists that grew beside each other into one, by step. Of one step the values that were measured last
 * stay; where that does not tell, those of the later list. */
void measurement_lists_merge(const struct measurement_list *const *lists, size_t count, size_t metric_count,
			     struct measurement_list *into);
