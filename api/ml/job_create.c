/* SPDX-License-Identifier: Apache-2.0 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/ml/ml.h"
#include "api/ml/to_plan.h"
#include "daemon/base/json.h"
#include "scheduler/cluster_spec.h"
#include "store/jobs.h"
#include "store/logs.h"

enum { CLUSTER_ID_BYTES = 5, PROJECT_MAX = 100 };

/* Ids, numbers and domain-scoped ids ("example.com:project"); anything else could not be named in a log query. */
static enum status project_check(const char *project, struct error *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:";
	size_t length = strspn(project, allowed);

	if (length && !project[length] && length <= PROJECT_MAX)
		return STATUS_OK;
	return error_set(err, STATUS_INVALID_ARGUMENT, "parent",
			 "'%.100s' is not the id or the number of a project.", project);
}

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
	unsigned char random[CLUSTER_ID_BYTES];
	char cluster_id[CLUSTER_ID_BYTES * 2 + 1];
	AUTO(plan) struct plan *plan = NULL;
	enum status rc;

	randombytes_buf(random, sizeof(random));
	sodium_bin2hex(cluster_id, sizeof(cluster_id), random, sizeof(random));
	rc = job_to_plan(ml_project(call), call->body, cluster_id, &plan, err);
	if (!rc)
		rc = environment_check(plan, err);
	if (rc)
		return rc;
	*ret_plan = TAKE(plan);
	return STATUS_OK;
}

/* The first lines of a job's log, and what will run otherwise than in the cloud. */
static enum status insert(const struct ml_context *context, const struct job *job, const struct plan *plan,
			  struct job **ret_stored, struct error *err)
{
	size_t notice_count = json_array_size(plan->notices);
	struct service_line *lines = calloc(3 + notice_count, sizeof(*lines));
	AUTO(string) char *queued = NULL;
	enum status rc;

	if (!lines || asprintf(&queued, "Job %s is queued.", job->job_id) < 0) {
		free(lines);
		return error_no_memory(err);
	}
	lines[0] = (struct service_line){ SEVERITY_INFO, "Validating job requirements..." };
	lines[1] = (struct service_line){ SEVERITY_INFO,
					  "Job creation request has been successfully validated." };
	lines[2] = (struct service_line){ SEVERITY_INFO, queued };
	for (size_t i = 0; i < notice_count; i++)
		lines[3 + i] = (struct service_line){ SEVERITY_NOTICE,
						      json_string_value(json_array_get(plan->notices, i)) };
	rc = job_insert(context->store, job, lines, 3 + notice_count, ret_stored, err);
	free(lines);
	return rc;
}

enum status job_create_handle(struct call *call, struct error *err)
{
	const struct ml_context *context = call->context;
	const json_t *labels = json_object_get(call->body, "labels");
	AUTO(plan) struct plan *plan = NULL;
	AUTO(job) struct job *stored = NULL;
	AUTO(string) char *input_text = NULL;
	AUTO(string) char *labels_text = NULL;
	AUTO(string) char *plan_text = NULL;
	enum status rc = project_check(ml_project(call), err);

	if (!rc)
		rc = job_rules_check(call->body, &context->settings, err);
	if (!rc)
		rc = plan_make(call, &plan, err);
	if (rc)
		return rc;
	input_text = json_dump_compact(json_object_get(call->body, "trainingInput"));
	labels_text = labels ? json_dump_compact(labels) : NULL;
	plan_text = plan_to_text(plan);
	if (!input_text || !plan_text || (labels && !labels_text))
		return error_no_memory(err);
	rc = insert(context,
		    &(struct job){
			    .project = plan->project,
			    .job_id = plan->job_id,
			    .priority = plan->priority,
			    .labels = labels_text,
			    .input = input_text,
			    .output = (char *)"{}",
			    .plan = plan_text,
		    },
		    plan, &stored, err);
	if (rc)
		return rc;
	stored->position = 0; /* the answer to a create does not tell it */
	job_render(&call->answer, stored);
	return STATUS_OK;
}
