/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/acquisition.h: the acquisition function: how promising a point is according to the model. The bandit
 * maximises it.
 *
 * It is the upper confidence bound, limited to a trust region while little is known; for several metrics, the mean over
 * many random weightings of the gained hypervolume; for exploration, the expected information at points that may still
 * be the best. Sources: https://arxiv.org/abs/2408.11527 (Vizier's Gaussian-process bandit),
 * https://arxiv.org/abs/2006.04655 (random hypervolume scalarizations). Thread: one at a time. */
#include <stdbool.h>
#include <stddef.h>

#include "scheduler/tuning/bandit.h"

struct acquisition {
	const struct bandit *bandit;
	const struct space *space;
	struct model model;
	size_t dims;
	bool explores;
	double threshold[METRICS_MAX]; /* thresholds for exploration */
	double radius;                 /* INFINITY: everywhere */
	double *room;                  /* working memory for predictions of the model */
	/* For several metrics: the random weightings (a weight for each metric), and for each weighting the best value
	 * of the completed trials. */
	double *mixtures, *mixture_best;
	double reference[METRICS_MAX]; /* a value a little worse than the worst one of each metric */
};

/* Prepares the acquisition function; @bandit must outlive it. After an error, acquisition_deinit() is still called.
 * Errors: those of model_init(). */
enum status acquisition_init(struct acquisition *acquisition, const struct bandit *bandit, struct draw *draw,
			     struct error *err);
void acquisition_deinit(struct acquisition *acquisition);

/* How promising a point with @prediction is; always a number. */
double acquisition_value(const struct acquisition *acquisition, const struct prediction *prediction);
/* The derivatives of acquisition_value() with respect to the prediction, for model_predict_sloped(). @arg: a struct
 * acquisition. */
struct slope acquisition_slope(void *arg, const struct prediction *prediction);
/* As acquisition_value() inside the trust region; outside of it less than every value inside. */
double acquisition_score(const struct acquisition *acquisition, const double *point,
			 const struct prediction *prediction);
/* The distance to the nearest known point; INFINITY if there is none. *ret_nearest: the index of that point. */
double acquisition_reach(const struct acquisition *acquisition, const double *point, size_t *ret_nearest);
