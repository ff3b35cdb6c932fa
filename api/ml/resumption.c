/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/resumption.h"

#include "api/ml/ml.h"
#include "daemon/base/json.h"
#include "scheduler/plan/plan.h"
#include "scheduler/search/earlier_trials.h"
#include "store/jobs/jobs.h"

/* Choice: of a chain of more jobs, the oldest are ignored. */
enum { JOBS_MAX = 100 };

static enum status refuse(struct error *err, const char *job_id, const char *why)
{
	return error_set(err, STATUS_INVALID_ARGUMENT, "hyperparameters.resume_previous_job_id",
			 "The job '%s' cannot be resumed: %s.", job_id, why);
}

static enum status studies_compare(const char *job_id, const struct plan *from, const struct plan *to,
				   struct error *err)
{
	AUTO(study) struct study *before = NULL;
	AUTO(study) struct study *after = NULL;
	struct error cause AUTO_ERROR = { 0 };
	enum status rc = study_from_json(from->search, &before, err);

	if (!rc)
		rc = study_from_json(to->search, &after, err);
	if (!rc && study_continues(before, after, &cause))
		rc = refuse(err, job_id, cause.text ? cause.text : "it has another study");
	return rc;
}

static enum status job_check(const struct job *job, const struct plan *from, const struct plan *plan,
			     struct error *err)
{
	if (!plan_tunes(from))
		return refuse(err, job->job_id, "it is not a hyperparameter tuning job");
	if (!job_state_is_final(job->state))
		return refuse(err, job->job_id, "it has not ended yet");
	return studies_compare(job->job_id, from, plan, err);
}

static void jobs_note(const struct job *job, const struct plan *from, struct plan *plan)
{
	plan->resumed_jobs = from->resumed_jobs ? json_copy(from->resumed_jobs) : json_array();
	json_array_append_new(plan->resumed_jobs, json_string(job->job_id));
	while (json_array_size(plan->resumed_jobs) > JOBS_MAX)
		json_array_remove(plan->resumed_jobs, 0);
}

enum status resumption_fill(const struct ml_context *context, const char *job_id, struct plan *plan,
			    struct error *err)
{
	AUTO(job) struct job *job = NULL;
	AUTO(plan) struct plan *from = NULL;
	struct error cause AUTO_ERROR = { 0 };
	enum status rc = job_get(context->training.store, plan->project, job_id, &job, &cause);

	if (rc == STATUS_NOT_FOUND)
		return refuse(err, job_id, "the project has no job of that name");
	if (rc)
		return error_move(err, &cause);
	rc = plan_from_text(job->plan, &from, err);
	if (!rc)
		rc = job_check(job, from, plan, err);
	if (!rc)
		jobs_note(job, from, plan);
	return rc;
}
