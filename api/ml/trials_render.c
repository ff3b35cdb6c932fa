/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/trials_render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/ml/job_units.h"
#include "api/ml/ml.h"
#include "api/ml/shells_render.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "scheduler/plan.h"
#include "scheduler/trial_plan.h"
#include "scheduler/tuning/study.h"
#include "store/jobs.h"
#include "store/trials.h"

/* One trial, and what it is ordered by. */
struct shown {
	const struct stored_trial *trial;
	bool measured;
	int64_t step;
	double value;
	bool minimized;
};

static int compare_numbers(const struct shown *a, const struct shown *b)
{
	return a->trial->number < b->trial->number ? -1 : 1;
}

/* The best first, those without a value last. Source: outputs of finished jobs, whose first trial is the best one. */
static int compare_values(const void *left, const void *right)
{
	const struct shown *a = left, *b = right;
	const double way = a->minimized ? 1 : -1;

	if (a->measured != b->measured)
		return a->measured ? -1 : 1;
	if (a->measured && a->value != b->value)
		return way * a->value < way * b->value ? -1 : 1;
	return compare_numbers(a, b);
}

static void shown_fill(struct shown *shown, const struct stored_trial *trial, const struct study *study)
{
	AUTO(json) json_t *final = NULL;
	const json_t *value;

	*shown = (struct shown){ .trial = trial, .minimized = study->metrics[0].minimized };
	if (!trial->final || json_parse_own(trial->final, &final, NULL))
		return;
	value = json_array_get(json_object_get(final, "values"), 0);
	shown->measured = json_is_number(value);
	shown->value = json_number_value(value);
	shown->step = json_int_at(final, "step", 0);
}

static void parameters_render(struct text *text, const struct study *study, const struct stored_trial *trial)
{
	double *values = calloc(study->parameter_count, sizeof(*values));
	const char *comma = "";

	text_puts(text, ",\"hyperparameters\":{");
	if (values && !trial_values_from_text(study, trial->parameters, values, NULL)) {
		for (size_t i = 0; i < study->parameter_count; i++) {
			struct text value AUTO_TEXT = { 0 };

			if (isnan(values[i]))
				continue;
			parameter_value_write(&value, &study->parameters[i], values[i]);
			text_puts(text, comma);
			text_json(text, study->parameters[i].name, strlen(study->parameters[i].name));
			text_putc(text, ':');
			text_json(text, value.data ? value.data : "", value.length);
			comma = ",";
		}
	}
	text_putc(text, '}');
	free(values);
}

static void time_render(struct text *text, const char *name, int64_t wall_us)
{
	if (!wall_us)
		return;
	text_printf(text, ",\"%s\":\"", name);
	text_time_seconds(text, wall_us);
	text_putc(text, '"');
}

/* A trial that was stopped early has done what was asked of it. */
static enum job_state state_of(const struct stored_trial *trial)
{
	return trial->stopped_early && trial->state == JOB_CANCELLED ? JOB_SUCCEEDED : trial->state;
}

/* What all trials of a job are rendered with. */
struct rendering {
	const struct call *call;
	const struct job *job;
	const struct plan *plan;
	const struct study *study;
	bool shells; /* they are told */
};

static void trial_render(struct text *text, const struct rendering *rendering, const struct shown *shown)
{
	const struct stored_trial *trial = shown->trial;

	text_printf(text, "{\"trialId\":\"%u\"", trial->number);
	parameters_render(text, rendering->study, trial);
	if (shown->measured) {
		AUTO(json) json_t *value = json_real(shown->value);

		text_printf(text, ",\"finalMetric\":{\"trainingStep\":\"%lld\",\"objectiveValue\":",
			    (long long)shown->step);
		json_write(text, value);
		text_putc(text, '}');
	}
	if (trial->stopped_early)
		text_puts(text, ",\"isTrialStoppedEarly\":true");
	time_render(text, "startTime", trial->started_us);
	time_render(text, "endTime", trial->ended_us);
	text_printf(text, ",\"state\":\"%s\"", job_state_name(state_of(trial)));
	if (rendering->shells && trial->state == JOB_RUNNING)
		shells_render(rendering->call, trial->run, rendering->plan, text);
	text_putc(text, '}');
}

static void list_render(struct text *text, const struct rendering *rendering, const struct trial_list *list)
{
	const struct study *study = rendering->study;
	struct shown *shown = calloc(list->count + 1, sizeof(*shown));
	unsigned completed = 0;

	if (!shown) {
		text->failed = true;
		return;
	}
	for (size_t i = 0; i < list->count; i++) {
		shown_fill(&shown[i], &list->trials[i], study);
		completed += list->trials[i].outcome == OUTCOME_COMPLETED;
	}
	if (job_state_is_final(rendering->job->state))
		qsort(shown, list->count, sizeof(*shown), compare_values);
	if (completed)
		text_printf(text, "\"completedTrialCount\":\"%u\",", completed);
	for (size_t i = 0; i < list->count; i++) {
		text_puts(text, i ? "," : "\"trials\":[");
		trial_render(text, rendering, &shown[i]);
	}
	if (list->count)
		text_puts(text, "],");
	text_puts(text, "\"isHyperparameterTuningJob\":true,\"hyperparameterMetricTag\":");
	text_json(text, study->metrics[0].name, strlen(study->metrics[0].name));
	free(shown);
}

double trials_ml_units(const struct job *job, const struct trial_list *list, int64_t now_us)
{
	double units = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct stored_trial *trial = &list->trials[i];
		const struct job run = { .running_us = trial->running_us,
					 .started_us = trial->started_us,
					 .ended_us = trial->ended_us,
					 .state = trial->state,
					 .ml_units_per_hour = job->ml_units_per_hour };

		units += job_ml_units(&run, now_us);
	}
	return units;
}

void trials_render(const struct call *call, const struct job *job, struct text *text, double *units)
{
	const struct ml_context *context = call->context;
	struct rendering rendering = { .call = call, .job = job, .shells = shells_told(call, job) };
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	AUTO(plan) struct plan *plan = NULL;
	AUTO(study) struct study *study = NULL;
	struct error err AUTO_ERROR = { 0 };

	if (plan_from_text(job->plan, &plan, &err) || study_from_json(plan->search, &study, &err) ||
	    trial_list_read(context->store, job->id, &list, &err)) {
		log_event(LOG_ERROR, "trials-unread", "job=%s error=\"%s\"", job->job_id,
			  err.text ? err.text : "");
		return;
	}
	rendering.plan = plan;
	rendering.study = study;
	list_render(text, &rendering, &list);
	*units = trials_ml_units(job, &list, clock_wall_us(context->clock));
}
