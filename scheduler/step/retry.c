/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing of the last attempt is left: the whole job begins again, under the same names. */
#include "scheduler/steps.h"

void step_retry(struct reconciler *reconciler, struct job_run *run)
{
	struct planned_change *planned = pass_add(reconciler->pass, run, JOB_PREPARING);

	if (planned)
		planned->change.retries = true;
}
