/* SPDX-License-Identifier: Apache-2.0 */
/* api/emulator/jobs_find.c: finds the job that a call names. */
#include <inttypes.h>
#include <string.h>

#include "api/emulator/jobs.h"
#include "api/training/context.h"
#include "store/jobs/summaries.h"
#include "store/jobs/trials.h"

const char *jobs_project(const struct call *call)
{
	const struct jobs_context *context = call->context;
	const char *project = call_query(call, "project");

	if (!project || !*project)
		return NULL;
	return context->training->project_number && strcmp(project, context->training->project_number) == 0
		       ? context->training->project_id
		       : project;
}

/* For a full resource name its last part is the reference: ids of resources are random, and unique. */
enum status jobs_find(const struct call *call, struct summary_list *ret_one, struct error *err)
{
	const struct jobs_context *context = call->context;
	const char *reference = call_param(call, "job"), *last = strrchr(reference, '/');
	const char *project = jobs_project(call);

	return summary_find(context->store, project, last ? last + 1 : reference, ret_one, err);
}

enum status jobs_trial_find(struct store *store, int64_t trial, struct job **job, struct error *err)
{
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	enum status rc = trial_list_read(store, (*job)->id, &list, err);

	if (rc)
		return rc;
	if (!trial)
		return error_set(
			err, STATUS_INVALID_ARGUMENT, "trial",
			"the replicas of a tuning job belong to its trials: name a trial by its number");
	if (trial < 1 || (size_t)trial > list.count)
		return error_set(err, STATUS_NOT_FOUND, "trial",
				 "the job has no trial %" PRId64 ": so far it has started %zu", trial,
				 list.count);
	job_free(TAKE(*job));
	return job_get_by_id(store, list.trials[trial - 1].run, job, err);
}
