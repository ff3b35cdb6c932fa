/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/faults/faults.h: injects faults into jobs.
 *
 * A rule that applies becomes an injection of the run, which is stored together with its log line and takes effect only
 * then: orders to the engine, and how an end is counted, depend on stored injections alone. Thread: the scheduler's. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct decision;
struct job_run;
struct decision_context;
struct replica_run;
struct scheduler;

/* Before a decision: applies stored injections to the job itself, and looks for rules that apply now. */
void faults_look(struct scheduler *scheduler, struct job_run *run);
/* Pure: adds the orders of stored injections to containers, and the injections that are still to be stored. */
void faults_decide(struct decision *decision, const struct job_run *run,
		   const struct decision_context *context);
/* To be called when the change with the new injections was stored (@stored: true), or could not be stored: they are then
 * dropped. */
void faults_on_commit(struct scheduler *scheduler, struct job_run *run, bool stored);
/* Whether an injected fault caused the end of the container. If so, the replica's end is set as the rule says. */
bool faults_end(const struct job_run *run, struct replica_run *replica);
/* Whether a running container was stopped by an injected fault and has not ended yet. */
bool faults_await_end(const struct job_run *run);
/* To be called when the engine could not limit the container's network, or lift the limit. True: try again after a while.
 * False: the job's log and report mention the failure. */
bool faults_throttle_failed(struct job_run *run, struct replica_run *replica, enum status status,
			    const char *reason);
/* Whether an injected stockout keeps the job in the queue. */
bool faults_hold(const struct job_run *run, int64_t mono_us);
/* Whether injected faults ended every replica that is to be restarted. The restart then needs no pause: no engine that
 * is stopping can have caused these ends. True if there is no such replica. */
bool faults_caused_all_restarts(const struct job_run *run);
/* Loads the stored injections of unfinished jobs. */
enum status faults_resume(struct scheduler *scheduler, struct error *err);
