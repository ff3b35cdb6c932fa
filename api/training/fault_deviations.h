/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/fault_deviations.h: reports faults that were injected into a job as deviations from the cloud. */
#include <jansson.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct store;

/* Appends one to @deviations (deviation.h) for each fault injected into @job, or into the jobs that run its trials. */
enum status fault_deviations_add(struct store *store, int64_t job, json_t *deviations, struct error *err);
