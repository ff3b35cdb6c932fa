/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/warp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"

/* How far a failure lies below the worst success, as a share of the successes' range (if the range is 0: of 1). */
static const double failure_depth = 0.1;
static const double log_offset = 1.5;

/* The inverse of the standard normal distribution. Source: P. J. Acklam's rational approximation, refined by one
 * step of Halley's method to full precision. */
static double normal_quantile(double p)
{
	static const double a[] = { -3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
				    1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00 };
	static const double b[] = { -5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
				    6.680131188771972e+01, -1.328068155288572e+01 };
	static const double c[] = { -7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
				    -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00 };
	static const double d[] = { 7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
				    3.754408661907416e+00 };
	double x, q, r, error, step;

	if (p < 0.02425) {
		q = sqrt(-2 * log(p));
		x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
		    ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
	} else if (p > 1 - 0.02425) {
		return -normal_quantile(1 - p);
	} else {
		q = p - 0.5;
		r = q * q;
		x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
		    (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
	}
	error = 0.5 * erfc(-x * M_SQRT1_2) - p;
	step = error * sqrt(2 * M_PI) * exp(x * x / 2);
	return x - step / (1 + x * step / 2);
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The distinct finite values and their median, for half_rank(). */
struct order {
	double *distinct; /* ascending */
	size_t distinct_count;
	double median;
};

static void order_make(const double *values, size_t count, double *room, struct order *order)
{
	size_t finite = 0, distinct = 0;

	for (size_t i = 0; i < count; i++)
		if (!isnan(values[i]))
			room[finite++] = values[i];
	qsort(room, finite, sizeof(*room), compare);
	order->median = finite % 2 ? room[finite / 2] : room[finite / 2 - 1] / 2 + room[finite / 2] / 2;
	for (size_t i = 0; i < finite; i++)
		if (!distinct || room[distinct - 1] != room[i])
			room[distinct++] = room[i];
	order->distinct = room;
	order->distinct_count = distinct;
}

/* The root mean square of the values above the median; of all values if none is above. */
static double spread_of(const struct order *order, double unit)
{
	double sum = 0;
	size_t used = 0;

	for (size_t i = 0; i < order->distinct_count; i++) {
		double distance = (order->distinct[i] - order->median) / unit;

		if (order->distinct[i] < order->median)
			continue;
		sum += distance * distance;
		used++;
	}
	if (sum > 0)
		return sqrt(sum / (double)used) * unit;
	for (size_t i = 0; i < order->distinct_count; i++) {
		double distance = (order->distinct[i] - order->median) / unit;

		sum += distance * distance;
	}
	return sqrt(sum / (double)order->distinct_count) * unit;
}

static size_t rank_of(const struct order *order, double value)
{
	const double *found = bsearch(&value, order->distinct, order->distinct_count, sizeof(value), compare);

	return found ? (size_t)(found - order->distinct) + 1 : 1;
}

static void half_rank(double *values, size_t count, const struct order *order, double unit)
{
	const double spread = spread_of(order, unit);
	size_t below = 0;
	double divisor;

	while (below < order->distinct_count && order->distinct[below] < order->median)
		below++;
	divisor = (double)below +
		  (below < order->distinct_count && order->distinct[below] == order->median ? 0.5 : 0);
	for (size_t i = 0; i < count; i++)
		if (values[i] < order->median)
			values[i] = order->median +
				    spread * normal_quantile(0.5 * ((double)rank_of(order, values[i]) - 0.5) /
							     divisor);
}

static void range_of(const double *values, size_t count, double *ret_low, double *ret_high)
{
	*ret_low = INFINITY;
	*ret_high = -INFINITY;
	for (size_t i = 0; i < count; i++) {
		*ret_low = fmin(*ret_low, values[i]);
		*ret_high = fmax(*ret_high, values[i]);
	}
}

static void log_warp(double *values, size_t count)
{
	double low, high;

	range_of(values, count, &low, &high);
	for (size_t i = 0; i < count; i++)
		if (!isnan(values[i]))
			values[i] =
				high > low
					? 0.5 - log1p((log_offset - 1) * (high - values[i]) / (high - low)) /
							  log(log_offset)
					: 0.5;
}

static void failures_fill(double *values, size_t count, size_t finite)
{
	double low, high, bad, mean = 0, share = (0.5 + (double)finite) / (1 + (double)count), shift;

	range_of(values, count, &low, &high);
	bad = low - failure_depth * (high > low ? high - low : 1);
	for (size_t i = 0; i < count; i++)
		mean += isnan(values[i]) ? 0 : values[i] / (double)finite;
	shift = -mean * share - bad * (1 - share);
	for (size_t i = 0; i < count; i++)
		values[i] = (isnan(values[i]) ? bad : values[i]) + shift;
}

/* Scales all values by 1/8, because differences of the original values may overflow a double. */
static void shrink(double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] *= 0.125;
}

DEFINE_AUTO(doubles, double *, free)

void labels_warp(double *values, size_t count)
{
	AUTO(doubles) double *memory = memory_alloc((count + 1) * sizeof(*memory));
	struct order order;
	size_t finite = 0;
	double low, high;

	for (size_t i = 0; i < count; i++) {
		if (isinf(values[i]))
			values[i] = NAN;
		finite += !isnan(values[i]);
	}
	shrink(values, count);
	range_of(values, count, &low, &high);
	if (!finite || (finite == count && low == high)) {
		for (size_t i = 0; i < count; i++)
			values[i] = finite ? 0 : -1;
		return;
	}
	if (finite > 1 && high > low) {
		order_make(values, count, memory, &order);
		half_rank(values, count, &order, high - low);
	}
	log_warp(values, count);
	failures_fill(values, count, finite);
}
