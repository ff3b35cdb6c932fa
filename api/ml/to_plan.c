/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/to_plan.h"

#include <stdlib.h>
#include <string.h>

#include "api/ml/cluster.h"
#include "api/ml/input_deviations.h"
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

/* Returns the config from which a role takes its command and arguments: its own; or the master's, if the role has
 * the master's image and no command of its own. Choice: otherwise a job of two roles with one command could not
 * work. */
static const json_t *command_config(const json_t *input, const json_t *own)
{
	if (json_text_at(own, "imageUri") || json_object_get(own, "containerCommand") ||
	    json_object_get(own, "containerArgs"))
		return own;
	return json_object_get(input, "masterConfig");
}

/* Sets the arguments: the client's, then those that the service adds. If there are none, the list stays unset, so
 * that the image's CMD is used. Source: https://cloud.google.com/ai-platform/training/docs/training-jobs */
static void pool_args(const json_t *input, const json_t *config, struct pool *pool)
{
	const json_t *given = json_object_get(input, "args");
	/* A tuning job gets no --job-dir here: each trial gets its own, after the arguments with its parameters. */
	const bool tunes = json_object_get(input, "hyperparameters");
	const char *job_dir = tunes ? NULL : json_text_at(input, "jobDir");

	if (!given)
		given = json_object_get(config, "containerArgs");
	plan_list_set(&pool->args, given);
	if (!job_dir)
		return;
	if (!pool->args)
		pool->args = json_array();
	json_array_append_new(pool->args, json_string("--job-dir"));
	json_array_append_new(pool->args, json_string(job_dir));
}

/* Finds the image that the job names, or the one that the runtime map has for its runtime version. *ret_local: the
 * image is from a rule of the map, not the map's default. */
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
		plan_text_set(ret_image, image);
		return STATUS_OK;
	}
	rc = runtime_map_find(settings->runtimes, &runtime, ret_image, &is_default, err);
	*ret_local = !is_default;
	return rc;
}

/* Sets the pool's image: the one that the image map has for the named image, which is then kept beside it. An image
 * from the runtime map is not mapped again. */
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
	struct role_accelerators accelerators;

	input_accelerators(input, role, &accelerators);
	pool->count = (unsigned)request->count;
	pool->accelerator_count = (unsigned)accelerators.count;
	plan_text_set(&pool->accelerator_type, accelerators.type);
	plan_text_set(&pool->machine_type, request->machine_type);
	plan_list_set(&pool->command, json_object_get(config, "containerCommand"));
	pool_args(input, config, pool);
	return pool_image(input, role, settings, pool, err);
}

/* A role that is a Cloud TPU runs no container: its pool stays empty. */
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

/* True if the master is named "chief" in the cluster spec. A job with evaluators always uses "chief", because
 * TensorFlow knows no evaluator beside a "master". useChiefInTfConfig counts only for custom containers; with a runtime
 * version, the name depends on its TensorFlow.
 * Source: https://cloud.google.com/ai-platform/training/docs/distributed-training-details */
static bool input_uses_chief(const json_t *input, const struct plan *plan)
{
	if (plan->pools[ROLE_EVALUATOR].count)
		return true;
	return plan->runtime_version ? runtime_at_least(plan->runtime_version, 2, 1)
				     : json_true_at(input, "useChiefInTfConfig");
}

/* True if the job's packages are installed and their module is run, instead of the images' own program. Choice:
 * false with a command, because it replaces the image's entry point, which would install the packages in the cloud. */
static bool input_runs_module(const json_t *input)
{
	for (int role = 0; role < ROLE_COUNT; role++)
		if (json_object_get(json_object_get(input, ml_roles[role].config), "containerCommand"))
			return false;
	return json_text_at(input, "pythonModule");
}

/* Sets the same packages for all pools. In runtime versions with Python 2, the interpreter is named "python". */
static void packages_fill(const json_t *input, struct plan *plan)
{
	const char *python =
		runtime_python(json_text_at(input, "runtimeVersion"), json_text_at(input, "pythonVersion"));

	for (int role = 0; input_runs_module(input) && role < ROLE_COUNT; role++) {
		struct pool *pool = &plan->pools[role];

		if (!pool->count)
			continue;
		plan_list_set(&pool->package_uris, json_object_get(input, "packageUris"));
		plan_text_set(&pool->python_module, json_text_at(input, "pythonModule"));
		plan_text_set(&pool->python, python && *python == '2' ? "python" : "python3");
	}
}

static void texts_fill(const char *project, const json_t *job, const char *cluster_id,
		       const struct ml_settings *settings, struct plan *plan)
{
	const json_t *input = json_object_get(job, "trainingInput");

	plan->input = input_text(input);
	plan_text_set(&plan->dialect, "ml");
	plan_text_set(&plan->project, project);
	plan_text_set(&plan->job_id, json_text_at(job, "jobId"));
	plan_text_set(&plan->cluster_id, cluster_id);
	plan_text_set(&plan->region, json_text_at(input, "region"));
	plan_text_set(&plan->job_dir, json_text_at(input, "jobDir"));
	plan_text_set(&plan->service_account, json_text_at(input, "serviceAccount"));
	plan_text_set(&plan->runtime_version, json_text_at(input, "runtimeVersion"));
	plan_text_set(&plan->tpu_config, input_has_tpu(input) ? settings->tpu_config : NULL);
}

/* Reads a number: less than 1, or none, counts as 1, and more than @most as @most. */
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
	return STATUS_OK;
}

enum status job_to_plan(const char *project, const json_t *job, const char *cluster_id,
			const struct ml_settings *settings, struct plan **ret_plan, struct error *err)
{
	const json_t *input = json_object_get(job, "trainingInput");
	const json_t *scheduling = json_object_get(input, "scheduling");
	AUTO(plan) struct plan *plan = plan_new();
	enum status rc;

	if (!input)
		return error_set(err, STATUS_INVALID_ARGUMENT, "training_input",
				 "A training input is required.");
	texts_fill(project, job, cluster_id, settings, plan);
	rc = pools_fill(input, settings, plan, err);
	packages_fill(input, plan);
	if (!rc)
		rc = search_fill(input, plan, err);
	if (rc)
		return rc;
	plan->uses_chief = input_uses_chief(input, plan);
	plan->restarts_whole = json_true_at(scheduling, "resilientToWorkerRestart");
	plan->priority = (int)json_int_at(scheduling, "priority", 0);
	plan->max_running_us = json_duration_at(scheduling, "maxRunningTime", MAX_RUNNING_DEFAULT_US);
	plan->max_wait_us = json_duration_at(scheduling, "maxWaitTime", 0);
	input_deviations_add(input, settings, plan);
	*ret_plan = TAKE(plan);
	return STATUS_OK;
}
