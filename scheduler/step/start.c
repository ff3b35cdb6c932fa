/* SPDX-License-Identifier: Apache-2.0 */
/* Starts every created replica, side by side; the engine starts a few at a time. */
#include "scheduler/steps.h"

#include "scheduler/plan/dialect.h"
#include "store/logs/logs.h"

struct planned_change *start_announce(struct reconciler *reconciler, struct job_run *run, enum job_state to)
{
	struct planned_change *planned;

	if (run->row->announced == run->row->attempt && to == run->row->state)
		return NULL;
	planned = pass_add(reconciler->pass, run, to);
	if (!planned || run->row->announced == run->row->attempt)
		return planned;
	planned->change.announces = true;
	job_run_say_all(run, SEVERITY_INFO, dialect_of(run->plan)->starting);
	return planned;
}

static void role_start(struct reconciler *reconciler, struct job_run *run, enum role role)
{
	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];

		if (replica->key.role != role || replica->seen != SEEN_CREATED)
			continue;
		replica->seen = SEEN_STARTING;
		reconciler->engine->ops->start_replica(reconciler->engine, &replica->key);
	}
}

void step_start(struct reconciler *reconciler, struct job_run *run)
{
	gcs_keep(reconciler, run);
	for (int i = 0; i < ROLE_COUNT; i++)
		role_start(reconciler, run, role_start_order[i]);
	start_announce(reconciler, run, run->row->state);
}
