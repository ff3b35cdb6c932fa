/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/rules.h: what resources must be beyond their fields' types: Vertex AI's own checks.
 *
 * All violations that are found are in *err: one INVALID_ARGUMENT with the service's list as its text,
 * "List of found errors:\t1.Field: job_spec.…; Message: …\t2.Field: …", with the violations beside it. What the service
 * would take and trainyard does not run is reported, in the same shape, only if nothing else is wrong.
 *
 * Pure: takes values, returns an outcome. Thread: any.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/CustomJobSpec and its neighbours; the sentences of
 * real answers as issues of the public clients quote them, others are ours. */
#include <jansson.h>
#include <stdbool.h>

#include "daemon/base/error.h"

struct image_map;
struct runtime_map;

/* What the configuration says about jobs. What it points to outlives it; a NULL stands for nothing said. */
struct aiplatform_settings {
	/* Take regions and machine types that no table knows, if they look like some, accelerators that are gone, and
	 * persistent resources. */
	bool lenient;
	const struct image_map *images;
	const struct runtime_map *runtimes;
	bool lone_is_workerpool0; /* CLUSTER_SPEC of a job of one replica calls it workerpool0 rather than chief */
};

/* Checks a canonical CustomJob for creation. */
enum status custom_job_rules_check(const json_t *job, const struct aiplatform_settings *settings,
				   struct error *err);
/* Checks a canonical HyperparameterTuningJob, of v1 or v1beta1. */
enum status tuning_job_rules_check(const json_t *job, const struct aiplatform_settings *settings,
				   struct error *err);
/* Checks a canonical TrainingPipeline. What it is to run is in *ret_job, which the caller owns: a canonical CustomJob
 * or HyperparameterTuningJob with the display name of a backing job. *ret_tunes says which. Both may be NULL.
 * FAILED_PRECONDITION beside INVALID_ARGUMENT: a data set without the schema of its annotations. */
enum status pipeline_rules_check(const json_t *pipeline, const struct aiplatform_settings *settings,
				 json_t **ret_job, bool *ret_tunes, struct error *err);
