/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/measurements.h"

#include <math.h>
#include <stdlib.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/tuning/metric_report.h"

enum { POINT_NUMBERS = 3 }; /* ordinal, step and time come before the values */

void measurements_init(struct measurements *measurements, const struct study *study)
{
	*measurements = (struct measurements){ .stride = 1,
					       .best = MEASUREMENT_NONE,
					       .last_valued = MEASUREMENT_NONE,
					       .metric_count = study->metric_count,
					       .minimized = study->metrics[0].minimized };
}

void measurements_deinit(struct measurements *measurements)
{
	free(measurements->all);
	free(measurements->ordinals);
	measurements->all = NULL;
	measurements->ordinals = NULL;
	measurements->count = measurements->size = 0;
}

/* ---- choosing the kept measurements ---- */

static bool is_better(const struct measurements *measurements, double value, double than)
{
	return measurements->minimized ? value < than : value > than;
}

/* Updates best and last_valued, after the last measurement was added or completed. */
static void marks_update(struct measurements *measurements)
{
	const size_t last = measurements->count - 1;
	const double value = measurements->all[last].values[0];

	if (!isfinite(value))
		return;
	measurements->last_valued = last;
	if (measurements->best == MEASUREMENT_NONE ||
	    is_better(measurements, value, measurements->all[measurements->best].values[0]))
		measurements->best = last;
}

static void marks_shift(struct measurements *measurements, size_t before, size_t after)
{
	if (measurements->best == before)
		measurements->best = after;
	if (measurements->last_valued == before)
		measurements->last_valued = after;
}

static bool is_kept(const struct measurements *measurements, size_t index)
{
	return measurements->ordinals[index] % measurements->stride == 0 || index == measurements->best ||
	       index == measurements->last_valued || index == measurements->count - 1;
}

static void thin_out(struct measurements *measurements)
{
	size_t kept = 0, count = measurements->count;

	measurements->stride *= 2;
	for (size_t i = 0; i < count; i++) {
		if (!is_kept(measurements, i))
			continue;
		measurements->all[kept] = measurements->all[i];
		measurements->ordinals[kept] = measurements->ordinals[i];
		marks_shift(measurements, i, kept++);
	}
	measurements->count = kept;
}

/* ---- adding a measurement ---- */

static void room_make(struct measurements *measurements)
{
	const size_t size = measurements->size ? measurements->size * 2 : 16;

	if (measurements->count < measurements->size)
		return;
	measurements->all = memory_resize(measurements->all, size, sizeof(*measurements->all));
	measurements->ordinals = memory_resize(measurements->ordinals, size, sizeof(*measurements->ordinals));
	measurements->size = size;
}

/* Drops the last but one measurement if it was kept only because it was the last one. */
static void former_last_drop(struct measurements *measurements)
{
	const size_t former = measurements->count - 2, count = measurements->count;

	if (count < 2 || is_kept(measurements, former))
		return;
	measurements->all[former] = measurements->all[count - 1];
	measurements->ordinals[former] = measurements->ordinals[count - 1];
	marks_shift(measurements, count - 1, former);
	measurements->count--;
}

void measurements_add(struct measurements *measurements, const struct measurement *next)
{
	const size_t count = measurements->count;
	struct measurement *last = count ? &measurements->all[count - 1] : NULL;

	if (last && next->step < last->step)
		return;
	if (last && measurement_join(last, next, measurements->metric_count)) {
		marks_update(measurements);
		return;
	}
	room_make(measurements);
	measurements->all[count] = *next;
	measurements->ordinals[count] = measurements->reported++;
	measurements->count++;
	marks_update(measurements);
	former_last_drop(measurements);
	if (measurements->count > MEASUREMENTS_MAX)
		thin_out(measurements);
}

/* ---- as JSON ---- */

static json_t *point_to_json(const struct measurements *measurements, size_t index)
{
	const struct measurement *measurement = &measurements->all[index];
	json_t *point = json_pack("[I, I, f]", (json_int_t)measurements->ordinals[index],
				  (json_int_t)measurement->step, measurement->elapsed_s);

	for (size_t m = 0; m < measurements->metric_count; m++)
		json_array_append_new(point, isfinite(measurement->values[m])
						     ? json_real(measurement->values[m])
						     : json_null());
	return point;
}

json_t *measurements_to_json(const struct measurements *measurements)
{
	json_t *points = json_array();

	for (size_t i = 0; i < measurements->count; i++)
		json_array_append_new(points, point_to_json(measurements, i));
	return json_pack("{s:I, s:I, s:o}", "reported", (json_int_t)measurements->reported, "stride",
			 (json_int_t)measurements->stride, "points", points);
}

static bool point_from_json(const json_t *point, const struct measurements *measurements,
			    uint64_t *ret_ordinal, struct measurement *ret_measurement)
{
	const json_t *ordinal = json_array_get(point, 0), *step = json_array_get(point, 1);
	const json_t *elapsed = json_array_get(point, 2);

	if (!json_is_integer(ordinal) || !json_is_integer(step) || !json_is_number(elapsed) ||
	    json_array_size(point) != POINT_NUMBERS + measurements->metric_count)
		return false;
	*ret_ordinal = (uint64_t)json_integer_value(ordinal);
	*ret_measurement = (struct measurement){ .step = json_integer_value(step),
						 .elapsed_s = json_number_value(elapsed) };
	for (size_t m = 0; m < METRICS_MAX; m++) {
		const json_t *value =
			m < measurements->metric_count ? json_array_get(point, POINT_NUMBERS + m) : NULL;

		ret_measurement->values[m] = json_is_number(value) ? json_number_value(value) : NAN;
	}
	return true;
}

static enum status points_read(const json_t *points, struct measurements *measurements, struct error *err)
{
	const json_t *point;
	size_t index;

	json_array_foreach(points, index, point) {
		room_make(measurements);
		if (!point_from_json(point, measurements, &measurements->ordinals[index],
				     &measurements->all[index]))
			return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
					 "Stored measurements cannot be read.");
		measurements->count++;
		marks_update(measurements);
	}
	return STATUS_OK;
}

enum status measurements_from_json(const json_t *value, struct measurements *measurements, struct error *err)
{
	const json_t *points = json_object_get(value, "points");
	const int64_t reported = json_int_at(value, "reported", -1), stride = json_int_at(value, "stride", 0);

	if (reported < 0 || stride < 1 || !json_is_array(points) ||
	    json_array_size(points) > MEASUREMENTS_MAX)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "Stored measurements cannot be read.");
	measurements->reported = (uint64_t)reported;
	measurements->stride = (uint64_t)stride;
	return points_read(points, measurements, err);
}
