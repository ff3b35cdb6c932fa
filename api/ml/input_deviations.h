/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/input_deviations.h: what the request alone tells about how a job runs otherwise than in the cloud.
 *
 * Pure. Thread: any. */
#include <jansson.h>
#include <stdbool.h>

struct ml_settings;
struct plan;

/* Adds to @plan->deviations (scheduler/plan/deviation.h); its pools are filled already. @input is one that the
 * rules have passed under @settings. */
void input_deviations_add(const json_t *input, const struct ml_settings *settings, struct plan *plan);
