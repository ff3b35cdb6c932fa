/* SPDX-License-Identifier: Apache-2.0 */
/* A tuning job's search, to look at: what was tried, what was measured, what is best, and what the model makes of it.
 * Numbers are JSON numbers here, not texts: no client library reads these answers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/ml/ml.h"
#include "daemon/base/json.h"
#include "scheduler/earlier_trials.h"
#include "scheduler/plan.h"
#include "scheduler/trial_metrics.h"
#include "scheduler/trial_plan.h"
#include "store/jobs.h"
#include "store/trials.h"

/* What one answer is made of. Trials of resumed jobs come first in @all. */
struct view {
	const struct ml_context *context;
	struct job *job;
	struct plan *plan;
	struct study *study;
	struct trial_list list;
	struct earlier_trials earlier;
	struct trial *all;
	double *values;
	struct belief *beliefs;
	const struct trial *own; /* within all */
	const struct belief *own_beliefs;
};

static void view_deinit(struct view *view)
{
	job_free(view->job);
	plan_free(view->plan);
	study_free(view->study);
	trial_list_deinit(&view->list);
	earlier_trials_deinit(&view->earlier);
	free(view->all);
	free(view->values);
	free(view->beliefs);
}

/* ---- what is stored ---- */

static enum status study_read(const struct call *call, struct view *view, struct error *err)
{
	enum status rc =
		job_get(view->context->store, ml_project(call), call_param(call, "job"), &view->job, err);

	if (!rc)
		rc = plan_from_text(view->job->plan, &view->plan, err);
	if (!rc && !plan_tunes(view->plan))
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "The job %s is no hyperparameter tuning job: it has no study.",
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

	view->all = calloc(count + 1, sizeof(*view->all));
	view->values = calloc((view->list.count + 1) * view->study->parameter_count, sizeof(*view->values));
	view->beliefs = calloc(count + 1, sizeof(*view->beliefs));
	if (!view->all || !view->values || !view->beliefs)
		return error_no_memory(err);
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

/* ---- as JSON ---- */

static json_t *number_or_null(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

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

	for (size_t i = 0; object && i < view->study->parameter_count; i++)
		if (!isnan(trial->values[i]) &&
		    json_object_set_new(object, view->study->parameters[i].name,
					value_json(&view->study->parameters[i], trial->values[i])))
			return NULL;
	return TAKE(object);
}

/* Reports of a trial under way; those of ended ones are not kept.
 * Choice: the file itself is read, which holds the last hundred. */
static json_t *measurements_json(const struct view *view, const struct stored_trial *stored)
{
	AUTO(json) json_t *list = json_array();
	AUTO(string) char *directory = NULL;
	const struct measurement *all;
	struct trial_metrics *metrics;
	size_t count;
	bool good = true;

	if (asprintf(&directory, "%s/%" PRId64, view->context->trials_dir, stored->run) < 0) {
		directory = NULL;
		return NULL;
	}
	metrics = trial_metrics_new(view->study, directory, (double)stored->running_us / 1e6);
	if (!metrics)
		return NULL;
	trial_metrics_read(metrics);
	all = trial_metrics_all(metrics, &count);
	for (size_t i = 0; good && i < count; i++)
		good = isnan(all[i].values[0]) ||
		       !json_array_append_new(list, json_pack("{s:I, s:f, s:o}", "trainingStep",
							      (json_int_t)all[i].step, "elapsedSeconds",
							      all[i].elapsed_s, "objectiveValue",
							      number_or_null(all[i].values[0])));
	trial_metrics_free(metrics);
	return good ? TAKE(list) : NULL;
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

static bool trial_more(const struct view *view, size_t index, json_t *object)
{
	const struct trial *trial = &view->own[index];
	const struct stored_trial *stored = &view->list.trials[index];
	const struct belief *belief = &view->own_beliefs[index];

	if (trial->state == TRIAL_COMPLETED &&
	    json_object_set_new(object, "objectiveValue", number_or_null(trial->final[0])))
		return false;
	if (stored->stopped_early && json_object_set_new(object, "isTrialStoppedEarly", json_true()))
		return false;
	if (isfinite(belief->mean) &&
	    json_object_set_new(object, "belief",
				json_pack("{s:f, s:o}", "mean", belief->mean, "deviation",
					  number_or_null(belief->deviation))))
		return false;
	return stored->outcome != OUTCOME_OPEN || !stored->running_us || !view->context->trials_dir ||
	       !json_object_set_new(object, "measurements", measurements_json(view, stored));
}

static json_t *trial_json(const struct view *view, size_t index)
{
	const struct stored_trial *stored = &view->list.trials[index];
	AUTO(json) json_t *parameters = parameters_json(view, &view->own[index]);
	AUTO(json) json_t *object = NULL;

	if (!parameters)
		return NULL;
	object = json_pack("{s:i, s:s, s:s, s:O}", "trialId", (int)stored->number, "state",
			   job_state_name(stored->state), "outcome", outcome_name(&view->own[index]),
			   "parameters", parameters);
	return object && trial_more(view, index, object) ? TAKE(object) : NULL;
}

static json_t *trials_json(const struct view *view)
{
	AUTO(json) json_t *list = json_array();

	for (size_t i = 0; list && i < view->list.count; i++)
		if (json_array_append_new(list, trial_json(view, i)))
			return NULL;
	return TAKE(list);
}

/* Of the job's own trials. */
static bool best_add(const struct view *view, json_t *answer)
{
	const struct trial *best = study_best(view->study, view->own, view->list.count);

	return !best || !json_object_set_new(answer, "best",
					     json_pack("{s:i, s:o, s:o}", "trialId", (int)best->id,
						       "parameters", parameters_json(view, best),
						       "objectiveValue", number_or_null(best->final[0])));
}

static enum status json_answer(struct call *call, const struct view *view, struct error *err)
{
	AUTO(json) json_t *name = json_sprintf("projects/%s/jobs/%s", view->job->project, view->job->job_id);
	AUTO(json) json_t *trials = trials_json(view);
	AUTO(json) json_t *answer = NULL;

	if (name && trials)
		answer = json_pack("{s:O, s:s, s:O, s:i, s:i, s:O}", "name", name, "state",
				   job_state_name(view->job->state), "study", view->plan->search,
				   "trialCount", (int)view->plan->trial_count, "parallelTrialCount",
				   (int)view->plan->parallel_trial_count, "trials", trials);
	if (!answer || !best_add(view, answer) ||
	    (view->plan->resumed_jobs &&
	     (json_object_set(answer, "resumedJobs", view->plan->resumed_jobs) ||
	      json_object_set_new(answer, "resumedTrialCount",
				  json_integer((json_int_t)view->earlier.count)))))
		return error_no_memory(err);
	json_write(&call->answer, answer);
	return STATUS_OK;
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

/* The parameter before the header, JSON before both. */
static enum status format_read(const struct call *call, bool *ret_csv, struct error *err)
{
	const char *format = call_query(call, "format");

	*ret_csv = format ? strcmp(format, "csv") == 0
			  : strncmp(call_header(call, "Accept"), "text/csv", 8) == 0;
	if (format && !*ret_csv && strcmp(format, "json") != 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, "format", "The format is json or csv.");
	return STATUS_OK;
}

enum status job_study_handle(struct call *call, struct error *err)
{
	struct view view = { .context = call->context };
	bool csv = false;
	enum status rc = format_read(call, &csv, err);

	if (!rc)
		rc = study_read(call, &view, err);
	if (!rc)
		rc = trials_read(&view, err);
	if (!rc && csv)
		csv_answer(call, &view);
	else if (!rc)
		rc = json_answer(call, &view, err);
	view_deinit(&view);
	return rc;
}
