/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/job_units.h"

#include "api/ml/cluster.h"
#include "scheduler/plan/ml_units.h"
#include "store/jobs/jobs.h"

static double tpu_units_per_hour(const json_t *input)
{
	struct role_request workers;
	struct role_accelerators each;

	input_role(input, ROLE_WORKER, &workers);
	input_accelerators(input, ROLE_WORKER, &each);
	if (each.count > INT32_MAX)
		return 0;
	return accelerator_ml_units_per_hour(each.type, (unsigned)each.count) * (double)workers.count;
}

double job_ml_units_per_hour(const struct plan *plan, const json_t *input)
{
	return plan_ml_units_per_hour(plan) + (input_has_tpu(input) ? tpu_units_per_hour(input) : 0);
}

double job_ml_units(const struct job *job, int64_t now_us)
{
	if (!job->running_us)
		return 0;
	return ml_units_consumed(job->ml_units_per_hour,
				 (job->ended_us ? job->ended_us : now_us) - job->running_us);
}
