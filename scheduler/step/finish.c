/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing of the job is left in the engine and all of its log can be read: its final state. */
#include "scheduler/steps.h"

#include "daemon/base/log.h"

void step_finish(struct reconciler *reconciler, struct job_run *run)
{
	struct planned_change *planned = pass_add(reconciler->pass, run, run->row->verdict);

	if (!planned)
		return;
	/* What was waited for since was the engine's clearing; a trial that follows may have begun meanwhile. */
	planned->change.ended_us = run->over_us ? run->over_us : clock_wall_us(reconciler->clock);
	log_event(LOG_INFO, "job-ended", "project=%s job=%s state=%s", run->row->project, run->row->job_id,
		  job_state_name(run->row->verdict));
}
