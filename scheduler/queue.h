/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/queue.h: the jobs that wait for room, in the order of their turn. Thread: the scheduler's. */
#include <stdint.h>

struct job_entry;
struct job_run;
struct scheduler;

/* Adds a run to the queue or removes it, according to its row. */
void queue_update(struct scheduler *scheduler, struct job_run *run);
void queue_leave(struct scheduler *scheduler, struct job_run *run);
/* Adds an entry that is not in the queue yet. */
void queue_insert(struct scheduler *scheduler, struct job_entry *entry);
/* To be called when the row of a queued job was read into memory, so that jobs_rest() can drop the row from memory
 * again. */
void queue_opened(struct scheduler *scheduler, const struct job_entry *entry);
/* The host's resources have changed: all queued jobs are considered again. */
void queue_reconsider(struct scheduler *scheduler);
/* Admits, as admission.h decides, the first jobs that have room, by priority and age. @now_us: when this pass began;
 * all jobs that were due then are served. If an admission could not be stored, a later pass tries to admit the job
 * again; it need not read the job's row again before. */
void queue_serve(struct scheduler *scheduler, int64_t now_us);
