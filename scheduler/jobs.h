/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/jobs.h: takes jobs from the store to the scheduler, and drops them when their end is stored. Thread: the
 * scheduler's. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct job;
struct job_entry;
struct job_run;
struct scheduler;

/* Makes the run of a job. Takes ownership of @row; the run is touched. */
enum status jobs_add(struct scheduler *scheduler, struct job *row, struct error *err);
void jobs_remove(struct scheduler *scheduler, struct job_run *run);
/* Reads row and plan of a queued job from the store. If an event concerns the job meanwhile, the run is stale. False:
 * it cannot be read now; it is tried again in a moment. */
bool jobs_open(struct scheduler *scheduler, struct job_entry *entry);
/* Drops from memory the runs of jobs that merely wait, except the first of the queue. To be called between passes. */
void jobs_rest(struct scheduler *scheduler);
/* Adds the unfinished jobs of the store that are not in the table yet. */
enum status jobs_load(struct scheduler *scheduler, struct error *err);
/* To be called when a client has stored or changed the job: reads its row. */
void jobs_wake(struct scheduler *scheduler, int64_t job);
/* Adds the trials that their tuning jobs have stored. */
void jobs_arrive(struct scheduler *scheduler);
void jobs_free(struct scheduler *scheduler);
/* Reads the jobs again if one could not be read a moment ago. */
void jobs_load_again(struct scheduler *scheduler);
