/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/to_study.h: translates a job's hyperparameters to a study. Pure. */
#include <jansson.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct study;

/* Translates a HyperparameterSpec that has passed the rules. INVALID_ARGUMENT: it exceeds a limit of the tuning
 * library. */
enum status hyperparameters_to_study(const json_t *spec, uint64_t seed, struct study **ret_study,
				     struct error *err);
