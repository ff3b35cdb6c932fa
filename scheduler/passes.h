/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/passes.h: takes the next steps of every job that had an event. Thread: the scheduler's. */
#include <stdint.h>

struct scheduler;

/* Decides all touched jobs and executes the decisions, until no job is touched any more. */
void scheduler_reconcile(struct scheduler *scheduler);
/* The next instant (monotonic) at which a job has to be decided again. */
int64_t scheduler_deadline_us(const struct scheduler *scheduler);
