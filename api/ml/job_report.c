/* SPDX-License-Identifier: Apache-2.0 */
/* What a job's replicas are here and how that differs from the cloud: what no field of the Job could say. */
#include "api/ml/job_units.h"
#include "api/ml/ml.h"
#include "api/ml/replica_json.h"
#include "api/ml/trials_render.h"
#include "api/training/fault_differences.h"
#include "daemon/base/json.h"
#include "scheduler/admission.h"
#include "store/jobs.h"
#include "store/trials.h"

/* Choice: trials whose replicas are told. */
enum { TRIALS_TOLD_MAX = 100 };

static json_t *replicas_json(const struct plan *plan, const struct assignment *assignment)
{
	AUTO(json) json_t *list = json_array();

	for (int role = 0; role < ROLE_COUNT; role++)
		for (unsigned i = 0; i < plan->pools[role].count; i++)
			if (json_array_append_new(list, replica_json(plan, assignment, (enum role)role, i)))
				return NULL;
	return TAKE(list);
}

/* Of one trial: its replicas, and how it stands. */
static enum status trial_json(struct store *store, const struct stored_trial *trial, json_t **ret_object,
			      struct error *err)
{
	AUTO(job) struct job *run = NULL;
	AUTO(plan) struct plan *plan = NULL;
	AUTO(assignment) struct assignment *assignment = NULL;
	AUTO(json) json_t *replicas = NULL;
	enum status rc = job_get_by_id(store, trial->run, &run, err);

	if (!rc)
		rc = plan_from_text(run->plan, &plan, err);
	if (!rc && run->assignment)
		rc = assignment_from_text(run->assignment, &assignment, err);
	if (rc)
		return rc;
	replicas = replicas_json(plan, assignment);
	*ret_object = replicas ? json_pack("{s:i, s:s, s:I, s:O}", "trialId", (int)trial->number, "state",
					   job_state_name(run->state), "attempt", (json_int_t)run->attempt,
					   "replicas", replicas)
			       : NULL;
	return *ret_object ? STATUS_OK : error_no_memory(err);
}

/* A tuning job has no replicas of its own: its trials' are told, the newest first, and no more than some. */
static enum status trials_add(const struct ml_context *context, const struct job *job, json_t *report,
			      struct error *err)
{
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	AUTO(json) json_t *trials = json_array();
	enum status rc = trial_list_read(context->training.store, job->id, &list, err);

	for (size_t i = list.count; !rc && i > 0 && json_array_size(trials) < TRIALS_TOLD_MAX; i--) {
		json_t *object = NULL;

		rc = trial_json(context->training.store, &list.trials[i - 1], &object, err);
		if (!rc && json_array_append_new(trials, object))
			rc = error_no_memory(err);
	}
	if (rc)
		return rc;
	if (json_object_del(report, "replicas") || json_object_set(report, "trials", trials) ||
	    json_object_set_new(report, "trialCount", json_integer((json_int_t)list.count)) ||
	    json_object_set_new(
		    report, "consumedMLUnits",
		    json_real(trials_ml_units(job, &list, clock_wall_us(context->training.clock)))))
		return error_no_memory(err);
	return STATUS_OK;
}

static enum status report_write(struct call *call, const struct job *job, const struct plan *plan,
				const struct assignment *assignment, const json_t *input, struct error *err)
{
	const struct ml_context *context = call->context;
	AUTO(json) json_t *differences = differences_json(plan, assignment, input);
	AUTO(json) json_t *replicas = replicas_json(plan, assignment);
	AUTO(json) json_t *name = json_sprintf("projects/%s/jobs/%s", job->project, job->job_id);
	AUTO(json) json_t *report = NULL;
	enum status rc;

	if (name && differences && replicas)
		report = json_pack("{s:O, s:s, s:I, s:O, s:O, s:f}", "name", name, "state",
				   job_state_name(job->state), "attempt", (json_int_t)job->attempt,
				   "differences", differences, "replicas", replicas, "consumedMLUnits",
				   job_ml_units(job, clock_wall_us(context->training.clock)));
	if (!report)
		return error_no_memory(err);
	rc = fault_differences_add(context->training.store, job->id, differences, err);
	if (!rc && plan_tunes(plan))
		rc = trials_add(context, job, report, err);
	if (!rc)
		json_write(&call->answer, report);
	return rc;
}

/* A job that was not let in yet has no limits, no devices, and the differences of its request alone. */
enum status job_report_handle(struct call *call, struct error *err)
{
	const struct ml_context *context = call->context;
	AUTO(job) struct job *job = NULL;
	AUTO(plan) struct plan *plan = NULL;
	AUTO(assignment) struct assignment *assignment = NULL;
	AUTO(json) json_t *input = NULL;
	enum status rc =
		job_get(context->training.store, training_project(call), call_param(call, "job"), &job, err);

	if (!rc)
		rc = plan_from_text(job->plan, &plan, err);
	if (!rc)
		rc = json_parse_own(job->input, &input, err);
	if (!rc && job->assignment)
		rc = assignment_from_text(job->assignment, &assignment, err);
	return rc ? rc : report_write(call, job, plan, assignment, input, err);
}
