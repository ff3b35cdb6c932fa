/* SPDX-License-Identifier: Apache-2.0 */
/* Starts replicas that were lost anew, under the same names, while the others go on: what the service does when
 * it moves a machine. Their containers and all they wrote must be gone first; nothing is made before the restart is
 * stored and told (restarts.h). */
#include "scheduler/steps.h"

#include "scheduler/plan/dialect.h"
#include "scheduler/restarts.h"
#include "store/logs/logs.h"

bool replica_is_replaceable(const struct replica_run *replica)
{
	return replica->seen == SEEN_NOTHING && !replica_is_unread(replica);
}

static void renewal_tell(struct job_run *run, const struct replica_key *key)
{
	char name[REPLICA_NAME_MAX];

	replica_sentence_name(run->plan, key->role, key->index, name);
	job_run_say(run, SEVERITY_WARNING, "The replica %s was lost and is restarted (%u of %d times).", name,
		    key->restart + 1, REPLICA_RESTARTS_MAX);
}

/* Those that can be replaced now, in one change. */
static void renewals_plan(struct reconciler *reconciler, struct job_run *run)
{
	bool planned = false;

	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];

		if (!job_run_restarts(run, replica) || !replica_is_replaceable(replica))
			continue;
		planned = planned || pass_add(reconciler->pass, run, run->row->state);
		if (!planned)
			return;
		replica->renews = true;
		restarts_change(run);
		renewal_tell(run, &replica->key);
	}
}

void step_restart(struct reconciler *reconciler, struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];

		if (!job_run_restarts(run, replica) || !replica_is_removable(replica))
			continue;
		replica->remove_asked = true;
		reconciler->engine->ops->remove_replica(reconciler->engine, &replica->key);
	}
	renewals_plan(reconciler, run);
}
