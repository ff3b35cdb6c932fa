/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/to_study.h"

#include <string.h>

#include "api/aiplatform/study_tree.h"
#include "api/training/search.h"
#include "daemon/base/json.h"
#include "scheduler/tuning/study.h"

/* A value of an enum of the API, and the study's word for it; the last row of a table is for all other values. */
struct word {
	const char *value, *word;
};

static const struct word algorithms[] = {
	{ "GRID_SEARCH", "grid" },
	{ "RANDOM_SEARCH", "random" },
	{ NULL, "bandit" },
};

static const char *word_for(const struct word *words, const char *value)
{
	while (words->value && (!value || strcmp(words->value, value) != 0))
		words++;
	return words->word;
}

static bool is_set_to(const json_t *object, const char *member, const char *value)
{
	const char *text = json_text_at(object, member);

	return text && strcmp(text, value) == 0;
}

/* Reads a number; whole numbers are text in JSON. An absent value is 0. */
static double number_of(const json_t *value)
{
	return json_is_string(value) ? strtod(json_string_value(value), NULL) : json_number_value(value);
}

static json_t *range(const json_t *values, const char *type)
{
	return json_pack("{s:s, s:f, s:f}", "type", type, "minimum",
			 number_of(json_object_get(values, "minValue")), "maximum",
			 number_of(json_object_get(values, "maxValue")));
}

static json_t *kind_make(enum value_kind kind, const json_t *values)
{
	switch (kind) {
	case VALUE_DOUBLE:
		return range(values, "double");
	case VALUE_INTEGER:
		return range(values, "integer");
	case VALUE_CATEGORICAL:
		return json_pack("{s:s, s:O}", "type", "categorical", "categories",
				 json_object_get(values, "values"));
	case VALUE_DISCRETE:
		return json_pack("{s:s, s:O}", "type", "discrete", "values",
				 json_object_get(values, "values"));
	case VALUE_KIND_COUNT:
		break;
	}
	return NULL;
}

/* Converts a parent's value to the study's number: a category becomes its index among the parent's categories. */
static double parent_value(enum value_kind kind, const json_t *parent_values, const json_t *value)
{
	size_t index;
	const json_t *category;

	if (kind != VALUE_CATEGORICAL)
		return number_of(value);
	json_array_foreach(json_object_get(parent_values, "values"), index, category) {
		if (json_equal(category, (json_t *)value))
			return (double)index;
	}
	return -1;
}

static bool parent_add(const struct study_tree *tree, const struct study_parameter *parameter, json_t *object)
{
	AUTO(json) json_t *list = json_array();
	const json_t *values, *value;
	enum value_kind kind;
	size_t index;

	if (parameter->parent < 0)
		return true;
	if (!parameter_kind(tree->parameters[parameter->parent].spec, &kind, &values))
		return false;
	json_array_foreach((json_t *)dependence_values(parameter->dependence), index, value) {
		json_array_append_new(list, json_real(parent_value(kind, values, value)));
	}
	return !json_object_set_new(object, "parent", json_integer(parameter->parent)) &&
	       !json_object_set(object, "parent_values", list);
}

static json_t *parameter_make(const struct study_tree *tree, const struct study_parameter *parameter)
{
	const char *id = json_text_at(parameter->spec, "parameterId");
	const char *scale = search_scale(parameter->spec);
	const json_t *values;
	enum value_kind kind;
	AUTO(json) json_t *object = NULL;

	if (!parameter_kind(parameter->spec, &kind, &values))
		return NULL;
	object = kind_make(kind, values);
	if (!object || json_object_set_new(object, "name", json_string(id)) ||
	    json_object_set_new(object, "scale", json_string(scale)) || !parent_add(tree, parameter, object))
		return NULL;
	return TAKE(object);
}

static json_t *parameters_make(const json_t *spec)
{
	AUTO(study_tree) struct study_tree *tree = study_tree_new(spec);
	AUTO(json) json_t *list = json_array();

	for (size_t i = 0; i < tree->count; i++)
		if (json_array_append_new(list, parameter_make(tree, &tree->parameters[i])))
			return NULL;
	return TAKE(list);
}

static json_t *metrics_make(const json_t *spec)
{
	AUTO(json) json_t *list = json_array();
	size_t index;
	const json_t *metric;

	json_array_foreach(json_object_get(spec, "metrics"), index, metric) {
		json_array_append_new(list, json_pack("{s:s, s:b}", "name", json_text_at(metric, "metricId"),
						      "minimized", is_set_to(metric, "goal", "MINIMIZE")));
	}
	return TAKE(list);
}

/* Converts the rule for stopping trials, with the service's defaults. Source:
 * https://cloud.google.com/vertex-ai/docs/reference/rest/v1/StudySpec#ConvexAutomatedStoppingSpec */
static json_t *convex_make(const json_t *spec)
{
	return json_pack("{s:f, s:f, s:I}", "most", (double)json_int_at(spec, "maxStepCount", 0), "least",
			 (double)json_int_at(spec, "minStepCount", -1), "reports",
			 (json_int_t)json_int_at(spec, "minMeasurementCount", 5));
}

enum status study_spec_to_study(const json_t *spec, uint64_t seed, struct study **ret_study,
				struct error *err)
{
	const json_t *median = json_object_get(spec, "medianAutomatedStoppingSpec");
	const json_t *curve = json_object_get(spec, "decayCurveStoppingSpec");
	const json_t *convex = json_object_get(spec, "convexAutomatedStoppingSpec");
	const json_t *stopping = median ? median : curve ? curve : convex;
	AUTO(json)
	json_t *study =
		json_pack("{s:I, s:s, s:s, s:b, s:b, s:b, s:o, s:o}", "seed", (json_int_t)seed, "algorithm",
			  word_for(algorithms, json_text_at(spec, "algorithm")), "stopping",
			  median   ? "median"
			  : curve  ? "decay_curve"
			  : convex ? "convex"
				   : "none",
			  "stops_by_elapsed", json_true_at(stopping, "useElapsedDuration"), "best_counts",
			  is_set_to(spec, "measurementSelectionType", "BEST_MEASUREMENT"), "repeats_allowed",
			  is_set_to(spec, "observationNoise", "HIGH"), "parameters", parameters_make(spec),
			  "metrics", metrics_make(spec));

	if (convex)
		json_object_set_new(study, "convex", convex_make(convex));
	return study_from_json(study, ret_study, err);
}
