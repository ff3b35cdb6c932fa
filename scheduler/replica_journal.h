/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/replica_journal.h: the rows that a decision adds to the job's journal about its replicas. Pure. */
#include "store/jobs/job_state.h"

struct decision;
struct job_run;
struct replica_run;

/* Adds the replicas with a new container after a restart, and the ends of replicas. Once stored, an end is a fact. */
void note_replicas(struct decision *decision, const struct job_run *run);
/* Adds that the replica begins again under the same names. */
void note_restart(struct decision *decision, const struct replica_run *replica);
/* Adds which ends decide the job's @outcome, unless a fault of the job itself does. */
void note_blame(struct decision *decision, const struct job_run *run, enum job_state outcome);
