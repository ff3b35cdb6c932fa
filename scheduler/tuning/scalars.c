/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/scalars.h"

#include <math.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "scheduler/tuning/event.h"

void scalars_init(struct scalars *scalars, size_t points_max)
{
	*scalars = (struct scalars){ .points_max = points_max, .run = "" };
}

void scalars_deinit(struct scalars *scalars)
{
	for (size_t i = 0; i < scalars->curve_count; i++) {
		free(scalars->curves[i].run);
		free(scalars->curves[i].tag);
		free(scalars->curves[i].points);
	}
	free(scalars->curves);
	scalars->curves = NULL;
	scalars->curve_count = 0;
}

/* The curve of @tag, made if it is new; NULL: there are too many curves. Tags come in the same order again and again, so
 * the curve after the last one is tried first. */
static struct scalar_curve *curve_find(struct scalars *scalars, const char *tag, size_t length)
{
	struct scalar_curve *curve;

	for (size_t i = 1; i <= scalars->curve_count; i++) {
		const size_t at = (scalars->last + i) % scalars->curve_count;

		curve = &scalars->curves[at];
		if (curve->tag_length == length && memcmp(curve->tag, tag, length) == 0 &&
		    strcmp(curve->run, scalars->run) == 0) {
			scalars->last = at;
			return curve;
		}
	}
	if (scalars->curve_count == SCALAR_CURVES_MAX) {
		scalars->has_more_curves = true;
		return NULL;
	}
	if (scalars->curve_count == scalars->curve_size) {
		scalars->curve_size = scalars->curve_size ? 2 * scalars->curve_size : 8;
		scalars->curves =
			memory_resize(scalars->curves, scalars->curve_size, sizeof(*scalars->curves));
	}
	curve = &scalars->curves[scalars->curve_count++];
	*curve = (struct scalar_curve){
		.run = memory_strdup(scalars->run),
		.tag = memory_strndup(tag, length),
		.tag_length = length,
		.points = memory_calloc(scalars->points_max, sizeof(*curve->points)),
		.stride = 1,
	};
	return curve;
}

/* If the curve has points after @step, the program has started again: drops the points at @step or later, and estimates
 * whole_count from the kept points. */
static void curve_go_back(struct scalar_curve *curve, int64_t step)
{
	if (!curve->point_count || curve->points[curve->point_count - 1].step <= step)
		return;
	while (curve->point_count && curve->points[curve->point_count - 1].step >= step)
		curve->point_count--;
	curve->has_loose_end = false;
	curve->whole_count = curve->point_count * curve->stride;
}

static void curve_thin(struct scalar_curve *curve)
{
	size_t kept = 0;

	for (size_t i = 0; i < curve->point_count; i += 2)
		curve->points[kept++] = curve->points[i];
	curve->point_count = kept;
	curve->stride *= 2;
}

static void curve_add(struct scalar_curve *curve, const struct scalar_point *point, size_t points_max)
{
	curve_go_back(curve, point->step);
	if (curve->has_loose_end)
		curve->point_count--;
	curve->has_loose_end = curve->whole_count % curve->stride != 0;
	curve->whole_count++;
	if (curve->point_count == points_max) {
		curve_thin(curve);
		curve->has_loose_end = (curve->whole_count - 1) % curve->stride != 0;
	}
	curve->points[curve->point_count++] = *point;
}

static void event_begin(void *arg, int64_t step, double time_s)
{
	struct scalars *scalars = arg;

	scalars->step = step;
	scalars->time_s = isfinite(time_s) ? time_s : 0;
}

static void event_value(void *arg, const char *tag, size_t tag_length, bool is_scalar, double value)
{
	struct scalars *scalars = arg;
	const size_t most = tag_length < SCALAR_TAG_BYTES_MAX ? tag_length : SCALAR_TAG_BYTES_MAX;
	struct scalar_curve *curve;

	if (!is_scalar)
		return;
	curve = curve_find(scalars, tag, strnlen(tag, most));
	if (!curve)
		return;
	if (isfinite(value))
		curve_add(curve, &(struct scalar_point){ scalars->step, scalars->time_s, value },
			  scalars->points_max);
	else
		curve->not_finite_count++;
}

void scalars_take(void *arg, const uint8_t *data, size_t length)
{
	static const struct event_taker taker = { event_begin, event_value };
	struct scalars *scalars = arg;

	if (!event_read(data, length, &taker, scalars))
		scalars->malformed_count++;
}
