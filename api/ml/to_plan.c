/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/to_plan.h"

#include <stdlib.h>
#include <string.h>

#include "api/ml/cluster.h"
#include "api/ml/input_text.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"
#include "scheduler/machine.h"
#include "scheduler/plan.h"

/* Source: https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs#Scheduling (7 days) */
#define MAX_RUNNING_DEFAULT_US (604800 * INT64_C(1000000))

static bool text_copy(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return !from || *to;
}

static bool notice_add(struct plan *plan, const char *text)
{
	return json_array_append_new(plan->notices, json_string(text)) == 0;
}

/* Whose command and arguments a role takes: its own, or, with the master's image and nothing of its
 * own, the master's too. Choice: otherwise a job of two roles with one command could not work. */
static const json_t *command_config(const json_t *input, const json_t *own)
{
	if (json_text_at(own, "imageUri") || json_object_get(own, "containerCommand") ||
	    json_object_get(own, "containerArgs"))
		return own;
	return json_object_get(input, "masterConfig");
}

/* The client's arguments and then the service's own; *ret_args stays NULL when there are neither, so
 * that the image's CMD is used. Source: https://cloud.google.com/ai-platform/training/docs/training-jobs */
static bool pool_args(const json_t *input, const json_t *config, json_t **ret_args)
{
	const json_t *given = json_object_get(input, "args");
	const char *job_dir = json_text_at(input, "jobDir");
	AUTO(json) json_t *args = NULL;

	if (!given)
		given = json_object_get(config, "containerArgs");
	if (!given && !job_dir)
		return true;
	args = given ? json_copy((json_t *)given) : json_array();
	if (!args)
		return false;
	if (job_dir && (json_array_append_new(args, json_string("--job-dir")) ||
			json_array_append_new(args, json_string(job_dir))))
		return false;
	*ret_args = TAKE(args);
	return true;
}

/* Accelerators by acceleratorConfig, by the tier, or by the name of a legacy machine type. */
static bool pool_accelerators(const struct role_request *request, struct pool *pool)
{
	const json_t *config = json_object_get(request->config, "acceleratorConfig");
	const char *type = json_text_at(config, "type");
	int64_t count = type ? json_int_at(config, "count", 0) : 0;
	struct machine machine;

	if (count <= 0) {
		type = request->accelerator_type;
		count = request->accelerator_count;
	}
	if (!type && request->machine_type && machine_find(request->machine_type, &machine)) {
		type = machine.accelerator_type;
		count = machine.accelerator_count;
	}
	pool->accelerator_count = type ? (unsigned)count : 0;
	return text_copy(&pool->accelerator_type, type);
}

static bool is_tpu(const struct role_request *request)
{
	struct machine machine;

	return request->machine_type && machine_find(request->machine_type, &machine) &&
	       machine.category == MACHINE_TPU;
}

/* False when memory ran out. */
static bool pool_fill(const json_t *input, enum role role, const struct role_request *request,
		      struct pool *pool)
{
	const json_t *config = command_config(input, request->config);
	const json_t *command = json_object_get(config, "containerCommand");

	pool->count = (unsigned)request->count;
	pool->command = command ? json_copy((json_t *)command) : NULL;
	return (!command || pool->command) && pool_args(input, config, &pool->args) &&
	       pool_accelerators(request, pool) && text_copy(&pool->image, input_image(input, role)) &&
	       text_copy(&pool->machine_type, request->machine_type);
}

/* Cloud TPUs run no container: the pool stays empty. */
static enum status pools_fill(const json_t *input, struct plan *plan, struct error *err)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		struct role_request request;

		input_role(input, (enum role)role, &request);
		if (request.count < 0 || request.count > UINT16_MAX)
			return error_set(err, STATUS_INVALID_ARGUMENT, ml_roles[role].count_snake,
					 "The count is out of range.");
		if (!request.count || is_tpu(&request))
			continue;
		if (!input_image(input, (enum role)role))
			return error_set(err, STATUS_INVALID_ARGUMENT, "master_config.image_uri",
					 "The %s has no image to run.", ml_roles[role].noun);
		if (!pool_fill(input, (enum role)role, &request, &plan->pools[role]))
			return error_no_memory(err);
	}
	return STATUS_OK;
}

static int64_t limit_us(const json_t *input, const char *name, int64_t otherwise)
{
	const char *limit = json_text_at(json_object_get(input, "scheduling"), name);
	int64_t us;

	return limit && duration_parse(limit, &us) ? us : otherwise;
}

/* Evaluators force the name chief, as TensorFlow knows no evaluator beside a master.
 * Source: https://cloud.google.com/ai-platform/training/docs/distributed-training-details */
static bool input_uses_chief(const json_t *input, const struct plan *plan)
{
	return json_true_at(input, "useChiefInTfConfig") || plan->pools[ROLE_EVALUATOR].count;
}

static bool asks_accelerators(const json_t *input, const struct plan *plan)
{
	(void)input;
	for (int role = 0; role < ROLE_COUNT; role++)
		if (plan->pools[role].count && plan->pools[role].accelerator_count)
			return true;
	return false;
}

static bool asks_tpu(const json_t *input, const struct plan *plan)
{
	(void)plan;
	return input_has_tpu(input);
}

static bool asks_disk(const json_t *input, const struct plan *plan)
{
	for (int role = 0; role < ROLE_COUNT; role++)
		if (plan->pools[role].count &&
		    json_object_get(json_object_get(input, ml_roles[role].config), "diskConfig"))
			return true;
	return false;
}

static bool asks_network(const json_t *input, const struct plan *plan)
{
	(void)plan;
	return json_object_get(input, "network");
}

static bool asks_key(const json_t *input, const struct plan *plan)
{
	(void)plan;
	return json_object_get(json_object_get(input, "encryptionConfig"), "kmsKeyName");
}

static bool asks_account(const json_t *input, const struct plan *plan)
{
	(void)plan;
	return json_object_get(input, "serviceAccount");
}

static bool asks_shells(const json_t *input, const struct plan *plan)
{
	(void)plan;
	return json_object_get(input, "enableWebAccess");
}

static bool asks_strategy(const json_t *input, const struct plan *plan)
{
	const char *strategy = json_text_at(json_object_get(input, "scheduling"), "strategy");

	(void)plan;
	return strategy && strcmp(strategy, "LOW_COST") == 0;
}

static bool asks_restart(const json_t *input, const struct plan *plan)
{
	(void)plan;
	return json_true_at(json_object_get(input, "scheduling"), "resilientToWorkerRestart");
}

/* What runs otherwise than in the cloud. */
static const struct {
	bool (*asked)(const json_t *input, const struct plan *plan);
	const char *text;
} notices[] = {
	{ asks_accelerators, "Accelerators are not attached: replicas run without GPUs." },
	{ asks_tpu, "The Cloud TPU is not emulated: only the other replicas run." },
	{ asks_disk, "Disk configurations have no effect: replicas use the container engine's storage." },
	{ asks_network, "The VPC network has no effect: replicas share a network of their own." },
	{ asks_key, "The encryption key has no effect: nothing is encrypted with it." },
	{ asks_account, "The service account has no effect on what replicas may do." },
	{ asks_shells, "Web access is not emulated: there are no interactive shells." },
	{ asks_strategy, "The scheduling strategy has no effect: there are no preemptible machines." },
	{ asks_restart, "resilientToWorkerRestart has no effect." },
};

static bool notices_fill(const json_t *input, struct plan *plan)
{
	for (size_t i = 0; i < sizeof(notices) / sizeof(notices[0]); i++)
		if (notices[i].asked(input, plan) && !notice_add(plan, notices[i].text))
			return false;
	return true;
}

static bool texts_fill(const char *project, const json_t *job, const char *cluster_id, struct plan *plan)
{
	const json_t *input = json_object_get(job, "trainingInput");

	plan->input = input_text(input);
	return plan->input && text_copy(&plan->dialect, "ml") && text_copy(&plan->project, project) &&
	       text_copy(&plan->job_id, json_text_at(job, "jobId")) &&
	       text_copy(&plan->cluster_id, cluster_id) &&
	       text_copy(&plan->region, json_text_at(input, "region")) &&
	       text_copy(&plan->job_dir, json_text_at(input, "jobDir"));
}

enum status job_to_plan(const char *project, const json_t *job, const char *cluster_id,
			struct plan **ret_plan, struct error *err)
{
	const json_t *input = json_object_get(job, "trainingInput");
	AUTO(plan) struct plan *plan = plan_new();
	enum status rc;

	if (!input)
		return error_set(err, STATUS_INVALID_ARGUMENT, "training_input",
				 "A training input is required.");
	if (!plan || !texts_fill(project, job, cluster_id, plan))
		return error_no_memory(err);
	rc = pools_fill(input, plan, err);
	if (rc)
		return rc;
	plan->uses_chief = input_uses_chief(input, plan);
	plan->priority = (int)json_int_at(json_object_get(input, "scheduling"), "priority", 0);
	plan->max_running_us = limit_us(input, "maxRunningTime", MAX_RUNNING_DEFAULT_US);
	plan->max_wait_us = limit_us(input, "maxWaitTime", 0);
	if (!notices_fill(input, plan))
		return error_no_memory(err);
	*ret_plan = TAKE(plan);
	return STATUS_OK;
}
