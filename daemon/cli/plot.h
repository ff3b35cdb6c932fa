/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/plot.h: draws a search with characters: each trial's measured value, the model's prediction of it, and the
 * best value so far. Pure, except that the styles depend on the terminal on stdout. */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/text.h"

/* The values of one trial. NAN: the value is unknown. */
struct plot_point {
	double value;           /* measured */
	double mean, deviation; /* the model's prediction of the value, and its standard deviation */
};

/* Appends @height rows with an axis, at most @width columns wide. Trials go from left to right; if there are more trials
 * than columns, a column shows the best of several trials. Appends nothing if no trial has a value. */
void plot_write(struct text *text, const struct plot_point *points, size_t count, bool maximize,
		unsigned width, unsigned height);
