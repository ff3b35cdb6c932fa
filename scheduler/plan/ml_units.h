/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/ml_units.h: the ML units that a job would have consumed in the cloud. Pure.
 *
 * An ML unit ("training unit") is what $0.49 bought in the Americas: the units of a machine are its price per hour
 * divided by that, and those of a cluster are the sum over its machines. In other regions a unit costs more, and a
 * machine has the same number of units.
 * Source: https://cloud.google.com/ml-engine/docs/pricing (a copy of 2019 and a later one, read 2026-11-21). */
#include <stdint.h>

#include "scheduler/plan/plan.h"

/* ML units that all replicas of the plan consume in an hour. A machine type without a known rate counts 0. */
double plan_ml_units_per_hour(const struct plan *plan);
/* ML units that accelerators alone consume in an hour; 0 for a type without a known rate. Accelerators of replicas are
 * included in the plan's sum; this is for a Cloud TPU, which runs no replica: @count is a number of cores. */
double accelerator_ml_units_per_hour(const char *type, unsigned count);
/* Units after @us microseconds at that rate, rounded to hundredths like the service's. Never negative.
 * Choice: by the second. The service billed whole minutes, and at least ten of them, which would hide the consumption
 * of the short jobs that run here. */
double ml_units_consumed(double per_hour, int64_t us);
