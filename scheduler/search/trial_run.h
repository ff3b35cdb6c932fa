/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_run.h: the job that runs a trial, ready to be stored. Thread: any. */
struct job;
struct plan;
struct study;

/* Of trial @number of the tuning job @owner, whose plan and study these are. A KIND_TUNING's is a resource of its own, with
 * an id that is drawn; that of any other is hidden from clients, by an id with what theirs may not have: a point.
 * Returns it as job_insert() takes it, with parent and trial; job_deinit(). */
struct job trial_run_make(const struct job *owner, const struct plan *plan, const struct study *study,
			  unsigned number, const double *values);
