/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/ended_trials.h"

#include <math.h>
#include <stdlib.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/job_run.h"
#include "scheduler/reconciler.h"
#include "scheduler/search/look.h"
#include "scheduler/search/trial_curves.h"
#include "scheduler/tuning/measurements.h"
#include "store/logs/logs.h"

static char *final_text(const struct study *study, const struct measurement *final)
{
	AUTO(json) json_t *values = json_array();
	AUTO(json) json_t *object = NULL;

	for (size_t m = 0; m < study->metric_count; m++)
		json_array_append_new(values,
				      isnan(final->values[m]) ? json_null() : json_real(final->values[m]));
	object = json_pack("{s:I, s:O}", "step", (json_int_t) final->step, "values", values);
	return json_dump_compact(object);
}

static enum trial_outcome outcome_of(const struct stored_trial *stored)
{
	switch (stored->state) {
	case JOB_SUCCEEDED:
		return OUTCOME_COMPLETED;
	case JOB_CANCELLED:
		return stored->stopped_early ? OUTCOME_COMPLETED : OUTCOME_CANCELLED;
	default:
		return OUTCOME_INFEASIBLE;
	}
}

static void absence_tell(struct notes *notes, const struct stored_trial *stored,
			 const struct trial_metrics *metrics)
{
	struct text text AUTO_TEXT = { 0 };

	trial_metrics_absence(metrics, &text);
	notes_say(notes, SEVERITY_WARNING, "Trial %u has no value of its metric: %s", stored->number,
		  text.data);
}

/* The cloud's guide tells custom containers to report with its library; of event files it speaks for its own runtimes.
 * Source: https://cloud.google.com/ai-platform/training/docs/using-hyperparameter-tuning (read 2026-11-22) */
static void events_tell(const struct look *look, struct notes *notes, const struct stored_trial *stored,
			const struct trial_metrics *metrics)
{
	struct text text AUTO_TEXT = { 0 };

	trial_metrics_caveat(metrics, &text);
	if (text.length)
		notes_say(notes, SEVERITY_WARNING, "The value of trial %u may not be its last.%s",
			  stored->number, text.data);
	if (!look->completed && !look->run->plan->runtime_version && trial_metrics_from_events(metrics))
		notes_say(
			notes, SEVERITY_NOTICE,
			"The value of trial %u comes from TensorBoard's event files. The cloud reads those of jobs "
			"with a runtimeVersion; custom containers are to report with cloudml-hypertune.",
			stored->number);
}

/* What it measured into @ending, whose texts are the caller's. */
static void measured_fill(struct look *look, const struct stored_trial *stored, struct trial_ending *ending,
			  struct notes *notes)
{
	struct trial_metrics *metrics = curve_of(look, stored);
	const struct measurements *reported;
	struct measurement final;

	trial_metrics_read(metrics);
	reported = trial_metrics_all(metrics);
	if (trial_final(
		    look->study,
		    &(struct trial){ .measurements = reported->all, .measurement_count = reported->count },
		    &final)) {
		ending->final = final_text(look->study, &final);
		events_tell(look, notes, stored, metrics);
	} else if (ending->outcome == OUTCOME_COMPLETED) {
		absence_tell(notes, stored, metrics);
	}
	ending->curve = reported->count ? trial_metrics_text(metrics) : NULL;
}

/* What is to be said of the end goes with it: it is said once, or not while the end is not stored. */
static enum status ended_store(struct look *look, const struct stored_trial *stored, struct error *err)
{
	struct trial_ending ending = { .job = look->run->row->id,
				       .number = stored->number,
				       .run = stored->run,
				       .outcome = outcome_of(stored) };
	struct notes notes AUTO_NOTES = { 0 };
	struct service_line *lines;
	enum status rc;

	if (look->study)
		measured_fill(look, stored, &ending, &notes);
	lines = memory_calloc(notes.count + 1, sizeof(*lines));
	notes_write(&notes, lines);
	ending.lines = lines;
	ending.line_count = notes.count;
	rc = trial_end(look->reconciler->store, &ending, err);
	free(lines);
	if (!rc && look->study)
		curve_settle(look, stored);
	free((char *)ending.final);
	free((char *)ending.curve);
	return rc;
}

bool ended_take(struct look *look)
{
	struct error err AUTO_ERROR = { 0 };
	bool any = false;

	for (size_t i = 0; i < look->list.count; i++) {
		const struct stored_trial *stored = &look->list.trials[i];

		if (stored->outcome != OUTCOME_OPEN || !job_state_is_final(stored->state))
			continue;
		if (ended_store(look, stored, &err)) {
			look_postpone(look, "trial-unstored", &err);
			return false;
		}
		any = true;
	}
	return any;
}
