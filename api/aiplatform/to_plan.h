/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/to_plan.h: translates a job of Vertex AI to a plan.
 *
 * Pure. Thread: any. */
#include <jansson.h>

#include "daemon/base/error.h"

struct aiplatform_settings;
struct plan;

/* Input in addition to the job itself. Borrowed. */
struct plan_names {
	const char *project, *project_number, *location;
	const char *job_id; /* digits */
	const char
		*cluster_id; /* ten lowercase hexadecimal digits, one for each job; the caller draws them */
};

/* Translates a canonical CustomJob that the rules have passed under @settings.
 *
 * @ret_plan  the caller owns it, plan_free()
 * Outcomes: INVALID_ARGUMENT: the rules would have refused the job; FAILED_PRECONDITION: the image map does not
 * give a valid image. */
enum status custom_job_to_plan(const json_t *job, const struct plan_names *names,
			       const struct aiplatform_settings *settings, struct plan **ret_plan,
			       struct error *err);
/* Same for a canonical HyperparameterTuningJob: the plan's pools and its limit of running time are those of each
 * trial. */
enum status tuning_job_to_plan(const json_t *job, const struct plan_names *names,
			       const struct aiplatform_settings *settings, struct plan **ret_plan,
			       struct error *err);
