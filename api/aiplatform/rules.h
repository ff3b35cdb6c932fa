/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/rules.h: Vertex AI's own checks of resources, beyond the types of their fields.
 *
 * All violations are reported as one INVALID_ARGUMENT. Its text lists them as the service does, "List of found
 * errors:\t1.Field: job_spec.…; Message: …\t2.Field: …", and err->violations has them one by one. A request that the
 * service would accept and trainyard does not support is refused in the same form, but only if nothing else is wrong.
 *
 * Pure: takes values, returns an outcome. Thread: any.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/CustomJobSpec and its neighbours; sentences of real
 * answers as quoted in issues of the public clients; other sentences are ours. */
#include <jansson.h>
#include <stdbool.h>

#include "daemon/base/error.h"

struct image_map;
struct runtime_map;

/* The configuration for jobs, borrowed. NULL: not configured. */
struct aiplatform_settings {
	/* accept well-formed names of unknown regions and machine types, retired accelerators, and persistent
	 * resources */
	bool lenient;
	const struct image_map *images;
	const struct runtime_map *runtimes;
	bool lone_is_workerpool0; /* CLUSTER_SPEC of a job with one replica names it workerpool0 instead of chief */
};

/* Checks a canonical CustomJob for creation. */
enum status custom_job_rules_check(const json_t *job, const struct aiplatform_settings *settings,
				   struct error *err);
/* Checks a canonical HyperparameterTuningJob, of v1 or v1beta1. */
enum status tuning_job_rules_check(const json_t *job, const struct aiplatform_settings *settings,
				   struct error *err);
/* Checks a canonical TrainingPipeline. *ret_job, which the caller owns, is the job to run: a canonical CustomJob or
 * HyperparameterTuningJob with the display name that the service gives to a pipeline's job. *ret_tunes is true for a
 * HyperparameterTuningJob. Both pointers may be NULL. Outcomes: INVALID_ARGUMENT; FAILED_PRECONDITION: the pipeline has
 * a data set, but not the schema of its annotations. */
enum status pipeline_rules_check(const json_t *pipeline, const struct aiplatform_settings *settings,
				 json_t **ret_job, bool *ret_tunes, struct error *err);
