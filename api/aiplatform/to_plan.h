/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/to_plan.h: a job of Vertex AI said as a plan.
 *
 * Pure. Thread: any. */
#include <jansson.h>

#include "daemon/base/error.h"

struct aiplatform_settings;
struct plan;

/* What is not in the job itself. Borrowed. */
struct plan_names {
	const char *project, *project_number, *location;
	const char *job_id; /* digits */
	const char
		*cluster_id; /* ten lowercase hexadecimal digits, one for each job; the caller draws them */
};

/* Translates a canonical CustomJob that the rules have passed under @settings.
 *
 * @ret_plan  the caller owns it, plan_free()
 * Outcomes: INVALID_ARGUMENT for a job that the rules would not have passed; FAILED_PRECONDITION when the image map
 * makes no image of one. */
enum status custom_job_to_plan(const json_t *job, const struct plan_names *names,
			       const struct aiplatform_settings *settings, struct plan **ret_plan,
			       struct error *err);
/* The same of a canonical HyperparameterTuningJob: the pools are a trial's, and so is the limit of running time. */
enum status tuning_job_to_plan(const json_t *job, const struct plan_names *names,
			       const struct aiplatform_settings *settings, struct plan **ret_plan,
			       struct error *err);
