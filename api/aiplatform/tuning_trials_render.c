/* SPDX-License-Identifier: Apache-2.0 */
/* The trials of a HyperparameterTuningJob.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/Trial (read 2026-11-22), and published answers, which
 * have neither names nor measurements */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/aiplatform/aiplatform.h"
#include "api/training/shells_render.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/text.h"
#include "scheduler/plan/trial_plan.h"
#include "scheduler/tuning/study.h"
#include "store/jobs/trials.h"

/* What all trials of a job are rendered with. */
struct rendering {
	struct call *call;
	const struct job *job;
	struct text *text;
	struct plan *plan;
	struct study *study;
	bool shells; /* they are told */
	struct trial_list list;
	size_t rendered;
};

/* Whether the final measurement holds what the search wants. */
static bool has_measured(const json_t *final)
{
	return json_is_number(json_array_get(json_object_get(final, "values"), 0));
}

/* One that was stopped early has done what was asked of it. */
static const char *state_of(const struct stored_trial *trial, bool measured)
{
	if (trial->outcome == OUTCOME_OPEN)
		return trial->stopped_early || trial->state == JOB_CANCELLING ? "STOPPING" : "ACTIVE";
	return trial->outcome == OUTCOME_COMPLETED && measured ? "SUCCEEDED" : "INFEASIBLE";
}

static void value_render(struct text *text, const struct parameter *parameter, double value)
{
	struct text word AUTO_TEXT = { 0 };

	if (parameter->type != PARAMETER_CATEGORICAL) {
		parameter_value_write(text, parameter, value);
		return;
	}
	parameter_value_write(&word, parameter, value);
	text_json(text, word.data ? word.data : "", word.length);
}

static void parameters_render(const struct rendering *rendering, const struct stored_trial *trial)
{
	const struct study *study = rendering->study;
	struct text *text = rendering->text;
	double *values = calloc(study->parameter_count, sizeof(*values));
	const char *comma = "";

	text_puts(text, ",\"parameters\":[");
	if (values && !trial_values_from_text(study, trial->parameters, values, NULL)) {
		for (size_t i = 0; i < study->parameter_count; i++) {
			const struct parameter *parameter = &study->parameters[i];

			if (isnan(values[i]))
				continue;
			text_printf(text, "%s{\"parameterId\":", comma);
			text_json(text, parameter->name, strlen(parameter->name));
			text_puts(text, ",\"value\":");
			value_render(text, parameter, values[i]);
			text_putc(text, '}');
			comma = ",";
		}
	}
	text_putc(text, ']');
	text->failed = text->failed || !values;
	free(values);
}

/* Of several metrics, those that were reported with the last, or best, value of the first. */
static void final_render(const struct rendering *rendering, const json_t *final)
{
	const struct study *study = rendering->study;
	struct text *text = rendering->text;
	const char *comma = "";

	text_printf(text, ",\"finalMeasurement\":{\"stepCount\":\"%lld\",\"metrics\":[",
		    (long long)json_int_at(final, "step", 0));
	for (size_t m = 0; m < study->metric_count; m++) {
		const json_t *value = json_array_get(json_object_get(final, "values"), m);

		if (!json_is_number(value))
			continue;
		text_printf(text, "%s{\"metricId\":", comma);
		text_json(text, study->metrics[m].name, strlen(study->metrics[m].name));
		text_puts(text, ",\"value\":");
		json_write(text, value);
		text_putc(text, '}');
		comma = ",";
	}
	text_puts(text, "]}");
}

static void time_render(struct text *text, const char *name, int64_t wall_us)
{
	if (!wall_us)
		return;
	text_printf(text, ",\"%s\":\"", name);
	text_time_micros(text, wall_us);
	text_putc(text, '"');
}

/* What its job says of its end, without the pointer to the logs. */
static void reason_render(const struct rendering *rendering, const struct stored_trial *trial,
			  const struct trial_run *run)
{
	const char *more = run->error_message ? strstr(run->error_message, "\n\nTo find out more") : NULL;
	struct text *text = rendering->text;
	struct text reason AUTO_TEXT = { 0 };

	if (trial->outcome == OUTCOME_COMPLETED || !run->error_message)
		text_printf(&reason, "The trial ended without a value of its metric %s.",
			    rendering->study->metrics[0].name);
	else
		text_append(&reason, run->error_message,
			    more ? (size_t)(more - run->error_message) : strlen(run->error_message));
	text_puts(text, ",\"infeasibleReason\":");
	text_json(text, reason.data ? reason.data : "", reason.length);
}

static void trial_render(const struct rendering *rendering, const struct stored_trial *trial,
			 const struct trial_run *run)
{
	AUTO(json) json_t *final = NULL;
	struct text *text = rendering->text;
	bool measured;

	if (trial->final && json_parse_own(trial->final, &final, NULL))
		text->failed = true;
	measured = has_measured(final);
	text_printf(text, "{\"id\":\"%u\",\"state\":\"%s\"", trial->number, state_of(trial, measured));
	parameters_render(rendering, trial);
	if (trial->outcome == OUTCOME_COMPLETED && measured)
		final_render(rendering, final);
	time_render(text, "startTime", trial->started_us);
	time_render(text, "endTime", trial->ended_us);
	if (trial->outcome != OUTCOME_OPEN && (trial->outcome != OUTCOME_COMPLETED || !measured))
		reason_render(rendering, trial, run);
	text_puts(text, ",\"customJob\":\"");
	resource_path_render(rendering->call, rendering->job, KIND_CUSTOM, run->job_id, text);
	text_putc(text, '"');
	if (rendering->shells && trial->state == JOB_RUNNING)
		shells_render(rendering->call, trial->run, rendering->plan, text);
	text_putc(text, '}');
}

/* Runs that have come since the list was read are for the next answer. */
static void run_take(void *arg, const struct trial_run *run)
{
	struct rendering *rendering = arg;

	if (!run->number || run->number > rendering->list.count)
		return;
	text_puts(rendering->text, rendering->rendered++ ? "," : ",\"trials\":[");
	trial_render(rendering, &rendering->list.trials[run->number - 1], run);
}

void tuning_trials_render(struct call *call, const struct job *job, struct text *text)
{
	const struct training_context *context = call->context;
	struct rendering rendering = {
		.call = call, .job = job, .text = text, .shells = shells_told(call, job)
	};
	struct error err AUTO_ERROR = { 0 };
	enum status rc = plan_from_text(job->plan, &rendering.plan, &err);

	if (!rc)
		rc = study_from_json(rendering.plan->search, &rendering.study, &err);
	if (!rc)
		rc = trial_list_read(context->store, job->id, &rendering.list, &err);
	if (!rc)
		rc = trial_runs_visit(context->store, job->id, run_take, &rendering, &err);
	if (rc)
		log_event(LOG_ERROR, "trials-unread", "job=%s error=\"%s\"", job->job_id,
			  err.text ? err.text : "");
	text_puts(text, rendering.rendered ? "]" : "");
	trial_list_deinit(&rendering.list);
	study_free(rendering.study);
	plan_free(rendering.plan);
}
