/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/passes.h: every job that something happened to takes its steps. Thread: the scheduler's. */
#include <stdint.h>

struct scheduler;

/* Decides all touched jobs, and executes what is decided, until nothing is left to be done. */
void scheduler_reconcile(struct scheduler *scheduler);
/* The next instant (monotonic) at which a job must be looked at again. */
int64_t scheduler_deadline_us(const struct scheduler *scheduler);
