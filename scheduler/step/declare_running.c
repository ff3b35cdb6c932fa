/* SPDX-License-Identifier: Apache-2.0 */
/* All replicas are up: the job is RUNNING. */
#include "scheduler/steps.h"

#include "store/logs/logs.h"

struct planned_change *running_declare(struct reconciler *reconciler, struct job_run *run)
{
	struct planned_change *planned = start_announce(reconciler, run, JOB_RUNNING);

	if (!planned)
		return NULL;
	if (!run->row->running_us)
		planned->change.running_us = clock_wall_us(reconciler->clock);
	job_run_say(run, SEVERITY_INFO, "Job is running.");
	return planned;
}

void step_declare_running(struct reconciler *reconciler, struct job_run *run)
{
	running_declare(reconciler, run);
}
