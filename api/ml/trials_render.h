/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/trials_render.h: a tuning job's trials, as trainingOutput tells them. */
#include "daemon/base/text.h"

struct call;
struct job;
struct trial_list;

/* Appends the members of trainingOutput that a tuning job has, and tells in *units what its trials have consumed. What
 * cannot be read is logged, and left out. */
void trials_render(const struct call *call, const struct job *job, struct text *text, double *units);
/* What the trials of a tuning job have consumed by @now_us: each costs what a job of its tier would. */
double trials_ml_units(const struct job *job, const struct trial_list *list, int64_t now_us);
