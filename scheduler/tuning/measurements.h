/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/measurements.h: all reports of one trial, in bounded memory.
 *
 * Choice: up to a thousand reports, all are kept. Above that only every second one is kept, above two thousand every
 * fourth, and so on, counted from the first. The best one, the last one, and the last one with a value of the first
 * metric are always kept, so the final and the best result are never lost. The selection depends on the reports alone,
 * even if they are stored as text and read back in between. Pure. Thread: any, one at a time. */
#include <jansson.h>

#include "daemon/base/error.h"
#include "scheduler/tuning/study.h"

enum { MEASUREMENTS_MAX = 1000 };
#define MEASUREMENT_NONE SIZE_MAX

struct measurements {
	struct measurement *all; /* in the order of their steps */
	uint64_t *ordinals;      /* the number of each report, from 0 */
	size_t count, size;
	uint64_t reported;        /* how many there were */
	uint64_t stride;          /* every stride-th is kept; 1: all */
	size_t best, last_valued; /* for the first metric: indexes, MEASUREMENT_NONE before its first value */
	size_t metric_count;
	bool minimized; /* the first metric is to be minimized */
};

void measurements_init(struct measurements *measurements, const struct study *study);
void measurements_deinit(struct measurements *measurements);
#define AUTO_MEASUREMENTS __attribute__((cleanup(measurements_deinit)))

/* Adds a report. If it has the step of the last report, and no metric in common with it, both become one. A report of
 * an earlier step is dropped. */
void measurements_add(struct measurements *measurements, const struct measurement *next);

/* Converts to JSON for the store; and back, into initialized @measurements. INVALID_ARGUMENT: @value is not such
 * JSON. */
json_t *measurements_to_json(const struct measurements *measurements);
enum status measurements_from_json(const json_t *value, struct measurements *measurements, struct error *err);
