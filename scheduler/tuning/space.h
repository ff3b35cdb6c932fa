/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/space.h: parameters as features with distances, for the model.
 *
 * Each parameter is one feature: a number is scaled to [0, 1]; a category, or a parameter with children, is the index
 * of its value. An inactive parameter has the middle, or the first category; the feature of its parent distinguishes
 * the branches. Pure. */
#include <stdbool.h>
#include <stddef.h>

#include "scheduler/tuning/draw.h"
#include "scheduler/tuning/study.h"

enum feature_kind {
	FEATURE_CONTINUOUS,
	FEATURE_STEPPED, /* a number with a finite set of values */
	FEATURE_CATEGORY,
};

struct feature {
	enum feature_kind kind;
	size_t choice_count; /* the number of values; 0: continuous */
	bool is_fixed;       /* there is one value only */
	bool is_local;       /* the feature takes part in the trust region */
};

struct space {
	const struct study *study;
	struct feature *features;
	size_t count;       /* features */
	size_t local_count; /* numbers that take part in the trust region */
	size_t category_count;
	double point_count; /* number of points of the space; INFINITY: too many to try all */
};

void space_init(struct space *space, const struct study *study);
void space_deinit(struct space *space);

/* Converts @values (NaN: inactive) to features. Numbers outside of the range, which earlier studies may have, become
 * features outside of [0, 1]. */
void space_encode(const struct space *space, const double *values, double *ret_features);
/* Rounds to the nearest possible values, in @features too. Never outside of a range. */
void space_decode(const struct space *space, double *features, double *ret_values);

/* Writes the middle of the space to @ret_features. */
void space_centre(const struct space *space, double *ret_features);
/* Draws a point, uniform in the scaled coordinates, and over categories and steps. */
void space_random(const struct space *space, struct draw *draw, double *ret_features);
/* Writes point @index of the scrambled Halton sequence to @ret_features. */
void space_halton(const struct space *space, uint64_t seed, size_t index, double *ret_features);
/* Returns the coordinate, in the features' space, of choice number @choice of a STEPPED or CATEGORY feature. */
double space_choice(const struct space *space, size_t feature, size_t choice);
/* Which choice a STEPPED feature is at. */
size_t space_choice_of(const struct space *space, size_t feature, double value);

bool space_points_equal(const struct space *space, const double *a, const double *b);

/* Point @index of the grid, the first parameter varies fastest; false: beyond its end, or a parameter is continuous.
 * Points that differ only in inactive parameters are given once. With conditions the time is proportional to @index,
 * however large the space is. */
bool space_grid(const struct space *space, size_t index, double *ret_values);
