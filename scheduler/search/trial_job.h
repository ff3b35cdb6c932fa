/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_job.h: makes the job that runs a trial, ready to be stored. Thread: any. */
struct job;
struct plan;
struct study;

/* Makes trial @number of the tuning job @owner with this plan and study. For a KIND_TUNING it is a resource of its own,
 * with a random id; for any other kind it is hidden from clients: its id contains a point, which clients' ids may not.
 * The result has what job_insert() needs, and parent and trial; the caller calls job_deinit(). */
struct job trial_job_make(const struct job *owner, const struct plan *plan, const struct study *study,
			  unsigned number, const double *values);
