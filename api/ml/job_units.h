/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/job_units.h: the ML units of a job: consumedMLUnits.
 *
 * Pure. Thread: any. */
#include <jansson.h>
#include <stdint.h>

struct job;
struct plan;

/* ML units that the job consumes in an hour: its replicas, and its Cloud TPU, which is in no pool of the plan. The
 * ml_units_per_hour for job_insert(). */
double job_ml_units_per_hour(const struct plan *plan, const json_t *input);

/* ML units consumed until @now_us, in hundredths: from the first time that the job was RUNNING until it ended. For a
 * retried job counting goes on, because its machines were not given back in between.
 * Source: the consumption of real jobs matches their time without the preparation. */
double job_ml_units(const struct job *job, int64_t now_us);
