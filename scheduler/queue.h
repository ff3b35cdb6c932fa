/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/queue.h: the jobs that wait for room, in the order of their turn. Thread: the scheduler's. */
#include <stdint.h>

struct job_entry;
struct job_run;
struct scheduler;

/* Puts a run into the queue or takes it out, as its row says. */
void queue_update(struct scheduler *scheduler, struct job_run *run);
void queue_leave(struct scheduler *scheduler, struct job_run *run);
/* A job of the queue is in memory as a whole: jobs_rest() looks at it. */
void queue_opened(struct scheduler *scheduler, const struct job_entry *entry);
/* The host is another: all look at it anew. */
void queue_reconsider(struct scheduler *scheduler);
/* Executes what admission.h decides: admits the first jobs that have room, by priority and age. @now_us is when the pass began,
 * which served all jobs that were due: a later pass admits again a job with a change that was refused, even if its row was not
 * read since. */
void queue_serve(struct scheduler *scheduler, int64_t now_us);
