/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/study_end.h: conditions that end a tuning job's search, beside the number of its trials. Thread: the
 * scheduler's. */
#include <stddef.h>
#include <stdint.h>

struct look;
struct decision_context;
struct tuner;

/* Computes the instants from which the limits count, and sets them in @tuner. */
void study_begin(struct tuner *tuner, const struct decision_context *context, int64_t created_us);
/* How many more trials the plan's limits allow. look->next_us is set to the time when that may change. If the limits say
 * so, running trials are stopped. On an error the look fails. */
size_t study_room(struct look *look);
