/* SPDX-License-Identifier: Apache-2.0 */
/* StudySpec.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/StudySpec */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "api/aiplatform/rules_parts.h"
#include "api/aiplatform/study_tree.h"
#include "api/training/search.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"
#include "daemon/base/timestamp.h"
#include "scheduler/tuning/study.h"

/* The largest whole number below which a double represents each whole number exactly. */
#define WHOLE_NUMBER_MAX (INT64_C(1) << 53)
static const double gap_min = 1e-10;

static bool is_word(const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (*c <= ' ' || *c == 0x7f)
			return false;
	return true;
}

static void check_metric(struct findings *findings, const json_t *metric, json_t *names)
{
	const char *id = json_text_at(metric, "metricId");

	if (!id)
		findings_add(findings, "metric_id", "The metric id must be specified.");
	else if (!is_word(id))
		findings_add(findings, "metric_id", "The metric id must not contain whitespace: '%.*s'.",
			     FINDINGS_SHOWN_BYTES, id);
	else if (json_object_get(names, id))
		findings_add(findings, "metric_id", "The metric id '%.*s' is not unique.",
			     FINDINGS_SHOWN_BYTES, id);
	else
		json_object_set_new(names, id, json_true());
}

static void check_metrics(struct findings *findings, const json_t *metrics)
{
	AUTO(json) json_t *names = json_object();
	size_t index;
	const json_t *metric;

	if (json_array_size(metrics) == 0)
		findings_add(findings, "metrics", "At least one metric must be specified.");
	if (json_array_size(metrics) > METRICS_MAX)
		findings_add(findings, "metrics", "At most %d metrics can be specified, not %zu.",
			     METRICS_MAX, json_array_size(metrics));
	json_array_foreach((json_t *)metrics, index, metric) {
		const size_t length = findings_enter(findings, "metrics");

		findings_enter_index(findings, index);
		check_metric(findings, metric, names);
		findings_leave(findings, length);
	}
}

/* True if the value is an int64 in canonical form, which is text; false for "NaN" and "-Infinity". */
static bool is_whole_text(const json_t *value)
{
	const char *text = json_string_value(value);

	return text && strspn(text, "-0123456789") == strlen(text);
}

/* Reads a bound: a double, or an int64 as text; 0 if absent. False: the value is "NaN" or infinite, and so not a
 * bound. */
static bool number_at(const json_t *values, const char *name, double *ret_number)
{
	const json_t *value = json_object_get(values, name);

	*ret_number = json_is_string(value) ? (double)json_int_at(values, name, 0) : json_number_value(value);
	return !value || is_whole_text(value) || (json_is_number(value) && isfinite(*ret_number));
}

static bool is_beyond(const json_t *values, const char *name)
{
	const int64_t number = json_int_at(values, name, 0);

	return number < -WHOLE_NUMBER_MAX || number > WHOLE_NUMBER_MAX;
}

static void check_range(struct findings *findings, const json_t *spec, enum value_kind kind,
			const json_t *values)
{
	const char *field = value_kinds[kind].spec_snake;
	double least, most;
	bool numbers = number_at(values, "minValue", &least);

	numbers = number_at(values, "maxValue", &most) && numbers;
	if (!numbers)
		findings_add(findings, field, "The bounds must be finite numbers.");
	else if (least > most)
		findings_add(findings, field, "min_value must not be greater than max_value.");
	else if (kind == VALUE_INTEGER && (is_beyond(values, "minValue") || is_beyond(values, "maxValue")))
		findings_add(findings, field, "The bounds must lie between -2^53 and 2^53.");
	else if (search_scale_is_logarithmic(spec) && least <= 0)
		findings_add(findings, field, "The scale type %s needs a min_value greater than 0.",
			     json_text_at(spec, "scaleType"));
}

static void check_value_count(struct findings *findings, const char *field, const json_t *list)
{
	if (json_array_size(list) == 0)
		findings_add(findings, field, "At least one value must be specified.");
	if (json_array_size(list) > PARAMETER_VALUES_MAX)
		findings_add(findings, field, "At most %d values can be specified, not %zu.",
			     PARAMETER_VALUES_MAX, json_array_size(list));
}

static void check_categorical(struct findings *findings, const json_t *spec, const json_t *list)
{
	AUTO(json) json_t *names = json_object();
	size_t index;
	const json_t *value;

	check_value_count(findings, "categorical_value_spec.values", list);
	if (json_object_get(spec, "scaleType"))
		findings_add(findings, "scale_type", "A CATEGORICAL parameter has no scale type.");
	json_array_foreach((json_t *)list, index, value) {
		if (json_object_get(names, json_string_value(value))) {
			findings_add(findings, "categorical_value_spec.values",
				     "The value '%.*s' is not unique.", FINDINGS_SHOWN_BYTES,
				     json_string_value(value));
			return;
		}
		json_object_set_new(names, json_string_value(value), json_true());
	}
}

static void check_discrete(struct findings *findings, const json_t *spec, const json_t *list)
{
	static const char field[] = "discrete_value_spec.values";
	double before = -INFINITY;
	size_t index;
	const json_t *value;

	check_value_count(findings, field, list);
	json_array_foreach((json_t *)list, index, value) {
		const double number = json_is_number(value) ? json_number_value(value) : NAN;

		if (!isfinite(number) || !(number - before >= gap_min)) {
			findings_add(findings, field,
				     "The values must be finite, in increasing order and at least 1e-10 "
				     "apart.");
			return;
		}
		before = number;
	}
	if (search_scale_is_logarithmic(spec) && !(json_number_value(json_array_get(list, 0)) > 0))
		findings_add(findings, field, "The scale type %s needs values greater than 0.",
			     json_text_at(spec, "scaleType"));
}

/* Names become flags, --NAME=VALUE. */
static void check_parameter_id(struct findings *findings, const char *id)
{
	if (!id)
		findings_add(findings, "parameter_id", "The parameter id must be specified.");
	else if (!is_word(id) || strchr(id, '=') || *id == '-')
		findings_add(findings, "parameter_id",
			     "The parameter id must be a word without whitespace and '=' that does not begin "
			     "with '-': '%.*s'.",
			     FINDINGS_SHOWN_BYTES, id);
}

static bool parent_can_have(enum value_kind kind, const json_t *values, const json_t *value)
{
	double least, most;

	if (kind != VALUE_INTEGER)
		return study_values_contain(json_object_get(values, "values"), value);
	number_at(values, "minValue", &least);
	number_at(values, "maxValue", &most);
	const double number = strtod(json_string_value(value), NULL);

	return number >= least && number <= most;
}

static void check_condition(struct findings *findings, const json_t *dependence, enum value_kind kind,
			    const json_t *parent_values)
{
	const char *name = value_kinds[kind].condition;
	const char *field = value_kinds[kind].condition_snake;
	const json_t *condition = name ? json_object_get(dependence, name) : NULL;
	const json_t *list = json_object_get(condition, "values");
	size_t index;
	const json_t *value;

	if (!name) {
		findings_add(findings, NULL,
			     "A parameter of type DOUBLE cannot have conditional parameters.");
		return;
	}
	if (!condition) {
		findings_add(findings, field, "It must be specified, as the parent is of type %s.",
			     value_kinds[kind].noun);
		return;
	}
	check_value_count(findings, field, list);
	if (json_array_size(list) > PARAMETER_VALUES_MAX)
		return; /* too many: the loop compares each one with all of the parent's values */
	json_array_foreach((json_t *)list, index, value) {
		if (!parent_can_have(kind, parent_values, value)) {
			findings_add(findings, field, "The parent cannot have the value at index %zu.",
				     index);
			return;
		}
	}
}

static void check_parameter(struct findings *findings, const json_t *spec, bool grid);

static void check_dependents(struct findings *findings, const json_t *spec, bool grid)
{
	const json_t *values;
	enum value_kind kind;
	const bool has_kind = parameter_kind(spec, &kind, &values);
	size_t index;
	const json_t *below;

	json_array_foreach(json_object_get(spec, "conditionalParameterSpecs"), index, below) {
		const json_t *inner = json_object_get(below, "parameterSpec");
		const size_t length = findings_enter(findings, "conditional_parameter_specs");

		findings_enter_index(findings, index);
		if (has_kind)
			check_condition(findings, below, kind, values);
		if (inner) {
			findings_enter(findings, "parameter_spec");
			check_parameter(findings, inner, grid);
		} else {
			findings_add(findings, "parameter_spec", "It must be specified.");
		}
		findings_leave(findings, length);
		if (findings_enough(findings))
			return;
	}
}

static void check_parameter(struct findings *findings, const json_t *spec, bool grid)
{
	const json_t *values;
	enum value_kind kind;

	check_parameter_id(findings, json_text_at(spec, "parameterId"));
	if (!parameter_kind(spec, &kind, &values))
		findings_add(findings, NULL,
			     "One of double_value_spec, integer_value_spec, categorical_value_spec and "
			     "discrete_value_spec must be specified.");
	else if (kind == VALUE_CATEGORICAL)
		check_categorical(findings, spec, json_object_get(values, "values"));
	else if (kind == VALUE_DISCRETE)
		check_discrete(findings, spec, json_object_get(values, "values"));
	else
		check_range(findings, spec, kind, values);
	if (grid && json_object_get(spec, "doubleValueSpec"))
		findings_add(findings, "double_value_spec",
			     "GRID_SEARCH takes INTEGER, CATEGORICAL and DISCRETE parameters only.");
	check_dependents(findings, spec, grid);
}

static void check_ids_unique(struct findings *findings, const struct study_tree *tree)
{
	for (size_t i = 0; i < tree->count && !findings_enough(findings); i++) {
		const char *id = json_text_at(tree->parameters[i].spec, "parameterId");
		bool twice = false;

		for (size_t before = 0; id && !twice && before < i; before++) {
			const char *other = json_text_at(tree->parameters[before].spec, "parameterId");

			twice = other && strcmp(id, other) == 0 && !parameters_exclude(tree, before, i);
		}
		if (twice)
			findings_add(
				findings, "parameters",
				"The parameter id '%.*s' is not unique: parameters may share one only when "
				"they have disjoint conditions on the same parent.",
				FINDINGS_SHOWN_BYTES, id);
	}
}

static void check_parameters(struct findings *findings, const json_t *spec)
{
	const char *algorithm = json_text_at(spec, "algorithm");
	const bool grid = algorithm && strcmp(algorithm, "GRID_SEARCH") == 0;
	AUTO(study_tree) struct study_tree *tree = study_tree_new(spec);
	size_t index;
	const json_t *parameter;

	if (tree->count == 0)
		findings_add(findings, "parameters", "At least one parameter must be specified.");
	if (tree->count > PARAMETERS_MAX) {
		findings_add(findings, "parameters", "At most %d parameters can be specified, not %zu.",
			     PARAMETERS_MAX, tree->count);
		return;
	}
	json_array_foreach(json_object_get(spec, "parameters"), index, parameter) {
		const size_t length = findings_enter(findings, "parameters");

		findings_enter_index(findings, index);
		check_parameter(findings, parameter, grid);
		findings_leave(findings, length);
	}
	check_ids_unique(findings, tree);
}

static void check_constraint(struct findings *findings, const json_t *config, const char *member,
			     const char *snake)
{
	const json_t *constraint = json_object_get(config, member);
	const char *duration = json_text_at(constraint, "maxDuration");
	int64_t us;

	if (constraint && json_object_size(constraint) == 0)
		findings_add(findings, snake, "One of max_duration and end_time must be specified.");
	if (duration && (!duration_parse(duration, &us) || us <= 0))
		findings_add(findings, snake, "The duration must be longer than 0s, not %s.", duration);
}

/* Checks the conditions that end a study, in the order of the fields. */
static void check_stopping_config(struct findings *findings, const json_t *config)
{
	static const struct {
		const char *member, *snake;
	} counts[] = { { "minNumTrials", "min_num_trials" },
		       { "maxNumTrials", "max_num_trials" },
		       { "maxNumTrialsNoProgress", "max_num_trials_no_progress" } };
	const char *progress = json_text_at(config, "maxDurationNoProgress");
	const json_t *most = json_object_get(config, "maxNumTrials");
	int64_t us;

	check_constraint(findings, config, "minimumRuntimeConstraint", "minimum_runtime_constraint");
	check_constraint(findings, config, "maximumRuntimeConstraint", "maximum_runtime_constraint");
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const int64_t count = json_int_at(config, counts[i].member, 1);

		if (count < (i > 0))
			findings_add(findings, counts[i].snake, "The number must be at least %d, not %lld.",
				     i > 0, (long long)count);
	}
	if (most && json_int_at(config, "minNumTrials", 0) > json_int_at(config, "maxNumTrials", 0))
		findings_add(findings, "min_num_trials", "It must not be greater than max_num_trials.");
	if (progress && (!duration_parse(progress, &us) || us <= 0))
		findings_add(findings, "max_duration_no_progress",
			     "The duration must be longer than 0s, not %s.", progress);
}

static void check_convex(struct findings *findings, const json_t *spec)
{
	static const struct {
		const char *member, *snake;
	} counts[] = { { "maxStepCount", "max_step_count" },
		       { "minStepCount", "min_step_count" },
		       { "minMeasurementCount", "min_measurement_count" } };
	const size_t length = findings_enter(findings, "convex_automated_stopping_spec");

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const int64_t count = json_int_at(spec, counts[i].member, 0);

		if (count < 0 || count > WHOLE_NUMBER_MAX || (i == 2 && count > INT32_MAX))
			findings_add(findings, counts[i].snake,
				     "The number must not be negative, nor too large: %lld.",
				     (long long)count);
	}
	findings_leave(findings, length);
}

void check_study_spec(struct findings *findings, const json_t *spec)
{
	const json_t *config = json_object_get(spec, "studyStoppingConfig");
	const size_t length = findings->path.length;

	check_metrics(findings, json_object_get(spec, "metrics"));
	check_parameters(findings, spec);
	check_convex(findings, json_object_get(spec, "convexAutomatedStoppingSpec"));
	findings_enter(findings, "study_stopping_config");
	if (config)
		check_stopping_config(findings, config);
	findings_leave(findings, length);
}

void check_study_spec_capabilities(struct findings *findings, const json_t *spec)
{
	size_t index;
	const json_t *metric;

	json_array_foreach(json_object_get(spec, "metrics"), index, metric) {
		const size_t length = findings_enter(findings, "metrics");

		findings_enter_index(findings, index);
		if (json_object_get(metric, "safetyConfig"))
			findings_add(findings, "safety_config",
				     "trainyard keeps no metrics safe: leave safetyConfig out.");
		findings_leave(findings, length);
	}
}
