/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/ml/builtin.h"
#include "api/ml/cluster.h"
#include "api/ml/job_units.h"
#include "api/ml/ml.h"
#include "api/ml/resumption.h"
#include "api/ml/to_plan.h"
#include "api/training/quota.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "store/jobs/jobs.h"
#include "store/logs/logs.h"

static enum status plan_make(const struct call *call, struct plan **ret_plan, struct error *err)
{
	const struct ml_context *context = call->context;
	const json_t *input = json_object_get(call->body, "trainingInput");
	const char *resumed = json_text_at(json_object_get(input, "hyperparameters"), "resumePreviousJobId");
	char cluster_id[CLUSTER_ID_SIZE];
	AUTO(plan) struct plan *plan = NULL;
	enum status rc;

	training_cluster_id_draw(cluster_id);
	rc = job_to_plan(training_project(call), call->body, cluster_id, &context->settings, &plan, err);
	if (!rc && resumed)
		rc = resumption_fill(context, resumed, plan, err);
	if (!rc)
		rc = training_environment_check(plan, NULL, err);
	if (rc)
		return rc;
	*ret_plan = TAKE(plan);
	return STATUS_OK;
}

/* Checks the request against the quota of accelerators, Cloud TPUs included. */
static enum status quota_check(const struct call *call, struct error *err)
{
	const struct ml_context *context = call->context;
	const json_t *input = json_object_get(call->body, "trainingInput");
	struct quota_request request = { 0 };

	if (!context->training.quota)
		return STATUS_OK;
	for (int role = 0; role < ROLE_COUNT; role++) {
		struct role_accelerators each;
		struct role_request members;

		input_role(input, (enum role)role, &members);
		input_accelerators(input, (enum role)role, &each);
		if (each.count > 0)
			quota_request_add(&request, each.type,
					  (uint64_t)each.count * (uint64_t)members.count);
	}
	return quota_check_request(context->training.quota, &request, training_project(call), err);
}

enum status job_prepare(const struct call *call, struct plan **ret_plan, struct error *err)
{
	const struct ml_context *context = call->context;
	enum status rc = training_project_check(call, "parent", err);

	if (!rc)
		rc = job_rules_check(call->body, &context->settings, err);
	return rc ? rc : plan_make(call, ret_plan, err);
}

enum status job_possible(const struct call *call, const struct plan *plan, struct error *err)
{
	enum shortage shortage;
	enum status rc = quota_check(call, err);

	return rc ? rc : training_host_check(call->context, plan, &shortage, err);
}

/* Stores the job with the first lines of its log. */
static enum status insert(const struct ml_context *context, const struct job *job, struct job **ret_stored,
			  struct error *err)
{
	AUTO(string) char *queued = memory_printf("Job %s is queued.", job->job_id);

	return job_insert(context->training.store, job,
			  (const struct service_line[]){
				  { SEVERITY_INFO, "Validating job requirements..." },
				  { SEVERITY_INFO, "Job creation request has been successfully validated." },
				  { SEVERITY_INFO, queued },
			  },
			  3, ret_stored, err);
}

enum status job_create_handle(struct call *call, struct error *err)
{
	const struct ml_context *context = call->context;
	const json_t *input = json_object_get(call->body, "trainingInput");
	const json_t *labels = json_object_get(call->body, "labels");
	AUTO(plan) struct plan *plan = NULL;
	AUTO(job) struct job *stored = NULL;
	AUTO(string) char *input_text = NULL;
	AUTO(string) char *labels_text = NULL;
	AUTO(string) char *plan_text = NULL;
	AUTO(string) char *output_text = NULL;
	const char *image;
	enum status rc = job_prepare(call, &plan, err);

	/* Quotas are checked after all that is wrong with the request itself, and before the store finds that the
	 * job id exists already. */
	if (!rc)
		rc = training_count(call, QUOTA_CREATE, err);
	if (!rc)
		rc = job_possible(call, plan, err);
	if (!rc)
		rc = training_storage_use(&context->training, plan, err);
	if (rc)
		return rc;
	input_text = json_dump_compact(input);
	labels_text = labels ? json_dump_compact(labels) : NULL;
	plan_text = plan_to_text(plan);
	image = input_image(input, ROLE_MASTER);
	output_text = builtin_output_new(image);
	rc = insert(context,
		    &(struct job){
			    .project = plan->project,
			    .job_id = plan->job_id,
			    .priority = plan->priority,
			    .labels = labels_text,
			    .input = input_text,
			    .output = output_text,
			    .plan = plan_text,
			    .ml_units_per_hour = job_ml_units_per_hour(plan, input),
			    .web_access = json_true_at(input, "enableWebAccess"),
			    .traits = (plan_tunes(plan) ? JOB_TRAIT_SEARCH : 0) |
				      (image && builtin_image(image) ? JOB_TRAIT_BUILT_IN : 0),
			    .replica_count = plan_replica_count(plan),
			    .gpu_count = plan_accelerator_count(plan),
			    .max_wait_us = plan->max_wait_us,
		    },
		    &stored, err);
	if (rc)
		return rc;
	job_render(call, stored);
	return STATUS_OK;
}
