/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/study_end.h: what ends a tuning job's search besides the number of its trials. Thread: the scheduler's. */
#include <stddef.h>
#include <stdint.h>

struct look;
struct decision_context;
struct tuner;

/* Reckons since when the limits count. */
void study_begin(struct tuner *tuner, const struct decision_context *context, int64_t created_us);
/* How many more trials the plan's limits let there be, and in look->next_us until when that holds; where they say so, what
 * runs is stopped. Where it cannot be told now, the look fails. */
size_t study_room(struct look *look);
