/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/to_plan.h: a job of AI Platform Training said as a plan.
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
 * Outcomes: INVALID_ARGUMENT for a job that the rules would not have passed; FAILED_PRECONDITION when the
 * image map makes no image of one, or nothing has an image of a runtime version that lenient rules took. */
enum status job_to_plan(const char *project, const json_t *job, const char *cluster_id,
			const struct ml_settings *settings, struct plan **ret_plan, struct error *err);
