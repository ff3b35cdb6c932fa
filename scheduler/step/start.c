/* SPDX-License-Identifier: Apache-2.0 */
/* Starts every created replica, side by side. */
#include "scheduler/steps.h"

#include "store/logs.h"

void step_start(struct reconciler *reconciler, struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++) {
		if (run->replicas[i].seen != SEEN_CREATED)
			continue;
		run->replicas[i].seen = SEEN_STARTING;
		reconciler->engine->ops->start_replica(reconciler->engine, &run->replicas[i].key);
	}
	if (!run->told_start)
		job_run_say(run, SEVERITY_INFO, "Waiting for training program to start.");
	run->told_start = true;
}
