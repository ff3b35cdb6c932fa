/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/trial_stops.h"

#include "daemon/base/clock.h"
#include "scheduler/job_run.h"
#include "scheduler/reconciler.h"
#include "scheduler/search/look.h"
#include "scheduler/search/trial_curves.h"
#include "scheduler/tuning/measurements.h"
#include "store/logs/logs.h"

enum { READ_EVERY_US = 2000000 }; /* reports of trials that may be stopped early */

static void trial_end_early(struct look *look, const struct stored_trial *stored, const char *why)
{
	struct text text AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };
	enum status rc;

	text_printf(&text, "Trial %u is stopped early: %s.", stored->number, why);
	rc = trial_stop(look->reconciler->store,
			&(struct trial_stopping){
				.job = look->run->row->id,
				.number = stored->number,
				.run = stored->run,
				.message = "The trial was stopped early.",
				.line = &(struct service_line){ SEVERITY_INFO, text.data },
			},
			&err);
	if (rc)
		look_postpone(look, "trial-unstopped", &err);
}

/* Of those under way, and of those that they are compared with. */
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

/* Looks at what those that run have reported, and comes again. */
void running_watch(struct look *look)
{
	const int64_t now_us = clock_mono_us(look->reconciler->clock);
	struct tuner *tuner = look->tuner;
	struct error err AUTO_ERROR = { 0 };

	look->run->look_at_us = tuner->read_at_us + READ_EVERY_US;
	if (tuner->read_at_us && now_us < look->run->look_at_us)
		return;
	tuner->read_at_us = now_us;
	look->run->look_at_us = now_us + READ_EVERY_US;
	if (curves_read(look, &err) || look_fill(look, &err)) {
		look_postpone(look, "curves-unstored", &err);
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

		if (stored->outcome == OUTCOME_OPEN && !job_state_is_final(stored->state) &&
		    stored->state != JOB_CANCELLING)
			trial_end_early(look, stored, "the search is over");
	}
}
