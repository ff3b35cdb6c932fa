/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/observe.h: what is known of one replica, from what the engine said of it. Every event may come twice.
 * Thread: the scheduler's. */
#include <stdbool.h>
#include <stdint.h>

#include "scheduler/job_run.h"

struct scheduler;

/* The replica that is known by @key now: not one of an earlier attempt or restart. NULL: none. *ret_run is the
 * job's, or NULL. */
struct replica_run *observed_replica(struct scheduler *scheduler, const struct replica_key *key,
				     struct job_run **ret_run);
/* What became of one replica, however it was told: it ended, is gone, was paused or goes on. */
void observe_exit(struct scheduler *scheduler, struct job_run *run, struct replica_run *replica,
		  const struct replica_status *status);
void observe_removal(struct replica_run *replica);
void observe_pause(struct job_run *run, struct replica_run *replica, bool paused);
/* What was in doubt is as it looks once its moment has passed, or when it decides nothing any more. */
void observe_end_of_doubt(struct job_run *run, int64_t now_us);
/* Nothing is decided of it for a moment. */
void observe_hold(struct scheduler *scheduler, struct job_run *run);
/* The answer of the engine is lost, and with it what became of the order: the job is looked at anew. */
void observe_lost_answer(struct scheduler *scheduler, struct job_run *run);
/* The engine would not have it; the first reason counts. */
void replica_refuse(struct replica_run *replica, enum replica_end end, const char *text);
enum replica_end refusal_kind(enum status status);
