/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/spec_deviations.h: what a request alone tells of how its job runs otherwise than in the cloud.
 * Pure. */
#include <jansson.h>
#include <stdbool.h>

struct plan;

/* Adds to plan->deviations what a canonical CustomJob or HyperparameterTuningJob, of which the plan was made, tells.
 * @spec: its jobSpec or trialJobSpec, which member @root is. */
void spec_deviations_add(const json_t *job, const char *root, const json_t *spec, struct plan *plan);
