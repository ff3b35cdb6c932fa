/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/tuner.h: takes a tuning job from QUEUED to its end.
 *
 * It has no containers itself; each of its trials is run by a job of its own. Each look takes the next step:
 *
 *   trials that have ended          what they reported is read once more, and stored with their outcome
 *   the first was let in            PREPARING, since then
 *   the first runs                  RUNNING, since then
 *   too many of them failed         FAILED
 *   fewer under way than may be     new ones are suggested, on another thread (suggester.h), and once they are: stored, with
 *                                   the jobs that run them
 *   the plan's limits are reached   no more are suggested; where they say so, those under way are stopped (study_limits.h)
 *   none left, none to come         SUCCEEDED
 *   about to end                    those under way are cancelled; then it closes like any job
 *
 * So it is QUEUED as long as its trials wait for room, and its maxWaitTime limits that wait. Their places: queue.c.
 * All of it follows from what is stored, so a crash at any point only does it again; a suggestion that was not stored is
 * made anew, and is the same. Thread: the scheduler's.
 *
 * Choice: without maxFailedTrials a job fails when its first finished trial has failed, or when more than half of
 * maxTrials have (and more than one). A trial with a cancelled job, by a client or by its time limit, has no
 * result, but has not failed. Source: https://cloud.google.com/ai-platform/training/docs/hyperparameter-tuning-overview */
#include "scheduler/decision.h"

struct scheduler;

/* Looks at the tuning job and its trials, and decides the next step. */
struct decision search_serve(struct scheduler *scheduler, struct job_run *run,
			     const struct decision_context *context);
/* The job of a trial has changed: requests a look at its tuning job. Harmless for other jobs. */
void tuner_wake(struct scheduler *scheduler, const struct job_run *run);
