/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a job for the store from the body of a create call. */
#include <string.h>

#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/spec_defaults.h"
#include "api/aiplatform/to_plan.h"
#include "api/message/names.h"
#include "api/message/refusal.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "store/logs/logs.h"

/* Checks the programs' environments; the error names the pool's field. Choice: for a pipeline's job, the field is
 * named as if the job had been posted itself. */
static enum status programs_check(const struct resource_methods *methods, const struct plan *plan,
				  struct error *err)
{
	struct error cause AUTO_ERROR = { 0 };
	enum role role = ROLE_MASTER;
	enum status rc = training_environment_check(plan, &role, &cause);
	AUTO(string) char *spec = NULL;
	struct text field AUTO_TEXT = { 0 };

	if (rc != STATUS_INVALID_ARGUMENT || !cause.violation_count)
		return rc ? error_move(err, &cause) : STATUS_OK;
	spec = name_to_snake(methods->spec);
	text_printf(&field, "%s.worker_pool_specs[%d]", spec, role);
	return refusal_add_listed(err, field.data, "%s", cause.violations[0].text);
}

static enum status plan_make(const struct call *call, const struct resource_methods *methods,
			     const json_t *body, const char *job_id, struct plan **ret_plan,
			     struct error *err)
{
	const struct aiplatform_context *context = call->context;
	char number[PROJECT_NUMBER_SIZE], cluster_id[CLUSTER_ID_SIZE];
	AUTO(plan) struct plan *plan = NULL;
	enum status rc;

	training_project_number(call, number);
	training_cluster_id_draw(cluster_id);
	rc = methods->to_plan(body,
			      &(struct plan_names){
				      .project = training_project(call),
				      .project_number = number,
				      .location = call_param(call, "location"),
				      .job_id = job_id,
				      .cluster_id = cluster_id,
			      },
			      &context->settings, &plan, err);
	if (!rc)
		rc = programs_check(methods, plan, err);
	if (!rc)
		*ret_plan = TAKE(plan);
	return rc;
}

/* Source: logs of real jobs */
const struct service_line resource_first_lines[RESOURCE_FIRST_LINES] = {
	{ SEVERITY_INFO, "Waiting for job to be provisioned." },
	{ SEVERITY_INFO,
	  "Vertex AI is provisioning job running framework. First time usage might take couple "
	  "of minutes, and subsequent runs can be much faster." },
};

/* Fills the job that is stored: labels have a column of their own, the rest of the body is the job's input, as
 * answers show it. */
static void draft_fill(const struct call *call, const struct resource_methods *methods, const json_t *body,
		       const struct plan *plan, struct job *ret_draft)
{
	AUTO(json) json_t *given = json_copy((json_t *)body);
	const json_t *labels = json_object_get(body, "labels");
	const json_t *spec = json_object_get(body, methods->spec);
	const char *strategy = json_text_at(json_object_get(spec, "scheduling"), "strategy");
	const bool waits = strategy && strcmp(strategy, "FLEX_START") == 0;

	json_object_del(given, "labels");
	*ret_draft = (struct job){
		.kind = methods->kind,
		.project = memory_strdup(plan->project),
		.location = memory_strdup(call_param(call, "location")),
		.job_id = memory_strdup(plan->job_id),
		.display_name = memory_strdup(json_text_at(body, "displayName")),
		.labels = labels ? json_dump_compact(labels) : NULL,
		.input = json_dump_compact(given),
		.plan = plan_to_text(plan),
		.web_access = json_true_at(spec, "enableWebAccess"),
		.traits = (plan_tunes(plan) ? JOB_TRAIT_SEARCH : 0) | (waits ? JOB_TRAIT_FLEX_START : 0),
		.replica_count = plan_replica_count(plan),
		.gpu_count = plan_accelerator_count(plan),
		.max_wait_us = plan->max_wait_us,
	};
}

enum status resource_plan(const struct call *call, const struct resource_methods *methods, const json_t *body,
			  struct plan **ret_plan, struct error *err)
{
	char job_id[RESOURCE_ID_SIZE];

	resource_id_draw(RANDOM_RESOURCE, job_id);
	return plan_make(call, methods, body, job_id, ret_plan, err);
}

enum status resource_draft(const struct call *call, const struct resource_methods *methods, json_t *body,
			   struct plan **ret_plan, struct job *ret_draft, struct error *err)
{
	const struct aiplatform_context *context = call->context;
	AUTO(plan) struct plan *plan = NULL;
	enum status rc = resource_plan(call, methods, body, &plan, err);

	/* Quotas are checked last, so a request that is wrong in itself is refused for that first. */
	if (!rc)
		rc = training_count(call, QUOTA_RESOURCE_CREATE, err);
	if (!rc)
		rc = plan_possible(call, plan, err);
	if (!rc)
		rc = training_storage_use(&context->training, plan, err);
	if (rc)
		return rc;
	/* Fill in defaults only after the plan was made: the plan reports deviations only for fields that the client
	 * sent. */
	spec_defaults_fill(json_object_get(body, methods->spec));
	draft_fill(call, methods, body, plan, ret_draft);
	*ret_plan = TAKE(plan);
	return STATUS_OK;
}

enum status resource_create_handle(struct call *call, struct error *err)
{
	const struct resource_methods *methods = call->route->methods;
	const struct aiplatform_context *context = call->context;
	struct job draft AUTO_JOB_DRAFT = { 0 };
	AUTO(plan) struct plan *plan = NULL;
	AUTO(job) struct job *stored = NULL;
	enum status rc = resource_parent_check(call, err);

	if (!rc)
		rc = methods->check(call->body, &context->settings, err);
	if (!rc)
		rc = resource_draft(call, methods, call->body, &plan, &draft, err);
	if (!rc)
		rc = job_insert(context->training.store, &draft, resource_first_lines, RESOURCE_FIRST_LINES,
				&stored, err);
	if (!rc)
		methods->render(call, stored, &call->answer);
	return rc;
}
