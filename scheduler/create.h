/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/create.h: makes the containers of a job. Thread: the scheduler's. */
struct job_run;
struct reconciler;
struct replica_key;

/* Makes the containers that are missing, all before any is started: most bad requests fail here, before user code runs, and
 * every name resolves from the first instruction on. */
void step_create(struct reconciler *reconciler, struct job_run *run);
/* What the replica was started with, command_line_text(). NULL: the launcher was, which tells its commands itself; or memory
 * ran out. The caller frees. */
char *replica_command_line(const struct reconciler *reconciler, const struct job_run *run,
			   const struct replica_key *key);
