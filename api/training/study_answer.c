/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/study_answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/message/message.h"
#include "api/training/context.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/plan.h"
#include "scheduler/plan/trial_plan.h"
#include "scheduler/search/earlier_trials.h"
#include "scheduler/search/trial_metrics.h"
#include "scheduler/tuning/measurements.h"
#include "store/jobs/jobs.h"
#include "store/jobs/trials.h"

static const struct field study_query_fields[] = {
	{ .name = "format", .type = FIELD_STRING, .help = "json, or csv." },
	{ .name = NULL },
};
const struct message study_query = { "trainyard.v1.StudyRequest", study_query_fields,
				     "How to tell a study." };

/* Choice: an answer has at most this many reports; if the trials have more, an evenly spaced selection of each
 * trial's. */
enum { SHOWN_MAX = 50000 };

/* The parts of one answer. In @all, the trials of earlier jobs that this job resumes come before its own. */
struct view {
	const struct training_context *context;
	const struct job *job;
	struct plan *plan;
	struct study *study;
	struct trial_list list;
	struct earlier_trials earlier;
	struct trial *all;
	double *values;
	struct belief *beliefs;
	json_t **
		curves; /* for each of the job's own trials, an object with its reports; NULL: unknown */
	const struct trial *own; /* the first of the job's own trials in @all */
	const struct belief *own_beliefs;
};

static void view_deinit(struct view *view)
{
	for (size_t i = 0; view->curves && i < view->list.count; i++)
		json_decref(view->curves[i]);
	free(view->curves);
	plan_free(view->plan);
	study_free(view->study);
	trial_list_deinit(&view->list);
	earlier_trials_deinit(&view->earlier);
	free(view->all);
	free(view->values);
	free(view->beliefs);
}

/* ---- stored trials ---- */

static enum status study_read(struct view *view, struct error *err)
{
	enum status rc = plan_from_text(view->job->plan, &view->plan, err);

	if (!rc && !plan_tunes(view->plan))
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "The job %s is not a hyperparameter tuning job: it has no study.",
				 view->job->job_id);
	if (!rc)
		rc = study_from_json(view->plan->search, &view->study, err);
	if (!rc)
		rc = trial_list_read(view->context->store, view->job->id, &view->list, err);
	if (!rc)
		rc = earlier_trials_read(view->context->store, view->plan, view->study, &view->earlier, err);
	return rc;
}

static enum status trials_read(struct view *view, struct error *err)
{
	const size_t before = view->earlier.count, count = before + view->list.count;
	enum status rc = STATUS_OK;

	view->all = memory_calloc(count + 1, sizeof(*view->all));
	view->values =
		memory_calloc((view->list.count + 1) * view->study->parameter_count, sizeof(*view->values));
	view->beliefs = memory_calloc(count + 1, sizeof(*view->beliefs));
	if (before)
		memcpy(view->all, view->earlier.trials, before * sizeof(*view->all));
	for (size_t i = 0; !rc && i < view->list.count; i++)
		rc = trial_from_stored(view->study, &view->list.trials[i],
				       view->values + i * view->study->parameter_count,
				       &view->all[before + i], err);
	view->own = view->all + before;
	view->own_beliefs = view->beliefs + before;
	return rc ? rc : study_believe(view->study, view->all, count, view->beliefs, err);
}

/* ---- reported measurements ---- */

static json_t *number_or_null(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

static json_t *point_json(const struct measurement *measurement)
{
	return json_pack("{s:I, s:f, s:o}", "trainingStep", (json_int_t)measurement->step, "elapsedSeconds",
			 measurement->elapsed_s, "objectiveValue", number_or_null(measurement->values[0]));
}

/* The measurements, thinned out if there are too many for one answer; "reportedMeasurementCount" is then how many there
 * are in all. */
static json_t *curve_json(const struct view *view, const struct measurements *reported)
{
	const size_t most = SHOWN_MAX / (view->list.count + 1) + 1;
	const size_t stride = (reported->count + most - 1) / most;
	AUTO(json) json_t *list = json_array();
	AUTO(json) json_t *object = NULL;

	for (size_t i = 0; i < reported->count; i++) {
		if (isnan(reported->all[i].values[0]) || (i % stride && i + 1 < reported->count))
			continue;
		json_array_append_new(list, point_json(&reported->all[i]));
	}
	object = json_pack("{s:O}", "measurements", list);
	if (stride > 1 || reported->stride > 1)
		json_object_set_new(object, "reportedMeasurementCount",
				    json_integer((json_int_t)reported->reported));
	return TAKE(object);
}

/* For a running trial: the stored reports (@points, or NULL), and newer ones in its files. */
static json_t *open_curve(const struct view *view, const struct stored_trial *stored, const char *points)
{
	AUTO(string) char *directory = NULL;
	struct trial_source place = { .objects = view->context->objects,
				      .job_dir = view->plan->job_dir,
				      .number = stored->number,
				      .since = view->plan->objects_since };
	struct trial_metrics *metrics = NULL;
	json_t *object = NULL;

	directory = memory_printf("%s/%" PRId64, view->context->trials_dir, stored->run);
	place.directory = directory;
	metrics = trial_metrics_new(view->study, &place, (double)stored->running_us / 1e6);
	if (metrics && points && trial_metrics_resume(metrics, points, NULL)) {
		trial_metrics_free(metrics);
		return NULL;
	}
	if (metrics) {
		trial_metrics_read(metrics);
		object = curve_json(view, trial_metrics_all(metrics));
	}
	trial_metrics_free(metrics);
	return object;
}

static json_t *stored_curve(const struct view *view, const char *points)
{
	struct measurements reported AUTO_MEASUREMENTS;
	AUTO(json) json_t *value = NULL;

	measurements_init(&reported, view->study);
	if (json_parse_own(points, &value, NULL) || measurements_from_json(value, &reported, NULL))
		return NULL;
	return curve_json(view, &reported);
}

static bool is_under_way(const struct view *view, const struct stored_trial *stored)
{
	return view->context->trials_dir && stored->outcome == OUTCOME_OPEN && stored->running_us;
}

static enum status curve_take(void *arg, const struct trial_curve *curve, struct error *err)
{
	struct view *view = arg;
	const struct stored_trial *stored;

	(void)err;
	if (curve->number > view->list.count)
		return STATUS_OK;
	stored = &view->list.trials[curve->number - 1];
	view->curves[curve->number - 1] = is_under_way(view, stored) ? open_curve(view, stored, curve->points)
								     : stored_curve(view, curve->points);
	return STATUS_OK;
}

/* Fills view->curves. A curve that cannot be read is left out. */
static enum status curves_take(struct view *view, struct error *err)
{
	enum status rc;

	view->curves = memory_calloc(view->list.count + 1, sizeof(json_t *));
	rc = trial_curves_visit(view->context->store, view->job->id, curve_take, view, err);
	for (size_t i = 0; !rc && i < view->list.count; i++)
		if (!view->curves[i] && is_under_way(view, &view->list.trials[i]))
			view->curves[i] = open_curve(view, &view->list.trials[i], NULL);
	return rc;
}

/* ---- as JSON ---- */

static json_t *value_json(const struct parameter *parameter, double value)
{
	if (parameter->type == PARAMETER_CATEGORICAL)
		return json_string(parameter->categories[(size_t)value]);
	if (parameter->type == PARAMETER_INTEGER)
		return json_integer((json_int_t)value);
	return json_real(value);
}

static json_t *parameters_json(const struct view *view, const struct trial *trial)
{
	AUTO(json) json_t *object = json_object();

	for (size_t i = 0; i < view->study->parameter_count; i++)
		if (!isnan(trial->values[i]))
			json_object_set_new(object, view->study->parameters[i].name,
					    value_json(&view->study->parameters[i], trial->values[i]));
	return TAKE(object);
}

static const char *outcome_name(const struct trial *trial)
{
	static const char *const names[] = {
		[TRIAL_PENDING] = "PENDING",
		[TRIAL_COMPLETED] = "COMPLETED",
		[TRIAL_INFEASIBLE] = "INFEASIBLE",
	};

	return names[trial->state];
}

/* Adds "metrics", the final value of each metric by its name, to a trial of a search with several metrics. */
static void metrics_add(const struct view *view, const struct trial *trial, json_t *object)
{
	json_t *metrics;

	if (view->study->metric_count < 2)
		return;
	metrics = json_object();
	for (size_t m = 0; m < view->study->metric_count; m++)
		json_object_set_new(metrics, view->study->metrics[m].name, number_or_null(trial->final[m]));
	json_object_set_new(object, "metrics", metrics);
}

static void trial_more(const struct view *view, size_t index, json_t *object)
{
	const struct trial *trial = &view->own[index];
	const struct stored_trial *stored = &view->list.trials[index];
	const struct belief *belief = &view->own_beliefs[index];

	if (trial->state == TRIAL_COMPLETED) {
		json_object_set_new(object, "objectiveValue", number_or_null(trial->final[0]));
		metrics_add(view, trial, object);
	}
	if (stored->stopped_early)
		json_object_set_new(object, "isTrialStoppedEarly", json_true());
	if (isfinite(belief->mean))
		json_object_set_new(object, "belief",
				    json_pack("{s:f, s:o}", "mean", belief->mean, "deviation",
					      number_or_null(belief->deviation)));
	if (view->curves[index])
		json_object_update(object, view->curves[index]);
}

static json_t *trial_json(const struct view *view, size_t index)
{
	const struct stored_trial *stored = &view->list.trials[index];
	json_t *object = json_pack("{s:i, s:s, s:s, s:o}", "trialId", (int)stored->number, "state",
				   job_state_name(stored->state), "outcome", outcome_name(&view->own[index]),
				   "parameters", parameters_json(view, &view->own[index]));

	trial_more(view, index, object);
	return object;
}

static json_t *trials_json(const struct view *view)
{
	json_t *list = json_array();

	for (size_t i = 0; i < view->list.count; i++)
		json_array_append_new(list, trial_json(view, i));
	return list;
}

/* Adds "best", the best of the job's own trials (not of resumed jobs). With several metrics there is none. */
static void best_add(const struct view *view, json_t *answer)
{
	const struct trial *best =
		view->study->metric_count > 1 ? NULL : study_best(view->study, view->own, view->list.count);

	if (best)
		json_object_set_new(answer, "best",
				    json_pack("{s:i, s:o, s:o}", "trialId", (int)best->id, "parameters",
					      parameters_json(view, best), "objectiveValue",
					      number_or_null(best->final[0])));
}

/* A copy with keys in camel case: "stopsByElapsed" for "stops_by_elapsed". All keys are our own names; none comes
 * from a client. */
static json_t *camel_json(const json_t *value)
{
	json_t *copy = json_is_object(value) ? json_object() : json_is_array(value) ? json_array() : NULL;
	const char *key;
	json_t *member;
	size_t index;

	if (!copy)
		return json_incref((json_t *)value);
	json_array_foreach(value, index, member)
		json_array_append_new(copy, camel_json(member));
	json_object_foreach((json_t *)value, key, member) {
		struct text name AUTO_TEXT = { 0 };

		for (const char *at = key; *at; at++)
			if (*at == '_' && at[1] >= 'a' && at[1] <= 'z')
				text_putc(&name, (char)(*++at - 'a' + 'A'));
			else
				text_putc(&name, *at);
		json_object_set_new(copy, name.data, camel_json(member));
	}
	return copy;
}

static void json_answer(struct call *call, const struct view *view, const char *name)
{
	AUTO(json) json_t *trials = trials_json(view);
	AUTO(json) json_t *search = camel_json(view->plan->search);
	AUTO(json) json_t *answer = NULL;

	answer = json_pack("{s:s, s:s, s:O, s:i, s:i, s:O}", "name", name, "state",
			   job_state_name(view->job->state), "study", search, "trialCount",
			   (int)view->plan->trial_count, "parallelTrialCount",
			   (int)view->plan->parallel_trial_count, "trials", trials);
	best_add(view, answer);
	if (view->plan->resumed_jobs) {
		json_object_set(answer, "resumedJobs", view->plan->resumed_jobs);
		json_object_set_new(answer, "resumedTrialCount",
				    json_integer((json_int_t)view->earlier.count));
	}
	json_write(&call->answer, answer);
}

/* ---- as CSV ---- */

/* Source: https://www.rfc-editor.org/rfc/rfc4180 */
static void cell_write(struct text *text, const char *cell, size_t length)
{
	const bool quoted = memchr(cell, ',', length) || memchr(cell, '"', length) ||
			    memchr(cell, '\n', length) || memchr(cell, '\r', length);

	if (!quoted) {
		text_append(text, cell, length);
		return;
	}
	text_putc(text, '"');
	for (size_t i = 0; i < length; i++) {
		if (cell[i] == '"')
			text_putc(text, '"');
		text_putc(text, cell[i]);
	}
	text_putc(text, '"');
}

static void number_cell(struct text *text, double number)
{
	AUTO(json) json_t *value = isfinite(number) ? json_real(number) : NULL;

	text_putc(text, ',');
	if (value)
		json_write(text, value);
}

static void row_write(struct text *text, const struct view *view, size_t index)
{
	const struct stored_trial *stored = &view->list.trials[index];
	const struct trial *trial = &view->own[index];

	text_printf(text, "%u,%s,%s", stored->number, job_state_name(stored->state), outcome_name(trial));
	number_cell(text, trial->state == TRIAL_COMPLETED ? trial->final[0] : NAN);
	number_cell(text, view->own_beliefs[index].mean);
	number_cell(text, view->own_beliefs[index].deviation);
	for (size_t i = 0; i < view->study->parameter_count; i++) {
		struct text value AUTO_TEXT = { 0 };

		text_putc(text, ',');
		if (!isnan(trial->values[i]))
			parameter_value_write(&value, &view->study->parameters[i], trial->values[i]);
		if (value.length)
			cell_write(text, value.data, value.length);
	}
	text_puts(text, "\r\n");
}

static void csv_answer(struct call *call, const struct view *view)
{
	struct text *text = &call->answer;

	call->content_type = "text/csv; charset=utf-8";
	text_puts(text, "trialId,state,outcome,objectiveValue,beliefMean,beliefDeviation");
	for (size_t i = 0; i < view->study->parameter_count; i++) {
		const char *name = view->study->parameters[i].name;

		text_putc(text, ',');
		cell_write(text, name, strlen(name));
	}
	text_puts(text, "\r\n");
	for (size_t i = 0; i < view->list.count; i++)
		row_write(text, view, i);
}

/* The parameter `format` decides; without it the header Accept does; without both the answer is JSON. */
static enum status format_read(const struct call *call, bool *ret_csv, struct error *err)
{
	const char *format = call_query(call, "format");

	*ret_csv = format ? strcmp(format, "csv") == 0
			  : strncmp(call_header(call, "Accept"), "text/csv", 8) == 0;
	if (format && !*ret_csv && strcmp(format, "json") != 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, "format", "The format is json or csv.");
	return STATUS_OK;
}

enum status study_answer(struct call *call, const struct job *job, const char *name, struct error *err)
{
	struct view view = { .context = call->context, .job = job };
	bool csv = false;
	enum status rc = format_read(call, &csv, err);

	if (!rc)
		rc = study_read(&view, err);
	if (!rc)
		rc = trials_read(&view, err);
	if (!rc && csv)
		csv_answer(call, &view);
	else if (!rc)
		rc = curves_take(&view, err);
	if (!rc && !csv)
		json_answer(call, &view, name);
	view_deinit(&view);
	return rc;
}
