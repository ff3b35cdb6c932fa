/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/ended_trials.h: how trials ended, and what they reached. Thread: the scheduler's. */
#include <stdbool.h>

struct look;

/* Stores how trials have ended that are not open any more: true when there were some. */
void ended_read(struct look *look);
bool ended_take(struct look *look);
