/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuner.h: a tuning job's way from QUEUED to its end.
 *
 * It has no containers: its trials have, each run by a job of its own. Each look at it does what is due:
 *
 *   trials that have ended          what they reported is read once more, and their outcome stored
 *   too many of them failed         FAILED
 *   fewer under way than may be     new ones are suggested and stored, with the jobs that run them
 *   one runs                        RUNNING
 *   none left, none to come         SUCCEEDED
 *   about to end                    those under way are cancelled; then it closes like any job
 *
 * All of it follows from what is stored, so a crash at any point only does it again; a suggestion that was not stored is
 * made anew, and is the same. Thread: the scheduler's.
 *
 * Choice: without maxFailedTrials a job fails when its first finished trial has failed, or when more than half of
 * maxTrials have (and more than one). Source: https://cloud.google.com/ai-platform/training/docs/hyperparameter-tuning-overview */
#include "scheduler/steps.h"

struct scheduler;
struct tuner;

void tuner_step(struct scheduler *scheduler, struct job_run *run);
/* The job of a trial has changed: its tuning job looks. Harmless for others. */
void tuner_wake(struct scheduler *scheduler, const struct job_run *run);
void tuner_free(struct tuner *tuner);
