/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/passes.h: every job that something happened to takes its steps. Thread: the scheduler's. */
#include <stdint.h>

struct job_run;
struct scheduler;

/* Steps of all dirty jobs until none has one left. */
void scheduler_reconcile(struct scheduler *scheduler);
/* When @run is to be looked at again if nothing happens to it; INT64_MAX: never. */
int64_t run_wake_at_us(const struct scheduler *scheduler, struct job_run *run);
/* The next instant (monotonic) at which a job must be looked at again. */
int64_t scheduler_deadline_us(const struct scheduler *scheduler);
