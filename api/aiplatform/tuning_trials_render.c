/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the trials of a HyperparameterTuningJob.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/Trial (read 2026-11-22), and published answers,
 * in which trials have neither names nor measurements */
#include <math.h>
#include <stdlib.h>

#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/messages.h"
#include "api/message/message_write.h"
#include "api/training/shells_render.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/trial_plan.h"
#include "scheduler/tuning/study.h"
#include "store/jobs/trials.h"

/* State shared while all trials of a job are written. */
struct rendering {
	struct call *call;
	const struct job *job;
	struct writer trials;
	struct plan *plan;
	struct study *study;
	bool shells; /* running trials are written with the addresses of their shells */
	struct trial_list list;
};

/* True if the final measurement has a value of the first metric, which the search needs. */
static bool has_measured(const json_t *final)
{
	return json_is_number(json_array_get(final, 0));
}

/* Returns the trial's state. A trial that was stopped early counts as succeeded. */
static const char *state_of(const struct stored_trial *trial, bool reached)
{
	if (trial->outcome == OUTCOME_OPEN)
		return trial->stopped_early || trial->state == JOB_CANCELLING ? "STOPPING" : "ACTIVE";
	return reached ? "SUCCEEDED" : "INFEASIBLE";
}

static void parameters_render(const struct study *study, const struct stored_trial *trial,
			      struct writer *answer)
{
	struct writer list = member_list(answer, "parameters");
	double *values = memory_calloc(study->parameter_count, sizeof(*values));
	const bool known = !trial_values_from_text(study, trial->parameters, values, NULL);

	for (size_t i = 0; known && i < study->parameter_count; i++) {
		const struct parameter *parameter = &study->parameters[i];
		struct text word AUTO_TEXT = { 0 };
		struct writer element;

		if (isnan(values[i]))
			continue;
		element = element_message(&list);
		member_text(&element, "parameterId", parameter->name);
		parameter_value_write(&word, parameter, values[i]);
		if (parameter->type == PARAMETER_CATEGORICAL)
			member_text(&element, "value", word.data ? word.data : "");
		else
			member_json(&element, "value", word.data);
		message_close(&element);
	}
	message_close(&list);
	free(values);
}

/* With several metrics, writes those values that were reported together with the last, or best, value of the first
 * metric. */
static void final_render(const struct rendering *rendering, int64_t step, const json_t *final,
			 struct writer *answer)
{
	const struct study *study = rendering->study;
	struct writer measurement = member_message(answer, "finalMeasurement");
	struct writer metrics;

	member_int(&measurement, "stepCount", step);
	metrics = member_list(&measurement, "metrics");
	for (size_t m = 0; m < study->metric_count; m++) {
		const json_t *value = json_array_get(final, m);
		struct writer metric;

		if (!json_is_number(value))
			continue;
		metric = element_message(&metrics);
		member_text(&metric, "metricId", study->metrics[m].name);
		member_value(&metric, "value", value);
		message_close(&metric);
	}
	message_close(&metrics);
	message_close(&measurement);
}

/* Writes why the trial failed: its job's reason, without the hint to the logs, or that its metric is missing. */
static void reason_render(const struct rendering *rendering, const struct stored_trial *trial,
			  const struct trial_run *run, struct writer *answer)
{
	struct text reason AUTO_TEXT = { 0 };

	if (trial->outcome != OUTCOME_COMPLETED && run->reason) {
		member_text(answer, "infeasibleReason", run->reason);
		return;
	}
	text_printf(&reason, "The trial ended without a value of its metric %s.",
		    rendering->study->metrics[0].name);
	member_text(answer, "infeasibleReason", reason.data);
}

static void trial_render(const struct rendering *rendering, const struct stored_trial *trial,
			 const struct trial_run *run, struct writer *answer)
{
	const struct job *job = rendering->job;
	AUTO(json) json_t *final = NULL;
	bool reached;

	if (trial->final)
		json_parse_own(trial->final, &final, NULL);
	reached = trial->outcome == OUTCOME_COMPLETED && has_measured(final);
	member_int(answer, "id", trial->number);
	member_text(answer, "state", state_of(trial, reached));
	parameters_render(rendering->study, trial, answer);
	if (reached)
		final_render(rendering, trial->final_step, final, answer);
	member_time(answer, "startTime", trial->started_us, TIME_MICROSECONDS);
	member_time(answer, "endTime", trial->ended_us, TIME_MICROSECONDS);
	if (trial->outcome != OUTCOME_OPEN && !reached)
		reason_render(rendering, trial, run, answer);
	member_resource(answer, "customJob", rendering->call, job->project, job->location,
			resource_collection(KIND_CUSTOM), run->job_id);
	if (rendering->shells && trial->state == JOB_RUNNING)
		shells_render(rendering->call, trial->run, rendering->plan, answer);
	message_close(answer);
}

/* Writes one trial. Skips trials that began after the list was read: the next answer has them. */
static void run_take(void *arg, const struct trial_run *run)
{
	struct rendering *rendering = arg;
	struct writer answer;

	if (!run->number || run->number > rendering->list.count)
		return;
	answer = element_message(&rendering->trials);
	trial_render(rendering, &rendering->list.trials[run->number - 1], run, &answer);
}

void tuning_trials_render(struct call *call, const struct job *job, struct writer *answer)
{
	const struct training_context *context = call->context;
	struct rendering rendering = {
		.call = call,
		.job = job,
		.trials = member_list(answer, "trials"),
		.shells = shells_reported(call, job),
	};
	struct error err AUTO_ERROR = { 0 };
	enum status rc = plan_from_text(job->plan, &rendering.plan, &err);

	if (!rc)
		rc = study_from_json(rendering.plan->search, &rendering.study, &err);
	if (!rc)
		rc = trial_list_read(context->store, job->id, &rendering.list, &err);
	if (!rc)
		rc = trial_jobs_visit(context->store, job->id, run_take, &rendering, &err);
	if (rc)
		log_event(LOG_ERROR, "trials-unread", "job=%s error=\"%s\"", job->job_id,
			  err.text ? err.text : "");
	message_close(&rendering.trials);
	trial_list_deinit(&rendering.list);
	study_free(rendering.study);
	plan_free(rendering.plan);
}

/* ---- the best trial ---- */

/* Reads the trial's final value of the first metric. False: it has none, and so cannot be the best trial. */
static bool value_of(const struct stored_trial *trial, double *ret_value)
{
	AUTO(json) json_t *final = NULL;
	const json_t *value;

	if (trial->outcome != OUTCOME_COMPLETED || !trial->final ||
	    json_parse_own(trial->final, &final, NULL))
		return false;
	value = json_array_get(final, 0);
	*ret_value = json_number_value(value);
	return json_is_number(value);
}

static const struct stored_trial *best_of(const struct trial_list *list, bool minimized)
{
	const struct stored_trial *best = NULL;
	double best_value = 0, value;

	for (size_t i = 0; i < list->count; i++) {
		if (!value_of(&list->trials[i], &value) ||
		    (best && (minimized ? value >= best_value : value <= best_value)))
			continue;
		best = &list->trials[i];
		best_value = value;
	}
	return best;
}

enum status best_trial_find(const struct call *call, const struct job *tuning, struct job **ret_run,
			    struct error *err)
{
	const struct training_context *context = call->context;
	const struct stored_trial *best;
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	AUTO(plan) struct plan *plan = NULL;
	AUTO(study) struct study *study = NULL;
	enum status rc = plan_from_text(tuning->plan, &plan, err);

	if (!rc)
		rc = study_from_json(plan->search, &study, err);
	if (!rc)
		rc = trial_list_read(context->store, tuning->id, &list, err);
	if (rc)
		return rc;
	best = best_of(&list, study->metrics[0].minimized);
	return best ? job_get_by_id(context->store, best->run, ret_run, err) : STATUS_OK;
}
