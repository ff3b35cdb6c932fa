/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/replica_journal.h: the rows that a decision adds to the job's journal about its replicas. Pure. */
#include "store/jobs/job_state.h"

struct decision;
struct job_run;
struct replica_run;

/* Adds the replicas with a new container after a restart, and the ends of replicas. A stored end is final: later
 * observations of the container do not change it. */
void note_replicas(struct decision *decision, const struct job_run *run);
/* Adds that the replica begins again under the same names. */
void note_restart(struct decision *decision, const struct replica_run *replica);
/* Adds which replicas' ends decide the job's @outcome. Adds none if a fault of the job itself decides it. */
void note_blame(struct decision *decision, const struct job_run *run, enum job_state outcome);
