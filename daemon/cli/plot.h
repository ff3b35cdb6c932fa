/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/plot.h: a search drawn with characters: each trial's measured value, the model's belief of it, and the best so far. Pure, but for the styles of the terminal that stdout is. */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/text.h"

/* Of one trial; NAN: not known. */
struct plot_point {
	double value;           /* measured */
	double mean, deviation; /* the model's belief */
};

/* Appends @height rows with an axis, at most @width columns wide. Trials go from left to right; where there are more of them
 * than columns, a column has the best of several. Nothing is drawn where nothing is known of any. */
void plot_write(struct text *text, const struct plot_point *points, size_t count, bool maximize,
		unsigned width, unsigned height);
