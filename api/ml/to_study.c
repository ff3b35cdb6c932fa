/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/to_study.h"

#include <string.h>

#include "api/training/search.h"
#include "daemon/base/json.h"
#include "scheduler/tuning/study.h"

/* Source: https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs#HyperparameterSpec */
static const char metric_default[] = "training/hptuning/metric";

static bool is_set_to(const json_t *object, const char *member, const char *value)
{
	const char *text = json_text_at(object, member);

	return text && strcmp(text, value) == 0;
}

static json_t *range(const json_t *spec, const char *type)
{
	return json_pack("{s:s, s:s, s:s, s:f, s:f}", "name", json_text_at(spec, "parameterName"), "type",
			 type, "scale", search_scale(spec), "minimum",
			 json_number_value(json_object_get(spec, "minValue")), "maximum",
			 json_number_value(json_object_get(spec, "maxValue")));
}

static json_t *parameter(const json_t *spec)
{
	const char *name = json_text_at(spec, "parameterName");

	if (is_set_to(spec, "type", "CATEGORICAL"))
		return json_pack("{s:s, s:s, s:s, s:O}", "name", name, "type", "categorical", "scale",
				 "linear", "categories", json_object_get(spec, "categoricalValues"));
	if (is_set_to(spec, "type", "DISCRETE"))
		return json_pack("{s:s, s:s, s:s, s:O}", "name", name, "type", "discrete", "scale",
				 search_scale(spec), "values", json_object_get(spec, "discreteValues"));
	return range(spec, is_set_to(spec, "type", "INTEGER") ? "integer" : "double");
}

static const char *algorithm_of(const json_t *spec)
{
	if (is_set_to(spec, "algorithm", "GRID_SEARCH"))
		return "grid";
	return is_set_to(spec, "algorithm", "RANDOM_SEARCH") ? "random" : "bandit";
}

enum status hyperparameters_to_study(const json_t *spec, uint64_t seed, struct study **ret_study,
				     struct error *err)
{
	const char *tag = json_text_at(spec, "hyperparameterMetricTag");
	AUTO(json) json_t *parameters = json_array();
	AUTO(json) json_t *study = NULL;
	size_t index;
	const json_t *given;

	json_array_foreach((json_t *)json_object_get(spec, "params"), index, given) {
		json_array_append_new(parameters, parameter(given));
	}
	/* Choice: the service does not publish its rule for stopping trials early; this one needs no settings, and
	 * stops no trial while it knows little. */
	study = json_pack("{s:I, s:s, s:s, s:O, s:[{s:s, s:b}]}", "seed", (json_int_t)seed, "algorithm",
			  algorithm_of(spec), "stopping",
			  json_true_at(spec, "enableTrialEarlyStopping") ? "decay_curve" : "none",
			  "parameters", parameters, "metrics", "name", tag ? tag : metric_default,
			  "minimized", is_set_to(spec, "goal", "MINIMIZE"));
	return study_from_json(study, ret_study, err);
}
