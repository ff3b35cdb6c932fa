/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/job_table.h: the unfinished jobs, by id. Thread: the scheduler's. */
#include <stdint.h>

struct job_entry;
struct job_run;
struct scheduler;
struct waiting_job;

/* The entry of the job; NULL: the job has ended, or was not read from the store yet. */
struct job_entry *job_table_find(struct scheduler *scheduler, int64_t job);
/* The run of the job; NULL also while the job merely waits (job_entry.h). */
struct job_run *scheduler_find(struct scheduler *scheduler, int64_t job);
/* Makes the entry of @run and gives it to the table. */
void job_table_insert(struct scheduler *scheduler, struct job_run *run);
/* Makes the entry of a job that merely waits, which has no run, and gives it to the table. */
struct job_entry *job_table_insert_waiting(struct scheduler *scheduler, const struct waiting_job *job);
void job_entry_free(struct job_entry *entry);
/* To be called when the row was read again: the job may have left the queue. */
void job_table_note(struct scheduler *scheduler, struct job_run *run);
/* Frees the entry of @run; @run stays the caller's. */
void job_table_remove(struct scheduler *scheduler, struct job_run *run);
