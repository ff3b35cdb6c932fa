/* SPDX-License-Identifier: Apache-2.0 */
/* Hyperparameter specs.
 * Source: https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs#HyperparameterSpec */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/ml/rules.h"
#include "api/training/search.h"
#include "daemon/base/json.h"
#include "scheduler/tuning/study.h"

/* Choice: a limit beyond every useful number of trials. The numbers of parallel and of failed trials have no limit
 * of their own: a number above that of all trials means all. */
enum { TRIALS_MAX = 10000 };

/* The largest whole number below which a double represents each whole number exactly. */
static const double whole_number_max = 0x1p53;

/* A parameter that is being checked, and its name in errors: hyperparameters.params[2]. */
struct candidate {
	const json_t *spec;
	const char *type, *scale; /* "" when unset */
	char field[FIELD_NAME_SIZE];
};

/* Reads a bound. False: the value is "NaN" or infinite, and so not a bound. */
static bool number_at(const json_t *spec, const char *name, double *ret_number)
{
	const json_t *value = json_object_get(spec, name);

	*ret_number = json_number_value(value);
	return !value || (json_is_number(value) && isfinite(*ret_number));
}

static void check_range(struct rules *rules, const struct candidate *parameter)
{
	double least, most;
	bool numbers = number_at(parameter->spec, "minValue", &least);

	numbers = number_at(parameter->spec, "maxValue", &most) && numbers;
	if (!json_object_get(parameter->spec, "minValue") && !json_object_get(parameter->spec, "maxValue"))
		rules_refuse(rules, parameter->field, "A parameter of type %s needs minValue and maxValue.",
			     parameter->type);
	else if (!numbers)
		rules_refuse(rules, parameter->field, "The bounds must be finite numbers.");
	else if (least > most)
		rules_refuse(rules, parameter->field, "minValue must not be greater than maxValue.");
	else if (strcmp(parameter->type, "INTEGER") == 0 && (least != trunc(least) || most != trunc(most)))
		rules_refuse(rules, parameter->field,
			     "The bounds of an INTEGER parameter must be whole numbers.");
	else if (strcmp(parameter->type, "INTEGER") == 0 &&
		 (fabs(least) > whole_number_max || fabs(most) > whole_number_max))
		rules_refuse(rules, parameter->field,
			     "The bounds of an INTEGER parameter must lie between -2^53 and 2^53.");
	else if (search_scale_is_logarithmic(parameter->spec) && least <= 0)
		rules_refuse(rules, parameter->field, "The scale type %s needs a minValue greater than 0.",
			     parameter->scale);
}

static void check_categorical(struct rules *rules, const struct candidate *parameter)
{
	const json_t *values = json_object_get(parameter->spec, "categoricalValues");

	if (!values)
		rules_refuse(rules, parameter->field, "A CATEGORICAL parameter needs categoricalValues.");
	if (json_array_size(values) > PARAMETER_VALUES_MAX)
		rules_refuse(rules, parameter->field, "At most %d categoricalValues can be given.",
			     PARAMETER_VALUES_MAX);
	if (json_object_get(parameter->spec, "minValue") || json_object_get(parameter->spec, "maxValue"))
		rules_refuse(rules, parameter->field, "A CATEGORICAL parameter has no minValue or maxValue.");
	if (*parameter->scale)
		rules_refuse(rules, parameter->field, "A CATEGORICAL parameter has no scaleType.");
}

static void check_discrete(struct rules *rules, const struct candidate *parameter)
{
	const json_t *values = json_object_get(parameter->spec, "discreteValues");
	double before = -INFINITY;
	size_t index;
	const json_t *value;

	if (!values) {
		rules_refuse(rules, parameter->field, "A DISCRETE parameter needs discreteValues.");
		return;
	}
	if (json_array_size(values) > PARAMETER_VALUES_MAX)
		rules_refuse(rules, parameter->field, "At most %d discreteValues can be given.",
			     PARAMETER_VALUES_MAX);
	json_array_foreach((json_t *)values, index, value) {
		double number = json_is_number(value) ? json_number_value(value) : NAN;

		if (!(number > before) || !isfinite(number)) {
			rules_refuse(rules, parameter->field,
				     "discreteValues must be finite and strictly increasing.");
			return;
		}
		before = number;
	}
	if (search_scale_is_logarithmic(parameter->spec) && !(json_number_value(json_array_get(values, 0)) > 0))
		rules_refuse(rules, parameter->field, "The scale type %s needs values greater than 0.",
			     parameter->scale);
}

/* Names become flags, --NAME=VALUE. */
static bool is_flag_name(const char *name)
{
	if (!name || *name == '-' || !*name)
		return false;
	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		if (*c <= ' ' || *c == 0x7f || *c == '=')
			return false;
	return true;
}

static void check_name(struct rules *rules, const struct candidate *parameter, json_t *names)
{
	const char *name = json_text_at(parameter->spec, "parameterName");

	if (!is_flag_name(name))
		rules_refuse(
			rules, parameter->field,
			"parameterName must be a word without blanks and '=' that does not begin with '-'.");
	else if (json_object_get(names, name))
		rules_refuse(rules, parameter->field, "The parameterName '%.*s' is given twice.",
			     RULES_SHOWN_BYTES, name);
	else
		json_object_set_new(names, name, json_true());
}

static const char *text_or_empty(const json_t *object, const char *name)
{
	const char *text = json_text_at(object, name);

	return text ? text : "";
}

static void check_parameter(struct rules *rules, const json_t *spec, size_t index, bool grid, json_t *names)
{
	struct candidate parameter = { .spec = spec,
				       .type = text_or_empty(spec, "type"),
				       .scale = text_or_empty(spec, "scaleType") };

	snprintf(parameter.field, sizeof(parameter.field), "hyperparameters.params[%zu]", index);
	check_name(rules, &parameter, names);
	if (!*parameter.type)
		rules_refuse(rules, parameter.field, "A type is required.");
	else if (strcmp(parameter.type, "CATEGORICAL") == 0)
		check_categorical(rules, &parameter);
	else if (strcmp(parameter.type, "DISCRETE") == 0)
		check_discrete(rules, &parameter);
	else
		check_range(rules, &parameter);
	if (grid && strcmp(parameter.type, "DOUBLE") == 0)
		rules_refuse(rules, parameter.field,
			     "GRID_SEARCH takes INTEGER, CATEGORICAL and DISCRETE parameters only.");
}

static void check_numbers(struct rules *rules, const json_t *spec)
{
	static const struct {
		const char *member, *snake;
	} rows[] = { { "maxTrials", "hyperparameters.max_trials" },
		     { "maxParallelTrials", "hyperparameters.max_parallel_trials" },
		     { "maxFailedTrials", "hyperparameters.max_failed_trials" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t number = json_int_at(spec, rows[i].member, 0);

		if (number < 0)
			rules_refuse(rules, rows[i].snake, "The number must not be negative: %lld.",
				     (long long)number);
	}
	if (json_int_at(spec, "maxTrials", 0) > TRIALS_MAX)
		rules_refuse(rules, "hyperparameters.max_trials", "A job can have at most %d trials.",
			     TRIALS_MAX);
}

/* Checks only the form of the job's name: the store must be read to know that the job exists. */
static void check_resumed(struct rules *rules, const json_t *spec)
{
	const char *job_id = json_text_at(spec, "resumePreviousJobId");

	if (job_id && !is_job_id(job_id))
		rules_refuse(rules, "hyperparameters.resume_previous_job_id",
			     "'%.*s' is not the id of a job.", RULES_SHOWN_BYTES, job_id);
}

void rules_check_tuning(struct rules *rules)
{
	const json_t *spec = json_object_get(rules->input, "hyperparameters");
	const json_t *params = json_object_get(spec, "params");
	bool grid = strcmp(text_or_empty(spec, "algorithm"), "GRID_SEARCH") == 0;
	AUTO(json) json_t *names = json_object();
	size_t index;
	const json_t *param;

	if (!spec)
		return;
	check_numbers(rules, spec);
	check_resumed(rules, spec);
	if (!params)
		rules_refuse(rules, "hyperparameters.params", "At least one parameter is required.");
	if (json_array_size(params) > PARAMETERS_MAX)
		rules_refuse(rules, "hyperparameters.params", "At most %d parameters can be given.",
			     PARAMETERS_MAX);
	json_array_foreach((json_t *)params, index, param) {
		if (rules->err.violation_count >= RULES_FAULTS_MAX)
			return;
		check_parameter(rules, param, index, grid, names);
	}
}
