/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/pool_field.h: the field of a TrainingInput from which a pool's member was made (api/training/replica_json.h).
 * Pure. */
#include <jansson.h>

#include "scheduler/plan/plan.h"

/* "trainingInput.scaleTier", "trainingInput.workerType", "trainingInput.workerConfig.acceleratorConfig" */
json_t *ml_pool_field(const json_t *input, enum role role, const char *member);
