/* SPDX-License-Identifier: Apache-2.0 */
/* Cancels a job whose time is up: maxWaitTime before it ran, maxRunningTime since it ran. */
#include "scheduler/steps.h"

#include <stdio.h>

int64_t job_deadline_us(const struct job_run *run, int64_t wall_us, int64_t mono_us)
{
	int64_t from = run->row->running_us ? run->row->running_us : run->row->created_us;
	int64_t limit = !run->plan             ? 0
			: run->row->running_us ? run->plan->max_running_us
					       : run->plan->max_wait_us;

	return limit ? mono_us + (from + limit - wall_us) : INT64_MAX;
}

void step_expire(struct reconciler *reconciler, struct job_run *run)
{
	struct planned_change *planned = pass_add(reconciler->pass, run, JOB_CANCELLING);
	bool ran = run->row->running_us != 0;
	int64_t limit_us = ran ? run->plan->max_running_us : run->plan->max_wait_us;

	if (!planned)
		return;
	planned->change.decides = true;
	planned->change.verdict = JOB_CANCELLED;
	if (asprintf(&planned->verdict_message,
		     "The job was cancelled because it %s longer than its %s of %.15gs.",
		     ran ? "ran" : "waited", ran ? "maxRunningTime" : "maxWaitTime",
		     (double)limit_us / 1e6) < 0)
		planned->verdict_message = NULL;
}
