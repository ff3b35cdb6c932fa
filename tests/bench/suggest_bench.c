/* SPDX-License-Identifier: Apache-2.0 */
/* tests/bench/suggest_bench.c: the optimizer alone, behind lines of JSON: one request a line on stdin, one answer a
 * line on stdout. Several studies at once; the seed decides everything random.
 *
 *   {"op":"create","study":S,"seed":N,"hyperparameters":{HyperparameterSpec} | "studySpec":{StudySpec}, "resume":S}
 *   {"op":"suggest","study":S,"count":N}      {"op":"complete","study":S,"id":I,"metrics":{M:V} | "infeasible":true}
 *   {"op":"measure","study":S,"id":I,"step":N,"elapsed":T,"metrics":{M:V}}      {"op":"shouldStop","study":S,"id":I}
 *   {"op":"hello"}   {"op":"close","study":S}   {"op":"quit"} */
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/ml/to_study.h"
#include "daemon/base/json.h"
#include "scheduler/tuning/study.h"

struct open_study {
	char *name;
	struct study *study;
	struct trial *trials;
	size_t trial_count;
	unsigned ended;
	struct open_study *next;
};

static struct open_study *studies;

static struct open_study *study_find(const char *name)
{
	struct open_study *found = studies;

	while (found && name && strcmp(found->name, name) != 0)
		found = found->next;
	return name ? found : NULL;
}

static void open_study_free(struct open_study *open)
{
	for (size_t i = 0; i < open->trial_count; i++) {
		free(open->trials[i].values);
		free(open->trials[i].measurements);
	}
	free(open->trials);
	study_free(open->study);
	free(open->name);
	free(open);
}

static json_t *failure(const char *text)
{
	return json_pack("{s:b, s:s}", "ok", 0, "error", text ? text : "no memory");
}

static json_t *success(void)
{
	return json_pack("{s:b}", "ok", 1);
}

/* ---- StudySpec ---- */

static double number_of(const json_t *value)
{
	return json_is_string(value) ? strtod(json_string_value(value), NULL) : json_number_value(value);
}

static json_t *numbers_of(const json_t *list)
{
	json_t *numbers = json_array();

	for (size_t i = 0; i < json_array_size(list); i++)
		json_array_append_new(numbers, json_real(number_of(json_array_get(list, i))));
	return numbers;
}

static const char *scale_of(const json_t *spec)
{
	const char *scale = json_text_at(spec, "scaleType");

	if (scale && strcmp(scale, "UNIT_LOG_SCALE") == 0)
		return "log";
	return scale && strcmp(scale, "UNIT_REVERSE_LOG_SCALE") == 0 ? "reverse_log" : "linear";
}

static json_t *ranged(const json_t *spec, const json_t *range, const char *type)
{
	return json_pack("{s:o?, s:s, s:s, s:f, s:f}", "name",
			 json_incref(json_object_get(spec, "parameterId")), "type", type, "scale",
			 scale_of(spec), "minimum", number_of(json_object_get(range, "minValue")), "maximum",
			 number_of(json_object_get(range, "maxValue")));
}

static json_t *leaf_of(const json_t *spec)
{
	const json_t *range;

	if ((range = json_object_get(spec, "doubleValueSpec")))
		return ranged(spec, range, "double");
	if ((range = json_object_get(spec, "integerValueSpec")))
		return ranged(spec, range, "integer");
	if ((range = json_object_get(spec, "categoricalValueSpec")))
		return json_pack("{s:O, s:s, s:s, s:O}", "name", json_object_get(spec, "parameterId"), "type",
				 "categorical", "scale", "linear", "categories",
				 json_object_get(range, "values"));
	if ((range = json_object_get(spec, "discreteValueSpec")))
		return json_pack("{s:O, s:s, s:s, s:o}", "name", json_object_get(spec, "parameterId"), "type",
				 "discrete", "scale", scale_of(spec), "values",
				 numbers_of(json_object_get(range, "values")));
	return NULL;
}

/* The parent's values that a condition names, in the form of a study. */
static json_t *parent_values_of(const json_t *parent, const json_t *condition)
{
	const json_t *texts =
		json_object_get(json_object_get(condition, "parentCategoricalValues"), "values");
	const json_t *categories = json_object_get(json_object_get(parent, "categoricalValueSpec"), "values");
	const json_t *list = json_object_get(json_object_get(condition, "parentIntValues"), "values");
	json_t *values = json_array();

	if (!texts)
		return json_decref(values),
		       numbers_of(list ? list
				       : json_object_get(json_object_get(condition, "parentDiscreteValues"),
							 "values"));
	for (size_t i = 0; i < json_array_size(texts); i++)
		for (size_t c = 0; c < json_array_size(categories); c++)
			if (json_equal(json_array_get(texts, i), json_array_get(categories, c)))
				json_array_append_new(values, json_real((double)c));
	return values;
}

static bool parameters_flatten(const json_t *spec, int parent, json_t *parent_values, json_t *list)
{
	json_t *leaf = leaf_of(spec);
	const json_t *conditions = json_object_get(spec, "conditionalParameterSpecs");
	const int own = (int)json_array_size(list);

	if (leaf && parent >= 0) {
		json_object_set_new(leaf, "parent", json_integer(parent));
		json_object_set_new(leaf, "parent_values", parent_values);
	}
	if (!leaf || json_array_append_new(list, leaf))
		return false;
	for (size_t i = 0; i < json_array_size(conditions); i++) {
		const json_t *condition = json_array_get(conditions, i);

		if (!parameters_flatten(json_object_get(condition, "parameterSpec"), own,
					parent_values_of(spec, condition), list))
			return false;
	}
	return true;
}

static const char *algorithm_of(const json_t *spec)
{
	const char *name = json_text_at(spec, "algorithm");

	if (name && strcmp(name, "GRID_SEARCH") == 0)
		return "grid";
	return name && strcmp(name, "RANDOM_SEARCH") == 0 ? "random" : "bandit";
}

static bool is(const json_t *object, const char *member, const char *value)
{
	const char *text = json_text_at(object, member);

	return text && strcmp(text, value) == 0;
}

static enum status study_spec_read(const json_t *spec, uint64_t seed, struct study **ret_study,
				   struct error *err)
{
	const json_t *median = json_object_get(spec, "medianAutomatedStoppingSpec");
	const json_t *decay = json_object_get(spec, "decayCurveStoppingSpec");
	const json_t *metrics = json_object_get(spec, "metrics");
	AUTO(json)
	json_t *study = json_pack("{s:I, s:s, s:s, s:[], s:[]}", "seed", (json_int_t)seed, "algorithm",
				  algorithm_of(spec), "stopping",
				  median  ? "median"
				  : decay ? "decay_curve"
					  : "none",
				  "parameters", "metrics");

	for (size_t i = 0; i < json_array_size(metrics); i++)
		json_array_append_new(json_object_get(study, "metrics"),
				      json_pack("{s:O, s:b}", "name",
						json_object_get(json_array_get(metrics, i), "metricId"),
						"minimized",
						is(json_array_get(metrics, i), "goal", "MINIMIZE")));
	for (size_t i = 0; i < json_array_size(json_object_get(spec, "parameters")); i++)
		if (!parameters_flatten(json_array_get(json_object_get(spec, "parameters"), i), -1, NULL,
					json_object_get(study, "parameters")))
			return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "a parameter");
	json_object_set_new(study, "stops_by_elapsed",
			    json_boolean(json_true_at(median ? median : decay, "useElapsedDuration")));
	json_object_set_new(study, "best_counts",
			    json_boolean(is(spec, "measurementSelectionType", "BEST_MEASUREMENT")));
	json_object_set_new(study, "repeats_allowed", json_boolean(is(spec, "observationNoise", "HIGH")));
	return study_from_json(study, ret_study, err);
}

/* ---- requests ---- */

static bool trials_copy(struct open_study *to, const struct open_study *from)
{
	to->trials = calloc(from->trial_count + 1, sizeof(*to->trials));
	for (size_t i = 0; to->trials && i < from->trial_count; i++) {
		const struct trial *trial = &from->trials[i];
		struct trial *copy = &to->trials[to->trial_count++];

		*copy = *trial;
		copy->values = calloc(to->study->parameter_count, sizeof(double));
		memcpy(copy->values, trial->values, to->study->parameter_count * sizeof(double));
		copy->measurements = NULL;
		copy->measurement_count = 0;
	}
	to->ended = from->ended;
	return to->trials;
}

static json_t *op_create(const json_t *request)
{
	const json_t *spec = json_object_get(request, "hyperparameters");
	const uint64_t seed = (uint64_t)json_int_at(request, "seed", 0);
	const char *name = json_text_at(request, "study");
	const char *resume = json_text_at(request, "resume");
	const struct open_study *earlier = study_find(resume);
	struct error err AUTO_ERROR = { 0 };
	struct open_study *open;

	if (!name || study_find(name))
		return failure("no name, or one that is taken");
	if (resume && !earlier)
		return failure("the study to resume is not known");
	open = calloc(1, sizeof(*open));
	open->name = strdup(name);
	if (spec ? hyperparameters_to_study(spec, seed, &open->study, &err)
		 : study_spec_read(json_object_get(request, "studySpec"), seed, &open->study, &err)) {
		open_study_free(open);
		return failure(err.text);
	}
	if (open->study->algorithm == ALGORITHM_GRID)
		for (size_t i = 0; i < open->study->parameter_count; i++)
			if (open->study->parameters[i].type == PARAMETER_DOUBLE) {
				open_study_free(open);
				return failure("a grid has no DOUBLE parameters");
			}
	if (earlier && (earlier->study->parameter_count != open->study->parameter_count ||
			!trials_copy(open, earlier))) {
		open_study_free(open);
		return failure("the study to resume is another one");
	}
	open->next = studies;
	studies = open;
	return success();
}

static json_t *value_json(const struct parameter *parameter, double value)
{
	if (parameter->type == PARAMETER_CATEGORICAL)
		return json_string(parameter->categories[(size_t)value]);
	return parameter->type == PARAMETER_INTEGER ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *trial_json(const struct open_study *open, const struct trial *trial)
{
	json_t *parameters = json_object();

	for (size_t i = 0; i < open->study->parameter_count; i++)
		if (!isnan(trial->values[i]))
			json_object_set_new(parameters, open->study->parameters[i].name,
					    value_json(&open->study->parameters[i], trial->values[i]));
	return json_pack("{s:o, s:o}", "id", json_sprintf("%u", trial->id), "parameters", parameters);
}

static json_t *op_suggest(struct open_study *open, const json_t *request)
{
	const int64_t count = json_int_at(request, "count", 1);
	struct error err AUTO_ERROR = { 0 };
	json_t *answer, *list;
	double **values;
	size_t made = 0;

	if (count < 1 || count > 1000)
		return failure("count");
	values = calloc((size_t)count, sizeof(*values));
	for (int64_t i = 0; i < count; i++)
		values[i] = calloc(open->study->parameter_count, sizeof(double));
	if (study_suggest(open->study, open->trials, open->trial_count, (size_t)count, NULL, values, &made,
			  &err))
		made = 0;
	open->trials = realloc(open->trials, (open->trial_count + made + 1) * sizeof(*open->trials));
	answer = success();
	list = json_array();
	for (size_t i = 0; i < made; i++) {
		struct trial *trial = &open->trials[open->trial_count];

		*trial = (struct trial){ .id = (unsigned)++open->trial_count,
					 .known = open->ended,
					 .values = values[i] };
		json_array_append_new(list, trial_json(open, trial));
	}
	for (int64_t i = (int64_t)made; i < count; i++)
		free(values[i]);
	free(values);
	json_object_set_new(answer, "trials", list);
	if ((int64_t)made < count)
		json_object_set_new(answer, "exhausted", json_true());
	return answer;
}

static struct trial *trial_find(struct open_study *open, const json_t *request)
{
	const int64_t id = json_int_at(request, "id", 0);

	return id >= 1 && (size_t)id <= open->trial_count ? &open->trials[id - 1] : NULL;
}

static bool metrics_read(const struct study *study, const json_t *request, double values[METRICS_MAX])
{
	const json_t *metrics = json_object_get(request, "metrics");
	bool any = false;

	for (size_t m = 0; m < METRICS_MAX; m++) {
		const json_t *value =
			m < study->metric_count ? json_object_get(metrics, study->metrics[m].name) : NULL;

		/* If there is one metric, its name may differ here. */
		if (!value && m == 0 && study->metric_count == 1)
			value = json_object_get(metrics, "objective");
		values[m] = value ? number_of(value) : NAN;
		any |= isfinite(values[m]);
	}
	return any;
}

static json_t *op_complete(struct open_study *open, const json_t *request)
{
	struct trial *trial = trial_find(open, request);
	struct measurement final;

	if (!trial || trial->state != TRIAL_PENDING)
		return failure("no such pending trial");
	trial->stopped_early = json_true_at(request, "stoppedEarly");
	if (json_true_at(request, "infeasible")) {
		trial->state = TRIAL_INFEASIBLE;
	} else if (metrics_read(open->study, request, trial->final)) {
		trial->state = TRIAL_COMPLETED;
	} else if (trial_final(open->study, trial, &final)) {
		memcpy(trial->final, final.values, sizeof(trial->final));
		trial->state = TRIAL_COMPLETED;
	} else {
		trial->state = TRIAL_INFEASIBLE;
	}
	trial->ended_as = ++open->ended;
	return success();
}

static json_t *op_measure(struct open_study *open, const json_t *request)
{
	struct trial *trial = trial_find(open, request);
	struct measurement next = { .step = json_int_at(request, "step", 0),
				    .elapsed_s = number_of(json_object_get(request, "elapsed")) };
	const struct measurement *last;

	if (!trial || trial->state != TRIAL_PENDING)
		return failure("no such pending trial");
	if (!metrics_read(open->study, request, next.values))
		return success();
	last = trial->measurement_count ? &trial->measurements[trial->measurement_count - 1] : NULL;
	if (last && (next.step < last->step || (next.step == last->step && next.elapsed_s < last->elapsed_s)))
		return success();
	trial->measurements =
		realloc(trial->measurements, (trial->measurement_count + 1) * sizeof(*trial->measurements));
	trial->measurements[trial->measurement_count++] = next;
	return success();
}

static json_t *op_should_stop(struct open_study *open, const json_t *request)
{
	struct trial *trial = trial_find(open, request);

	if (!trial)
		return failure("no such trial");
	return json_pack("{s:b, s:b}", "ok", 1, "stop",
			 study_should_stop(open->study, open->trials, open->trial_count,
					   (size_t)(trial - open->trials)));
}

static json_t *op_close(struct open_study *open)
{
	struct open_study **at = &studies;

	while (*at != open)
		at = &(*at)->next;
	*at = open->next;
	open_study_free(open);
	return success();
}

static json_t *answer_to(const json_t *request)
{
	const char *op = json_text_at(request, "op");
	struct open_study *open = study_find(json_text_at(request, "study"));

	if (op && strcmp(op, "hello") == 0)
		return json_pack("{s:b, s:s}", "ok", 1, "name", "trainyard");
	if (op && strcmp(op, "create") == 0)
		return op_create(request);
	if (!op || !open)
		return failure("what is to be done, and to which study?");
	if (strcmp(op, "suggest") == 0)
		return op_suggest(open, request);
	if (strcmp(op, "complete") == 0)
		return op_complete(open, request);
	if (strcmp(op, "measure") == 0)
		return op_measure(open, request);
	if (strcmp(op, "shouldStop") == 0)
		return op_should_stop(open, request);
	return strcmp(op, "close") == 0 ? op_close(open) : failure("no such request");
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;
	bool quits = false;

	if (sodium_init() < 0)
		return 1;
	while (!quits && getline(&line, &size, stdin) >= 0) {
		AUTO(json) json_t *request = json_loads(line, 0, NULL);
		const char *op = json_text_at(request, "op");
		AUTO(json) json_t *answer = NULL;
		AUTO(string) char *text = NULL;

		quits = op && strcmp(op, "quit") == 0;
		if (quits)
			break;
		answer = answer_to(request);
		text = json_dump_compact(answer);
		puts(text ? text : "{\"ok\":false}");
		fflush(stdout);
	}
	free(line);
	while (studies)
		json_decref(op_close(studies));
	return 0;
}
