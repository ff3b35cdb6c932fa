/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses a trial's final measurement and a study's best trial, and decides which running trial is to be stopped early. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "scheduler/tuning/linear.h"
#include "scheduler/tuning/study.h"

/* Returns the value of the first metric as a gain, of which larger is better. */
static double gain_of(const struct study *study, double value)
{
	return study->metrics[0].minimized ? -value : value;
}

bool trial_final(const struct study *study, const struct trial *trial, struct measurement *ret_final)
{
	bool found = false;

	for (size_t i = 0; i < trial->measurement_count; i++) {
		const struct measurement *measurement = &trial->measurements[i];

		if (!isfinite(measurement->values[0]))
			continue;
		if (found && study->best_counts &&
		    gain_of(study, measurement->values[0]) <= gain_of(study, ret_final->values[0]))
			continue;
		*ret_final = *measurement;
		found = true;
	}
	return found;
}

const struct trial *study_best(const struct study *study, const struct trial *trials, size_t trial_count)
{
	const struct trial *best = NULL;

	for (size_t i = 0; i < trial_count; i++) {
		if (trials[i].state != TRIAL_COMPLETED || !isfinite(trials[i].final[0]))
			continue;
		if (!best || gain_of(study, trials[i].final[0]) > gain_of(study, best->final[0]))
			best = &trials[i];
	}
	return best;
}

/* ---- curves ---- */

static double place_of(const struct study *study, const struct measurement *measurement)
{
	return study->stops_by_elapsed ? measurement->elapsed_s : (double)measurement->step;
}

/* The reports up to a step or time: their number, sum and best value. */
struct curve_part {
	size_t count;
	double sum, best;
};

static struct curve_part curve_until(const struct study *study, const struct trial *trial, double place)
{
	struct curve_part part = { .best = -INFINITY };

	for (size_t i = 0; i < trial->measurement_count; i++) {
		const struct measurement *measurement = &trial->measurements[i];

		if (place_of(study, measurement) > place || !isfinite(measurement->values[0]))
			continue;
		part.count++;
		part.sum += gain_of(study, measurement->values[0]);
		part.best = fmax(part.best, gain_of(study, measurement->values[0]));
	}
	return part;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return count % 2 ? values[count / 2] : values[count / 2 - 1] / 2 + values[count / 2] / 2;
}

/* Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/StudySpec (MedianAutomatedStoppingSpec) */
static bool median_stops(const struct study *study, const struct trial *trials, size_t trial_count,
			 const struct trial *trial)
{
	const double place = place_of(study, &trial->measurements[trial->measurement_count - 1]);
	const struct curve_part own = curve_until(study, trial, place);
	double *means = memory_calloc(trial_count, sizeof(*means));
	size_t count = 0;
	bool stops;

	for (size_t i = 0; i < trial_count; i++) {
		struct curve_part part;

		if (trials[i].state != TRIAL_COMPLETED)
			continue;
		part = curve_until(study, &trials[i], place);
		if (part.count)
			means[count++] = part.sum / (double)part.count;
	}
	stops = count && own.count && own.best < median_of(means, count);
	free(means);
	return stops;
}

/* ---- the decay curve ---- */

enum {
	CURVE_POINTS = 8,
	CURVES_MIN = 8, /* trials that completed without being stopped early */
	REPORTS_MIN = 4,
	CURVES_MAX = 200, /* the newest ones */
};
static const double length_share = 0.2; /* share of the trials' median length that must have passed */
static const double stopping_probability = 0.02;

struct curve {
	double points[CURVE_POINTS];
	double residual; /* the final value minus the value at the compared place */
	double final;
};

static double value_at(const struct study *study, const struct trial *trial, double place)
{
	const struct measurement *before = NULL;

	for (size_t i = 0; i < trial->measurement_count; i++) {
		const struct measurement *measurement = &trial->measurements[i];
		double from, to, share;

		if (!isfinite(measurement->values[0]))
			continue;
		if (place_of(study, measurement) <= place || !before) {
			before = measurement;
			if (place_of(study, measurement) >= place)
				break;
			continue;
		}
		from = place_of(study, before);
		to = place_of(study, measurement);
		share = to > from ? (place - from) / (to - from) : 1;
		return gain_of(study, before->values[0]) * (1 - share) +
		       gain_of(study, measurement->values[0]) * share;
	}
	return before ? gain_of(study, before->values[0]) : NAN;
}

static double first_place(const struct study *study, const struct trial *trial)
{
	for (size_t i = 0; i < trial->measurement_count; i++)
		if (isfinite(trial->measurements[i].values[0]))
			return place_of(study, &trial->measurements[i]);
	return 0;
}

static void curve_read(const struct study *study, const struct trial *trial, double place,
		       struct curve *curve)
{
	const double first = fmin(first_place(study, trial), place);

	for (size_t i = 0; i < CURVE_POINTS; i++)
		curve->points[i] =
			value_at(study, trial, first + (place - first) * (double)i / (CURVE_POINTS - 1));
}

static double length_of(const struct study *study, const struct trial *trial)
{
	return place_of(study, &trial->measurements[trial->measurement_count - 1]);
}

/* Reads the curves of trials that completed without being stopped early, the newest first. */
static size_t curves_read(const struct study *study, const struct trial *trials, size_t trial_count,
			  double place, struct curve *curves, double *lengths)
{
	size_t count = 0;

	for (size_t i = trial_count; i-- > 0 && count < CURVES_MAX;) {
		const struct trial *trial = &trials[i];

		if (trial->state != TRIAL_COMPLETED || trial->stopped_early || !trial->measurement_count ||
		    !isfinite(trial->final[0]))
			continue;
		curve_read(study, trial, place, &curves[count]);
		curves[count].final = gain_of(study, trial->final[0]);
		curves[count].residual = curves[count].final - curves[count].points[CURVE_POINTS - 1];
		lengths[count++] = length_of(study, trial);
	}
	return count;
}

static double curves_apart(const struct curve *a, const struct curve *b)
{
	double sum = 0;

	for (size_t i = 0; i < CURVE_POINTS; i++)
		sum += (a->points[i] - b->points[i]) * (a->points[i] - b->points[i]);
	return sqrt(sum / CURVE_POINTS);
}

static double closeness(double distance, double length)
{
	const double q = sqrt(5) * distance / length;

	return (1 + q + q * q / 3) * exp(-q);
}

static double deviation_of(const struct curve *curves, size_t count, double (*get)(const struct curve *),
			   double *ret_mean)
{
	double mean = 0, sum = 0;

	for (size_t i = 0; i < count; i++)
		mean += get(&curves[i]) / (double)count;
	for (size_t i = 0; i < count; i++)
		sum += (get(&curves[i]) - mean) * (get(&curves[i]) - mean);
	*ret_mean = mean;
	return sqrt(sum / (double)count);
}

static double final_of(const struct curve *curve)
{
	return curve->final;
}

static double residual_of(const struct curve *curve)
{
	return curve->residual;
}

/* A prediction for a running trial from finished curves. */
struct forecast {
	double likelihood, mean, variance;
};

/* The prediction with one pair of hyperparameters; likelihood -INFINITY: numerical failure. */
static struct forecast forecast_with(const struct curve *curves, size_t count, const struct curve *running,
				     double mean, double variance, double length, double noise_share,
				     double *room)
{
	const double signal = variance * (1 - noise_share), noise = variance * noise_share;
	double *matrix = room, *weights = matrix + count * count, *covariances = weights + count;
	struct forecast forecast = { .likelihood = -INFINITY };

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < i; j++)
			matrix[i * count + j] =
				signal * closeness(curves_apart(&curves[i], &curves[j]), length);
		matrix[i * count + i] = signal + noise + 1e-9 * variance;
		weights[i] = curves[i].residual - mean;
		covariances[i] = signal * closeness(curves_apart(&curves[i], running), length);
	}
	if (!cholesky(matrix, count, count))
		return forecast;
	solve_lower(matrix, weights, count, count);
	solve_lower(matrix, covariances, count, count);
	forecast.likelihood = -dot(weights, weights, count) / 2;
	for (size_t i = 0; i < count; i++)
		forecast.likelihood -= log(matrix[i * count + i]);
	forecast.mean = mean + dot(weights, covariances, count);
	forecast.variance = signal + noise - dot(covariances, covariances, count);
	return forecast;
}

static struct forecast forecast_best(const struct curve *curves, size_t count, const struct curve *running,
				     double *room)
{
	static const double lengths[] = { 0.15, 0.4, 1, 2.5 }, shares[] = { 0.05, 0.2, 0.5, 1 };
	struct forecast best = { .likelihood = -INFINITY };
	double final_mean, mean;
	const double spread = deviation_of(curves, count, final_of, &final_mean);
	const double deviation = deviation_of(curves, count, residual_of, &mean);

	if (!(spread > 0) || !(deviation > 0))
		return best;
	for (size_t l = 0; l < 4; l++)
		for (size_t s = 0; s < 4; s++) {
			struct forecast next =
				forecast_with(curves, count, running, mean, deviation * deviation,
					      lengths[l] * spread, shares[s], room);

			if (next.likelihood > best.likelihood)
				best = next;
		}
	return best;
}

/* The probability that a trial, as it stood at @place, still becomes the best one; 1: too little is known. */
static double probability_at(const struct study *study, const struct trial *trials, size_t trial_count,
			     const struct trial *trial, double place, struct curve *curves, double *room)
{
	const struct trial *best = study_best(study, trials, trial_count);
	double *lengths = room;
	size_t count = curves_read(study, trials, trial_count, place, curves, lengths);
	struct curve running;
	struct forecast forecast;
	double mean, deviation;

	if (count < CURVES_MIN || !best || place < length_share * median_of(lengths, count))
		return 1;
	curve_read(study, trial, place, &running);
	forecast = forecast_best(curves, count, &running, room);
	if (!isfinite(forecast.likelihood))
		return 1;
	mean = running.points[CURVE_POINTS - 1] + forecast.mean;
	deviation = sqrt(fmax(forecast.variance, 0) * (1 + 6.0 / (double)count));
	if (!(deviation > 0))
		return 1;
	return 0.5 * erfc((gain_of(study, best->final[0]) - mean) / deviation * M_SQRT1_2);
}

/* Choice: the end of a curve is predicted from completed curves that looked alike; two reports in a row must agree to
 * stop the trial. */
static bool decay_stops(const struct study *study, const struct trial *trials, size_t trial_count,
			const struct trial *trial)
{
	double places[2];
	size_t reports = 0;
	struct curve *curves = memory_calloc(CURVES_MAX, sizeof(*curves));
	double *room = memory_calloc(CURVES_MAX, (CURVES_MAX + 2) * sizeof(*room));
	bool stops;

	for (size_t i = 0; i < trial->measurement_count; i++) {
		if (!isfinite(trial->measurements[i].values[0]))
			continue;
		places[0] = reports ? places[1] : 0;
		places[1] = place_of(study, &trial->measurements[i]);
		reports++;
	}
	stops = reports > REPORTS_MIN;
	for (size_t i = 0; stops && i < 2; i++)
		stops = probability_at(study, trials, trial_count, trial, places[i], curves, room) <
			stopping_probability;
	free(curves);
	free(room);
	return stops;
}

/* ---- the convex rule ---- */

/* Of the completed trials: the best final gain, their number, and where the longest one ended. */
struct completed {
	size_t count;
	double best, longest;
};

static struct completed completed_read(const struct study *study, const struct trial *trials,
				       size_t trial_count)
{
	struct completed completed = { .best = -INFINITY };

	for (size_t i = 0; i < trial_count; i++) {
		const struct trial *trial = &trials[i];

		if (trial->state != TRIAL_COMPLETED || !isfinite(trial->final[0]))
			continue;
		completed.count++;
		completed.best = fmax(completed.best, gain_of(study, trial->final[0]));
		if (trial->measurement_count && !trial->stopped_early)
			completed.longest = fmax(completed.longest, length_of(study, trial));
	}
	return completed;
}

/* An upper estimate of the trial's gain at @most: a curve that flattens out gains less than its later half did. INFINITY:
 * nothing can be said, because the curve is flat. */
static double overestimate(const struct study *study, const struct trial *trial, double most)
{
	const double first = first_place(study, trial), last = length_of(study, trial);
	const double middle = first + (last - first) / 2;
	const double at_middle = value_at(study, trial, middle), at_last = value_at(study, trial, last);

	if (!(last > middle) || (at_last == at_middle && at_middle == value_at(study, trial, first)))
		return INFINITY;
	return at_last + fmax(0, (at_last - at_middle) / (last - middle)) * fmax(0, most - last);
}

/* Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/StudySpec#ConvexAutomatedStoppingSpec
 * Choice: the slope is that of the later half of what was reported. */
static bool convex_stops(const struct study *study, const struct trial *trials, size_t trial_count,
			 const struct trial *trial)
{
	const struct convex_rule *rule = &study->convex;
	const struct completed completed = completed_read(study, trials, trial_count);
	const double most = rule->most > 0 ? rule->most : completed.longest;
	const double least = rule->least < 0 ? most / 10 : rule->least;

	return completed.count > rule->reports && trial->measurement_count >= rule->reports &&
	       length_of(study, trial) > least && overestimate(study, trial, most) < completed.best;
}

bool study_should_stop(const struct study *study, const struct trial *trials, size_t trial_count,
		       size_t index)
{
	const struct trial *trial = &trials[index];

	if (trial->state != TRIAL_PENDING || !trial->measurement_count)
		return false;
	switch (study->stopping) {
	case STOPPING_MEDIAN:
		return median_stops(study, trials, trial_count, trial);
	case STOPPING_DECAY_CURVE:
		return decay_stops(study, trials, trial_count, trial);
	case STOPPING_CONVEX:
		return convex_stops(study, trials, trial_count, trial);
	case STOPPING_NONE:
		break;
	}
	return false;
}
