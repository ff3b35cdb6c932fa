/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/new_trials.h: starts new trials: they are suggested on another thread, then stored together with the
 * jobs that run them. Pure. Thread: the scheduler's. */
#include <stddef.h>

struct look;

/* Returns how many trials may be started now. */
size_t trials_wanted(struct look *look);
/* Requests @wanted suggestions; the trials start when the answer arrives. */
void trials_begin(struct look *look, size_t wanted);
/* Drops the requested suggestions, which are no longer needed. */
void suggestion_forget(struct look *look);
