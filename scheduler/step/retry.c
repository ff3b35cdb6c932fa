/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing of the last attempt is left: the whole job begins again, under the same names. */
#include "scheduler/steps.h"

/* Whether the engine is to blame. One that stops still takes requests for a while: what is started in it then is
 * killed as well. */
static bool was_lost(const struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++)
		if ((run->replicas[i].end == END_LOST && !run->replicas[i].ordered) ||
		    run->replicas[i].end == END_BROKEN)
			return true;
	return false;
}

void step_retry(struct reconciler *reconciler, struct job_run *run)
{
	struct planned_change *planned = pass_add(reconciler->pass, run, JOB_PREPARING);
	int64_t pause_us = (int64_t)reconciler->retry_pause_ms * 1000 << (run->row->attempt - 1);

	if (!planned)
		return;
	planned->change.retries = true;
	if (was_lost(run))
		job_run_hold(run, clock_mono_us(reconciler->clock) + pause_us);
}
