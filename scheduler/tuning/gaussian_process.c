/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/gaussian_process.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "scheduler/tuning/linear.h"
#include "scheduler/tuning/optimizer.h"

enum {
	THETAS_MAX = PARAMETERS_MAX + 2, /* signal, noise, squared length scales */
	FIT_TRIALS_MAX = 200,            /* with more trials, only the best and the newest decide the kernel */
	FIT_STEPS = 50,
	JITTER_TRIES = 5,
};

#define SQRT5 2.23606797749978969641

/* A hyperparameter: its bounds, the centre of its prior, and its start value. Source: https://arxiv.org/abs/2408.11527 */
struct theta {
	double low, high, centre, start;
};
static const struct theta signal_theta = { 1e-3, 10, 0.039, 0.039 };
static const struct theta noise_theta = { 1e-10, 1, 0.0039, 0.0039 };
static const struct theta length_theta = { 1e-2, 1e2, 0.5, 1 };
static const double prior_weight = 0.01;
static const double deviation_min = 1e-6;

static const struct theta *theta_of(size_t index)
{
	return index == 0 ? &signal_theta : index == 1 ? &noise_theta : &length_theta;
}

/* ---- the loss ---- */

struct fit {
	const struct evidence *evidence;
	size_t features[PARAMETERS_MAX]; /* the features that vary */
	size_t feature_count;
	size_t count, stride, pair_count;
	double *memory;
	double *points_apart; /* for each feature, squared distances of all pairs */
	double *distance, *likeness, *slope, *pull;
	double *matrix, *transposed, *inverse;
	double *weights; /* one row of stride for each metric */
	const double *labels[METRICS_MAX];
	double best_loss, best[THETAS_MAX];
};

static double squared_distance(const struct feature *feature, double a, double b)
{
	return feature->kind == FEATURE_CATEGORY ? a != b : (a - b) * (a - b);
}

static void features_choose(struct fit *fit)
{
	const struct space *space = fit->evidence->space;

	for (size_t i = 0; i < space->count; i++)
		if (!space->features[i].is_fixed)
			fit->features[fit->feature_count++] = i;
}

static void distances_fill(struct fit *fit)
{
	const struct space *space = fit->evidence->space;

	for (size_t f = 0; f < fit->feature_count; f++) {
		const size_t feature = fit->features[f];
		double *apart = fit->points_apart + f * fit->pair_count;

		for (size_t i = 1; i < fit->count; i++)
			for (size_t j = 0; j < i; j++)
				*apart++ =
					squared_distance(&space->features[feature],
							 fit->evidence->points[i * space->count + feature],
							 fit->evidence->points[j * space->count + feature]);
	}
}

static size_t stride_of(size_t count)
{
	return (count + 3) / 4 * 4;
}

static void fit_init(struct fit *fit, const struct evidence *evidence)
{
	const size_t n = evidence->completed_count;
	size_t square, total;
	double *at;

	*fit = (struct fit){
		.evidence = evidence, .count = n, .stride = stride_of(n), .best_loss = INFINITY
	};
	features_choose(fit);
	fit->pair_count = n * (n - 1) / 2;
	/* Four rows more, because dot4() reads four rows at once. */
	square = (fit->stride + 4) * fit->stride;
	total = (fit->feature_count + 4) * fit->pair_count + 3 * square + METRICS_MAX * fit->stride;
	fit->memory = at = memory_calloc(total + 1, sizeof(double));
	fit->points_apart = at;
	fit->distance = at += fit->feature_count * fit->pair_count;
	fit->likeness = at += fit->pair_count;
	fit->slope = at += fit->pair_count;
	fit->pull = at += fit->pair_count;
	fit->matrix = at += fit->pair_count;
	fit->transposed = at += square;
	fit->inverse = at += square;
	fit->weights = at + square;
	memcpy(fit->labels, evidence->labels, sizeof(fit->labels));
	distances_fill(fit);
}

static void add_scaled(double *to, const double *from, double scale, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] += from[i] * scale;
}

static void likeness_fill(struct fit *fit, const double *inverse_scales)
{
	memset(fit->distance, 0, fit->pair_count * sizeof(double));
	for (size_t f = 0; f < fit->feature_count; f++)
		add_scaled(fit->distance, fit->points_apart + f * fit->pair_count, inverse_scales[f],
			   fit->pair_count);
	for (size_t p = 0; p < fit->pair_count; p++) {
		const double q = SQRT5 * sqrt(fit->distance[p]);
		const double decay = exp(-q);

		fit->likeness[p] = (1 + q + q * q / 3) * decay;
		fit->slope[p] = -5.0 / 6 * (1 + q) * decay;
	}
}

static void matrix_fill(struct fit *fit, double signal, double diagonal)
{
	const double *likeness = fit->likeness;

	for (size_t i = 0; i < fit->count; i++) {
		double *row = fit->matrix + i * fit->stride;

		for (size_t j = 0; j < i; j++)
			row[j] = signal * *likeness++;
		row[i] = signal + diagonal;
	}
}

/* The value to add to the diagonal of a matrix that rounding errors have spoiled; it grows with each try. */
static double jitter_of(unsigned tries)
{
	return tries ? 1e-5 * pow(10, tries) : 0;
}

static bool factorize(struct fit *fit, double signal, double noise)
{
	for (unsigned tries = 0; tries <= JITTER_TRIES; tries++) {
		matrix_fill(fit, signal, noise + jitter_of(tries));
		if (cholesky(fit->matrix, fit->count, fit->stride))
			return true;
	}
	return false;
}

/* Makes the matrix (number of metrics) * K^-1 - sum over the metrics of w * w^T, with the vector w of the metric's
 * weights. Stores its elements below the diagonal, one for each pair of points, in fit->pull; returns its trace. */
static double pull_fill(struct fit *fit)
{
	const size_t metrics = fit->evidence->metric_count;
	double *pull = fit->pull;
	double trace = 0;

	for (size_t i = 0; i < fit->count; i++) {
		const double *row = fit->inverse + i * fit->stride;

		for (size_t j = 0; j < i; j++)
			*pull++ = (double)metrics * row[j];
		trace += (double)metrics * row[i];
	}
	for (size_t m = 0; m < metrics; m++) {
		const double *weights = fit->weights + m * fit->stride;

		pull = fit->pull;
		for (size_t i = 0; i < fit->count; i++) {
			for (size_t j = 0; j < i; j++)
				*pull++ -= weights[i] * weights[j];
			trace -= weights[i] * weights[i];
		}
	}
	return trace;
}

static void gradient_fill(struct fit *fit, double signal, double noise, const double *inverse_scales,
			  double *gradient)
{
	double trace;

	factor_invert(fit->matrix, fit->transposed, fit->count, fit->stride);
	inverse_of(fit->transposed, fit->inverse, fit->count, fit->stride);
	trace = pull_fill(fit);
	gradient[0] += signal * (dot(fit->pull, fit->likeness, fit->pair_count) + trace / 2);
	gradient[1] += noise * trace / 2;
	for (size_t p = 0; p < fit->pair_count; p++)
		fit->pull[p] *= fit->slope[p];
	for (size_t f = 0; f < fit->feature_count; f++)
		gradient[2 + f] -= signal * inverse_scales[f] *
				   dot(fit->pull, fit->points_apart + f * fit->pair_count, fit->pair_count);
}

static double labels_loss(struct fit *fit)
{
	double loss = 0;

	for (size_t m = 0; m < fit->evidence->metric_count; m++) {
		double *weights = fit->weights + m * fit->stride;

		memcpy(weights, fit->labels[m], fit->count * sizeof(double));
		solve_lower(fit->matrix, weights, fit->count, fit->stride);
		loss += dot(weights, weights, fit->count) / 2;
		solve_upper(fit->matrix, weights, fit->count, fit->stride);
		for (size_t i = 0; i < fit->count; i++)
			loss += log(fit->matrix[i * fit->stride + i]);
		loss += (double)fit->count / 2 * log(2 * M_PI);
	}
	return loss;
}

/* The loss at the hyperparameters @logs: logarithms of signal, noise and the squared length scales of the features that
 * vary. */
static double fit_loss(struct fit *fit, const double *logs, double *gradient)
{
	const size_t count = fit->feature_count + 2;
	double inverse_scales[PARAMETERS_MAX] = { 0 };
	double loss = 0;

	for (size_t i = 0; i < count; i++) {
		const double away = logs[i] - log(theta_of(i)->centre);

		loss += prior_weight * away * away;
		if (gradient)
			gradient[i] = 2 * prior_weight * away;
	}
	for (size_t f = 0; f < fit->feature_count; f++)
		inverse_scales[f] = exp(-logs[2 + f]);
	likeness_fill(fit, inverse_scales);
	if (!factorize(fit, exp(logs[0]), exp(logs[1])))
		return INFINITY;
	loss += labels_loss(fit);
	if (gradient)
		gradient_fill(fit, exp(logs[0]), exp(logs[1]), inverse_scales, gradient);
	return isfinite(loss) ? loss : INFINITY;
}

double kernel_loss(const struct evidence *evidence, const struct kernel *kernel, double *ret_gradient)
{
	double logs[THETAS_MAX], gradient[THETAS_MAX], loss;
	struct fit fit;

	fit_init(&fit, evidence);
	logs[0] = log(kernel->signal);
	logs[1] = log(kernel->noise);
	for (size_t f = 0; f < fit.feature_count; f++)
		logs[2 + f] = -log(kernel->inverse[fit.features[f]]);
	loss = fit_loss(&fit, logs, gradient);
	memset(ret_gradient, 0, (evidence->space->count + 2) * sizeof(double));
	memcpy(ret_gradient, gradient, 2 * sizeof(double));
	for (size_t f = 0; f < fit.feature_count; f++)
		ret_gradient[2 + fit.features[f]] = gradient[2 + f];
	free(fit.memory);
	return loss;
}

/* ---- the fit ---- */

/* The loss where it cannot be computed: finite, so that a line search can shrink its step away from it. */
static const double hopeless = 1e12;

static double objective(unsigned count, const double *logs, double *gradient, void *arg)
{
	struct fit *fit = arg;
	double loss = fit_loss(fit, logs, gradient);

	for (unsigned i = 0; gradient && i < count; i++)
		if (!isfinite(gradient[i]))
			loss = INFINITY;
	if (!isfinite(loss)) {
		for (unsigned i = 0; gradient && i < count; i++)
			gradient[i] = 0;
		return hopeless;
	}
	if (loss < fit->best_loss) {
		fit->best_loss = loss;
		memcpy(fit->best, logs, count * sizeof(double));
	}
	return loss;
}

/* Minimises the loss from @logs on. fit->best keeps the best point that was examined, even if the search fails. */
static void descend(struct fit *fit, double *logs)
{
	const unsigned count = (unsigned)fit->feature_count + 2;
	double low[THETAS_MAX], high[THETAS_MAX], loss;
	AUTO(optimizer) nlopt_opt optimizer = nlopt_create(NLOPT_LD_LBFGS, count);

	for (unsigned i = 0; i < count; i++) {
		low[i] = log(theta_of(i)->low);
		high[i] = log(theta_of(i)->high);
	}
	nlopt_set_lower_bounds(optimizer, low);
	nlopt_set_upper_bounds(optimizer, high);
	nlopt_set_min_objective(optimizer, objective, fit);
	nlopt_set_maxeval(optimizer, FIT_STEPS);
	nlopt_set_ftol_rel(optimizer, 1e-5);
	nlopt_optimize(optimizer, logs, &loss);
}

static void start_fixed(const struct fit *fit, double *logs)
{
	for (size_t i = 0; i < fit->feature_count + 2; i++)
		logs[i] = log(theta_of(i)->start);
}

static void start_random(const struct fit *fit, struct draw *draw, double *logs)
{
	for (size_t i = 0; i < fit->feature_count + 2; i++) {
		const struct theta *theta = theta_of(i);

		logs[i] = log(theta->low) + draw_uniform(draw) * (log(theta->high) - log(theta->low));
	}
}

static void kernel_take(const struct fit *fit, const double *logs, struct kernel *kernel)
{
	*kernel = (struct kernel){ .signal = exp(logs[0]), .noise = exp(logs[1]) };
	for (size_t f = 0; f < fit->feature_count; f++)
		kernel->inverse[fit->features[f]] = exp(-logs[2 + f]);
}

void kernel_fit(const struct evidence *evidence, struct draw *draw, struct kernel *ret_kernel)
{
	/* With few trials the prior decides, so one start is enough. */
	const unsigned starts = evidence->completed_count <= 3 ? 1 : 2;
	struct evidence known = *evidence;
	double logs[THETAS_MAX];
	struct fit fit;

	if (known.completed_count > FIT_TRIALS_MAX)
		known.completed_count = FIT_TRIALS_MAX;
	fit_init(&fit, &known);
	start_fixed(&fit, fit.best);
	for (unsigned i = 0; i < starts && known.completed_count; i++) {
		if (i)
			start_random(&fit, draw, logs);
		else
			start_fixed(&fit, logs);
		descend(&fit, logs);
	}
	kernel_take(&fit, fit.best, ret_kernel);
	free(fit.memory);
}

/* ---- the model ---- */

/* The likeness of two points at the squared distance @distance. *ret_slope: the derivative with respect
 * to @distance. */
static double likeness(double distance, double *ret_slope)
{
	const double q = SQRT5 * sqrt(distance > 0 ? distance : 0);
	const double decay = exp(-q);

	*ret_slope = -5.0 / 6 * (1 + q) * decay;
	return (1 + q + q * q / 3) * decay;
}

static double distance_of(const struct model *model, const double *a, const double *b)
{
	const struct space *space = model->evidence->space;
	double distance = 0;

	for (size_t i = 0; i < space->count; i++)
		distance += squared_distance(&space->features[i], a[i], b[i]) * model->kernel.inverse[i];
	return distance;
}

static void covariance_fill(const struct model *model, double *matrix, size_t count, double diagonal)
{
	const struct evidence *evidence = model->evidence;
	double slope;

	for (size_t i = 0; i < count; i++) {
		const double *point = evidence->points + i * evidence->space->count;
		double *row = matrix + i * model->stride;

		for (size_t j = 0; j < i; j++)
			row[j] = model->kernel.signal *
				 likeness(distance_of(model, point,
						      evidence->points + j * evidence->space->count),
					  &slope);
		row[i] = model->kernel.signal + diagonal;
	}
}

/* Makes the inverse of the Cholesky factor of the covariance of the first @count points. */
static bool inverse_make(const struct model *model, size_t count, double noise, double *room,
			 double *ret_inverse)
{
	const size_t stride = model->stride;
	bool made = false;

	for (unsigned tries = 0; !made && tries <= JITTER_TRIES; tries++) {
		covariance_fill(model, room, count, noise + jitter_of(tries));
		made = cholesky(room, count, stride);
	}
	if (!made)
		return false;
	memset(ret_inverse, 0, stride * stride * sizeof(double));
	factor_invert(room, ret_inverse, count, stride);
	/* factor_invert() returns the transpose: transpose it back in place. */
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < i; j++) {
			ret_inverse[i * stride + j] = ret_inverse[j * stride + i];
			ret_inverse[j * stride + i] = 0;
		}
	}
	return true;
}

/* K^-1 y = L^-T (L^-1 y). */
static void weights_fill(struct model *model)
{
	const size_t n = model->evidence->completed_count;

	for (size_t m = 0; m < model->evidence->metric_count; m++) {
		double *weights = model->weights[m];

		memset(weights, 0, model->stride * sizeof(double));
		for (size_t i = 0; i < n; i++) {
			const double *row = model->completed + i * model->stride;

			add_scaled(weights, row, dot(row, model->evidence->labels[m], i + 1), i + 1);
		}
	}
}

enum status model_init(struct model *model, const struct evidence *evidence, const struct kernel *kernel,
		       double exploring_noise, struct error *err)
{
	const size_t stride = stride_of(evidence->count + 1), square = (stride + 4) * stride;
	const bool shares = exploring_noise < 0;
	double *at;

	*model = (struct model){ .evidence = evidence, .kernel = *kernel, .stride = stride };
	model->exploring_noise = shares ? kernel->noise : exploring_noise;
	model->memory = at = memory_calloc((shares ? 2 : 3) * square + METRICS_MAX * stride, sizeof(double));
	model->all = at + square;
	model->completed = shares ? model->all : at + 2 * square;
	at += (shares ? 2 : 3) * square;
	for (size_t m = 0; m < METRICS_MAX; m++)
		model->weights[m] = at + m * stride;
	if (!inverse_make(model, evidence->count, model->exploring_noise, model->memory, model->all) ||
	    (!shares && !inverse_make(model, evidence->completed_count, kernel->noise, model->memory,
				      model->completed))) {
		model_deinit(model);
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "the model's covariance cannot be factorized");
	}
	weights_fill(model);
	return STATUS_OK;
}

void model_deinit(struct model *model)
{
	free(model->memory);
	*model = (struct model){ 0 };
}

size_t model_room(const struct model *model)
{
	return (3 * MODEL_BLOCK + 3) * model->stride;
}

static double deviation_of(const struct model *model, double noise, double explained)
{
	return sqrt(fmax(model->kernel.signal + noise - explained, deviation_min * deviation_min));
}

void model_predict(const struct model *model, const double *points, double *room,
		   struct prediction ret_predictions[MODEL_BLOCK])
{
	const struct evidence *evidence = model->evidence;
	const size_t dims = evidence->space->count, n = evidence->completed_count, stride = model->stride;
	double explained[MODEL_BLOCK] = { 0 }, completed[MODEL_BLOCK] = { 0 }, sums[MODEL_BLOCK], slope;

	for (size_t i = 0; i < evidence->count; i++)
		for (size_t b = 0; b < MODEL_BLOCK; b++)
			room[b * stride + i] =
				model->kernel.signal *
				likeness(distance_of(model, points + b * dims, evidence->points + i * dims),
					 &slope);
	for (size_t i = 0; i < evidence->count; i++) {
		dot4(model->all + i * stride, room, stride, i + 1, sums);
		for (size_t b = 0; b < MODEL_BLOCK; b++)
			explained[b] += sums[b] * sums[b];
		if (model->all == model->completed && i + 1 == n)
			memcpy(completed, explained, sizeof(completed));
	}
	for (size_t i = 0; model->all != model->completed && i < n; i++) {
		dot4(model->completed + i * stride, room, stride, i + 1, sums);
		for (size_t b = 0; b < MODEL_BLOCK; b++)
			completed[b] += sums[b] * sums[b];
	}
	for (size_t b = 0; b < MODEL_BLOCK; b++) {
		struct prediction *prediction = &ret_predictions[b];

		for (size_t m = 0; m < evidence->metric_count; m++)
			prediction->mean[m] = dot(model->weights[m], room + b * stride, n);
		prediction->deviation = deviation_of(model, model->kernel.noise, completed[b]);
		prediction->all_deviation = deviation_of(model, model->exploring_noise, explained[b]);
	}
}

/* K^-1 k over the first @count points, from the inverse of the factor; *ret_explained is k^T K^-1 k. */
static void solve_by_inverse(const struct model *model, const double *inverse, const double *covariances,
			     size_t count, double *ret_solution, double *ret_explained)
{
	*ret_explained = 0;
	memset(ret_solution, 0, model->stride * sizeof(double));
	for (size_t i = 0; i < count; i++) {
		const double *row = inverse + i * model->stride;
		const double value = dot(row, covariances, i + 1);

		*ret_explained += value * value;
		add_scaled(ret_solution, row, value, i + 1);
	}
}

/* The derivative of the weighted means with respect to the covariance with completed point @index. */
static double means_slope(const struct model *model, const struct slope *slope, size_t index)
{
	double sum = 0;

	for (size_t m = 0; m < model->evidence->metric_count; m++)
		sum += slope->by_mean[m] * model->weights[m][index];
	return sum;
}

void model_predict_sloped(const struct model *model, const double *point, double *room,
			  struct slope (*weigh)(void *arg, const struct prediction *prediction), void *arg,
			  double *ret_gradient, struct prediction *ret_prediction)
{
	const struct evidence *evidence = model->evidence;
	const struct space *space = evidence->space;
	const size_t n = evidence->completed_count, stride = model->stride;
	double *covariances = room, *slopes = room + stride, *all = slopes + stride,
	       *completed = all + stride;
	double explained;
	struct slope slope;

	for (size_t i = 0; i < evidence->count; i++)
		covariances[i] =
			model->kernel.signal *
			likeness(distance_of(model, point, evidence->points + i * space->count), &slopes[i]);
	solve_by_inverse(model, model->all, covariances, evidence->count, all, &explained);
	ret_prediction->all_deviation = deviation_of(model, model->exploring_noise, explained);
	solve_by_inverse(model, model->completed, covariances, n, completed, &explained);
	ret_prediction->deviation = deviation_of(model, model->kernel.noise, explained);
	for (size_t m = 0; m < evidence->metric_count; m++)
		ret_prediction->mean[m] = dot(model->weights[m], covariances, n);

	slope = weigh(arg, ret_prediction);
	memset(ret_gradient, 0, space->count * sizeof(double));
	for (size_t i = 0; i < evidence->count; i++) {
		const double *known = evidence->points + i * space->count;
		double by = -slope.by_all_deviation * all[i] / ret_prediction->all_deviation;

		if (i < n)
			by += means_slope(model, &slope, i) -
			      slope.by_deviation * completed[i] / ret_prediction->deviation;
		by *= model->kernel.signal * slopes[i] * 2;
		for (size_t f = 0; f < space->count; f++)
			if (space->features[f].kind != FEATURE_CATEGORY)
				ret_gradient[f] += by * (point[f] - known[f]) * model->kernel.inverse[f];
	}
}
