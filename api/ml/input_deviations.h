/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/input_deviations.h: deviations from the cloud that follow from the request alone.
 *
 * Pure. Thread: any. */
#include <jansson.h>
#include <stdbool.h>

struct ml_settings;
struct plan;

/* Adds the deviations to @plan->deviations (scheduler/plan/deviation.h); the plan's pools must be set already.
 * @input has passed the rules under @settings. */
void input_deviations_add(const json_t *input, const struct ml_settings *settings, struct plan *plan);
