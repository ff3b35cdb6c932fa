/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_curves.h: what trials have reported. Thread: the scheduler's. */
#include <stdint.h>

#include "daemon/base/error.h"

struct job_run;
struct look;
struct reconciler;
struct stored_trial;
struct tuner;

/* What stored curves say, for a tuner that looks for the first time. */
enum status curves_load(struct tuner *tuner, const struct reconciler *reconciler, const struct job_run *run,
			struct error *err);
/* The trial's own. */
struct trial_metrics *curve_of(struct look *look, const struct stored_trial *stored);
/* The trial has ended and its curve is stored: only what others may be compared with stays. */
void curve_finish(struct tuner *tuner, const struct reconciler *reconciler, unsigned number, int64_t run);
/* Reads what trials under way have reported, and stores it. */
enum status curves_read(struct look *look, struct error *err);
