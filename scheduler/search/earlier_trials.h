/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/earlier_trials.h: the trials of the jobs that a tuning job resumes, as its own study takes them.
 *
 * Parameters are found by their names, categories too, so the order of either may be another, and ranges may differ.
 * A trial with a category that is none any more is left out, as is one that was cancelled. Thread: any. */
#include "daemon/base/error.h"
#include "scheduler/tuning/study.h"

struct plan;
struct store;
struct stored_trial;

/* A trial of the store as its study's library takes it; @values is for its parameters, and stays the caller's. */
enum status trial_from_stored(const struct study *study, const struct stored_trial *stored, double *values,
			      struct trial *ret_trial, struct error *err);

/* Choice: so many at most, those of the newest jobs. */
enum { EARLIER_TRIALS_MAX = 10000 };

struct earlier_trials {
	struct trial
		*trials; /* ids from 1; all have ended; ended_as and known are those of one after the other */
	double *values;  /* theirs, in one block */
	size_t count;
};
void earlier_trials_deinit(struct earlier_trials *earlier);

/* None for a plan that resumes no job. FAILED_PRECONDITION: one of the jobs is gone or cannot be read, which will not
 * change. */
enum status earlier_trials_read(struct store *store, const struct plan *plan, const struct study *study,
				struct earlier_trials *ret_earlier, struct error *err);

/* Whether trials of @from teach something about @to: parameters of the same names and types, and the same first metric
 * with the same goal. Else *err says what differs. */
enum status study_continues(const struct study *from, const struct study *to, struct error *err);
/* The values of a trial of @from, which @to continues, as @to has them. False: it has no such category. */
bool study_values_carry(const struct study *from, const double *values, const struct study *to,
			double *ret_values);
