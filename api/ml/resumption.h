/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/resumption.h: the earlier tuning jobs that another one learns from. */
#include "daemon/base/error.h"

struct ml_context;
struct plan;

/* Fills plan->resumed_jobs: @job_id, and before it those that it has resumed itself. INVALID_ARGUMENT, of the field
 * hyperparameters.resume_previous_job_id: there is no such job in the project, it does not tune or has not ended, or
 * its parameters or its metric are others. */
enum status resumption_fill(const struct ml_context *context, const char *job_id, struct plan *plan,
			    struct error *err);
