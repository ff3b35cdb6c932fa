/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/observe.h: updates the observed state of one replica by the engine's events. Every event may arrive twice.
 * Thread: the scheduler's. */
#include <stdbool.h>
#include <stdint.h>

#include "scheduler/job_run.h"

struct scheduler;

/* The replica with exactly this key; NULL: the key is of an earlier attempt or restart. *ret_run: its job, or NULL. */
struct replica_run *observed_replica(struct scheduler *scheduler, const struct replica_key *key,
				     struct job_run **ret_run);
/* To be called when an event or a listing shows that a replica ended, is gone, was paused or resumed. */
void observe_exit(struct scheduler *scheduler, struct job_run *run, struct replica_run *replica,
		  const struct replica_status *status);
void observe_removal(struct replica_run *replica);
void observe_pause(struct job_run *run, struct replica_run *replica, bool paused);
/* Ends the uncertainty (in_doubt) about ends of replicas, once its time has passed or the job's outcome no longer
 * depends on them. */
void observe_end_of_doubt(struct job_run *run, int64_t now_us);
/* Observes the nodes of the job that are lost, as if each had listed that it has nothing. */
void observe_lost_nodes(struct job_run *run);
/* Postpones decisions about the job for a moment. */
void observe_hold(struct scheduler *scheduler, struct job_run *run);
/* To be called when an answer of the node's engine is lost, and so the result of an order: the job's state there is
 * observed anew. */
void observe_lost_answer(struct job_run *run, struct job_node *on);
/* Notes that the engine refused the container; of several reasons the first one is kept. */
void replica_refuse(struct replica_run *replica, enum replica_end end, const char *text);
enum replica_end refusal_kind(enum status status);
