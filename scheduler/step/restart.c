/* SPDX-License-Identifier: Apache-2.0 */
/* Starts replicas that were lost anew, under the same names, while the others go on: what the service does when
 * it moves a machine. Their containers and all they wrote must be gone first. */
#include "scheduler/steps.h"

#include <stdlib.h>

#include "daemon/base/log.h"
#include "scheduler/dialect.h"
#include "store/logs.h"

bool replica_is_replaceable(const struct replica_run *replica)
{
	return replica->seen == SEEN_NOTHING && !replica_is_unread(replica);
}

static void replica_renew(struct job_run *run, struct replica_run *replica)
{
	struct replica_key key = replica->key;
	char name[REPLICA_NAME_MAX];

	key.restart++;
	replica_sentence_name(run->plan, key.role, key.index, name);
	job_run_say(run, SEVERITY_WARNING, "The replica %s was lost and is restarted (%u of %d times).", name,
		    key.restart, REPLICA_RESTARTS_MAX);
	log_event(LOG_INFO, "replica-restarted", "project=%s job=%s replica=%s-%u restart=%u",
		  run->row->project, run->row->job_id, role_name(key.role), key.index, key.restart);
	free(replica->refusal);
	*replica = (struct replica_run){ .key = key };
}

void step_restart(struct reconciler *reconciler, struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];

		if (!job_run_restarts(run, replica))
			continue;
		if (replica_is_replaceable(replica)) {
			replica_renew(run, replica);
		} else if (replica_is_removable(replica)) {
			replica->remove_asked = true;
			reconciler->engine->ops->remove_replica(reconciler->engine, &replica->key);
		}
	}
}
