/* SPDX-License-Identifier: Apache-2.0 */
/* What a job's replicas are here and how that differs from the cloud: what no field of the Job could say. */
#include "api/ml/job_units.h"
#include "api/ml/ml.h"
#include "api/ml/replica_json.h"
#include "daemon/base/json.h"
#include "scheduler/admission.h"
#include "store/jobs.h"

static json_t *replicas_json(const struct plan *plan, const struct assignment *assignment)
{
	AUTO(json) json_t *list = json_array();

	for (int role = 0; role < ROLE_COUNT; role++)
		for (unsigned i = 0; i < plan->pools[role].count; i++)
			if (json_array_append_new(list, replica_json(plan, assignment, (enum role)role, i)))
				return NULL;
	return TAKE(list);
}

static enum status report_write(struct call *call, const struct job *job, const struct plan *plan,
				const struct assignment *assignment, const json_t *input, struct error *err)
{
	const struct ml_context *context = call->context;
	AUTO(json) json_t *differences = differences_json(plan, assignment, input);
	AUTO(json) json_t *replicas = replicas_json(plan, assignment);
	AUTO(json) json_t *name = json_sprintf("projects/%s/jobs/%s", job->project, job->job_id);
	AUTO(json) json_t *report = NULL;

	if (name && differences && replicas)
		report = json_pack("{s:O, s:s, s:I, s:O, s:O, s:f}", "name", name, "state",
				   job_state_name(job->state), "attempt", (json_int_t)job->attempt,
				   "differences", differences, "replicas", replicas, "consumedMLUnits",
				   job_ml_units(job, clock_wall_us(context->clock)));
	if (!report)
		return error_no_memory(err);
	json_write(&call->answer, report);
	return STATUS_OK;
}

/* A job that was not let in yet has no limits, no devices, and the differences of its request alone. */
enum status job_report_handle(struct call *call, struct error *err)
{
	const struct ml_context *context = call->context;
	AUTO(job) struct job *job = NULL;
	AUTO(plan) struct plan *plan = NULL;
	AUTO(assignment) struct assignment *assignment = NULL;
	AUTO(json) json_t *input = NULL;
	enum status rc = job_get(context->store, ml_project(call), call_param(call, "job"), &job, err);

	if (!rc)
		rc = plan_from_text(job->plan, &plan, err);
	if (!rc)
		rc = json_parse_own(job->input, &input, err);
	if (!rc && job->assignment)
		rc = assignment_from_text(job->assignment, &assignment, err);
	return rc ? rc : report_write(call, job, plan, assignment, input, err);
}
