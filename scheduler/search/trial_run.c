/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/trial_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/plan/plan.h"
#include "scheduler/plan/trial_plan.h"
#include "store/jobs/jobs.h"
#include "store/jobs/resources.h"

/* Programs are told their own job's id; their log goes by the tuning job's too. */
static bool resource_fill(const struct job *owner, unsigned number, struct plan *plan, struct job *run)
{
	char id[RESOURCE_ID_SIZE];

	resource_id_draw(CHANCE_TRIAL, id);
	free(plan->tuning_job_id);
	plan->tuning_job_id = plan->job_id;
	plan->job_id = strdup(id);
	run->kind = KIND_CUSTOM;
	run->location = strdup(owner->location);
	run->job_id = strdup(id);
	/* Choice: how the service calls them is not known. */
	if (asprintf(&run->display_name, "%s-trial-%u", owner->display_name, number) < 0)
		run->display_name = NULL;
	return plan->job_id && run->location && run->job_id && run->display_name;
}

static bool hidden_fill(const struct job *owner, unsigned number, struct job *run)
{
	if (asprintf(&run->job_id, "%s.%u", owner->job_id, number) < 0)
		run->job_id = NULL;
	return run->job_id;
}

static bool texts_fill(const struct job *owner, const struct plan *plan, struct job *run)
{
	run->project = strdup(owner->project);
	run->input = strdup("{}");
	run->plan = plan_to_text(plan);
	return run->project && run->input && run->plan;
}

enum status trial_run_make(const struct job *owner, const struct plan *plan, const struct study *study,
			   unsigned number, const double *values, struct job *ret_run, struct error *err)
{
	AUTO(plan) struct plan *own = NULL;
	struct job run = { .priority = owner->priority,
			   .ml_units_per_hour = owner->ml_units_per_hour,
			   .web_access = owner->web_access,
			   .parent = owner->id,
			   .trial = number };
	enum status rc = trial_plan_make(plan, study, number, values, &own, err);

	if (rc)
		return rc;
	if ((owner->kind == KIND_TUNING ? !resource_fill(owner, number, own, &run)
					: !hidden_fill(owner, number, &run)) ||
	    !texts_fill(owner, own, &run)) {
		job_deinit(&run);
		return error_no_memory(err);
	}
	*ret_run = run;
	return STATUS_OK;
}
