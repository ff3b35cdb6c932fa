/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/trial_stops.h"

#include "scheduler/job_run.h"
#include "scheduler/search/ended_trials.h"
#include "scheduler/search/look.h"
#include "scheduler/tuning/measurements.h"
#include "store/logs/logs.h"

static void trial_end_early(struct look *look, const struct stored_trial *stored, const char *why)
{
	struct trial_act *act = trial_act_add(&look->decision.trials, TRIAL_STOPS, stored);

	notes_say(&act->says, SEVERITY_INFO, "Trial %u is stopped early: %s.", stored->number, why);
}

/* Sets the trial's curve if the trial is running, or is completed, so that running trials are compared with it. */
static void curve_fill(struct look *look, size_t index)
{
	const struct stored_trial *stored = &look->list.trials[index];
	const struct tuner *tuner = look->tuner;
	const struct trial_metrics *metrics =
		stored->number <= tuner->metric_size ? tuner->metrics[stored->number - 1] : NULL;

	if (!metrics || (stored->outcome != OUTCOME_COMPLETED && stored->state != JOB_RUNNING))
		return;
	look->trials[index].measurements = trial_metrics_all(metrics)->all;
	look->trials[index].measurement_count = trial_metrics_all(metrics)->count;
}

static bool is_to_stop(const struct look *look, size_t index)
{
	return look->list.trials[index].state == JOB_RUNNING &&
	       study_should_stop(look->study, look->all, look->all_count, look->tuner->earlier.count + index);
}

void running_stop(struct look *look)
{
	struct error err AUTO_ERROR = { 0 };

	look_again(look, look->tuner->read_at_us + REPORTS_EVERY_US);
	if (!look->reported)
		return;
	if (look_fill(look, &err)) {
		look_fail(look, "trials-unread", &err);
		return;
	}
	for (size_t i = 0; i < look->list.count; i++)
		curve_fill(look, i);
	for (size_t i = 0; i < look->list.count; i++)
		if (is_to_stop(look, i))
			trial_end_early(look, &look->list.trials[i], "it is not likely to become the best");
}

void open_interrupt(struct look *look)
{
	for (size_t i = 0; i < look->list.count; i++) {
		const struct stored_trial *stored = &look->list.trials[i];

		if (trial_goes_on(stored))
			trial_end_early(look, stored, "the search is over");
	}
}
