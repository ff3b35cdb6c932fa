/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/spec_deviations.h: deviations from the cloud that follow from a request alone. Pure. */
#include <jansson.h>
#include <stdbool.h>

struct plan;

/* Appends the deviations of a canonical CustomJob or HyperparameterTuningJob to plan->deviations; @plan was made from
 * the same job. @spec: its jobSpec or trialJobSpec; @root: the name of that member. */
void spec_deviations_add(const json_t *job, const char *root, const json_t *spec, struct plan *plan);
