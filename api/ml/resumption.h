/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/resumption.h: the earlier tuning jobs that a tuning job resumes. */
#include "daemon/base/error.h"

struct ml_context;
struct plan;

/* Sets plan->resumed_jobs to @job_id, preceded by the jobs that it resumed itself.
 * INVALID_ARGUMENT, of the field hyperparameters.resume_previous_job_id: the project has no such job, or the job is
 * not a tuning job, has not ended, or has other parameters or another metric. */
enum status resumption_fill(const struct ml_context *context, const char *job_id, struct plan *plan,
			    struct error *err);
