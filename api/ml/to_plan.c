/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/to_plan.h"

#include <stdlib.h>
#include <string.h>

#include "api/ml/cluster.h"
#include "api/ml/input_differences.h"
#include "api/ml/input_text.h"
#include "api/ml/job_rules.h"
#include "api/ml/to_study.h"
#include "api/training/image_map.h"
#include "api/training/runtime_map.h"
#include "api/training/search.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"
#include "scheduler/plan/machine.h"
#include "scheduler/plan/plan.h"
#include "scheduler/tuning/study.h"

/* Source: https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs#Scheduling (7 days) */
#define MAX_RUNNING_DEFAULT_US (604800 * INT64_C(1000000))

static bool text_copy(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return !from || *to;
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
	/* A tuning job's trials have directories of their own, and theirs come behind their parameters. */
	const bool tunes = json_object_get(input, "hyperparameters");
	const char *job_dir = tunes ? NULL : json_text_at(input, "jobDir");
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

static bool pool_accelerators(const json_t *input, enum role role, struct pool *pool)
{
	struct role_accelerators accelerators;

	input_accelerators(input, role, &accelerators);
	pool->accelerator_count = (unsigned)accelerators.count;
	return text_copy(&pool->accelerator_type, accelerators.type);
}

/* What the job names, or what the runtime map has for its runtime version. *ret_local says that the image is the
 * emulator's own choice. */
static enum status pool_image_name(const json_t *input, enum role role, const struct ml_settings *settings,
				   const struct pool *pool, char **ret_image, bool *ret_local,
				   struct error *err)
{
	const char *image = input_image(input, role);
	const char *version = json_text_at(input, "runtimeVersion");
	const char *python = runtime_python(version, json_text_at(input, "pythonVersion"));
	const struct runtime runtime = { .version = version,
					 .python = python ? python : "",
					 .gpu = pool_gpu_count(pool) > 0 };
	bool is_default = true;
	enum status rc;

	if (!image && !runtime.version)
		return error_set(err, STATUS_INVALID_ARGUMENT, "master_config.image_uri",
				 "The %s has no image to run.", ml_roles[role].noun);
	if (image) {
		*ret_local = false;
		return text_copy(ret_image, image) ? STATUS_OK : error_no_memory(err);
	}
	rc = runtime_map_find(settings->runtimes, &runtime, ret_image, &is_default, err);
	*ret_local = !is_default;
	return rc;
}

/* What the image map puts in the place of the image, which is kept beside it then. An image that a rule of the
 * runtime map has named is not mapped again. */
static enum status pool_image(const json_t *input, enum role role, const struct ml_settings *settings,
			      struct pool *pool, struct error *err)
{
	AUTO(string) char *image = NULL;
	AUTO(string) char *mapped = NULL;
	bool is_local = false;
	enum status rc = pool_image_name(input, role, settings, pool, &image, &is_local, err);

	if (!rc && !is_local)
		rc = image_map_apply(settings->images, image, &mapped, err);
	if (rc)
		return rc;
	if (mapped)
		pool->cloud_image = TAKE(image);
	pool->image = mapped ? TAKE(mapped) : TAKE(image);
	return STATUS_OK;
}

static bool is_tpu(const struct role_request *request)
{
	struct machine machine;

	return request->machine_type && machine_find_in(request->machine_type, MACHINE_OF_ML, &machine) &&
	       machine.category == MACHINE_TPU;
}

static enum status pool_fill(const json_t *input, enum role role, const struct role_request *request,
			     const struct ml_settings *settings, struct pool *pool, struct error *err)
{
	const json_t *config = command_config(input, request->config);
	const json_t *command = json_object_get(config, "containerCommand");

	pool->count = (unsigned)request->count;
	pool->command = command ? json_copy((json_t *)command) : NULL;
	if ((command && !pool->command) || !pool_args(input, config, &pool->args) ||
	    !pool_accelerators(input, role, pool) || !text_copy(&pool->machine_type, request->machine_type))
		return error_no_memory(err);
	return pool_image(input, role, settings, pool, err);
}

/* Cloud TPUs run no container: the pool stays empty. */
static enum status pools_fill(const json_t *input, const struct ml_settings *settings, struct plan *plan,
			      struct error *err)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		struct role_request request;
		enum status rc;

		input_role(input, (enum role)role, &request);
		if (request.count < 0 || request.count > UINT16_MAX)
			return error_set(err, STATUS_INVALID_ARGUMENT, ml_roles[role].count_snake,
					 "The count is out of range.");
		if (!request.count || is_tpu(&request))
			continue;
		rc = pool_fill(input, (enum role)role, &request, settings, &plan->pools[role], err);
		if (rc)
			return rc;
	}
	return STATUS_OK;
}

static int64_t limit_us(const json_t *input, const char *name, int64_t otherwise)
{
	const char *limit = json_text_at(json_object_get(input, "scheduling"), name);
	int64_t us;

	return limit && duration_parse(limit, &us) ? us : otherwise;
}

/* Evaluators force the name chief, as TensorFlow knows no evaluator beside a master. The field is for custom
 * containers: runtime versions have the name that their TensorFlow knows.
 * Source: https://cloud.google.com/ai-platform/training/docs/distributed-training-details */
static bool input_uses_chief(const json_t *input, const struct plan *plan)
{
	if (plan->pools[ROLE_EVALUATOR].count)
		return true;
	return plan->runtime_version ? runtime_at_least(plan->runtime_version, 2, 1)
				     : json_true_at(input, "useChiefInTfConfig");
}

/* Whether the packages are installed and their module is run, rather than what the images have to run.
 * Choice: a command replaces an image's entry point, which is what would do that in the cloud. */
static bool input_runs_module(const json_t *input)
{
	for (int role = 0; role < ROLE_COUNT; role++)
		if (json_object_get(json_object_get(input, ml_roles[role].config), "containerCommand"))
			return false;
	return json_text_at(input, "pythonModule");
}

/* All pools run the same. Runtime versions with Python 2 have it under its old name. */
static bool packages_fill(const json_t *input, struct plan *plan)
{
	const char *python =
		runtime_python(json_text_at(input, "runtimeVersion"), json_text_at(input, "pythonVersion"));
	const json_t *uris = json_object_get(input, "packageUris");

	for (int role = 0; input_runs_module(input) && role < ROLE_COUNT; role++) {
		struct pool *pool = &plan->pools[role];

		if (!pool->count)
			continue;
		pool->package_uris = uris ? json_copy((json_t *)uris) : NULL;
		if ((uris && !pool->package_uris) ||
		    !text_copy(&pool->python_module, json_text_at(input, "pythonModule")) ||
		    !text_copy(&pool->python, python && *python == '2' ? "python" : "python3"))
			return false;
	}
	return true;
}

static bool texts_fill(const char *project, const json_t *job, const char *cluster_id,
		       const struct ml_settings *settings, struct plan *plan)
{
	const json_t *input = json_object_get(job, "trainingInput");
	const char *tpu_config = input_has_tpu(input) ? settings->tpu_config : NULL;

	plan->input = input_text(input);
	return plan->input && text_copy(&plan->dialect, "ml") && text_copy(&plan->project, project) &&
	       text_copy(&plan->job_id, json_text_at(job, "jobId")) &&
	       text_copy(&plan->cluster_id, cluster_id) &&
	       text_copy(&plan->region, json_text_at(input, "region")) &&
	       text_copy(&plan->job_dir, json_text_at(input, "jobDir")) &&
	       text_copy(&plan->service_account, json_text_at(input, "serviceAccount")) &&
	       text_copy(&plan->runtime_version, json_text_at(input, "runtimeVersion")) &&
	       text_copy(&plan->tpu_config, tpu_config);
}

/* From 1 to @most; unset, and 0, are 1. */
static unsigned trials_of(const json_t *spec, const char *name, int64_t most)
{
	const int64_t count = json_int_at(spec, name, 1);

	if (count > most)
		return (unsigned)most;
	return count > 0 ? (unsigned)count : 1;
}

static enum status search_fill(const json_t *input, struct plan *plan, struct error *err)
{
	const json_t *spec = json_object_get(input, "hyperparameters");
	AUTO(study) struct study *study = NULL;
	enum status rc;

	if (!spec)
		return STATUS_OK;
	rc = hyperparameters_to_study(spec, search_seed(plan->project, plan->job_id), &study, err);
	if (rc)
		return rc;
	plan->search = study_to_json(study);
	plan->trial_count = trials_of(spec, "maxTrials", INT32_MAX);
	plan->parallel_trial_count = trials_of(spec, "maxParallelTrials", plan->trial_count);
	plan->failed_trial_count =
		failed_trials_within(json_int_at(spec, "maxFailedTrials", 0), plan->trial_count);
	return plan->search ? STATUS_OK : error_no_memory(err);
}

enum status job_to_plan(const char *project, const json_t *job, const char *cluster_id,
			const struct ml_settings *settings, struct plan **ret_plan, struct error *err)
{
	const json_t *input = json_object_get(job, "trainingInput");
	AUTO(plan) struct plan *plan = plan_new();
	enum status rc;

	if (!input)
		return error_set(err, STATUS_INVALID_ARGUMENT, "training_input",
				 "A training input is required.");
	if (!plan || !texts_fill(project, job, cluster_id, settings, plan))
		return error_no_memory(err);
	rc = pools_fill(input, settings, plan, err);
	if (!rc && !packages_fill(input, plan))
		rc = error_no_memory(err);
	if (!rc)
		rc = search_fill(input, plan, err);
	if (rc)
		return rc;
	plan->uses_chief = input_uses_chief(input, plan);
	plan->restarts_whole = json_true_at(json_object_get(input, "scheduling"), "resilientToWorkerRestart");
	plan->priority = (int)json_int_at(json_object_get(input, "scheduling"), "priority", 0);
	plan->max_running_us = limit_us(input, "maxRunningTime", MAX_RUNNING_DEFAULT_US);
	plan->max_wait_us = limit_us(input, "maxWaitTime", 0);
	if (!input_differences_add(input, settings, plan))
		return error_no_memory(err);
	*ret_plan = TAKE(plan);
	return STATUS_OK;
}
