/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for what replicas need before they can be made: their images and their network. */
#include "scheduler/steps.h"

void step_fetch(struct reconciler *reconciler, struct job_run *run)
{
	struct engine *engine = reconciler->engine;

	if (run->network == NETWORK_NONE) {
		run->network = NETWORK_CREATING;
		engine->ops->create_network(engine, job_run_network(run), (unsigned)run->replica_count);
	}
	for (int role = 0; role < ROLE_COUNT; role++) {
		if (!run->plan->pools[role].count || run->image_asked[role])
			continue;
		run->image_asked[role] = true;
		engine->ops->ensure_image(engine, run->plan->pools[role].image);
	}
}
