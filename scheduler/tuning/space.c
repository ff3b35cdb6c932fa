/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/space.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"

enum {
	CHOICES_MAX = 1000,   /* a number with more steps is treated as continuous */
	HALTON_SKIPPED = 1000 /* the first points of a Halton sequence lie on lines */
};

/* A stepped feature with larger gaps takes no part in the trust region. Source: https://github.com/google/vizier */
static const double local_gap_max = 0.2;
/* The limit for features outside of [0, 1] (values of an earlier study), so that distances between features stay finite. */
#define FEATURE_FAR 1e3
/* Spaces with more points count as infinite. */
static const double points_max = 1e6;

static double clamp(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

/* The logarithm of the quotient of the bounds. The quotient may overflow; the difference of the logarithms does not. */
static double log_span(const struct parameter *parameter)
{
	return log(parameter->maximum) - log(parameter->minimum);
}

/* Whether the range has a length on its scale. Bounds that are adjacent doubles may have equal logarithms. */
static bool has_span(const struct parameter *parameter)
{
	return parameter->maximum > parameter->minimum &&
	       (parameter->scale == SCALE_LINEAR || log_span(parameter) > 0);
}

static double number_encode(const struct parameter *parameter, double value)
{
	const double low = parameter->minimum, high = parameter->maximum;

	if (!has_span(parameter))
		return 0.5;
	switch (parameter->scale) {
	case SCALE_LINEAR:
		/* Uses halves of the numbers if the difference of the bounds overflows. */
		return isfinite(high - low) ? (value - low) / (high - low)
					    : (value / 2 - low / 2) / (high / 2 - low / 2);
	case SCALE_LOG:
		return value > 0 ? (log(value) - log(low)) / log_span(parameter) : -1;
	case SCALE_REVERSE_LOG:
		value = low + (high - value);
		return value > 0 ? 1 - (log(value) - log(low)) / log_span(parameter) : 2;
	}
	return 0.5;
}

static double number_decode(const struct parameter *parameter, double feature)
{
	const double low = parameter->minimum, high = parameter->maximum;
	double value = low;

	if (!has_span(parameter))
		return low;
	switch (parameter->scale) {
	case SCALE_LINEAR:
		value = low * (1 - feature) + high * feature;
		break;
	case SCALE_LOG:
		value = exp(log(low) + feature * log_span(parameter));
		break;
	case SCALE_REVERSE_LOG:
		value = low + (high - exp(log(low) + (1 - feature) * log_span(parameter)));
		break;
	}
	return clamp(value, low, high);
}

/* The index of the value nearest to @value. */
static size_t nearest(const double *values, size_t count, double value)
{
	size_t low = 0, high = count - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (values[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && value - values[low - 1] <= values[low] - value ? low - 1 : low;
}

/* ---- the features of a study ---- */

static bool is_parent(const struct study *study, size_t index)
{
	for (size_t i = index + 1; i < study->parameter_count; i++)
		if (study->parameters[i].parent == (int)index)
			return true;
	return false;
}

/* How many values a parameter has; 0: a continuum. */
static size_t choices_of(const struct parameter *parameter)
{
	switch (parameter->type) {
	case PARAMETER_CATEGORICAL:
	case PARAMETER_DISCRETE:
		return parameter->value_count;
	case PARAMETER_INTEGER:
		return (size_t)fmin(parameter->maximum - parameter->minimum, 0x1p53) + 1;
	case PARAMETER_DOUBLE:
		break;
	}
	return parameter->maximum > parameter->minimum ? 0 : 1;
}

static double choice_value(const struct parameter *parameter, size_t choice)
{
	switch (parameter->type) {
	case PARAMETER_DISCRETE:
		return parameter->values[choice];
	case PARAMETER_INTEGER:
		return parameter->minimum + (double)choice;
	case PARAMETER_CATEGORICAL:
		return (double)choice;
	case PARAMETER_DOUBLE:
		break;
	}
	return parameter->minimum;
}

static double largest_gap(const struct parameter *parameter, size_t choice_count)
{
	double gap = 0, last = number_encode(parameter, choice_value(parameter, 0));

	for (size_t i = 1; i < choice_count; i++) {
		double next = number_encode(parameter, choice_value(parameter, i));

		gap = fmax(gap, next - last);
		last = next;
	}
	return gap;
}

static void feature_init(const struct study *study, size_t index, struct feature *feature)
{
	const struct parameter *parameter = &study->parameters[index];

	feature->choice_count = choices_of(parameter);
	feature->is_fixed = feature->choice_count == 1;
	if (parameter->type == PARAMETER_CATEGORICAL ||
	    (feature->choice_count && feature->choice_count <= CHOICES_MAX && is_parent(study, index)))
		feature->kind = FEATURE_CATEGORY;
	else if (parameter->type == PARAMETER_DOUBLE)
		feature->kind = FEATURE_CONTINUOUS;
	else
		feature->kind = FEATURE_STEPPED;
	feature->is_local = !feature->is_fixed && feature->kind != FEATURE_CATEGORY &&
			    (!feature->choice_count || feature->choice_count > CHOICES_MAX ||
			     largest_gap(parameter, feature->choice_count) <= local_gap_max);
}

void space_init(struct space *space, const struct study *study)
{
	*space = (struct space){ .study = study, .count = study->parameter_count, .point_count = 1 };
	space->features = memory_calloc(space->count + 1, sizeof(*space->features));
	for (size_t i = 0; i < space->count; i++) {
		struct feature *feature = &space->features[i];

		feature_init(study, i, feature);
		space->local_count += feature->is_local;
		space->category_count += feature->kind == FEATURE_CATEGORY;
		space->point_count *= feature->choice_count ? (double)feature->choice_count : INFINITY;
	}
	if (space->point_count > points_max)
		space->point_count = INFINITY;
}

void space_deinit(struct space *space)
{
	free(space->features);
	*space = (struct space){ 0 };
}

/* ---- values and features ---- */

static size_t choice_of_value(const struct parameter *parameter, double value, size_t choice_count)
{
	if (parameter->type == PARAMETER_DISCRETE)
		return nearest(parameter->values, parameter->value_count, value);
	value = parameter->type == PARAMETER_INTEGER ? round(value) - parameter->minimum : round(value);
	return (size_t)clamp(value, 0, (double)choice_count - 1);
}

static double feature_neutral(const struct feature *feature)
{
	return feature->kind == FEATURE_CATEGORY ? 0 : 0.5;
}

void space_encode(const struct space *space, const double *values, double *ret_features)
{
	for (size_t i = 0; i < space->count; i++) {
		const struct parameter *parameter = &space->study->parameters[i];
		const struct feature *feature = &space->features[i];

		if (isnan(values[i]))
			ret_features[i] = feature_neutral(feature);
		else if (feature->kind == FEATURE_CATEGORY)
			ret_features[i] =
				(double)choice_of_value(parameter, values[i], feature->choice_count);
		else
			ret_features[i] =
				clamp(number_encode(parameter, values[i]), -FEATURE_FAR, FEATURE_FAR);
	}
}

/* The possible value nearest to a feature, in native units. */
static double feature_decode(const struct parameter *parameter, const struct feature *feature, double at)
{
	double value;

	if (feature->kind == FEATURE_CATEGORY)
		return choice_value(parameter,
				    (size_t)clamp(round(at), 0, (double)feature->choice_count - 1));
	value = number_decode(parameter, clamp(at, 0, 1));
	if (parameter->type == PARAMETER_INTEGER)
		value = clamp(round(value), parameter->minimum, parameter->maximum);
	else if (parameter->type == PARAMETER_DISCRETE)
		value = parameter->values[nearest(parameter->values, parameter->value_count, value)];
	return value;
}

void space_decode(const struct space *space, double *features, double *ret_values)
{
	for (size_t i = 0; i < space->count; i++) {
		const struct parameter *parameter = &space->study->parameters[i];
		const struct feature *feature = &space->features[i];

		if (!parameter_is_active(space->study, i, ret_values)) {
			ret_values[i] = NAN;
			features[i] = feature_neutral(feature);
			continue;
		}
		ret_values[i] = feature_decode(parameter, feature, features[i]);
		/* The feature of a DOUBLE stays as it is: a conversion to the value and back would add a rounding error. */
		if (feature->kind == FEATURE_CATEGORY)
			features[i] =
				(double)choice_of_value(parameter, ret_values[i], feature->choice_count);
		else if (feature->kind == FEATURE_STEPPED || feature->is_fixed)
			features[i] = number_encode(parameter, ret_values[i]);
		else
			features[i] = clamp(features[i], 0, 1);
	}
}

void space_centre(const struct space *space, double *ret_features)
{
	for (size_t i = 0; i < space->count; i++)
		ret_features[i] = feature_neutral(&space->features[i]);
}

double space_choice(const struct space *space, size_t feature, size_t choice)
{
	const struct parameter *parameter = &space->study->parameters[feature];

	if (space->features[feature].kind == FEATURE_CATEGORY)
		return (double)choice;
	return number_encode(parameter, choice_value(parameter, choice));
}

size_t space_choice_of(const struct space *space, size_t feature, double value)
{
	const struct parameter *parameter = &space->study->parameters[feature];
	const size_t choice_count = space->features[feature].choice_count;

	if (space->features[feature].kind == FEATURE_CATEGORY)
		return (size_t)clamp(round(value), 0, (double)choice_count - 1);
	return choice_of_value(parameter, number_decode(parameter, clamp(value, 0, 1)), choice_count);
}

/* A number in [0, 1) as a feature. Steps with a linear scale are equally likely; with another one, each is as
 * likely as the stretch of the scale that is rounded to it. */
static double feature_of_uniform(const struct space *space, size_t index, double uniform)
{
	const struct feature *feature = &space->features[index];
	const struct parameter *parameter = &space->study->parameters[index];

	if (feature->choice_count && (feature->kind == FEATURE_CATEGORY || parameter->scale == SCALE_LINEAR ||
				      parameter->type == PARAMETER_DISCRETE))
		return space_choice(space, index, (size_t)(uniform * (double)feature->choice_count));
	return uniform;
}

void space_random(const struct space *space, struct draw *draw, double *ret_features)
{
	for (size_t i = 0; i < space->count; i++)
		ret_features[i] = feature_of_uniform(space, i, draw_uniform(draw));
}

/* ---- the Halton sequence ---- */

static unsigned next_prime(unsigned after)
{
	for (unsigned candidate = after + 1;; candidate++) {
		unsigned divisor = 2;

		while (divisor * divisor <= candidate && candidate % divisor)
			divisor++;
		if (divisor * divisor > candidate)
			return candidate;
	}
}

/* A permutation of the digits below @base, the same for all places of a digit. */
static void digits_shuffle(struct draw *draw, unsigned base, unsigned short *ret_digits)
{
	for (unsigned i = 0; i < base; i++) {
		size_t j = draw_index(draw, i + 1);

		ret_digits[i] = ret_digits[j];
		ret_digits[j] = (unsigned short)i;
	}
}

static double radical_inverse(size_t index, unsigned base, const unsigned short *digits)
{
	double result = 0, place = 1.0 / base;

	/* The zeros after the last digit are permuted too, down to the precision that counts. */
	while (place > 1e-12) {
		result += digits[index % base] * place;
		place /= base;
		index /= base;
	}
	return clamp(result, 0, 1 - 0x1p-53);
}

void space_halton(const struct space *space, uint64_t seed, size_t index, double *ret_features)
{
	unsigned short digits[2048];
	struct draw draw;
	unsigned base = 1;

	draw_init(&draw, seed, 0, "halton");
	for (size_t i = 0; i < space->count; i++) {
		base = next_prime(base); /* 1619 is the last that PARAMETERS_MAX needs */
		digits_shuffle(&draw, base, digits);
		ret_features[i] =
			feature_of_uniform(space, i, radical_inverse(index + HALTON_SKIPPED, base, digits));
	}
}

/* ---- points ---- */

bool space_points_equal(const struct space *space, const double *a, const double *b)
{
	for (size_t i = 0; i < space->count; i++)
		if (fabs(a[i] - b[i]) > 1e-12)
			return false;
	return true;
}

/* Counts through the points of a grid. The parameters are the digits: the first one varies fastest, the last one is the
 * most significant. Parents are less significant than their children. Inactive parameters stay at their first choice,
 * so that each point comes once: if a child has another choice, its parent must be active and have a value that
 * activates the child. A digit skips choices that no choices of the less significant digits would allow, so the next
 * point is found without a search. */
struct counter {
	const struct space *space;
	size_t choices[PARAMETERS_MAX];
	bool needed[PARAMETERS_MAX]; /* must be active, because of its choice or a descendant's */
};

static bool child_takes(const struct parameter *child, double value)
{
	for (size_t i = 0; i < child->parent_value_count; i++)
		if (parent_values_equal(value, child->parent_values[i]))
			return true;
	return false;
}

/* The first choice of a parameter from @from on that all its needed children take; SIZE_MAX: none. */
static size_t choice_for_children(const struct counter *counter, size_t index, size_t from)
{
	const struct study *study = counter->space->study;
	const struct parameter *parameter = &study->parameters[index];
	const size_t choice_count = counter->space->features[index].choice_count;
	const struct parameter *demanding = NULL;
	size_t best = SIZE_MAX;

	for (size_t i = index + 1; i < study->parameter_count && !demanding; i++)
		if (study->parameters[i].parent == (int)index && counter->needed[i])
			demanding = &study->parameters[i];
	if (!demanding)
		return from < choice_count ? from : SIZE_MAX;
	for (size_t v = 0; v < demanding->parent_value_count; v++) {
		const size_t choice = choice_of_value(parameter, demanding->parent_values[v], choice_count);
		bool fits = choice >= from && choice < best;

		for (size_t i = index + 1; fits && i < study->parameter_count; i++)
			fits = study->parameters[i].parent != (int)index || !counter->needed[i] ||
			       child_takes(&study->parameters[i], choice_value(parameter, choice));
		if (fits)
			best = choice;
	}
	return best;
}

/* Whether a parameter can be active: its parent and all further ancestors have choices that make it active. Marks these
 * ancestors. */
static bool ancestors_need(struct counter *counter, size_t index)
{
	for (int at = (int)index; at >= 0; at = counter->space->study->parameters[at].parent) {
		const int parent = counter->space->study->parameters[at].parent;

		counter->needed[at] = true;
		if (parent >= 0 && choice_for_children(counter, (size_t)parent, 0) == SIZE_MAX)
			return false;
	}
	return true;
}

/* The requirements of the digits from @index on. False: they cannot be met. */
static bool needs_fill(struct counter *counter, size_t index)
{
	memset(counter->needed, 0, sizeof(counter->needed));
	for (size_t i = counter->space->count; i-- > index;)
		if (counter->choices[i] && !ancestors_need(counter, i))
			return false;
	return true;
}

/* Sets the digit at @index to its first possible choice from @from on; the digits above it stay as they are. False: there
 * is no such choice. */
static bool digit_set(struct counter *counter, size_t index, size_t from)
{
	size_t choice;

	counter->choices[index] = 0;
	if (!needs_fill(counter, index + 1))
		return false;
	choice = choice_for_children(counter, index, from);
	if (choice == SIZE_MAX)
		return false;
	counter->choices[index] = choice;
	return !choice || needs_fill(counter, index);
}

static bool counter_advance(struct counter *counter)
{
	for (size_t i = 0; i < counter->space->count; i++) {
		if (!digit_set(counter, i, counter->choices[i] + 1))
			continue;
		while (i-- > 0)
			digit_set(counter, i, 0);
		return true;
	}
	return false;
}

static void counter_read(const struct counter *counter, double *ret_values)
{
	const struct study *study = counter->space->study;

	for (size_t i = 0; i < study->parameter_count; i++)
		ret_values[i] = parameter_is_active(study, i, ret_values)
					? choice_value(&study->parameters[i], counter->choices[i])
					: NAN;
}

static bool has_conditions(const struct study *study)
{
	for (size_t i = 0; i < study->parameter_count; i++)
		if (study->parameters[i].parent >= 0)
			return true;
	return false;
}

bool space_grid(const struct space *space, size_t index, double *ret_values)
{
	struct counter counter = { .space = space };

	for (size_t i = 0; i < space->count; i++)
		if (!space->features[i].choice_count)
			return false;
	if (has_conditions(space->study)) {
		while (index && counter_advance(&counter))
			index--;
	} else {
		for (size_t i = 0; i < space->count; i++) {
			counter.choices[i] = index % space->features[i].choice_count;
			index /= space->features[i].choice_count;
		}
	}
	if (index)
		return false;
	counter_read(&counter, ret_values);
	return true;
}
