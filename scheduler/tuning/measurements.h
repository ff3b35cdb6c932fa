/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/measurements.h: all that one trial has reported, however much that is.
 *
 * Choice: up to a thousand reports are kept as they are. Of more every second is kept, of twice as many every fourth, and
 * so on, counted from the first; besides the best one, the last one, and the last one with a value of the first metric:
 * so what a trial reached at the end or at its best is never lost. Which ones are kept follows from the reports
 * alone: as text and back, they go on as if nothing had been. Pure. Thread: any, one at a time. */
#include <jansson.h>

#include "daemon/base/error.h"
#include "scheduler/tuning/study.h"

enum { MEASUREMENTS_MAX = 1000 };
#define MEASUREMENT_NONE SIZE_MAX

struct measurements {
	struct measurement *all; /* in the order of their steps */
	uint64_t *ordinals;      /* which report each was, from 0 */
	size_t count, size;
	uint64_t reported;        /* how many there were */
	uint64_t stride;          /* every so-manieth is kept; 1: all */
	size_t best, last_valued; /* of the first metric: indexes, MEASUREMENT_NONE before its first value */
	size_t metric_count;
	bool minimized; /* the first metric is */
};

void measurements_init(struct measurements *measurements, const struct study *study);
void measurements_deinit(struct measurements *measurements);
#define AUTO_MEASUREMENTS __attribute__((cleanup(measurements_deinit)))

/* What is of the last one's step completes it where it can. One of an earlier step is dropped. */
void measurements_add(struct measurements *measurements, const struct measurement *next);

/* JSON for the store, and back, into initialized ones. INVALID_ARGUMENT: not ours. */
json_t *measurements_to_json(const struct measurements *measurements);
enum status measurements_from_json(const json_t *value, struct measurements *measurements, struct error *err);
