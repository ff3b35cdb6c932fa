/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/to_study.h: what a job wants tuned, as a study. Pure. */
#include <jansson.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct study;

/* @spec: a HyperparameterSpec that passed the rules. A limit of the library's own is INVALID_ARGUMENT. */
enum status hyperparameters_to_study(const json_t *spec, uint64_t seed, struct study **ret_study,
				     struct error *err);
