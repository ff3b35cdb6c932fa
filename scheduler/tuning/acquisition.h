/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/acquisition.h: how much a point promises, by the model: what the bandit maximises.
 *
 * The upper confidence bound, near what is known while little is known; of several metrics, the mean over many
 * weightings of the volume that would be gained; to explore, what is to be learned where the best may still be.
 * Sources: https://arxiv.org/abs/2408.11527 (Vizier's Gaussian-process bandit), https://arxiv.org/abs/2006.04655
 * (random hypervolume scalarizations). Thread: one at a time. */
#include <stdbool.h>
#include <stddef.h>

#include "scheduler/tuning/bandit.h"

struct acquisition {
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
};

/* @bandit must live as long. After an error, acquisition_deinit() is still called. Errors: those of model_init(). */
enum status acquisition_init(struct acquisition *acquisition, const struct bandit *bandit, struct draw *draw,
			     struct error *err);
void acquisition_deinit(struct acquisition *acquisition);

/* What is promised where the model says @prediction; always a number. */
double acquisition_value(const struct acquisition *acquisition, const struct prediction *prediction);
/* How that changes with the prediction: for model_predict_sloped(). @arg: a struct acquisition. */
struct slope acquisition_slope(void *arg, const struct prediction *prediction);
/* The same value, and far below all values outside the trust region. */
double acquisition_score(const struct acquisition *acquisition, const double *point,
			 const struct prediction *prediction);
/* The distance to the nearest known point, which *ret_nearest is; INFINITY where there is none. */
double acquisition_reach(const struct acquisition *acquisition, const double *point, size_t *ret_nearest);
