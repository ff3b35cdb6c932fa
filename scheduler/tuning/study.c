/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"

static const char *const type_names[] = { "double", "integer", "categorical", "discrete", NULL };
static const char *const scale_names[] = { "linear", "log", "reverse_log", NULL };
static const char *const algorithm_names[] = { "bandit", "random", "grid", NULL };
static const char *const stopping_names[] = { "none", "median", "decay_curve", "convex", NULL };

/* Children's values are compared with this tolerance. Source:
 * https://cloud.google.com/vertex-ai/docs/reference/rest/v1/StudySpec (DiscreteValueCondition) */
static const double parent_tolerance = 1e-10;

static void parameter_deinit(struct parameter *parameter)
{
	for (size_t i = 0; parameter->categories && i < parameter->value_count; i++)
		free(parameter->categories[i]);
	free(parameter->categories);
	free(parameter->values);
	free(parameter->parent_values);
	free(parameter->name);
}

void study_free(struct study *study)
{
	if (!study)
		return;
	for (size_t i = 0; i < study->parameter_count; i++)
		parameter_deinit(&study->parameters[i]);
	for (size_t i = 0; i < study->metric_count; i++)
		free(study->metrics[i].name);
	free(study->parameters);
	free(study->metrics);
	free(study);
}

bool parent_values_equal(double a, double b)
{
	return fabs(a - b) <= parent_tolerance;
}

bool parameter_is_active(const struct study *study, size_t index, const double *values)
{
	const struct parameter *parameter = &study->parameters[index];

	if (parameter->parent < 0)
		return true;
	/* The value NaN of an inactive parent equals no value. */
	for (size_t i = 0; i < parameter->parent_value_count; i++)
		if (parent_values_equal(values[parameter->parent], parameter->parent_values[i]))
			return true;
	return false;
}

/* ---- as JSON ---- */

static json_t *numbers_to_json(const double *numbers, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_real(numbers[i]));
	return list;
}

static json_t *categories_to_json(const struct parameter *parameter)
{
	json_t *list = json_array();

	for (size_t i = 0; i < parameter->value_count; i++)
		json_array_append_new(list, json_string(parameter->categories[i]));
	return list;
}

static void parent_write(json_t *object, const struct parameter *parameter)
{
	if (parameter->parent < 0)
		return;
	json_object_set_new(object, "parent", json_integer(parameter->parent));
	json_object_set_new(object, "parent_values",
			    numbers_to_json(parameter->parent_values, parameter->parent_value_count));
}

static json_t *parameter_to_json(const struct parameter *parameter)
{
	json_t *object = json_pack("{s:s, s:s, s:s}", "name", parameter->name, "type",
				   type_names[parameter->type], "scale", scale_names[parameter->scale]);

	parent_write(object, parameter);
	if (parameter->type == PARAMETER_CATEGORICAL) {
		json_object_set_new(object, "categories", categories_to_json(parameter));
	} else if (parameter->type == PARAMETER_DISCRETE) {
		json_object_set_new(object, "values",
				    numbers_to_json(parameter->values, parameter->value_count));
	} else {
		json_object_set_new(object, "minimum", json_real(parameter->minimum));
		json_object_set_new(object, "maximum", json_real(parameter->maximum));
	}
	return object;
}

static void convex_write(json_t *object, const struct study *study)
{
	const struct convex_rule *convex = &study->convex;

	if (study->stopping == STOPPING_CONVEX)
		json_object_set_new(object, "convex",
				    json_pack("{s:f, s:f, s:i}", "most", convex->most, "least", convex->least,
					      "reports", (int)convex->reports));
}

json_t *study_to_json(const struct study *study)
{
	AUTO(json) json_t *object = NULL;
	AUTO(json) json_t *parameters = json_array();
	AUTO(json) json_t *metrics = json_array();

	for (size_t i = 0; i < study->parameter_count; i++)
		json_array_append_new(parameters, parameter_to_json(&study->parameters[i]));
	for (size_t i = 0; i < study->metric_count; i++)
		json_array_append_new(metrics, json_pack("{s:s, s:b}", "name", study->metrics[i].name,
							 "minimized", study->metrics[i].minimized));
	object = json_pack("{s:I, s:s, s:s, s:b, s:b, s:b, s:O, s:O}", "seed", (json_int_t)study->seed,
			   "algorithm", algorithm_names[study->algorithm], "stopping",
			   stopping_names[study->stopping], "stops_by_elapsed", study->stops_by_elapsed,
			   "best_counts", study->best_counts, "repeats_allowed", study->repeats_allowed,
			   "parameters", parameters, "metrics", metrics);
	convex_write(object, study);
	return TAKE(object);
}

static enum status fault(const char *what, struct error *err)
{
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "The study cannot be read: %s.", what);
}

static bool name_read(const json_t *object, const char *member, const char *const *names, int *ret_index)
{
	const char *name = json_text_at(object, member);

	for (int i = 0; name && names[i]; i++) {
		if (strcmp(names[i], name) == 0) {
			*ret_index = i;
			return true;
		}
	}
	return false;
}

static enum status parameter_fault(struct error *err)
{
	return fault("a parameter", err);
}

static enum status numbers_read(const json_t *list, double **ret_numbers, size_t *ret_count,
				struct error *err)
{
	const size_t count = json_array_size(list);
	double *numbers;

	if (!count || count > PARAMETER_VALUES_MAX)
		return parameter_fault(err);
	numbers = memory_calloc(count, sizeof(*numbers));
	*ret_numbers = numbers;
	*ret_count = count;
	for (size_t i = 0; i < count; i++) {
		const json_t *number = json_array_get(list, i);

		numbers[i] = json_number_value(number);
		if (!json_is_number(number) || !isfinite(numbers[i]))
			return parameter_fault(err);
	}
	return STATUS_OK;
}

static enum status categories_read(const json_t *list, struct parameter *parameter, struct error *err)
{
	const size_t count = json_array_size(list);

	if (!count || count > PARAMETER_VALUES_MAX)
		return parameter_fault(err);
	parameter->categories = memory_calloc(count, sizeof(*parameter->categories));
	parameter->value_count = count;
	for (size_t i = 0; i < count; i++) {
		const char *text = json_string_value(json_array_get(list, i));

		if (!text)
			return parameter_fault(err);
		parameter->categories[i] = memory_strdup(text);
	}
	return STATUS_OK;
}

static enum status discrete_read(const json_t *list, struct parameter *parameter, struct error *err)
{
	enum status rc = numbers_read(list, &parameter->values, &parameter->value_count, err);

	if (rc)
		return rc;
	for (size_t i = 1; i < parameter->value_count; i++)
		if (!(parameter->values[i] > parameter->values[i - 1]))
			return parameter_fault(err);
	parameter->minimum = parameter->values[0];
	parameter->maximum = parameter->values[parameter->value_count - 1];
	return STATUS_OK;
}

static enum status range_read(const json_t *object, struct parameter *parameter, struct error *err)
{
	const double minimum = json_number_value(json_object_get(object, "minimum"));
	const double maximum = json_number_value(json_object_get(object, "maximum"));

	if (!isfinite(minimum) || !isfinite(maximum) || minimum > maximum)
		return parameter_fault(err);
	if (parameter->type == PARAMETER_INTEGER && (minimum != floor(minimum) || maximum != floor(maximum) ||
						     fabs(minimum) > 0x1p53 || fabs(maximum) > 0x1p53))
		return parameter_fault(err);
	parameter->minimum = minimum;
	parameter->maximum = maximum;
	return STATUS_OK;
}

static enum status parent_read(const json_t *object, const struct study *study, size_t index,
			       struct parameter *parameter, struct error *err)
{
	const int64_t parent = json_int_at(object, "parent", -1);

	parameter->parent = -1;
	if (parent < 0)
		return STATUS_OK;
	if (parent >= (int64_t)index || study->parameters[parent].type == PARAMETER_DOUBLE)
		return parameter_fault(err);
	parameter->parent = (int)parent;
	return numbers_read(json_object_get(object, "parent_values"), &parameter->parent_values,
			    &parameter->parent_value_count, err);
}

static enum status values_read(const json_t *object, struct parameter *parameter, struct error *err)
{
	switch (parameter->type) {
	case PARAMETER_CATEGORICAL:
		return categories_read(json_object_get(object, "categories"), parameter, err);
	case PARAMETER_DISCRETE:
		return discrete_read(json_object_get(object, "values"), parameter, err);
	case PARAMETER_DOUBLE:
	case PARAMETER_INTEGER:
		return range_read(object, parameter, err);
	}
	return parameter_fault(err);
}

static enum status parameter_read(const json_t *object, const struct study *study, size_t index,
				  struct parameter *parameter, struct error *err)
{
	const char *name = json_text_at(object, "name");
	int type, scale;
	enum status rc;

	if (!name || !name_read(object, "type", type_names, &type) ||
	    !name_read(object, "scale", scale_names, &scale))
		return parameter_fault(err);
	parameter->name = memory_strdup(name);
	parameter->type = (enum parameter_type)type;
	parameter->scale = (enum parameter_scale)scale;
	rc = parent_read(object, study, index, parameter, err);
	if (!rc)
		rc = values_read(object, parameter, err);
	if (rc)
		return rc;
	return parameter->type == PARAMETER_CATEGORICAL || parameter->scale == SCALE_LINEAR ||
			       parameter->minimum > 0
		       ? STATUS_OK
		       : parameter_fault(err);
}

static enum status parameters_read(const json_t *list, struct study *study, struct error *err)
{
	const size_t count = json_array_size(list);
	enum status rc = STATUS_OK;

	if (!count || count > PARAMETERS_MAX)
		return fault("it has no parameters, or too many", err);
	study->parameters = memory_calloc(count, sizeof(*study->parameters));
	for (size_t i = 0; !rc && i < count; i++) {
		study->parameter_count = i + 1;
		rc = parameter_read(json_array_get(list, i), study, i, &study->parameters[i], err);
	}
	return rc;
}

static enum status metrics_read(const json_t *list, struct study *study, struct error *err)
{
	const size_t count = json_array_size(list);

	if (!count || count > METRICS_MAX)
		return fault("it has no metrics, or too many", err);
	study->metrics = memory_calloc(count, sizeof(*study->metrics));
	study->metric_count = count;
	for (size_t i = 0; i < count; i++) {
		const json_t *object = json_array_get(list, i);
		const char *name = json_text_at(object, "name");

		if (!name)
			return fault("a metric", err);
		study->metrics[i].minimized = json_true_at(object, "minimized");
		study->metrics[i].name = memory_strdup(name);
	}
	return STATUS_OK;
}

static bool convex_read(const json_t *object, struct study *study)
{
	const int64_t reports = json_int_at(object, "reports", 0);

	if (study->stopping != STOPPING_CONVEX)
		return true;
	study->convex = (struct convex_rule){ .most = json_number_value(json_object_get(object, "most")),
					      .least = json_number_value(json_object_get(object, "least")),
					      .reports = (unsigned)reports };
	return reports >= 0 && reports <= INT32_MAX && isfinite(study->convex.most) &&
	       isfinite(study->convex.least);
}

enum status study_from_json(const json_t *value, struct study **ret_study, struct error *err)
{
	AUTO(study) struct study *study = memory_calloc(1, sizeof(*study));
	int algorithm, stopping;
	enum status rc;

	if (!name_read(value, "algorithm", algorithm_names, &algorithm) ||
	    !name_read(value, "stopping", stopping_names, &stopping))
		return fault("its algorithm, or its rule of stopping", err);
	study->seed = (uint64_t)json_int_at(value, "seed", 0);
	study->algorithm = (enum algorithm)algorithm;
	study->stopping = (enum stopping_rule)stopping;
	if (!convex_read(json_object_get(value, "convex"), study))
		return fault("its rule of stopping", err);
	study->stops_by_elapsed = json_true_at(value, "stops_by_elapsed");
	study->best_counts = json_true_at(value, "best_counts");
	study->repeats_allowed = json_true_at(value, "repeats_allowed");
	rc = parameters_read(json_object_get(value, "parameters"), study, err);
	if (!rc)
		rc = metrics_read(json_object_get(value, "metrics"), study, err);
	if (rc)
		return rc;
	*ret_study = TAKE(study);
	return STATUS_OK;
}
