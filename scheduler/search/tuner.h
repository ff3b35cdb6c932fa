/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/tuner.h: takes a tuning job from QUEUED to its end.
 *
 * It has no containers itself; each of its trials is run by a job of its own. Each look takes the next step:
 *
 *   some trials have ended            their reports are read once more, and stored with their outcome
 *   the first trial was admitted      the tuning job is PREPARING from then on
 *   the first trial runs              the tuning job is RUNNING from then on
 *   too many trials failed            FAILED
 *   fewer trials run than may         new ones are suggested, on another thread (suggester.h), and after the answer
 *                                     stored, with the jobs that run them
 *   the plan's limits are reached     no more trials are suggested; if the limits say so, running trials are stopped
 *                                     (study_limits.h)
 *   no trial left, and none to come   SUCCEEDED
 *   the tuning job has its outcome    running trials are cancelled; then the job ends like any other
 *
 * So it is QUEUED as long as its trials wait for room, and its maxWaitTime limits that wait. queue.c
 * orders the waiting trials. Each step follows from stored data, so after a crash at any point the step is only
 * repeated; a suggestion that was not stored is computed again, with the same result. Thread: the scheduler's.
 *
 * Choice: without maxFailedTrials a job fails when its first finished trial has failed, or when more than half of
 * maxTrials have (and more than one). A trial that was cancelled, by a client or by a time limit, has no result, but
 * has not failed. Source: https://cloud.google.com/ai-platform/training/docs/hyperparameter-tuning-overview */
#include "scheduler/decision.h"

struct scheduler;

/* Looks at the tuning job and its trials, and decides the next step. */
struct decision search_serve(struct scheduler *scheduler, struct job_run *run,
			     const struct decision_context *context);
/* The job of a trial has changed: requests a look at its tuning job. Harmless for other jobs. */
void tuner_wake(struct scheduler *scheduler, const struct job_run *run);
