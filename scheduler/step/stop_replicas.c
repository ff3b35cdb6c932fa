/* SPDX-License-Identifier: Apache-2.0 */
/* Stops what still runs of a job whose end is decided. */
#include "scheduler/steps.h"

/* Choice: after the master has ended nobody waits for the others; a cancelled job gets its full grace. */
enum { GRACE_AFTER_END_S = 5 };

bool replica_is_stoppable(const struct replica_run *replica)
{
	return (replica->seen == SEEN_RUNNING || replica->seen == SEEN_STARTING) && !replica->stop_asked;
}

void step_stop(struct reconciler *reconciler, struct job_run *run)
{
	unsigned grace_s = reconciler->stop_grace_s;

	if (run->row->verdict != JOB_CANCELLED && grace_s > GRACE_AFTER_END_S)
		grace_s = GRACE_AFTER_END_S;
	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];

		if (!replica_is_stoppable(replica))
			continue;
		replica->stop_asked = true;
		reconciler->engine->ops->stop_replica(reconciler->engine, &replica->key, grace_s);
	}
}
