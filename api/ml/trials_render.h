/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/trials_render.h: the trials of tuning jobs in trainingOutput. */
#include "daemon/base/text.h"

struct call;
struct job;
struct trial_list;

/* The trials of one job, in the form of the API. */
struct trials_reported {
	struct text
		/* the members of trainingOutput, as an object; empty: the job is not a tuning job, or its trials
		 * cannot be read */
		output;
	double ml_units; /* consumed by its trials */
};

/* Returns an array with one element for each of @count jobs, which the caller frees; NULL: none is a tuning job. All
 * trials are read together, because reading takes nearly all the time of a page of jobs with many trials. Trials
 * that cannot be read are logged and left out. */
struct trials_reported *trials_render(const struct call *call, const struct job *jobs, size_t count);
void trials_reported_free(struct trials_reported *reported, size_t count);

/* ML units that the trials of a tuning job have consumed by @now_us; each trial counts like a job of its tier. */
double trials_ml_units(const struct job *job, const struct trial_list *list, int64_t now_us);
