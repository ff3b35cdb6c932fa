/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/ended_trials.h: how trials ended, and their results. Pure. Thread: the scheduler's. */
#include <stdbool.h>

struct look;
struct stored_trial;

/* Whether the trial's job has ended, and the trial's outcome is not stored yet. */
bool trial_has_ended(const struct stored_trial *stored);
/* Whether the trial's end is still open, so that a stop or a cancellation changes how it ends. */
bool trial_goes_on(const struct stored_trial *stored);
/* Adds to the look's decision the outcomes of trials that have ended, by their reports. True: there were some. */
bool ended_take(struct look *look);
