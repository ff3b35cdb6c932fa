/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/bandit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/tuning/optimizer.h"

enum {
	CANDIDATES = 1000,
	PARENTS = 8,  /* completed trials that candidates are bred from */
	CLIMBERS = 3, /* candidates that are improved */
	CLIMB_STEPS = 25,
	CLIMB_ROUNDS = 3,
	MIXTURES = 256, /* weightings of several metrics */
	NEIGHBOUR_WORK =
		1 << 26, /* distances between features, for all neighbours of a suggestion together */
};

/* Source: https://arxiv.org/abs/2408.11527 */
static const double ucb_weight = 1.8;
static const double threshold_weight = 0.5, threshold_penalty = 10;
static const double explore_with_news = 0.1, explore_when_noisy = 0.7, exploit_in_batch = 0.25;
static const double noisy_ratio = 0.7, exploring_noise = 1e-10;
static const double radius_start = 0.2, radius_growth = 0.3, radius_pace = 5, radius_end = 0.5;
static const double far_penalty = -1e4;
/* Climbers lie at least this far apart. */
static const double climber_gap = 0.05;

struct hunt {
	const struct bandit *bandit;
	const struct space *space;
	struct model model;
	size_t dims;
	bool explores;
	double threshold[METRICS_MAX]; /* of exploration */
	double radius;                 /* INFINITY: everywhere */
	double *room;                  /* of the model */
	/* Several metrics: weightings, the worst and the best that each has seen. */
	double *mixtures, *mixture_best;
	double reference[METRICS_MAX];
	/* Ascent: which features move, within which box. */
	size_t moving[PARAMETERS_MAX];
	size_t moving_count;
	double *point;
	/* Neighbours: how many may still be looked at, and with which feature to go on. */
	size_t neighbours_left, next_feature;
};

/* ---- the acquisition ---- */

static double hunt_ucb(const struct prediction *prediction, size_t metric)
{
	return prediction->mean[metric] + ucb_weight * prediction->all_deviation;
}

/* The volume between the reference and @values that a weighting sees, and which metric bounds it.
 * Source: https://arxiv.org/abs/2006.04655 (random hypervolume scalarizations) */
static double mixture_value(const struct hunt *hunt, const double *weights, const double *values,
			    size_t *ret_bound)
{
	const size_t metrics = hunt->bandit->evidence.metric_count;
	double least = INFINITY;

	*ret_bound = 0;
	for (size_t m = 0; m < metrics; m++) {
		const double side = fmax(0, values[m] - hunt->reference[m]) / weights[m];

		if (side < least) {
			least = side;
			*ret_bound = m;
		}
	}
	return pow(least, (double)metrics);
}

/* The mean over all weightings; @slope may be NULL. */
static double mixed_ucb(const struct hunt *hunt, const struct prediction *prediction, struct slope *slope)
{
	const size_t metrics = hunt->bandit->evidence.metric_count;
	double values[METRICS_MAX], sum = 0;

	for (size_t m = 0; m < metrics; m++)
		values[m] = hunt_ucb(prediction, m);
	for (size_t i = 0; i < MIXTURES; i++) {
		size_t bound;
		const double value = mixture_value(hunt, hunt->mixtures + i * metrics, values, &bound);

		sum += fmax(value, hunt->mixture_best[i]);
		/* The derivative of a power by what it is the power of. */
		if (slope && value > hunt->mixture_best[i])
			slope->by_mean[bound] +=
				(double)metrics * value / (values[bound] - hunt->reference[bound]) / MIXTURES;
	}
	for (size_t m = 0; slope && m < metrics; m++)
		slope->by_all_deviation += ucb_weight * slope->by_mean[m];
	return sum / MIXTURES;
}

/* How far the optimistic values lie below what exploration asks for, on average; never above 0. @slope may be NULL. */
static double shortfall(const struct hunt *hunt, const struct prediction *prediction, struct slope *slope)
{
	const size_t metrics = hunt->bandit->evidence.metric_count;
	double sum = 0;

	for (size_t m = 0; m < metrics; m++) {
		const double lack =
			prediction->mean[m] + threshold_weight * prediction->deviation - hunt->threshold[m];

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

/* What is maximised, and, where @slope is given, how it changes with the prediction. */
static double acquisition(const struct hunt *hunt, const struct prediction *prediction, struct slope *slope)
{
	if (slope)
		*slope = (struct slope){ .by_all_deviation = hunt->explores };
	if (hunt->explores)
		return prediction->all_deviation + threshold_penalty * shortfall(hunt, prediction, slope);
	if (hunt->mixtures)
		return mixed_ucb(hunt, prediction, slope);
	if (slope)
		*slope = (struct slope){ .by_mean = { 1 }, .by_all_deviation = ucb_weight };
	return hunt_ucb(prediction, 0);
}

static struct slope slope_of(void *arg, const struct prediction *prediction)
{
	struct slope slope;

	acquisition(arg, prediction, &slope);
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

/* The distance to the nearest known point, which *ret_nearest is. */
static double reach(const struct hunt *hunt, const double *point, size_t *ret_nearest)
{
	const struct evidence *evidence = &hunt->bandit->evidence;
	double best = INFINITY;

	*ret_nearest = 0;
	for (size_t i = 0; i < evidence->count; i++) {
		const double *known = evidence->points + i * hunt->dims;
		double distance;

		if (!is_inside(hunt->space, known))
			continue;
		distance = farthest(hunt->space, point, known);
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

static double score_of(const struct hunt *hunt, const double *point, const struct prediction *prediction)
{
	size_t nearest;
	double distance;

	if (isfinite(hunt->radius)) {
		distance = reach(hunt, point, &nearest);
		if (isfinite(distance) && distance >= hunt->radius)
			return far_penalty - distance;
	}
	return acquisition(hunt, prediction, NULL);
}

/* ---- what is prepared for a hunt ---- */

/* A known point's values, where one of them is the most promising so far. */
static void threshold_raise(struct hunt *hunt, const struct prediction *prediction, double best[METRICS_MAX])
{
	for (size_t m = 0; m < hunt->bandit->evidence.metric_count; m++) {
		const double value = prediction->mean[m] + ucb_weight * prediction->deviation;

		if (value > best[m]) {
			best[m] = value;
			hunt->threshold[m] = prediction->mean[m];
		}
	}
}

/* For each metric, the mean at that known point which is most promising. */
static void threshold_find(struct hunt *hunt)
{
	const struct evidence *evidence = &hunt->bandit->evidence;
	double points[MODEL_BLOCK * PARAMETERS_MAX];
	double best[METRICS_MAX];

	for (size_t m = 0; m < METRICS_MAX; m++)
		best[m] = -INFINITY;

	for (size_t i = 0; i < evidence->count; i += MODEL_BLOCK) {
		struct prediction predictions[MODEL_BLOCK];
		size_t count = evidence->count - i < MODEL_BLOCK ? evidence->count - i : MODEL_BLOCK;

		for (size_t b = 0; b < MODEL_BLOCK; b++)
			memcpy(points + b * hunt->dims,
			       evidence->points + (i + (b < count ? b : 0)) * hunt->dims,
			       hunt->dims * sizeof(double));
		model_predict(&hunt->model, points, hunt->room, predictions);
		for (size_t b = 0; b < count; b++)
			threshold_raise(hunt, &predictions[b], best);
	}
}

static void reference_find(struct hunt *hunt, size_t metric)
{
	const struct evidence *evidence = &hunt->bandit->evidence;
	double low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < evidence->completed_count; i++) {
		low = fmin(low, evidence->labels[metric][i]);
		high = fmax(high, evidence->labels[metric][i]);
	}
	hunt->reference[metric] = evidence->completed_count ? low - 0.01 * (high - low) : 0;
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

static enum status mixtures_make(struct hunt *hunt, struct draw *draw, struct error *err)
{
	const struct evidence *evidence = &hunt->bandit->evidence;
	const size_t metrics = evidence->metric_count;

	if (metrics < 2)
		return STATUS_OK;
	hunt->mixtures = calloc(MIXTURES * (metrics + 1), sizeof(double));
	if (!hunt->mixtures)
		return error_no_memory(err);
	hunt->mixture_best = hunt->mixtures + MIXTURES * metrics;
	for (size_t m = 0; m < metrics; m++)
		reference_find(hunt, m);
	for (size_t i = 0; i < MIXTURES; i++) {
		double *weights = hunt->mixtures + i * metrics;

		mixture_draw(draw, weights, metrics);
		for (size_t t = 0; t < evidence->completed_count; t++) {
			double values[METRICS_MAX];
			size_t bound;

			for (size_t m = 0; m < metrics; m++)
				values[m] = evidence->labels[m][t];
			hunt->mixture_best[i] =
				fmax(hunt->mixture_best[i], mixture_value(hunt, weights, values, &bound));
		}
	}
	return STATUS_OK;
}

/* Whether to learn rather than to win. */
static bool explores(const struct bandit *bandit, bool noisy, struct draw *draw)
{
	const double uniform = draw_uniform(draw);

	if (bandit->has_news)
		return uniform < (noisy ? explore_when_noisy : explore_with_news);
	return !bandit->evidence.completed_count || uniform >= exploit_in_batch;
}

static enum status hunt_init(struct hunt *hunt, const struct bandit *bandit, struct draw *draw,
			     struct error *err)
{
	const bool noisy = bandit->kernel.signal / bandit->kernel.noise < noisy_ratio;
	enum status rc;

	*hunt = (struct hunt){ .bandit = bandit,
			       .space = bandit->space,
			       .dims = bandit->space->count,
			       .radius = radius_of(bandit) };
	hunt->explores = explores(bandit, noisy, draw);
	hunt->neighbours_left = NEIGHBOUR_WORK / (hunt->dims * bandit->evidence.count);
	rc = model_init(&hunt->model, &bandit->evidence, &bandit->kernel, noisy ? exploring_noise : -1, err);
	if (rc)
		return rc;
	hunt->room = calloc(model_room(&hunt->model) + hunt->dims, sizeof(double));
	if (!hunt->room)
		return error_no_memory(err);
	hunt->point = hunt->room + model_room(&hunt->model);
	threshold_find(hunt);
	return mixtures_make(hunt, draw, err);
}

static void hunt_deinit(struct hunt *hunt)
{
	model_deinit(&hunt->model);
	free(hunt->room);
	free(hunt->mixtures);
}

/* ---- candidates ---- */

struct candidate {
	double score;
	double *point;
};

/* Completed trials, the best of the first metric first. */
static size_t parents_find(const struct bandit *bandit, size_t ret_parents[PARENTS])
{
	const double *labels = bandit->evidence.labels[0];
	size_t count = 0;

	for (size_t i = 0; i < bandit->evidence.completed_count; i++) {
		size_t at = count;

		while (at > 0 && labels[ret_parents[at - 1]] < labels[i])
			at--;
		if (at == PARENTS)
			continue;
		if (count < PARENTS)
			count++;
		memmove(ret_parents + at + 1, ret_parents + at, (count - at - 1) * sizeof(*ret_parents));
		ret_parents[at] = i;
	}
	return count;
}

/* Back into [0, 1] at the borders. */
static double reflected(double value)
{
	value = fmod(fabs(value), 2);
	return value > 1 ? 2 - value : value;
}

/* A child differs in some features, a little or much. */
static void candidate_breed(const struct hunt *hunt, const double *parent, struct draw *draw, double *point)
{
	const double keep = draw_uniform(draw);
	const double step = 0.001 * pow(300, draw_uniform(draw));
	const size_t changed = draw_index(draw, hunt->dims);

	for (size_t f = 0; f < hunt->dims; f++) {
		const struct feature *feature = &hunt->space->features[f];

		point[f] = parent[f];
		if (feature->kind == FEATURE_CATEGORY) {
			if (draw_uniform(draw) < 0.15)
				point[f] = (double)draw_index(draw, feature->choice_count);
		} else if (f == changed || draw_uniform(draw) >= keep) {
			point[f] = reflected(fmin(fmax(parent[f], 0), 1) + step * draw_normal(draw));
		}
	}
}

/* Uniform where the trust region lets it be: around some known point. */
static void candidate_spread(const struct hunt *hunt, struct draw *draw, double *point)
{
	const struct evidence *evidence = &hunt->bandit->evidence;
	const double *known;

	space_random(hunt->space, draw, point);
	if (!isfinite(hunt->radius) || !evidence->count)
		return;
	known = evidence->points + draw_index(draw, evidence->count) * hunt->dims;
	for (size_t f = 0; f < hunt->dims; f++) {
		const double low = fmax(known[f] - hunt->radius, 0), high = fmin(known[f] + hunt->radius, 1);

		if (hunt->space->features[f].is_local && low < high)
			point[f] = low + draw_uniform(draw) * (high - low);
	}
}

static void candidates_make(const struct hunt *hunt, struct draw *draw, struct candidate *candidates)
{
	double values[PARAMETERS_MAX];
	size_t parents[PARENTS + 1], parent_count = parents_find(hunt->bandit, parents);

	for (size_t i = 0; i < CANDIDATES; i++) {
		if (i % 2 && parent_count)
			candidate_breed(hunt,
					hunt->bandit->evidence.points +
						parents[draw_index(draw, parent_count)] * hunt->dims,
					draw, candidates[i].point);
		else
			candidate_spread(hunt, draw, candidates[i].point);
		space_decode(hunt->space, candidates[i].point, values);
	}
}

static void candidates_score(const struct hunt *hunt, struct candidate *candidates)
{
	struct prediction predictions[MODEL_BLOCK];

	/* Their points lie one after another. */
	for (size_t i = 0; i < CANDIDATES; i += MODEL_BLOCK) {
		model_predict(&hunt->model, candidates[i].point, hunt->room, predictions);
		for (size_t b = 0; b < MODEL_BLOCK; b++)
			candidates[i + b].score = score_of(hunt, candidates[i + b].point, &predictions[b]);
	}
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return x->point < y->point ? -1 : 1;
}

/* ---- climbing ---- */

static double point_score(const struct hunt *hunt, const double *point)
{
	double points[MODEL_BLOCK * PARAMETERS_MAX];
	struct prediction predictions[MODEL_BLOCK];

	for (size_t b = 0; b < MODEL_BLOCK; b++)
		memcpy(points + b * hunt->dims, point, hunt->dims * sizeof(double));
	model_predict(&hunt->model, points, hunt->room, predictions);
	return score_of(hunt, point, &predictions[0]);
}

static double ascent_objective(unsigned count, const double *moved, double *gradient, void *arg)
{
	struct hunt *hunt = arg;
	struct prediction prediction;
	double slopes[PARAMETERS_MAX], value;

	for (unsigned i = 0; i < count; i++)
		hunt->point[hunt->moving[i]] = moved[i];
	model_predict_sloped(&hunt->model, hunt->point, hunt->room, slope_of, hunt, slopes, &prediction);
	for (unsigned i = 0; gradient && i < count; i++)
		gradient[i] = isfinite(slopes[hunt->moving[i]]) ? slopes[hunt->moving[i]] : 0;
	value = acquisition(hunt, &prediction, NULL);
	return isfinite(value) ? value : far_penalty;
}

static void box_fill(const struct hunt *hunt, const double *point, double *low, double *high)
{
	size_t nearest;
	const double distance = isfinite(hunt->radius) ? reach(hunt, point, &nearest) : INFINITY;
	const double *known =
		isfinite(distance) ? hunt->bandit->evidence.points + nearest * hunt->dims : NULL;

	for (size_t i = 0; i < hunt->moving_count; i++) {
		const size_t f = hunt->moving[i];

		low[i] = known ? fmax(0, known[f] - hunt->radius * 0.999) : 0;
		high[i] = known ? fmin(1, known[f] + hunt->radius * 0.999) : 1;
		low[i] = fmin(low[i], point[f]);
		high[i] = fmax(high[i], point[f]);
	}
}

/* Moves the continuous features uphill. */
static enum status ascend(struct hunt *hunt, struct candidate *climber, struct error *err)
{
	double moved[PARAMETERS_MAX], low[PARAMETERS_MAX], high[PARAMETERS_MAX], values[PARAMETERS_MAX];
	double best, score;

	hunt->moving_count = 0;
	space_decode(hunt->space, climber->point, values);
	for (size_t f = 0; f < hunt->dims; f++)
		if (hunt->space->features[f].kind == FEATURE_CONTINUOUS &&
		    !hunt->space->features[f].is_fixed && !isnan(values[f]))
			hunt->moving[hunt->moving_count++] = f;
	if (!hunt->moving_count)
		return STATUS_OK;
	AUTO(optimizer) nlopt_opt optimizer = nlopt_create(NLOPT_LD_LBFGS, (unsigned)hunt->moving_count);
	if (!optimizer)
		return error_no_memory(err);
	memcpy(hunt->point, climber->point, hunt->dims * sizeof(double));
	for (size_t i = 0; i < hunt->moving_count; i++)
		moved[i] = climber->point[hunt->moving[i]];
	box_fill(hunt, climber->point, low, high);
	nlopt_set_lower_bounds(optimizer, low);
	nlopt_set_upper_bounds(optimizer, high);
	nlopt_set_max_objective(optimizer, ascent_objective, hunt);
	nlopt_set_maxeval(optimizer, CLIMB_STEPS);
	nlopt_set_ftol_abs(optimizer, 1e-9);
	nlopt_optimize(optimizer, moved, &best);
	for (size_t i = 0; i < hunt->moving_count; i++)
		hunt->point[hunt->moving[i]] = fmin(fmax(moved[i], 0), 1);
	score = point_score(hunt, hunt->point);
	if (score > climber->score) {
		climber->score = score;
		memcpy(climber->point, hunt->point, hunt->dims * sizeof(double));
	}
	return STATUS_OK;
}

static bool neighbour_try(struct hunt *hunt, struct candidate *climber, size_t feature, double value)
{
	double values[PARAMETERS_MAX], score;

	if (!hunt->neighbours_left)
		return false;
	hunt->neighbours_left--;
	memcpy(hunt->point, climber->point, hunt->dims * sizeof(double));
	hunt->point[feature] = value;
	space_decode(hunt->space, hunt->point, values);
	score = point_score(hunt, hunt->point);
	if (!(score > climber->score))
		return false;
	climber->score = score;
	memcpy(climber->point, hunt->point, hunt->dims * sizeof(double));
	return true;
}

/* Steps of a number that has steps, or all other categories. */
static bool feature_neighbours_try(struct hunt *hunt, struct candidate *climber, size_t f)
{
	static const int steps[] = { -1, 1, -2, 2, -5, 5 };
	const struct feature *feature = &hunt->space->features[f];
	bool better = false;

	for (size_t c = 0; feature->kind == FEATURE_CATEGORY && c < feature->choice_count; c++)
		if ((double)c != climber->point[f])
			better |= neighbour_try(hunt, climber, f, (double)c);
	for (size_t s = 0; feature->kind == FEATURE_STEPPED && s < sizeof(steps) / sizeof(steps[0]); s++) {
		const double choice = (double)space_choice_of(hunt->space, f, climber->point[f]) + steps[s];

		if (choice >= 0 && choice < (double)feature->choice_count)
			better |=
				neighbour_try(hunt, climber, f, space_choice(hunt->space, f, (size_t)choice));
	}
	return better;
}

/* All features in turn; with more neighbours than there is time for, the next climber goes on where this one ended. */
static bool neighbours_try(struct hunt *hunt, struct candidate *climber)
{
	bool better = false;

	for (size_t i = 0; i < hunt->dims && hunt->neighbours_left; i++) {
		const size_t f = hunt->next_feature;

		hunt->next_feature = (f + 1) % hunt->dims;
		if (!hunt->space->features[f].is_fixed && hunt->space->features[f].kind != FEATURE_CONTINUOUS)
			better |= feature_neighbours_try(hunt, climber, f);
	}
	return better;
}

static double gap_between(const struct hunt *hunt, const double *a, const double *b)
{
	double gap = 0;

	for (size_t f = 0; f < hunt->dims; f++)
		gap = fmax(gap, fabs(a[f] - b[f]));
	return gap;
}

/* The best candidates that lie apart, moved to the front. */
static size_t climbers_choose(const struct hunt *hunt, struct candidate *candidates)
{
	size_t count = 0;

	for (size_t i = 0; i < CANDIDATES && count < CLIMBERS; i++) {
		struct candidate found = candidates[i];
		bool apart = true;

		for (size_t c = 0; c < count; c++)
			apart &= gap_between(hunt, candidates[c].point, found.point) > climber_gap;
		if (!apart)
			continue;
		memmove(candidates + count + 1, candidates + count, (i - count) * sizeof(*candidates));
		candidates[count++] = found;
	}
	return count;
}

static enum status climb(struct hunt *hunt, struct candidate *candidates, struct error *err)
{
	const size_t count = climbers_choose(hunt, candidates);
	enum status rc = STATUS_OK;

	for (size_t c = 0; !rc && c < count; c++) {
		bool better = true;

		for (unsigned round = 0; !rc && better && round < CLIMB_ROUNDS; round++) {
			rc = ascend(hunt, &candidates[c], err);
			better = !rc && neighbours_try(hunt, &candidates[c]);
		}
	}
	return rc;
}

static bool best_take(const struct hunt *hunt, const struct candidate *candidates, const struct tried *tried,
		      double *ret_features)
{
	for (size_t i = 0; i < CANDIDATES; i++) {
		if (tried->contains && tried->contains(tried->arg, candidates[i].point))
			continue;
		memcpy(ret_features, candidates[i].point, hunt->dims * sizeof(double));
		return true;
	}
	return false;
}

static enum status hunt_run(struct hunt *hunt, struct draw *draw, const struct tried *tried,
			    double *ret_features, bool *ret_found, struct error *err)
{
	struct candidate *candidates =
		calloc(1, CANDIDATES * (sizeof(*candidates) + hunt->dims * sizeof(double)));
	enum status rc;

	if (!candidates)
		return error_no_memory(err);
	for (size_t i = 0; i < CANDIDATES; i++)
		candidates[i].point = (double *)(void *)(candidates + CANDIDATES) + i * hunt->dims;
	candidates_make(hunt, draw, candidates);
	candidates_score(hunt, candidates);
	qsort(candidates, CANDIDATES, sizeof(*candidates), compare_candidates);
	rc = climb(hunt, candidates, err);
	if (!rc) {
		qsort(candidates, CANDIDATES, sizeof(*candidates), compare_candidates);
		*ret_found = best_take(hunt, candidates, tried, ret_features);
	}
	free(candidates);
	return rc;
}

enum status bandit_suggest(const struct bandit *bandit, struct draw *draw, const struct tried *tried,
			   double *ret_features, bool *ret_found, struct error *err)
{
	struct hunt hunt;
	enum status rc = hunt_init(&hunt, bandit, draw, err);

	if (!rc)
		rc = hunt_run(&hunt, draw, tried, ret_features, ret_found, err);
	hunt_deinit(&hunt);
	return rc;
}
