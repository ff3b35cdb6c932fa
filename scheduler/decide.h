/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/decide.h: the next step of a job, from its stored row, the observed state of the engine, and the orders given
 * so far. Pure.
 *
 * One function starts a job, runs it, ends it, and resumes it after a crash: it looks at the stored row and at the engine's
 * containers, and never at earlier steps. Each decision is one small step: it is executed (execute.h), then the
 * job is decided again.
 *
 *   stored state     observed (engine)                    decided
 *   QUEUED           -                                    nothing: queue.h admits it when there is room
 *   PREPARING        its place was given up               nothing: queue.h admits it again
 *   PREPARING        image or network missing             both are ordered
 *                    some replica missing                 it is made, once the gateway's address is known
 *                    all created                          they are started
 *                    all started                          the state becomes RUNNING
 *   RUNNING          one lost, others live on             it is restarted: its container is removed, this is logged,
 *                                                         then as in PREPARING
 *   any of these     a replica's end decides              the outcome is stored
 *                    a time limit passed                  the state becomes CANCELLING
 *   an outcome       something still runs                 it is stopped
 *                    ended, its output stored             it is removed
 *                    no errorMessage stored yet           errorMessage is stored
 *                    nothing runs, all output stored      the network is given back
 *                    no container left, job is retried    the next attempt begins; if a node is lost, the job's
 *                                                         place is given up
 *                    no container left                    the last service lines are written
 *                    these are written, network remains   the network is given back
 *                    nothing left                         the final state is stored */
#include "scheduler/decision.h"

/* Decides the next step of a job that is run by containers, not by trials. */
struct decision job_decide(const struct job_run *run, const struct decision_context *context);

/* Whether the job rests, so that nothing is decided for it now: it pauses for a moment, or it is not yet certain how a
 * replica ended. */
bool job_run_rests(const struct job_run *run, int64_t mono_us);
/* Adds to @decision the end of a job that has waited, or run, for longer than its limit. */
void decide_expiry(struct decision *decision, const struct job_run *run);
/* Adds the next step of a job with a stored outcome. */
void decide_end(struct decision *decision, const struct job_run *run, const struct decision_context *context);
/* When to decide again if nothing happens (monotonic); INT64_MAX: never. */
int64_t decide_wake_us(const struct job_run *run, const struct decision_context *context);
