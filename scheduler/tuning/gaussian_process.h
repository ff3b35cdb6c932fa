/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/gaussian_process.h: a Gaussian-process model of a study's metrics, learned from its trials.
 *
 * Zero mean, Matern-5/2, one length scale for each feature, noise; the metrics share these and are independent
 * otherwise. The hyperparameters are the most likely ones under log-normal priors.
 * Source: https://arxiv.org/abs/2408.11527 (Vizier's Gaussian-process bandit). Thread: one at a time. */
#include <stdbool.h>
#include <stddef.h>

#include "scheduler/tuning/draw.h"
#include "scheduler/tuning/space.h"
#include "scheduler/tuning/study.h"

/* The data of the model: points as features, the completed ones (failures included) first. */
struct evidence {
	const struct space *space;
	const double *points; /* count rows of space->count */
	size_t count, completed_count;
	const double *labels[METRICS_MAX]; /* metrics of the completed points */
	size_t metric_count;
};

struct kernel {
	double signal, noise;           /* variances */
	double inverse[PARAMETERS_MAX]; /* the inverse squared length scales; 0 for a feature that never changes */
};

/* Finds the most likely kernel for the trials. Does not fail, whatever the numbers are. */
void kernel_fit(const struct evidence *evidence, struct draw *draw, struct kernel *ret_kernel);
/* The loss that is minimised, and its derivatives with respect to the logarithms of signal, noise and squared length
 * scales (space->count + 2 of them); for tests. INFINITY if it cannot be computed. */
double kernel_loss(const struct evidence *evidence, const struct kernel *kernel, double *ret_gradient);

/* A fitted model, ready to predict. */
struct model {
	const struct evidence *evidence;
	struct kernel kernel;
	double exploring_noise; /* the assumed noise when only the deviation is used */
	size_t stride;
	double *memory;
	double *all; /* the inverse of the Cholesky factor over all points, lower half */
	double *completed; /* the same over the completed points; the leading part of @all if the noise is equal */
	double *weights[METRICS_MAX];
};

enum { MODEL_BLOCK = 4 };

/* The model's prediction for a point. */
struct prediction {
	double mean[METRICS_MAX];
	double deviation;     /* from the completed trials */
	double all_deviation; /* the deviation when the pending points count as known */
};

/* Fits the model; @evidence must outlive it. @exploring_noise < 0: use the kernel's noise. FAILED_PRECONDITION: the
 * matrix cannot be factored; there is nothing to free then. */
enum status model_init(struct model *model, const struct evidence *evidence, const struct kernel *kernel,
		       double exploring_noise, struct error *err);
void model_deinit(struct model *model);

/* Predicts MODEL_BLOCK points, which lie one after another in @points. @room: model_room() doubles. */
void model_predict(const struct model *model, const double *points, double *room,
		   struct prediction ret_predictions[MODEL_BLOCK]);
size_t model_room(const struct model *model);

/* Weights for model_predict_sloped(), which predicts one point and computes the derivatives of
 *     sum of by_mean[m] * mean[m] + by_deviation * deviation + by_all_deviation * all_deviation
 * with respect to each feature. The callback @weigh returns the weights for a prediction. */
struct slope {
	double by_mean[METRICS_MAX], by_deviation, by_all_deviation;
};
void model_predict_sloped(const struct model *model, const double *point, double *room,
			  struct slope (*weigh)(void *arg, const struct prediction *prediction), void *arg,
			  double *ret_gradient, struct prediction *ret_prediction);
