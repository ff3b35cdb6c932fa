/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/input_differences.h: what the request alone tells about how a job runs otherwise than in the cloud.
 *
 * Pure. Thread: any. */
#include <jansson.h>
#include <stdbool.h>

struct ml_settings;
struct plan;

/* Adds to @plan->differences (scheduler/plan/difference.h); its pools are filled already. @input is one that the
 * rules have passed under @settings. */
void input_differences_add(const json_t *input, const struct ml_settings *settings, struct plan *plan);
