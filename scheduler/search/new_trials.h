/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/new_trials.h: what a tuning job tries next: it is suggested on another thread, then stored with the jobs that
 * run it. Pure. Thread: the scheduler's. */
#include <stddef.h>

struct look;

/* How many trials there may be besides those that there are. */
size_t trials_wanted(struct look *look);
/* Has @wanted ones suggested; they begin once they are. */
void trials_begin(struct look *look, size_t wanted);
/* What is being suggested is not wanted any more. */
void suggestion_forget(struct look *look);
