/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/bandit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "scheduler/tuning/acquisition.h"
#include "scheduler/tuning/optimizer.h"

enum {
	CANDIDATES = 1000,
	PARENTS = 8,  /* completed trials that candidates are bred from */
	CLIMBERS = 3, /* candidates that are improved */
	CLIMB_STEPS = 25,
	CLIMB_ROUNDS = 3,
	NEIGHBOUR_WORK =
		1 << 26, /* distances between features, for all neighbours of a suggestion together */
};

/* Climbers lie at least this far apart. */
static const double climber_gap = 0.05;

struct hunt {
	const struct space *space;
	const struct evidence *evidence;
	size_t dims;
	struct acquisition acquisition;
	/* Ascent: which features move, and where to. */
	size_t moving[PARAMETERS_MAX];
	size_t moving_count;
	double point[PARAMETERS_MAX];
	/* Neighbours: how many may still be examined, and with which feature to continue. */
	size_t neighbours_left, next_feature;
};

/* ---- candidates ---- */

struct candidate {
	double score;
	double *point;
};

/* Finds the best completed trials by the first metric, best first; returns how many. */
static size_t parents_find(const struct evidence *evidence, size_t ret_parents[PARENTS])
{
	const double *labels = evidence->labels[0];
	size_t count = 0;

	for (size_t i = 0; i < evidence->completed_count; i++) {
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

/* Reflects a value at 0 and 1, so that it lies in [0, 1]. */
static double reflected(double value)
{
	value = fmod(fabs(value), 2);
	return value > 1 ? 2 - value : value;
}

/* Makes a candidate from @parent by changing some of its features, a little or much. */
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

/* Draws a uniformly distributed candidate; if there is a trust region, within the region around a random known point. */
static void candidate_spread(const struct hunt *hunt, struct draw *draw, double *point)
{
	const struct evidence *evidence = hunt->evidence;
	const double *known;

	space_random(hunt->space, draw, point);
	if (!isfinite(hunt->acquisition.radius) || !evidence->count)
		return;
	known = evidence->points + draw_index(draw, evidence->count) * hunt->dims;
	for (size_t f = 0; f < hunt->dims; f++) {
		const double low = fmax(known[f] - hunt->acquisition.radius, 0),
			     high = fmin(known[f] + hunt->acquisition.radius, 1);

		if (hunt->space->features[f].is_local && low < high)
			point[f] = low + draw_uniform(draw) * (high - low);
	}
}

static void candidates_make(const struct hunt *hunt, struct draw *draw, struct candidate *candidates)
{
	double values[PARAMETERS_MAX];
	size_t parents[PARENTS + 1], parent_count = parents_find(hunt->evidence, parents);

	for (size_t i = 0; i < CANDIDATES; i++) {
		if (i % 2 && parent_count)
			candidate_breed(hunt,
					hunt->evidence->points +
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

	/* model_predict() reads the points of MODEL_BLOCK candidates, which are adjacent in memory. */
	for (size_t i = 0; i < CANDIDATES; i += MODEL_BLOCK) {
		model_predict(&hunt->acquisition.model, candidates[i].point, hunt->acquisition.room,
			      predictions);
		for (size_t b = 0; b < MODEL_BLOCK; b++)
			candidates[i + b].score = acquisition_score(&hunt->acquisition,
								    candidates[i + b].point, &predictions[b]);
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
	model_predict(&hunt->acquisition.model, points, hunt->acquisition.room, predictions);
	return acquisition_score(&hunt->acquisition, point, &predictions[0]);
}

static double ascent_objective(unsigned count, const double *moved, double *gradient, void *arg)
{
	struct hunt *hunt = arg;
	struct prediction prediction;
	double slopes[PARAMETERS_MAX];

	for (unsigned i = 0; i < count; i++)
		hunt->point[hunt->moving[i]] = moved[i];
	model_predict_sloped(&hunt->acquisition.model, hunt->point, hunt->acquisition.room, acquisition_slope,
			     &hunt->acquisition, slopes, &prediction);
	for (unsigned i = 0; gradient && i < count; i++)
		gradient[i] = isfinite(slopes[hunt->moving[i]]) ? slopes[hunt->moving[i]] : 0;
	return acquisition_value(&hunt->acquisition, &prediction);
}

static void box_fill(const struct hunt *hunt, const double *point, double *low, double *high)
{
	size_t nearest = 0;
	const double distance = isfinite(hunt->acquisition.radius)
					? acquisition_reach(&hunt->acquisition, point, &nearest)
					: INFINITY;
	const double *known = isfinite(distance) ? hunt->evidence->points + nearest * hunt->dims : NULL;

	for (size_t i = 0; i < hunt->moving_count; i++) {
		const size_t f = hunt->moving[i];

		low[i] = known ? fmax(0, known[f] - hunt->acquisition.radius * 0.999) : 0;
		high[i] = known ? fmin(1, known[f] + hunt->acquisition.radius * 0.999) : 1;
		low[i] = fmin(low[i], point[f]);
		high[i] = fmax(high[i], point[f]);
	}
}

/* Moves the continuous features uphill. */
static void ascend(struct hunt *hunt, struct candidate *climber)
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
		return;
	AUTO(optimizer) nlopt_opt optimizer = nlopt_create(NLOPT_LD_LBFGS, (unsigned)hunt->moving_count);
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

/* Tries the neighbours of the climber in feature @f: some steps up and down for a number with steps, all other categories
 * for a category. */
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

/* Tries the neighbours in all features in turn. If there are more than may be tried, the next climber continues with the
 * feature where this one ended. */
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

/* Chooses the best candidates that lie apart from each other, and moves them to the front. */
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

static void climb(struct hunt *hunt, struct candidate *candidates)
{
	const size_t count = climbers_choose(hunt, candidates);

	for (size_t c = 0; c < count; c++) {
		bool better = true;

		for (unsigned round = 0; better && round < CLIMB_ROUNDS; round++) {
			ascend(hunt, &candidates[c]);
			better = neighbours_try(hunt, &candidates[c]);
		}
	}
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

static void hunt_run(struct hunt *hunt, struct draw *draw, const struct tried *tried, double *ret_features,
		     bool *ret_found)
{
	struct candidate *candidates =
		memory_calloc(1, CANDIDATES * (sizeof(*candidates) + hunt->dims * sizeof(double)));

	for (size_t i = 0; i < CANDIDATES; i++)
		candidates[i].point = (double *)(void *)(candidates + CANDIDATES) + i * hunt->dims;
	candidates_make(hunt, draw, candidates);
	candidates_score(hunt, candidates);
	qsort(candidates, CANDIDATES, sizeof(*candidates), compare_candidates);
	climb(hunt, candidates);
	qsort(candidates, CANDIDATES, sizeof(*candidates), compare_candidates);
	*ret_found = best_take(hunt, candidates, tried, ret_features);
	free(candidates);
}

enum status bandit_suggest(const struct bandit *bandit, struct draw *draw, const struct tried *tried,
			   double *ret_features, bool *ret_found, struct error *err)
{
	const size_t dims = bandit->space->count;
	struct hunt hunt = { .space = bandit->space,
			     .evidence = &bandit->evidence,
			     .dims = dims,
			     .neighbours_left = NEIGHBOUR_WORK / (dims * bandit->evidence.count) };
	enum status rc = acquisition_init(&hunt.acquisition, bandit, draw, err);

	if (!rc)
		hunt_run(&hunt, draw, tried, ret_features, ret_found);
	acquisition_deinit(&hunt.acquisition);
	return rc;
}
