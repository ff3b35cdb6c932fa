/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/faults/faults.h: how ordered faults come over jobs.
 *
 * A rule that hits becomes a hit of the run, is stored with the line that tells it, and only then takes effect: what is
 * asked of the engine, and what an end counts as, follow from the stored hits alone. Thread: the scheduler's. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct decision;
struct job_run;
struct decision_context;
struct replica_run;
struct scheduler;

/* Before anything is decided of the run: what stored hits do to the job itself, and which rules hit now. */
void faults_look(struct scheduler *scheduler, struct job_run *run);
/* Pure: what stored hits do to containers, and hits that are still to be stored. */
void faults_decide(struct decision *decision, const struct job_run *run,
		   const struct decision_context *context);
/* The hits that wait were stored with a change, or were not: then they did not happen. */
void faults_on_commit(struct scheduler *scheduler, struct job_run *run, bool stored);
/* The container has ended. Whether that was ordered: the replica's end is filled as ordered then. */
bool faults_end(const struct job_run *run, struct replica_run *replica);
/* Whether a container that runs was told to end by order, and did not yet. */
bool faults_await_end(const struct job_run *run);
/* The engine could not slow its network, or make it fast again. Whether to ask again after a while; else the job's log
 * and report tell it. */
bool faults_throttle_failed(struct job_run *run, struct replica_run *replica, enum status status,
			    const char *reason);
/* Whether the queue passes the job over: there is nothing to run it on, by order. */
bool faults_hold(const struct job_run *run, int64_t mono_us);
/* Whether no replica was lost but by order: nobody needs to wait for what the engine is up to. */
bool faults_alone(const struct job_run *run);
/* Takes up the stored hits of unfinished jobs. */
enum status faults_resume(struct scheduler *scheduler, struct error *err);
