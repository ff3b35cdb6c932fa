/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/cli/terminal.h"

enum { LABEL = 10, SPREAD_MAX = 6, GAP_LABELS = 8 };

enum mark { MARK_NONE, MARK_BEST_LINE, MARK_BAND, MARK_MEAN, MARK_VALUE, MARK_BEST };

struct plot {
	const struct plot_point *points;
	size_t count;
	bool maximize;
	unsigned columns, rows, spread; /* spread: the number of columns from one trial to the next */
	double low, high;
	unsigned char *marks; /* rows × columns, the top row first */
};

static void range_add(struct plot *plot, double value)
{
	if (!isfinite(value))
		return;
	plot->low = isnan(plot->low) || value < plot->low ? value : plot->low;
	plot->high = isnan(plot->high) || value > plot->high ? value : plot->high;
}

/* Finds the range of values. Returns false if no trial has a value. Deviations of the model's predictions widen the
 * range unless they would dwarf all else. */
static bool range_find(struct plot *plot)
{
	double narrow;

	plot->low = plot->high = NAN;
	for (size_t i = 0; i < plot->count; i++) {
		range_add(plot, plot->points[i].value);
		range_add(plot, plot->points[i].mean);
	}
	if (isnan(plot->low))
		return false;
	narrow = plot->high - plot->low;
	for (size_t i = 0; i < plot->count; i++)
		if (plot->points[i].deviation <= narrow || narrow <= 0) {
			range_add(plot, plot->points[i].mean - plot->points[i].deviation);
			range_add(plot, plot->points[i].mean + plot->points[i].deviation);
		}
	if (plot->high - plot->low <= fabs(plot->high) * 1e-12) { /* all values are equal: draw one line in the middle */
		const double margin = plot->high != 0 ? fabs(plot->high) / 2 : 1;

		plot->low -= margin;
		plot->high += margin;
	}
	return true;
}

/* Returns the row of a value, 0 at the top; for a value outside of the range the nearest row. */
static unsigned row_of(const struct plot *plot, double value)
{
	const double share = (plot->high - value) / (plot->high - plot->low);

	if (!(share > 0))
		return 0;
	return share >= 1 ? plot->rows - 1 : (unsigned)(share * (plot->rows - 1) + 0.5);
}

static unsigned column_of(const struct plot *plot, size_t index)
{
	return plot->spread ? (unsigned)index * plot->spread
			    : (unsigned)(index * plot->columns / plot->count);
}

static void mark_put(struct plot *plot, unsigned column, double value, enum mark mark)
{
	unsigned char *place = &plot->marks[row_of(plot, value) * plot->columns + column];

	if (*place < mark)
		*place = (unsigned char)mark;
}

static bool is_better(const struct plot *plot, double value, double than)
{
	return isfinite(value) && (isnan(than) || (plot->maximize ? value > than : value < than));
}

static void point_draw(struct plot *plot, size_t index)
{
	const struct plot_point *point = &plot->points[index];
	const unsigned column = column_of(plot, index);

	if (isfinite(point->value))
		mark_put(plot, column, point->value, MARK_VALUE);
	if (!isfinite(point->mean))
		return;
	mark_put(plot, column, point->mean, MARK_MEAN);
	if (isfinite(point->deviation))
		for (unsigned row = row_of(plot, point->mean + point->deviation);
		     row <= row_of(plot, point->mean - point->deviation); row++)
			if (plot->marks[row * plot->columns + column] < MARK_BAND)
				plot->marks[row * plot->columns + column] = MARK_BAND;
}

/* Draws the best value so far, as a line from the trial that has it to the next better trial. */
static void best_draw(struct plot *plot)
{
	double best = NAN;
	size_t at = 0;

	for (size_t i = 0; i < plot->count; i++) {
		const unsigned end = i + 1 < plot->count ? column_of(plot, i + 1) : column_of(plot, i) + 1;

		if (is_better(plot, plot->points[i].value, best)) {
			best = plot->points[i].value;
			at = i;
		}
		for (unsigned column = column_of(plot, i); isfinite(best) && column < end; column++)
			mark_put(plot, column, best, MARK_BEST_LINE);
	}
	if (isfinite(best))
		mark_put(plot, column_of(plot, at), best, MARK_BEST);
}

/* Appends a mark. *style is the style of the mark before; a new style is written only if it differs. */
static void mark_write(struct text *text, enum mark mark, enum style *style)
{
	static const struct {
		const char *sign;
		enum style style;
	} marks[] = {
		[MARK_NONE] = { " ", STYLE_NONE },  [MARK_BEST_LINE] = { "─", STYLE_GOOD },
		[MARK_BAND] = { "┊", STYLE_DIM },   [MARK_MEAN] = { "○", STYLE_DIM },
		[MARK_VALUE] = { "●", STYLE_NONE }, [MARK_BEST] = { "★", STYLE_GOOD },
	};

	if (marks[mark].style != *style && *style)
		text_puts(text, terminal_style(stdout, STYLE_NONE));
	if (marks[mark].style != *style && marks[mark].style)
		text_puts(text, terminal_style(stdout, marks[mark].style));
	*style = marks[mark].style;
	text_puts(text, marks[mark].sign);
}

static void row_write(struct text *text, const struct plot *plot, unsigned row)
{
	const double range = plot->high - plot->low, fraction = range * row / (plot->rows - 1);
	/* Label a value that is almost 0 as 0: a plot with a range of 6 cannot show that it is -5.5e-05. */
	const double value = fabs(plot->high - fraction) < range * 1e-3 ? 0 : plot->high - fraction;
	const bool labelled = row == 0 || row == plot->rows - 1 || row == plot->rows / 2;
	unsigned end = plot->columns;
	enum style style = STYLE_NONE;

	while (end && !plot->marks[row * plot->columns + end - 1])
		end--;
	if (labelled)
		text_printf(text, "%*.*g ┤", LABEL, LABEL - 6, value);
	else
		text_printf(text, "%*s │", LABEL, "");
	for (unsigned column = 0; column < end; column++)
		mark_write(text, plot->marks[row * plot->columns + column], &style);
	text_puts(text, style ? terminal_style(stdout, STYLE_NONE) : "");
	text_putc(text, '\n');
}

/* Appends the axis with the numbers of trials, as many as fit. */
static void axis_write(struct text *text, const struct plot *plot)
{
	const unsigned last = column_of(plot, plot->count - 1);
	unsigned written = 0;

	text_printf(text, "%*s └", LABEL, "");
	for (unsigned column = 0; column <= last; column++)
		text_puts(text, "─");
	text_printf(text, "\n%*s  ", LABEL, "");
	for (size_t i = 0; i < plot->count; i++) {
		char number[24];
		const unsigned column = column_of(plot, i);

		snprintf(number, sizeof(number), "%zu", i + 1);
		if ((written && column < written + GAP_LABELS) || column + strlen(number) > plot->columns)
			continue;
		text_printf(text, "%*s%s", (int)(column - written), "", number);
		written = column + (unsigned)strlen(number);
	}
	text_putc(text, '\n');
}

void plot_write(struct text *text, const struct plot_point *points, size_t count, bool maximize,
		unsigned width, unsigned height)
{
	struct plot plot = { .points = points, .count = count, .maximize = maximize, .rows = height };

	if (!count || width <= LABEL + 3 || height < 2 || !range_find(&plot))
		return;
	plot.columns = width - LABEL - 2;
	plot.spread = (unsigned)((plot.columns - 1) / count);
	if (plot.spread > SPREAD_MAX)
		plot.spread = SPREAD_MAX;
	plot.marks = memory_calloc(plot.columns, plot.rows);
	for (size_t i = 0; i < count; i++)
		point_draw(&plot, i);
	best_draw(&plot);
	for (unsigned row = 0; row < plot.rows; row++)
		row_write(text, &plot, row);
	axis_write(text, &plot);
	free(plot.marks);
}
