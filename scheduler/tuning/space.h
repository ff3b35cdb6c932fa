/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/space.h: parameters as features that a model can measure distances between.
 *
 * Each parameter is one feature: a number's is in [0, 1] by its scale; a category's, and that of a parent of other
 * parameters, is the index of its value. An inactive parameter has the middle, or the first category: the feature of
 * its parent tells the branches apart. Pure. */
#include <stdbool.h>
#include <stddef.h>

#include "scheduler/tuning/draw.h"
#include "scheduler/tuning/study.h"

enum feature_kind {
	FEATURE_CONTINUOUS,
	FEATURE_STEPPED, /* a number of which only some values are possible */
	FEATURE_CATEGORY,
};

struct feature {
	enum feature_kind kind;
	size_t choice_count; /* how many values there are; 0: a continuum */
	bool is_fixed;       /* there is one value only */
	bool is_local;       /* takes part in the trust region */
};

struct space {
	const struct study *study;
	struct feature *features;
	size_t count;       /* features */
	size_t local_count; /* numbers that take part in the trust region */
	size_t category_count;
	double point_count; /* INFINITY: more than can be tried */
};

void space_init(struct space *space, const struct study *study);
void space_deinit(struct space *space);

/* @values (NaN: inactive) as features. Numbers outside of the range, as an earlier study may have had them, become
 * features outside of [0, 1]. */
void space_encode(const struct space *space, const double *values, double *ret_features);
/* The nearest possible values; @features become exactly theirs. Never outside of a range. */
void space_decode(const struct space *space, double *features, double *ret_values);

/* The middle of everything. */
void space_centre(const struct space *space, double *ret_features);
/* Uniform in the scaled coordinates, and over categories and steps. */
void space_random(const struct space *space, struct draw *draw, double *ret_features);
/* Point @index of the scrambled Halton sequence. */
void space_halton(const struct space *space, uint64_t seed, size_t index, double *ret_features);
/* Value @choice of a STEPPED or CATEGORY feature, as a feature. */
double space_choice(const struct space *space, size_t feature, size_t choice);
/* Which choice a STEPPED feature is at. */
size_t space_choice_of(const struct space *space, size_t feature, double value);

bool space_points_equal(const struct space *space, const double *a, const double *b);

/* Point @index of the grid, the first parameter fastest; false beyond its end, or where a parameter is a continuum.
 * Points that differ in inactive parameters only are given once. Takes time in proportion to @index where there are
 * conditions, however large the space is. */
bool space_grid(const struct space *space, size_t index, double *ret_values);
