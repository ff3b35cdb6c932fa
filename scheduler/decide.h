/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/decide.h: what is to be done for a job now, from what is wanted, what is seen, and what was asked for. Pure.
 *
 * Starting a job, running it, ending it, and taking it up again after a crash are the same function: it looks at the stored
 * row and at the engine's containers, and never at what was done before. Each decision is one small step: it is executed
 * (execute.h), and then the job is decided again.
 *
 *   wanted (row)     seen (engine)                        decided
 *   QUEUED           -                                    nothing: queue.h lets it in when there is room
 *   PREPARING        image or network missing             both are asked for
 *                    some replica missing                 it is made, once the gateway's place is known
 *                    all created                          they are started
 *                    all started                          RUNNING
 *   RUNNING          one lost, others live on             it is started anew: removed, told, and then as above
 *   any of these     an exit that decides                 the outcome
 *                    a limit passed                       CANCELLING
 *   an outcome        something still runs                 it is stopped
 *                    ended, its output stored             it is removed
 *                    no reason told yet                   errorMessage
 *                    nothing runs, all output stored      the network is left
 *                    no container left, try again         the next attempt
 *                    no container left                    the last service lines
 *                    closed, network still there          the network is left
 *                    nothing left                         the final state */
#include "scheduler/decision.h"

/* Of a job that has containers. */
struct decision job_decide(const struct job_run *run, const struct decision_context *context);

/* Whether nothing is decided of the job now: it rests for a moment, or it is open how a replica ended. */
bool job_run_rests(const struct job_run *run, int64_t mono_us);
/* Adds to @decision that the job's time is up: to wait before it ran, or to run since it did. */
void decide_expiry(struct decision *decision, const struct job_run *run);
/* Adds what is next for a job with a stored outcome. */
void decide_end(struct decision *decision, const struct job_run *run, const struct decision_context *context);
/* When to decide again if nothing happens (monotonic); INT64_MAX: never. */
int64_t decide_wake_us(const struct job_run *run, const struct decision_context *context);
