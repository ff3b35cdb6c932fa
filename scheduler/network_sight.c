/* SPDX-License-Identifier: Apache-2.0 */
/* Which job is on which network, from what the engine said of them. */
#include "scheduler/assignment.h"
#include "scheduler/scheduler_state.h"

static unsigned network_turn(const struct job_run *run)
{
	return run->assignment ? run->assignment->network_turn : 0;
}

/* The job that is on the network that was made for @network, or was the last to be. NULL: none that is not over, or it is
 * known to have left it: it must not leave it once more, when it is spare or others are on it. */
static struct job_run *network_holder(const struct scheduler *scheduler, int64_t network)
{
	struct job_run *holder = NULL;

	for (size_t i = 0; i < scheduler->run_count; i++) {
		struct job_run *run = scheduler->runs[i];

		if (!run->has_left_network && job_run_network(run) == network &&
		    (!holder || network_turn(run) > network_turn(holder)))
			holder = run;
	}
	return holder;
}

void networks_find(struct scheduler *scheduler, const struct engine_event *listing)
{
	for (size_t i = 0; i < listing->network_count; i++) {
		struct job_run *run = network_holder(scheduler, listing->networks[i].job);

		if (!run || run->sighted)
			continue;
		run->network = NETWORK_READY;
		run->network_status = listing->networks[i];
	}
}

void networks_compare(struct scheduler *scheduler, const struct engine_event *listing)
{
	struct spare_networks *spares = &scheduler->spares;

	spare_networks_compare(spares, listing->networks, listing->network_count);
	for (size_t i = 0; i < listing->network_count; i++)
		if (!network_holder(scheduler, listing->networks[i].job) &&
		    !spare_networks_have(spares, listing->networks[i].job))
			spare_network_remove(spares, scheduler->reconciler.engine, listing->networks[i].job);
}

/* Addresses that nobody uses are given back first. */
static bool network_may_come(struct scheduler *scheduler, enum status status)
{
	return status == STATUS_UNAVAILABLE ||
	       (status == STATUS_RESOURCE_EXHAUSTED &&
		spare_networks_release(&scheduler->spares, scheduler->reconciler.engine));
}

void network_update(struct scheduler *scheduler, const struct engine_event *event)
{
	struct job_run *run = network_holder(scheduler, event->job);

	if (event->kind == ENGINE_NETWORK_REMOVED)
		spare_network_removed(&scheduler->spares);
	if (!run || run->network != NETWORK_CREATING)
		return;
	run->dirty = true;
	if (event->kind == ENGINE_NETWORK_READY) {
		run->network = NETWORK_READY;
		run->network_status = event->networks[0];
	} else if (event->kind == ENGINE_NETWORK_FAILED) {
		run->network = NETWORK_NONE;
		if (network_may_come(scheduler, event->status))
			sight_hold(scheduler, run);
		else if (run->replica_count)
			replica_refuse(&run->replicas[0], refusal_kind(event->status), event->text);
	}
}
