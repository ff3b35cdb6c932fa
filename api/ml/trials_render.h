/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/trials_render.h: the trials of tuning jobs in trainingOutput. */
#include "daemon/base/text.h"

struct call;
struct job;
struct trial_list;

/* Of one job. */
struct trials_reported {
	struct text
		/* members of trainingOutput, an object; empty: it is not a tuning job, or its trials cannot be read */
		output;
	double ml_units; /* consumed by its trials */
};

/* One for each of @count jobs; their trials are read together: for a page of jobs with many trials this takes nearly
 * all the time. Trials that cannot be read are logged, and left out. NULL: none is a tuning job. The caller frees. */
struct trials_reported *trials_render(const struct call *call, const struct job *jobs, size_t count);
void trials_reported_free(struct trials_reported *reported, size_t count);

/* What the trials of a tuning job have consumed by @now_us: each like a job of its tier. */
double trials_ml_units(const struct job *job, const struct trial_list *list, int64_t now_us);
