/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/trial_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "scheduler/plan/plan.h"
#include "scheduler/plan/trial_plan.h"
#include "store/jobs/jobs.h"
#include "store/jobs/resources.h"

/* Makes the trial's job a resource with an id of its own, which its programs get. Its log also has the tuning job's id. */
static void resource_fill(const struct job *owner, unsigned number, struct plan *plan, struct job *run)
{
	char id[RESOURCE_ID_SIZE];

	resource_id_draw(RANDOM_TRIAL, id);
	free(plan->tuning_job_id);
	plan->tuning_job_id = plan->job_id;
	plan->job_id = memory_strdup(id);
	run->kind = KIND_CUSTOM;
	run->location = memory_strdup(owner->location);
	run->job_id = memory_strdup(id);
	/* Choice: the service's own display names for such jobs are unknown. */
	run->display_name = memory_printf("%s-trial-%u", owner->display_name, number);
}

struct job trial_job_make(const struct job *owner, const struct plan *plan, const struct study *study,
			  unsigned number, const double *values)
{
	AUTO(plan) struct plan *own = trial_plan_make(plan, study, number, values);
	struct job run = { .priority = owner->priority,
			   .ml_units_per_hour = owner->ml_units_per_hour,
			   .web_access = owner->web_access,
			   .parent = owner->id,
			   .trial = number };

	if (owner->kind == KIND_TUNING)
		resource_fill(owner, number, own, &run);
	else
		run.job_id = memory_printf("%s.%u", owner->job_id, number);
	run.project = memory_strdup(owner->project);
	run.input = memory_strdup("{}");
	run.plan = plan_to_text(own);
	return run;
}
