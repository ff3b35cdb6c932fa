/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/to_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/aiplatform/prebuilt.h"
#include "api/aiplatform/rules_parts.h"
#include "api/aiplatform/spec_deviations.h"
#include "api/aiplatform/to_study.h"
#include "api/message/refusal.h"
#include "api/training/image_map.h"
#include "api/training/runtime_map.h"
#include "api/training/search.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"
#include "daemon/base/timestamp.h"
#include "scheduler/plan/plan.h"
#include "scheduler/search/study_limits.h"
#include "scheduler/tuning/study.h"

/* The default time limits: 7 days for a run, one day for the wait before it.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/CustomJobSpec#Scheduling */
#define RUNNING_DEFAULT_US (604800 * INT64_C(1000000))
#define WAIT_DEFAULT_US    (86400 * INT64_C(1000000))

/* Source: https://cloud.google.com/vertex-ai/docs/training/monitor-debug-interactive-shell names the variable; the port
 * is that of its examples */
static const char dashboard_port[] = "AIP_DASHBOARD_PORT=8888";

/* Maps a prebuilt TensorFlow image by the runtime map, as if a job of ml.googleapis.com had named the runtime
 * version with this TensorFlow. *ret_image NULL: no rule matches. */
static void runtime_image(const char *image, const struct runtime_map *runtimes, char **ret_image)
{
	struct prebuilt prebuilt;

	*ret_image = NULL;
	if (!prebuilt_parse(image, &prebuilt) || strcmp(prebuilt.framework, "tf") != 0)
		return;
	runtime_map_rule(runtimes,
			 &(struct runtime){ .version = prebuilt.version,
					    .python = prebuilt.python,
					    .gpu = prebuilt.gpu },
			 ret_image);
}

/* Sets the pool's image: the one that the image map or else the runtime map gives for the client's image, which is
 * then kept as cloud_image; without a rule, the client's image itself. */
static enum status pool_image(const char *image, const struct aiplatform_settings *settings,
			      struct pool *pool, struct error *err)
{
	AUTO(string) char *mapped = NULL;
	enum status rc = image_map_apply(settings->images, image, &mapped, err);

	if (!rc && !mapped)
		runtime_image(image, settings->runtimes, &mapped);
	if (rc)
		return rc;
	plan_text_set(mapped ? &pool->cloud_image : &pool->image, image);
	if (mapped)
		pool->image = TAKE(mapped);
	return STATUS_OK;
}

/* "NAME=value" each. */
static void pool_env(const json_t *list, struct pool *pool)
{
	size_t index;
	const json_t *variable;

	pool->env = list ? json_array() : NULL;
	json_array_foreach((json_t *)list, index, variable) {
		const char *name = json_text_at(variable, "name");
		const char *value = json_text_at(variable, "value");

		json_array_append_new(pool->env, json_sprintf("%s=%s", name ? name : "", value ? value : ""));
	}
}

/* A command without args also replaces the image's CMD.
 * Source: https://cloud.google.com/vertex-ai/docs/training/configure-container-settings */
static void container_fill(const json_t *spec, struct pool *pool)
{
	plan_list_set(&pool->command, json_object_get(spec, "command"));
	plan_list_set(&pool->args, json_object_get(spec, "args"));
	if (pool->command && !pool->args)
		pool->args = json_array();
}

static void package_fill(const json_t *spec, struct pool *pool)
{
	plan_text_set(&pool->python_module, json_text_at(spec, "pythonModule"));
	plan_text_set(&pool->python, "python3");
	plan_list_set(&pool->package_uris, json_object_get(spec, "packageUris"));
	plan_list_set(&pool->args, json_object_get(spec, "args"));
}

static enum status pool_fill(const json_t *spec, const struct aiplatform_settings *settings,
			     struct pool *pool, struct error *err)
{
	const json_t *container = json_object_get(spec, "containerSpec");
	const json_t *package = json_object_get(spec, "pythonPackageSpec");
	const char *image =
		container ? json_text_at(container, "imageUri") : json_text_at(package, "executorImageUri");
	const int64_t count = json_int_at(spec, "replicaCount", 1);
	const char *accelerator;

	if (!image || count < 1 || count > UINT16_MAX)
		return refusal_add_listed(err, "worker_pool_specs",
					  "A worker pool has no image, or no number of replicas.");
	pool->count = (unsigned)count;
	pool_accelerators(spec, &accelerator, &pool->accelerator_count);
	plan_text_set(&pool->accelerator_type, accelerator);
	plan_text_set(&pool->machine_type, json_text_at(json_object_get(spec, "machineSpec"), "machineType"));
	if (container)
		container_fill(container, pool);
	else
		package_fill(package, pool);
	pool_env(json_object_get(container ? container : package, "env"), pool);
	return pool_image(image, settings, pool, err);
}

static enum status pools_fill(const json_t *spec, const struct aiplatform_settings *settings,
			      struct plan *plan, struct error *err)
{
	const json_t *pools = json_object_get(spec, "workerPoolSpecs");
	size_t index;
	const json_t *pool;

	if (json_array_size(pools) > ROLE_COUNT || pool_is_skipped(json_array_get(pools, 0)))
		return refusal_add_listed(err, "worker_pool_specs",
					  "There are too many worker pools, or the first is missing.");
	json_array_foreach((json_t *)pools, index, pool) {
		enum status rc = STATUS_OK;

		if (!pool_is_skipped(pool))
			rc = pool_fill(pool, settings, &plan->pools[index], err);
		if (rc)
			return rc;
	}
	return STATUS_OK;
}

/* Makes the text of the member "job" of CLUSTER_SPEC; the dialect escapes it later.
 * Source: CLUSTER_SPEC of real jobs, which has only this part of the spec; the documents promise the whole spec */
static char *input_text(const struct pool *first)
{
	AUTO(json) json_t *none = json_array();
	const char *module = first->python_module ? first->python_module : "";
	AUTO(json)
	json_t *input = json_pack("{s:s, s:O, s:O}", "python_module", module, "package_uris",
				  first->package_uris ? first->package_uris : none, "job_args",
				  first->args ? first->args : none);

	return input ? json_dump_compact(input) : NULL;
}

static void texts_fill(const json_t *spec, const struct plan_names *names, struct plan *plan)
{
	const char *prefix = json_text_at(json_object_get(spec, "baseOutputDirectory"), "outputUriPrefix");
	const size_t length = prefix ? strlen(prefix) : 0;
	struct text job_dir AUTO_TEXT = { 0 };

	plan->input = input_text(&plan->pools[ROLE_MASTER]);
	plan_text_set(&plan->dialect, "aiplatform");
	plan_text_set(&plan->project, names->project);
	plan_text_set(&plan->project_number, names->project_number);
	plan_text_set(&plan->job_id, names->job_id);
	plan_text_set(&plan->cluster_id, names->cluster_id);
	plan_text_set(&plan->region, names->location);
	plan_text_set(&plan->service_account, json_text_at(spec, "serviceAccount"));
	if (!length)
		return;
	text_printf(&job_dir, "%s%s", prefix, prefix[length - 1] == '/' ? "" : "/");
	plan->job_dir = text_take(&job_dir);
}

/* LOW_COST is the former name of SPOT. */
static bool strategy_is_spot(const char *strategy)
{
	return strategy && (strcmp(strategy, "SPOT") == 0 || strcmp(strategy, "LOW_COST") == 0);
}

static void scheduling_fill(const json_t *scheduling, struct plan *plan)
{
	const char *strategy = json_text_at(scheduling, "strategy");

	plan->never_retries = json_true_at(scheduling, "disableRetries");
	plan->restarts_whole = !plan->never_retries && json_true_at(scheduling, "restartJobOnWorkerRestart");
	plan->max_running_us = json_duration_at(scheduling, "timeout", RUNNING_DEFAULT_US);
	plan->preemptible = strategy_is_spot(strategy);
	if (strategy && strcmp(strategy, "FLEX_START") == 0)
		plan->max_wait_us = json_duration_at(scheduling, "maxWaitDuration", WAIT_DEFAULT_US);
}

/* Inserts @variable, which it takes over, before the client's variables, which may replace it. */
static void variable_put(struct pool *pool, json_t *variable)
{
	if (!pool->env)
		pool->env = json_array();
	json_array_insert_new(pool->env, 0, variable);
}

/* Sets the environment variables that depend on the spec.
 * Choice: of a TensorBoard only the name is set. Its address and the ports of its profiler (AIP_TENSORBOARD_API_URI,
 * AIP_TF_PROFILER_PORT, AIP_HTTP_HANDLER_PORT) would make Google's profiler call a service that does not exist here,
 * and fail the program; without them the profiler warns and goes on. Source of the name:
 * https://github.com/googleapis/python-aiplatform, training_utils/environment_variables.py */
static void variables_fill(const json_t *spec, struct plan *plan)
{
	const char *tensorboard = json_text_at(spec, "tensorboard");

	for (int role = 0; tensorboard && role < ROLE_COUNT; role++)
		if (plan->pools[role].count)
			variable_put(&plan->pools[role],
				     json_sprintf("AIP_TENSORBOARD_RESOURCE_NAME=%s", tensorboard));
	if (json_true_at(spec, "enableDashboardAccess"))
		variable_put(&plan->pools[ROLE_MASTER], json_string(dashboard_port));
}

/* @root: the name of the job's member that holds the spec: jobSpec or trialJobSpec. */
static enum status plan_make(const json_t *job, const char *root, const struct plan_names *names,
			     const struct aiplatform_settings *settings, struct plan **ret_plan,
			     struct error *err)
{
	const json_t *spec = json_object_get(job, root);
	AUTO(plan) struct plan *plan = plan_new();
	enum status rc = pools_fill(spec, settings, plan, err);

	if (rc)
		return rc;
	plan->mounts_gcs = true;
	plan->uses_chief = !settings->lone_is_workerpool0;
	scheduling_fill(json_object_get(spec, "scheduling"), plan);
	texts_fill(spec, names, plan);
	variables_fill(spec, plan);
	spec_deviations_add(job, root, spec, plan);
	*ret_plan = TAKE(plan);
	return STATUS_OK;
}

enum status custom_job_to_plan(const json_t *job, const struct plan_names *names,
			       const struct aiplatform_settings *settings, struct plan **ret_plan,
			       struct error *err)
{
	return plan_make(job, "jobSpec", names, settings, ret_plan, err);
}

static int64_t time_us(const json_t *constraint, const char *name)
{
	const char *text = json_text_at(constraint, name);
	int64_t ns;

	return text && time_parse(text, &ns) ? ns / 1000 : 0;
}

/* Sets the limits that end the search early; the maximum number of trials is set elsewhere. */
static void limits_fill(const json_t *config, struct plan *plan)
{
	const json_t *least = json_object_get(config, "minimumRuntimeConstraint");
	const json_t *most = json_object_get(config, "maximumRuntimeConstraint");
	const struct study_limits limits = {
		.least_us = json_duration_at(least, "maxDuration", 0),
		.least_until_us = time_us(least, "endTime"),
		.least_trials = json_int_at(config, "minNumTrials", 0),
		.most_us = json_duration_at(most, "maxDuration", 0),
		.most_until_us = time_us(most, "endTime"),
		.most_trials = json_int_at(config, "maxNumTrials", 0),
		.idle_trials = json_int_at(config, "maxNumTrialsNoProgress", 0),
		.idle_us = json_duration_at(config, "maxDurationNoProgress", 0),
		.interrupts = json_true_at(config, "shouldStopAsap"),
	};

	if (study_limits_any(&limits))
		plan->study_limits = study_limits_to_json(&limits);
}

static unsigned parallel_of(const json_t *job, unsigned trial_count)
{
	const int64_t count = json_int_at(job, "parallelTrialCount", 1);

	return count < trial_count ? (unsigned)count : trial_count;
}

static enum status search_fill(const json_t *job, struct plan *plan, struct error *err)
{
	const json_t *spec = json_object_get(job, "studySpec");
	AUTO(study) struct study *study = NULL;
	enum status rc = study_spec_to_study(spec, search_seed(plan->project, plan->job_id), &study, err);

	if (rc)
		return rc;
	plan->search = study_to_json(study);
	plan->limits_each_trial = true;
	plan->trial_count = (unsigned)json_int_at(job, "maxTrialCount", 1);
	plan->parallel_trial_count = parallel_of(job, plan->trial_count);
	plan->failed_trial_count =
		failed_trials_within(json_int_at(job, "maxFailedTrialCount", 0), plan->trial_count);
	limits_fill(json_object_get(spec, "studyStoppingConfig"), plan);
	return STATUS_OK;
}

enum status tuning_job_to_plan(const json_t *job, const struct plan_names *names,
			       const struct aiplatform_settings *settings, struct plan **ret_plan,
			       struct error *err)
{
	AUTO(plan) struct plan *plan = NULL;
	enum status rc = plan_make(job, "trialJobSpec", names, settings, &plan, err);

	if (!rc)
		rc = search_fill(job, plan, err);
	if (rc)
		return rc;
	*ret_plan = TAKE(plan);
	return STATUS_OK;
}
