/* SPDX-License-Identifier: Apache-2.0 */
/* Removes the job's network, after what stands on it. */
#include "scheduler/steps.h"

void step_clear(struct reconciler *reconciler, struct job_run *run)
{
	gateway_leave(reconciler, run);
	run->network = NETWORK_REMOVING;
	reconciler->engine->ops->remove_network(reconciler->engine, run->row->id);
}
