/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/ended_trials.h: how trials ended, and what they reached. Pure. Thread: the scheduler's. */
#include <stdbool.h>

struct look;
struct stored_trial;

/* The job that ran it has ended, and its outcome is not stored yet. */
bool trial_has_ended(const struct stored_trial *stored);
/* Adds the outcomes of those, by what was read of their reports: true when there were some. */
bool ended_take(struct look *look);
