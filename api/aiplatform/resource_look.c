/* SPDX-License-Identifier: Apache-2.0 */
/* The emulator's own reports about jobs: what would run, and how an existing job deviates from the cloud. */
#include <string.h>

#include "api/aiplatform/aiplatform.h"
#include "api/training/job_name.h"
#include "api/training/plan_answer.h"
#include "api/training/report.h"
#include "api/training/study_answer.h"
#include "daemon/base/json.h"

/* Returns the path of the field that sets the machine or the accelerator of a pool. Without an acceleratorType, the
 * machine type implies the accelerator. The path begins with trialJobSpec for a tuning job, and with jobSpec for every
 * other job, including that of a trial. */
static json_t *pool_field(const json_t *input, enum role role, const char *member)
{
	const char *root = json_object_get(input, "trialJobSpec") ? "trialJobSpec" : "jobSpec";
	const json_t *pools = json_object_get(json_object_get(input, root), "workerPoolSpecs");
	const json_t *machine = json_object_get(json_array_get(pools, role), "machineSpec");
	const bool accelerator = strncmp(member, "accelerator", strlen("accelerator")) == 0 &&
				 json_object_get(machine, "acceleratorType");

	return json_sprintf("%s.workerPoolSpecs[%d].machineSpec.%s", root, role,
			    accelerator ? "acceleratorType" : "machineType");
}

static enum status plan_report(struct call *call, const struct resource_methods *methods, const json_t *body,
			       struct error *err)
{
	const struct training_context *context = call->context;
	AUTO(plan) struct plan *plan = NULL;
	struct text name AUTO_TEXT = { 0 };
	enum status rc = resource_plan(call, methods, body, &plan, err);

	if (!rc)
		rc = plan_possible(call, plan, err);
	if (rc)
		return rc;
	resource_name_write(context, plan->project, plan->region, resource_collection(methods->kind),
			    plan->job_id, &name);
	return plan_answer(
		call, plan,
		&(struct plan_report){
			.name = name.data, .name_drawn = true, .input = body, .namer = pool_field },
		err);
}

enum status resource_plan_handle(struct call *call, struct error *err)
{
	const struct resource_methods *methods = call->route->methods;
	const struct aiplatform_context *context = call->context;
	enum status rc = resource_parent_check(call, err);

	if (!rc)
		rc = methods->check(call->body, &context->settings, err);
	return rc ? rc : plan_report(call, methods, call->body, err);
}

enum status pipeline_plan_handle(struct call *call, struct error *err)
{
	const struct aiplatform_context *context = call->context;
	AUTO(json) json_t *job = NULL;
	bool tunes = false;
	enum status rc = resource_parent_check(call, err);

	if (!rc)
		rc = pipeline_rules_check(call->body, &context->settings, &job, &tunes, err);
	return rc ? rc : plan_report(call, tunes ? &tuning_job_methods : &custom_job_methods, job, err);
}

enum status resource_report_handle(struct call *call, struct error *err)
{
	const struct resource_methods *methods = call->route->methods;
	const struct training_context *context = call->context;
	const struct resource resource = resource_of_call(call, methods->kind, methods->param);
	AUTO(job) struct job *job = NULL;
	AUTO(plan) struct plan *plan = NULL;
	AUTO(json) json_t *report = NULL;
	enum status rc = resource_get(context->store, &resource, &job, err);

	if (!rc)
		rc = plan_from_text(job->plan, &plan, err);
	if (!rc)
		rc = report_make(call, job, plan, pool_field, &report, err);
	if (!rc)
		json_write(&call->answer, report);
	return rc;
}

enum status tuning_job_study_handle(struct call *call, struct error *err)
{
	const struct training_context *context = call->context;
	const struct resource resource = resource_of_call(call, KIND_TUNING, tuning_job_methods.param);
	AUTO(job) struct job *job = NULL;
	struct text name AUTO_TEXT = { 0 };
	enum status rc = resource_get(context->store, &resource, &job, err);

	if (rc)
		return rc;
	job_name_write(context, job, &name);
	return study_answer(call, job, name.data, err);
}
