/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/ended_trials.h"

#include <math.h>
#include <stdlib.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/job_run.h"
#include "scheduler/search/look.h"
#include "scheduler/tuning/measurements.h"
#include "store/logs/logs.h"

static char *values_text(const struct study *study, const struct measurement *final)
{
	AUTO(json) json_t *values = json_array();

	for (size_t m = 0; m < study->metric_count; m++)
		json_array_append_new(values,
				      isnan(final->values[m]) ? json_null() : json_real(final->values[m]));
	return json_dump_compact(values);
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

static void absence_report(struct notes *notes, const struct stored_trial *stored,
			   const struct trial_metrics *metrics)
{
	struct text text AUTO_TEXT = { 0 };

	trial_metrics_absence(metrics, &text);
	notes_say(notes, SEVERITY_WARNING, "Trial %u has no value of its metric: %s", stored->number,
		  text.data);
}

/* Logs that a trial's value may not be its last, and for the first trial that its value came from event files. The
 * cloud's guide says that custom containers report with cloudml-hypertune, and mentions event files only for its own
 * runtimes.
 * Source: https://cloud.google.com/ai-platform/training/docs/using-hyperparameter-tuning (read 2026-11-22) */
static void events_report(const struct look *look, struct notes *notes, const struct stored_trial *stored,
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

static void measured_fill(const struct look *look, const struct stored_trial *stored, struct trial_act *act)
{
	const struct trial_metrics *metrics = look->tuner->metrics[stored->number - 1];
	const struct measurements *reported = trial_metrics_all(metrics);
	struct measurement final;

	if (trial_final(
		    look->study,
		    &(struct trial){ .measurements = reported->all, .measurement_count = reported->count },
		    &final)) {
		act->final_step = (int64_t) final.step;
		act->final = values_text(look->study, &final);
		events_report(look, &act->says, stored, metrics);
	} else if (act->outcome == OUTCOME_COMPLETED) {
		absence_report(&act->says, stored, metrics);
	}
	act->curve = reported->count ? trial_metrics_text(metrics) : NULL;
}

bool trial_has_ended(const struct stored_trial *stored)
{
	return stored->outcome == OUTCOME_OPEN && job_state_is_final(stored->state);
}

bool trial_goes_on(const struct stored_trial *stored)
{
	return stored->outcome == OUTCOME_OPEN && !stored->decided && !job_state_is_final(stored->state) &&
	       stored->state != JOB_CANCELLING;
}

bool ended_take(struct look *look)
{
	bool any = false;

	for (size_t i = 0; i < look->list.count; i++) {
		const struct stored_trial *stored = &look->list.trials[i];
		struct trial_act *act;

		if (!trial_has_ended(stored))
			continue;
		act = trial_act_add(&look->decision.trials, TRIAL_ENDS, stored);
		act->outcome = outcome_of(stored);
		if (look->study)
			measured_fill(look, stored, act);
		any = true;
	}
	return any;
}
