/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/job_table.h: the unfinished jobs, by id. Thread: the scheduler's. */
#include <stdint.h>

struct job_entry;
struct job_run;
struct scheduler;

/* NULL: it is over, or was not taken up yet. */
struct job_entry *job_table_find(struct scheduler *scheduler, int64_t job);
/* NULL as well while it only waits (job_entry.h). */
struct job_run *scheduler_find(struct scheduler *scheduler, int64_t job);
/* Makes the entry of @run, which is its own. */
void job_table_insert(struct scheduler *scheduler, struct job_run *run);
void job_entry_free(struct job_entry *entry);
/* Its row was read again: it may have left the queue. */
void job_table_note(struct scheduler *scheduler, struct job_run *run);
/* Frees the entry of @run, which is the caller's. */
void job_table_remove(struct scheduler *scheduler, struct job_run *run);
