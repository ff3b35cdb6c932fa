/* SPDX-License-Identifier: Apache-2.0 */
/* No program of the job runs any more: its network is for the next one, or goes. The end does not wait for that. */
#include "scheduler/spare_network.h"
#include "scheduler/steps.h"

void step_leave(struct reconciler *reconciler, struct job_run *run)
{
	gateway_leave(reconciler, run);
	spare_network_leave(reconciler->spares, reconciler->engine, run, clock_mono_us(reconciler->clock));
}
