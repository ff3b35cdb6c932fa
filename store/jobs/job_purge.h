/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/job_purge.h: removes ended jobs for good, with their trials and logs.
 *
 * Objects of Cloud Storage are never touched. Thread: any. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct store;

/* Finds, of the jobs that ended before @before_us, the one that ended first; *ret_job 0: there is none. A job is left
 * out while its containers exist, its last log lines are not stored, or a model that it made is registered. */
enum status job_purge_next(struct store *store, int64_t before_us, int64_t *ret_job, struct error *err);
/* Removes a job that has ended. Its log is removed first, in slices between which other entries are stored; the
 * rows of the job and its trials follow in one transaction. After a crash the job still exists, to be removed again.
 * FAILED_PRECONDITION: it has not ended. NOT_FOUND. */
enum status job_purge(struct store *store, int64_t job, struct error *err);
/* Removes any ended job, with its model. *ret_job: its number; 0: there is none. */
enum status job_purge_any(struct store *store, int64_t *ret_job, struct error *err);
/* If there are no jobs, removes the rows that belong to no job: aliases of models, operations, and the log entries that
 * clients wrote, of these one slice per call. *ret_more: some are left, or there is a job. */
enum status job_purge_rest(struct store *store, bool *ret_more, struct error *err);
/* The used bytes of the databases of jobs and logs, without free space in the files. */
enum status store_used_bytes(struct store *store, int64_t *ret_bytes, struct error *err);
