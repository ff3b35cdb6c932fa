/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_curves.h: the measurements that trials have reported over time. Thread: the scheduler's. */
#include <stdint.h>

#include "daemon/base/error.h"

struct job_run;
struct look;
struct reconciler;
struct stored_trial;
struct tuner;

/* Loads the stored curves, for the first look. */
enum status curves_load(struct tuner *tuner, const struct reconciler *reconciler, const struct job_run *run,
			struct error *err);
/* Returns the reports of a trial; makes an empty struct if there are none yet. */
struct trial_metrics *curve_of(struct look *look, const struct stored_trial *stored);
/* To be called when the trial has ended and its curve is stored: keeps only what other trials are compared with. */
void curve_finish(struct tuner *tuner, const struct reconciler *reconciler, unsigned number, int64_t run);
/* Reads the reports of running trials, and stores them. */
enum status curves_read(struct look *look, struct error *err);
