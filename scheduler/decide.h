/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/decide.h: the next step of a job, from its stored row, the observed state of the engine, and the orders given so far. Pure.
 *
 * One function starts a job, runs it, ends it, and resumes it after a crash: it looks at the stored row and at the engine's
 * containers, and never at earlier steps. Each decision is one small step: it is executed (execute.h), then the
 * job is decided again.
 *
 *   stored state     observed (engine)                    decided
 *   QUEUED           -                                    nothing: queue.h lets it in when there is room
 *   PREPARING        image or network missing             both are asked for
 *                    some replica missing                 it is made, once the gateway's address is known
 *                    all created                          they are started
 *                    all started                          RUNNING
 *   RUNNING          one lost, others live on             it is started anew: removed, logged, and then as above
 *   any of these     an exit that decides                 the outcome
 *                    a limit passed                       CANCELLING
 *   an outcome       something still runs                 it is stopped
 *                    ended, its output stored             it is removed
 *                    no reason stored yet                 errorMessage
 *                    nothing runs, all output stored      the network is left
 *                    no container left, try again         the next attempt
 *                    no container left                    the last service lines
 *                    closed, network still there          the network is left
 *                    nothing left                         the final state */
#include "scheduler/decision.h"

/* For a job that has containers. */
struct decision job_decide(const struct job_run *run, const struct decision_context *context);

/* Whether nothing is decided for the job now: it pauses for a moment, or it is not yet certain how a replica ended. */
bool job_run_rests(const struct job_run *run, int64_t mono_us);
/* Adds to @decision the end of a job that has waited, or run, for longer than its limit. */
void decide_expiry(struct decision *decision, const struct job_run *run);
/* Adds the next step of a job with a stored outcome. */
void decide_end(struct decision *decision, const struct job_run *run, const struct decision_context *context);
/* When to decide again if nothing happens (monotonic); INT64_MAX: never. */
int64_t decide_wake_us(const struct job_run *run, const struct decision_context *context);
