/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/measurement_list.h: the measurements of one trial, of which a limited number is kept.
 *
 * Choice: at MEASUREMENTS_KEPT_MAX every second measurement is dropped, and from then on only every second new one is
 * kept. Each time the limit is reached again, this step doubles. So a curve keeps its shape; the last measurement is
 * always kept. Pure. Thread: any, one at a time. */
#include <stdbool.h>
#include <stddef.h>

#include "scheduler/tuning/study.h"

enum { MEASUREMENTS_KEPT_MAX = 8192 };

/* All members must be 0 at the beginning. */
struct measurement_list {
	struct measurement *all;
	size_t count, size;
	size_t seen_count, stride; /* every stride-th measurement is kept, and the last one; 0: every one */
};

void measurement_list_deinit(struct measurement_list *list);
void measurement_list_append(struct measurement_list *list, const struct measurement *measurement);

/* Merges @count lists that grew in parallel, by step. If several measurements have one step, the values that were
 * measured last stay; with equal times, those of the later list. */
void measurement_lists_merge(const struct measurement_list *const *lists, size_t count, size_t metric_count,
			     struct measurement_list *into);
