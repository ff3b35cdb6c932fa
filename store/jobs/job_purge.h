/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/job_purge.h: jobs that have ended are removed for good, with their trials and logs.
 *
 * Objects of Cloud Storage are never touched. Thread: any. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct store;

/* The job that ended first of those that ended before @before_us; *ret_job 0: there is none. A job is left out while
 * its containers or its last log lines are under way, and while a model is registered that it made. */
enum status job_purge_next(struct store *store, int64_t before_us, int64_t *ret_job, struct error *err);
/* Removes such a job. Its log goes first, in slices that let other entries be stored between them; the rows of the job and its
 * trials follow in one transaction. A crash leaves the job, to be removed once more.
 * FAILED_PRECONDITION: it has not ended. NOT_FOUND. */
enum status job_purge(struct store *store, int64_t job, struct error *err);
/* Removes any job that has ended, with its model. *ret_job: which; 0: there is none. */
enum status job_purge_any(struct store *store, int64_t *ret_job, struct error *err);
/* Removes what belongs to no job, once there is none: aliases of models, operations, log entries of clients, a slice a call.
 * *ret_more: some are left, or a job is. */
enum status job_purge_rest(struct store *store, bool *ret_more, struct error *err);
/* The bytes in use of the databases of jobs and logs, without the room in the files that a removal has left for later rows. */
enum status store_used_bytes(struct store *store, int64_t *ret_bytes, struct error *err);
