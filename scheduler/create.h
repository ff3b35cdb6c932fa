/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/create.h: makes the containers of a job. Thread: the scheduler's. */
struct job_run;
struct reconciler;
struct replica_key;
struct replica_run;

/* Asks for the replica's container. @gcs: where Cloud Storage is as files; NULL: nowhere. One that cannot be described is
 * refused. */
void replica_create(const struct reconciler *reconciler, struct job_run *run, struct replica_run *replica,
		    const char *gcs);
/* What the replica was started with, command_line_text(). NULL: the launcher was, which tells its commands itself, or it
 * cannot be described. The caller frees. */
char *replica_command_line(const struct reconciler *reconciler, const struct job_run *run,
			   const struct replica_key *key);
