/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/jobs.h: jobs come to the scheduler from the store, and go when their end is stored. Thread: the scheduler's. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct job;
struct job_entry;
struct job_run;
struct scheduler;

/* Takes @row; the run is dirty. */
enum status jobs_add(struct scheduler *scheduler, struct job *row, struct error *err);
void jobs_remove(struct scheduler *scheduler, struct job_run *run);
/* Reads a job of the queue that has its row and plan in the store alone. A job with an event meanwhile is stale.
 * False: it cannot be read now, and is looked at again in a moment. */
bool jobs_open(struct scheduler *scheduler, struct job_entry *entry);
/* Leaves to the store what only waits, but for the first in the queue. Between passes. */
void jobs_rest(struct scheduler *scheduler);
/* Takes up the unfinished jobs of the store that are not known yet. */
enum status jobs_load(struct scheduler *scheduler, struct error *err);
/* A job was stored or changed by a client: its row is read. */
void jobs_wake(struct scheduler *scheduler, int64_t job);
/* Takes up trials that their tuning job has stored. */
void jobs_arrive(struct scheduler *scheduler);
void jobs_free(struct scheduler *scheduler);
/* Reads the jobs once more, when one could not be read a moment ago. */
void jobs_load_again(struct scheduler *scheduler);
