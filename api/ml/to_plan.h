/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/to_plan.h: translates a job of AI Platform Training to a plan.
 *
 * Pure. Thread: any. */
#include <jansson.h>

#include "daemon/base/error.h"

struct ml_settings;
struct plan;

/* Translates a canonical Job that job_rules_check() has passed under @settings.
 *
 * @cluster_id  ten lowercase hexadecimal digits, one for each job; the caller draws them
 * @ret_plan    the caller owns it, plan_free()
 * Outcomes: INVALID_ARGUMENT: the rules would have refused the job; FAILED_PRECONDITION: the image map
 * does not give a valid image, or there is no image for a runtime version that only lenient rules accept. */
enum status job_to_plan(const char *project, const json_t *job, const char *cluster_id,
			const struct ml_settings *settings, struct plan **ret_plan, struct error *err);
