/* SPDX-License-Identifier: Apache-2.0 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/ml/builtin.h"
#include "api/ml/cluster.h"
#include "api/ml/job_units.h"
#include "api/ml/ml.h"
#include "api/ml/quota.h"
#include "api/ml/resumption.h"
#include "api/ml/to_plan.h"
#include "daemon/base/json.h"
#include "scheduler/admission.h"
#include "scheduler/cluster_spec.h"
#include "store/jobs.h"
#include "store/logs.h"

enum { CLUSTER_ID_BYTES = 5 };

/* What cannot be handed to a program is refused now, not when its container fails. */
static enum status environment_check(const struct plan *plan, struct error *err)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		AUTO(json) json_t *environment = NULL;
		enum status rc;

		if (!plan->pools[role].count)
			continue;
		rc = replica_environment(plan, (enum role)role, 0, &environment, err);
		if (rc)
			return rc;
	}
	return STATUS_OK;
}

static enum status plan_make(const struct call *call, struct plan **ret_plan, struct error *err)
{
	const struct ml_context *context = call->context;
	const json_t *input = json_object_get(call->body, "trainingInput");
	const char *resumed = json_text_at(json_object_get(input, "hyperparameters"), "resumePreviousJobId");
	unsigned char random[CLUSTER_ID_BYTES];
	char cluster_id[CLUSTER_ID_BYTES * 2 + 1];
	AUTO(plan) struct plan *plan = NULL;
	enum status rc;

	randombytes_buf(random, sizeof(random));
	sodium_bin2hex(cluster_id, sizeof(cluster_id), random, sizeof(random));
	rc = job_to_plan(ml_project(call), call->body, cluster_id, &context->settings, &plan, err);
	if (!rc && resumed)
		rc = resumption_fill(context, resumed, plan, err);
	if (!rc)
		rc = environment_check(plan, err);
	if (rc)
		return rc;
	*ret_plan = TAKE(plan);
	return STATUS_OK;
}

/* Against the quota of accelerators, Cloud TPUs included. */
static enum status quota_check(const struct call *call, struct error *err)
{
	const struct ml_context *context = call->context;
	const json_t *input = json_object_get(call->body, "trainingInput");
	struct quota_request request = { 0 };

	if (!context->settings.quota)
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
	return quota_check_request(context->settings.quota, &request, ml_project(call), err);
}

/* The words stay, as those of a quota where the service has one: of GPUs and of a project's vCPUs. Other things of
 * this host have none. */
static enum status refuse_for_good(const char *project, enum shortage shortage, struct error *cause,
				   struct error *err)
{
	const char *text = cause->text ? cause->text : "This host cannot run the job.";

	if (shortage == SHORTAGE_HOST || shortage == SHORTAGE_PROJECT)
		return error_set_quota(err, project, "%s", text);
	return error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL, "%s", text);
}

/* Refused now is what this host could not run if it had nothing else to do; all else waits for its turn. */
static enum status host_check(const struct ml_context *context, const struct plan *plan, struct error *err)
{
	struct room room AUTO_ROOM = { 0 };
	struct room empty = { 0 };
	AUTO(assignment) struct assignment *assignment = NULL;
	struct error cause AUTO_ERROR = { 0 };
	enum shortage shortage = SHORTAGE_NONE;
	enum status rc = STATUS_UNAVAILABLE;

	if (context->room)
		rc = context->room(context->room_arg, plan->project, &room, &cause);
	if (!rc) {
		empty.capacity = room.capacity; /* borrowed */
		rc = admission_place(plan, &empty, &assignment, &shortage, &cause);
	}
	if (rc == STATUS_FAILED_PRECONDITION)
		return refuse_for_good(plan->project, shortage, &cause, err);
	return rc == STATUS_INTERNAL ? error_move(err, &cause) : STATUS_OK;
}

enum status job_prepare(const struct call *call, struct plan **ret_plan, struct error *err)
{
	const struct ml_context *context = call->context;
	enum status rc = ml_project_check(call, "parent", err);

	if (!rc)
		rc = job_rules_check(call->body, &context->settings, err);
	return rc ? rc : plan_make(call, ret_plan, err);
}

enum status job_possible(const struct call *call, const struct plan *plan, struct error *err)
{
	enum status rc = quota_check(call, err);

	return rc ? rc : host_check(call->context, plan, err);
}

/* The first lines of a job's log. */
static enum status insert(const struct ml_context *context, const struct job *job, struct job **ret_stored,
			  struct error *err)
{
	AUTO(string) char *queued = NULL;

	if (asprintf(&queued, "Job %s is queued.", job->job_id) < 0)
		return error_no_memory(err);
	return job_insert(context->store, job,
			  (const struct service_line[]){
				  { SEVERITY_INFO, "Validating job requirements..." },
				  { SEVERITY_INFO, "Job creation request has been successfully validated." },
				  { SEVERITY_INFO, queued },
			  },
			  3, ret_stored, err);
}

/* A job may write to its directory from its first moment on. Whether there is such a bucket is for the job to find out,
 * as on the service. */
static enum status job_dir_bucket_use(const struct ml_context *context, const json_t *input,
				      struct error *err)
{
	static const char scheme[] = "gs://";
	const char *job_dir = json_text_at(input, "jobDir");
	AUTO(string) char *bucket = NULL;
	struct error unmade AUTO_ERROR = { 0 };
	enum status rc;

	if (!context->bucket_use || !job_dir || strncmp(job_dir, scheme, strlen(scheme)) != 0)
		return STATUS_OK;
	job_dir += strlen(scheme);
	bucket = strndup(job_dir, strcspn(job_dir, "/"));
	if (!bucket)
		return error_no_memory(err);
	rc = context->bucket_use(context->bucket_arg, bucket, &unmade);
	return rc == STATUS_INTERNAL || rc == STATUS_UNAVAILABLE ? error_move(err, &unmade) : STATUS_OK;
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
	enum status rc = job_prepare(call, &plan, err);

	/* The quotas come after all that is wrong with the request itself, and before the id is known to be a second
	 * one. */
	if (!rc)
		rc = ml_count_create(call, err);
	if (!rc)
		rc = job_possible(call, plan, err);
	if (!rc)
		rc = job_dir_bucket_use(context, input, err);
	if (rc)
		return rc;
	input_text = json_dump_compact(input);
	labels_text = labels ? json_dump_compact(labels) : NULL;
	plan_text = plan_to_text(plan);
	output_text = builtin_output_new(input_image(input, ROLE_MASTER));
	if (!input_text || !plan_text || !output_text || (labels && !labels_text))
		return error_no_memory(err);
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
		    },
		    &stored, err);
	if (rc)
		return rc;
	stored->position = 0; /* the answer to a create does not tell it */
	job_render(call, stored);
	return STATUS_OK;
}
