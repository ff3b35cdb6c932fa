/* SPDX-License-Identifier: Apache-2.0 */
/* Removes containers from which nothing more is wanted. */
#include "scheduler/steps.h"

bool replica_is_removable(const struct replica_run *replica)
{
	if (replica->remove_asked)
		return false;
	return replica->seen == SEEN_CREATED || (replica->seen == SEEN_EXITED && !replica_is_unread(replica));
}

void step_remove(struct reconciler *reconciler, struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++) {
		if (!replica_is_removable(&run->replicas[i]))
			continue;
		run->replicas[i].remove_asked = true;
		reconciler->engine->ops->remove_replica(reconciler->engine, &run->replicas[i].key);
	}
}
