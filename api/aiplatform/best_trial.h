/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/best_trial.h: the trial of a tuning job that did best. Thread: any. */
#include "daemon/base/error.h"

struct call;
struct job;

/* The job that runs the best trial of @tuning; *ret_run stays NULL when no trial measured anything. The caller owns it.
 * Choice: of several metrics the first one counts; of equal trials the first one. */
enum status best_trial_find(const struct call *call, const struct job *tuning, struct job **ret_run,
			    struct error *err);
