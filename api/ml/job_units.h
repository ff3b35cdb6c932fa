/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/job_units.h: the ML units of a job: consumedMLUnits.
 *
 * Pure. Thread: any. */
#include <jansson.h>
#include <stdint.h>

struct job;
struct plan;

/* ML units that the job consumes in an hour: those of its replicas, and of its Cloud TPU, which is in no pool of the
 * plan. The value is stored by job_insert() as ml_units_per_hour. */
double job_ml_units_per_hour(const struct plan *plan, const json_t *input);

/* ML units consumed until @now_us, rounded to hundredths: from the first time that the job was RUNNING until it ended.
 * Retries are counted without a break, because the job keeps its machines in between.
 * Source: the consumption that the service reported for real jobs, which matches their time without that in state
 * PREPARING. */
double job_ml_units(const struct job *job, int64_t now_us);
