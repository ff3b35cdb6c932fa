/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/tuner_state.h: the state of a tuning job follows its trials' states, and it fails or ends with them.
 * Pure. Thread: the scheduler's. */
#include <stdbool.h>

#include <stddef.h>

struct look;

/* Updates the job's state by its trials' states. True: the change has to be stored before anything else is decided. */
bool state_follow(struct look *look);
bool too_many_failed(const struct look *look);
/* The index of the trial that failed last; there must be one. */
size_t last_failed(const struct look *look);
void job_fail(struct look *look);
/* Fails the job, because its study cannot be read. */
void job_fault(struct look *look);
void job_succeed(struct look *look);
/* Cancels the running trials. */
void open_cancel(struct look *look);
/* Decides the next step of a job after its trials have ended. */
void job_end(struct look *look);
