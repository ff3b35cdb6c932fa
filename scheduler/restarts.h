/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/restarts.h: how often each replica of a run was started anew alone, as it is stored with what the job was let in
 * with: assignment.restarts, of each that was {"role", "index", "attempt", "restart"}, and "unmade" while its container was
 * not seen. A job that an earlier release let in has no assignment: its containers' labels alone tell.
 * Thread: the scheduler's. */
#include <stdbool.h>

struct job_run;
struct replica_run;

/* Gives the run's replicas, of which nothing is seen yet, what is stored of them. */
void restarts_read(struct job_run *run);
/* Writes into the assignment how they stand, and will once the restarts that wait for their commit are stored. False when
 * memory ran out. */
bool restarts_write(struct job_run *run);
/* They stand otherwise than is stored: the next change stores them. */
void restarts_change(struct job_run *run);
/* The restarts that wait for their commit are stored, or are not: then they did not happen. */
void restarts_settle(struct job_run *run, bool stored);
/* The replica's container is there, or was. */
void restarts_see(struct job_run *run, struct replica_run *replica);
