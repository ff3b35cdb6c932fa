/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/earlier_trials.h: the trials of the jobs that a tuning job resumes, converted to its own study.
 *
 * Parameters and categories are found by name, so their order and the ranges may differ. Trials that were cancelled, or
 * have a category that no longer exists, are left out. Thread: any. */
#include "daemon/base/error.h"
#include "scheduler/tuning/study.h"

struct plan;
struct store;
struct stored_trial;

/* Converts a trial of the store for the tuning library; @values has room for its parameters, and stays the caller's. */
enum status trial_from_stored(const struct study *study, const struct stored_trial *stored, double *values,
			      struct trial *ret_trial, struct error *err);

/* Choice: the maximum number of earlier trials; those of the newest jobs are used. */
enum { EARLIER_TRIALS_MAX = 10000 };

struct earlier_trials {
	struct trial
		/* ids from 1; all have ended; ended_as and known count as if the jobs had run one after the other */
		*trials;
	double *values;  /* the values of all trials, in one block */
	size_t count;
};
void earlier_trials_deinit(struct earlier_trials *earlier);

/* Empty for a plan that resumes no job. FAILED_PRECONDITION: one of the jobs is gone or unreadable; trying again is of
 * no use. */
enum status earlier_trials_read(struct store *store, const struct plan *plan, const struct study *study,
				struct earlier_trials *ret_earlier, struct error *err);

/* Whether trials of @from can be used for @to: both studies have parameters of the same names and types, and the same
 * first metric with the same goal. Otherwise *err names what differs. */
enum status study_continues(const struct study *from, const struct study *to, struct error *err);
/* Converts the values of a trial of @from to those of @to, which continues it. False: a category does not exist any
 * more. */
bool study_values_carry(const struct study *from, const double *values, const struct study *to,
			double *ret_values);
