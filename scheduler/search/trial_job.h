/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_job.h: the job that runs a trial, ready to be stored. Thread: any. */
struct job;
struct plan;
struct study;

/* Makes trial @number of the tuning job @owner with this plan and study. A KIND_TUNING's is a resource of its own, with
 * a random id; that of any other kind is hidden from clients, by an id with a character that theirs may not have: a point.
 * Returns it as job_insert() takes it, with parent and trial; job_deinit(). */
struct job trial_job_make(const struct job *owner, const struct plan *plan, const struct study *study,
			  unsigned number, const double *values);
