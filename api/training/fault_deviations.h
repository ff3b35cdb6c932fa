/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/fault_deviations.h: what ordered faults did to a job, told as differences from the cloud. */
#include <jansson.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct store;

/* Appends one to @differences (deviation.h) for each hit on @job, and on the jobs that run its trials. */
enum status fault_deviations_add(struct store *store, int64_t job, json_t *deviations, struct error *err);
