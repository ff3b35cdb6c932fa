/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/ended_trials.h: how trials ended, and their results. Pure. Thread: the scheduler's. */
#include <stdbool.h>

struct look;
struct stored_trial;

/* Whether the job that runs it has ended and its outcome is not stored yet. */
bool trial_has_ended(const struct stored_trial *stored);
/* Whether a stop, or a cancellation, would still change how it ends. */
bool trial_goes_on(const struct stored_trial *stored);
/* Adds the outcomes of such trials, by their reports: true if there were some. */
bool ended_take(struct look *look);
