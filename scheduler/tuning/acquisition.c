/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/acquisition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"

enum { MIXTURES = 256 }; /* weightings of several metrics */

/* Source: https://arxiv.org/abs/2408.11527 */
static const double ucb_weight = 1.8;
static const double threshold_weight = 0.5, threshold_penalty = 10;
static const double explore_with_news = 0.1, explore_when_noisy = 0.7, exploit_in_batch = 0.25;
static const double noisy_ratio = 0.7, exploring_noise = 1e-10;
static const double radius_start = 0.2, radius_growth = 0.3, radius_pace = 5, radius_end = 0.5;
static const double far_penalty = -1e4;

static double optimistic(const struct prediction *prediction, size_t metric)
{
	return prediction->mean[metric] + ucb_weight * prediction->all_deviation;
}

/* The hypervolume between the reference point and @values for one weighting of the metrics, and the metric that limits it.
 * Source: https://arxiv.org/abs/2006.04655 (random hypervolume scalarizations) */
static double mixture_value(const struct acquisition *acquisition, const double *weights,
			    const double *values, size_t *ret_bound)
{
	const size_t metrics = acquisition->bandit->evidence.metric_count;
	double least = INFINITY;

	*ret_bound = 0;
	for (size_t m = 0; m < metrics; m++) {
		const double side = fmax(0, values[m] - acquisition->reference[m]) / weights[m];

		if (side < least) {
			least = side;
			*ret_bound = m;
		}
	}
	return pow(least, (double)metrics);
}

/* The upper confidence bound for several metrics: the mean hypervolume over all random weightings of the metrics.
 * @slope: its derivatives; may be NULL. */
static double mixed_ucb(const struct acquisition *acquisition, const struct prediction *prediction,
			struct slope *slope)
{
	const size_t metrics = acquisition->bandit->evidence.metric_count;
	double values[METRICS_MAX], sum = 0;

	for (size_t m = 0; m < metrics; m++)
		values[m] = optimistic(prediction, m);
	for (size_t i = 0; i < MIXTURES; i++) {
		size_t bound;
		const double value =
			mixture_value(acquisition, acquisition->mixtures + i * metrics, values, &bound);

		sum += fmax(value, acquisition->mixture_best[i]);
		/* The derivative of mixture_value(), which is a power, with respect to values[bound]. */
		if (slope && value > acquisition->mixture_best[i])
			slope->by_mean[bound] += (double)metrics * value /
						 (values[bound] - acquisition->reference[bound]) / MIXTURES;
	}
	for (size_t m = 0; slope && m < metrics; m++)
		slope->by_all_deviation += ucb_weight * slope->by_mean[m];
	return sum / MIXTURES;
}

/* The mean over all metrics of an optimistic value (mean + threshold_weight * deviation) minus the threshold for
 * exploration. A metric above its threshold counts as 0, so the result is 0 or negative. @slope may be NULL. */
static double shortfall(const struct acquisition *acquisition, const struct prediction *prediction,
			struct slope *slope)
{
	const size_t metrics = acquisition->bandit->evidence.metric_count;
	double sum = 0;

	for (size_t m = 0; m < metrics; m++) {
		const double lack = prediction->mean[m] + threshold_weight * prediction->deviation -
				    acquisition->threshold[m];

		if (lack >= 0)
			continue;
		sum += lack;
		if (!slope)
			continue;
		slope->by_mean[m] += threshold_penalty / (double)metrics;
		slope->by_deviation += threshold_penalty * threshold_weight / (double)metrics;
	}
	return sum / (double)metrics;
}

static double value_of(const struct acquisition *acquisition, const struct prediction *prediction,
		       struct slope *slope)
{
	if (slope)
		*slope = (struct slope){ .by_all_deviation = acquisition->explores };
	if (acquisition->explores)
		return prediction->all_deviation +
		       threshold_penalty * shortfall(acquisition, prediction, slope);
	if (acquisition->mixtures)
		return mixed_ucb(acquisition, prediction, slope);
	if (slope)
		*slope = (struct slope){ .by_mean = { 1 }, .by_all_deviation = ucb_weight };
	return optimistic(prediction, 0);
}

double acquisition_value(const struct acquisition *acquisition, const struct prediction *prediction)
{
	const double value = value_of(acquisition, prediction, NULL);

	return isfinite(value) ? value : far_penalty;
}

struct slope acquisition_slope(void *arg, const struct prediction *prediction)
{
	struct slope slope;

	value_of(arg, prediction, &slope);
	return slope;
}

/* ---- the trust region ---- */

static bool is_inside(const struct space *space, const double *point)
{
	for (size_t f = 0; f < space->count; f++)
		if (space->features[f].is_local && (point[f] < 0 || point[f] > 1))
			return false;
	return true;
}

static double farthest(const struct space *space, const double *a, const double *b)
{
	double distance = 0;

	for (size_t f = 0; f < space->count; f++)
		if (space->features[f].is_local)
			distance = fmax(distance, fabs(a[f] - b[f]));
	return distance;
}

double acquisition_reach(const struct acquisition *acquisition, const double *point, size_t *ret_nearest)
{
	const struct evidence *evidence = &acquisition->bandit->evidence;
	double best = INFINITY;

	*ret_nearest = 0;
	for (size_t i = 0; i < evidence->count; i++) {
		const double *known = evidence->points + i * acquisition->dims;
		double distance;

		if (!is_inside(acquisition->space, known))
			continue;
		distance = farthest(acquisition->space, point, known);
		if (distance < best) {
			best = distance;
			*ret_nearest = i;
		}
	}
	return best;
}

static double radius_of(const struct bandit *bandit)
{
	const double freedom = (double)(bandit->space->local_count + bandit->space->category_count);
	const double radius =
		radius_start + radius_growth * (double)bandit->evidence.count / (radius_pace * (freedom + 1));

	return radius > radius_end || !bandit->space->local_count ? INFINITY : radius;
}

double acquisition_score(const struct acquisition *acquisition, const double *point,
			 const struct prediction *prediction)
{
	size_t nearest;
	double distance;

	if (isfinite(acquisition->radius)) {
		distance = acquisition_reach(acquisition, point, &nearest);
		if (isfinite(distance) && distance >= acquisition->radius)
			return far_penalty - distance;
	}
	return acquisition_value(acquisition, prediction);
}

/* ---- preparation ---- */

/* For each metric in which a known point is the most promising so far, takes the point's mean as the threshold. */
static void threshold_raise(struct acquisition *acquisition, const struct prediction *prediction,
			    double best[METRICS_MAX])
{
	for (size_t m = 0; m < acquisition->bandit->evidence.metric_count; m++) {
		const double value = prediction->mean[m] + ucb_weight * prediction->deviation;

		if (value > best[m]) {
			best[m] = value;
			acquisition->threshold[m] = prediction->mean[m];
		}
	}
}

/* Sets each metric's threshold to its mean at the known point with the highest upper confidence bound. */
static void threshold_find(struct acquisition *acquisition)
{
	const struct evidence *evidence = &acquisition->bandit->evidence;
	double points[MODEL_BLOCK * PARAMETERS_MAX];
	double best[METRICS_MAX];

	for (size_t m = 0; m < METRICS_MAX; m++)
		best[m] = -INFINITY;

	for (size_t i = 0; i < evidence->count; i += MODEL_BLOCK) {
		struct prediction predictions[MODEL_BLOCK];
		size_t count = evidence->count - i < MODEL_BLOCK ? evidence->count - i : MODEL_BLOCK;

		for (size_t b = 0; b < MODEL_BLOCK; b++)
			memcpy(points + b * acquisition->dims,
			       evidence->points + (i + (b < count ? b : 0)) * acquisition->dims,
			       acquisition->dims * sizeof(double));
		model_predict(&acquisition->model, points, acquisition->room, predictions);
		for (size_t b = 0; b < count; b++)
			threshold_raise(acquisition, &predictions[b], best);
	}
}

static void reference_find(struct acquisition *acquisition, size_t metric)
{
	const struct evidence *evidence = &acquisition->bandit->evidence;
	double low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < evidence->completed_count; i++) {
		low = fmin(low, evidence->labels[metric][i]);
		high = fmax(high, evidence->labels[metric][i]);
	}
	acquisition->reference[metric] = evidence->completed_count ? low - 0.01 * (high - low) : 0;
}

static void mixture_draw(struct draw *draw, double *weights, size_t metrics)
{
	double norm = 0;

	for (size_t m = 0; m < metrics; m++) {
		weights[m] = fmax(fabs(draw_normal(draw)), 1e-6);
		norm += weights[m] * weights[m];
	}
	for (size_t m = 0; m < metrics; m++)
		weights[m] /= sqrt(norm);
}

static void mixtures_make(struct acquisition *acquisition, struct draw *draw)
{
	const struct evidence *evidence = &acquisition->bandit->evidence;
	const size_t metrics = evidence->metric_count;

	if (metrics < 2)
		return;
	acquisition->mixtures = memory_calloc(MIXTURES * (metrics + 1), sizeof(double));
	acquisition->mixture_best = acquisition->mixtures + MIXTURES * metrics;
	for (size_t m = 0; m < metrics; m++)
		reference_find(acquisition, m);
	for (size_t i = 0; i < MIXTURES; i++) {
		double *weights = acquisition->mixtures + i * metrics;

		mixture_draw(draw, weights, metrics);
		for (size_t t = 0; t < evidence->completed_count; t++) {
			double values[METRICS_MAX] = { 0 };
			size_t bound;

			for (size_t m = 0; m < metrics; m++)
				values[m] = evidence->labels[m][t];
			acquisition->mixture_best[i] =
				fmax(acquisition->mixture_best[i],
				     mixture_value(acquisition, weights, values, &bound));
		}
	}
}

/* Whether the next point is to explore (give information) rather than to be the best one. */
static bool explores(const struct bandit *bandit, bool noisy, struct draw *draw)
{
	const double uniform = draw_uniform(draw);

	if (bandit->has_news)
		return uniform < (noisy ? explore_when_noisy : explore_with_news);
	return !bandit->evidence.completed_count || uniform >= exploit_in_batch;
}

enum status acquisition_init(struct acquisition *acquisition, const struct bandit *bandit, struct draw *draw,
			     struct error *err)
{
	const bool noisy = bandit->kernel.signal / bandit->kernel.noise < noisy_ratio;
	enum status rc;

	*acquisition = (struct acquisition){ .bandit = bandit,
					     .space = bandit->space,
					     .dims = bandit->space->count,
					     .radius = radius_of(bandit) };
	acquisition->explores = explores(bandit, noisy, draw);
	rc = model_init(&acquisition->model, &bandit->evidence, &bandit->kernel, noisy ? exploring_noise : -1,
			err);
	if (rc)
		return rc;
	acquisition->room = memory_calloc(model_room(&acquisition->model), sizeof(double));
	threshold_find(acquisition);
	mixtures_make(acquisition, draw);
	return STATUS_OK;
}

void acquisition_deinit(struct acquisition *acquisition)
{
	model_deinit(&acquisition->model);
	free(acquisition->room);
	free(acquisition->mixtures);
}
