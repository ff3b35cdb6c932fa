/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/spec_deviations.h: deviations from the cloud that follow from a request alone. Pure. */
#include <jansson.h>
#include <stdbool.h>

struct plan;

/* Adds to plan->deviations those of a canonical CustomJob or HyperparameterTuningJob, of which the plan was made.
 * @spec: its jobSpec or trialJobSpec, its member @root. */
void spec_deviations_add(const json_t *job, const char *root, const json_t *spec, struct plan *plan);
