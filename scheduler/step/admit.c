/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a queued job in: from here on the engine may hold something of it. */
#include "scheduler/steps.h"

#include "store/logs.h"

void step_admit(struct reconciler *reconciler, struct job_run *run)
{
	struct planned_change *planned = pass_add(reconciler->pass, run, JOB_PREPARING);

	if (!planned)
		return;
	planned->change.started_us = clock_wall_us(reconciler->clock);
	job_run_say(run, SEVERITY_INFO, "Waiting for job to be provisioned.");
	job_run_say(run, SEVERITY_INFO, "Job is preparing.");
}
