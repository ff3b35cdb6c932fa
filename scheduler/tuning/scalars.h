/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/scalars.h: the scalars of event files as curves for display, for any number of events.
 *
 * A curve is a run (the directory of its files) and a tag. Of a long curve every second, fourth … point is kept, and
 * the last, so memory is bounded. If a program starts again at an earlier step, the points after that step are dropped,
 * as in TensorBoard.
 * Source: tensorboard/backend/event_processing/event_accumulator.py in https://github.com/tensorflow (read 2026-11-26)
 *
 * Pure. Thread: any, one at a time. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SCALAR_CURVES_MAX = 200,    /* maximum number of curves kept; of more, only their existence is noted */
	SCALAR_TAG_BYTES_MAX = 256, /* a longer tag is cut off */
	SCALAR_POINTS_MIN = 2,
	SCALAR_POINTS_MAX = 2000,
};

struct scalar_point {
	int64_t step;
	double time_s; /* since 1970; finite */
	double value;  /* finite */
};

struct scalar_curve {
	char *run, *tag; /* any bytes but NUL */
	size_t tag_length;
	struct scalar_point *points;
	size_t point_count;
	uint64_t stride;      /* every stride-th point is kept */
	uint64_t whole_count; /* number of finite values so far, without those that were dropped */
	bool has_loose_end;   /* the last of @points is kept only because it is the last */
	uint64_t not_finite_count;
};

struct scalars {
	size_t points_max; /* of a curve */
	const char *run;   /* run of the next events; borrowed */
	struct scalar_curve *curves;
	size_t curve_count, curve_size;
	bool has_more_curves;
	uint64_t malformed_count; /* events */
	size_t last;              /* index of the curve that was looked up last */
	int64_t step;             /* of the current event */
	double time_s;
};

/* @points_max: SCALAR_POINTS_MIN to SCALAR_POINTS_MAX. */
void scalars_init(struct scalars *scalars, size_t points_max);
void scalars_deinit(struct scalars *scalars);
#define AUTO_SCALARS __attribute__((cleanup(scalars_deinit)))

/* Takes an event; an event_record_taker (event_file.h). @arg: the scalars. */
void scalars_take(void *arg, const uint8_t *data, size_t length);
