/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/job_changes.h: the numbers of the jobs that changed last, for clients that watch jobs.
 *
 * The writers of jobs and of logs add to it after their commits, so a reader that gets a number finds the new rows.
 * Each change has a sequence number, from 1; the last JOB_CHANGES_KEPT are kept. Thread: any, for all functions. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"

enum { JOB_CHANGES_KEPT = 1000 };

struct job_changes;

struct job_changes *job_changes_new(void);
void job_changes_free(struct job_changes *changes);
DEFINE_AUTO(job_changes, struct job_changes *, job_changes_free)

/* Notes that the job has changed. @job may have been removed. */
void job_changes_add(struct job_changes *changes, int64_t job);
/* Call if more than JOB_CHANGES_KEPT jobs have changed at once: readers must read all jobs again. */
void job_changes_lose(struct job_changes *changes);

/* Returns the sequence number of the last change; 0: there was none. */
uint64_t job_changes_last(struct job_changes *changes);
/* Writes the ids of the jobs that changed after @after, each once, to @jobs, which has room for JOB_CHANGES_KEPT.
 * *ret_last: the number of the last change included. False: too many changes since, or @after is in the future. */
bool job_changes_read(struct job_changes *changes, uint64_t after, int64_t *jobs, size_t *ret_count,
		      uint64_t *ret_last);
/* Waits at most @at_most_us of the system's own clock for a change after @after. False: there was none. */
bool job_changes_await(struct job_changes *changes, uint64_t after, int64_t at_most_us);
