/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/trials_render.h: tuning jobs' trials, as trainingOutput tells them. */
#include "daemon/base/text.h"

struct call;
struct job;
struct trial_list;

/* Of one job. */
struct trials_reported {
	struct text
		output; /* members of trainingOutput, an object; empty: it does not tune, or its trials cannot be read */
	double ml_units; /* what its trials have consumed */
};

/* Fills one for each of @count jobs, read together: with a page of jobs of many trials each nothing else counts. What
 * cannot be read is logged, and left out. NULL: none of them tunes. The caller frees. */
struct trials_reported *trials_render(const struct call *call, const struct job *jobs, size_t count);
void trials_reported_free(struct trials_reported *reported, size_t count);

/* What the trials of a tuning job have consumed by @now_us: each costs what a job of its tier would. */
double trials_ml_units(const struct job *job, const struct trial_list *list, int64_t now_us);
