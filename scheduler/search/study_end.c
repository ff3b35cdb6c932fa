/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/study_end.h"

#include "scheduler/job_run.h"
#include "scheduler/search/look.h"
#include "scheduler/search/new_trials.h"
#include "scheduler/search/study_limits.h"
#include "scheduler/search/trial_stops.h"

/* Converts a past wall time to the monotonic clock. A time in the future counts as now: the clock was set back
 * meanwhile. */
static int64_t past_us(const struct decision_context *context, int64_t wall_us)
{
	const int64_t ago_us = context->wall_us - wall_us;

	return context->mono_us - (ago_us > 0 ? ago_us : 0);
}

void study_begin(struct tuner *tuner, const struct decision_context *context, int64_t created_us)
{
	tuner->begun_us = past_us(context, created_us);
}

/* When the best trial ended; the present time if it counts as ended although its containers are not gone yet. */
static int64_t best_ended_us(struct look *look, size_t index)
{
	const struct stored_trial *stored = &look->list.trials[index];
	struct trial_acts *acts = &look->decision.trials;

	if (look->tuner->best == stored->number)
		return look->tuner->best_us;
	acts->best = stored->number;
	acts->best_us = stored->ended_us ? past_us(look->context, stored->ended_us) : look->context->mono_us;
	return acts->best_us;
}

/* Sets the members that depend on the trials. As in the service, rules about the best trial apply only to studies with
 * one metric. */
static void progress_fill(struct look *look, struct study_progress *progress)
{
	const struct trial *best = study_best(look->study, look->trials, look->list.count);

	progress->has_progress = look->study->metric_count == 1;
	progress->best_us = progress->begun_us;
	for (size_t i = 0; i < look->list.count; i++) {
		const struct trial *trial = &look->trials[i];

		progress->completed += trial->state == TRIAL_COMPLETED;
		progress->ended_since_best += trial->ended_as > (best ? best->ended_as : 0);
		if (trial == best)
			progress->best_us = best_ended_us(look, i);
	}
}

size_t study_room(struct look *look)
{
	const struct study_limits limits = study_limits_from_json(look->run->plan->study_limits);
	struct study_progress progress = { .begun_us = look->tuner->begun_us,
					   .now_us = look->context->mono_us,
					   .wall_us = look->context->wall_us,
					   .trials = look->list.count };
	struct error err AUTO_ERROR = { 0 };
	size_t room;

	if (look_fill(look, &err)) {
		look_fail(look, "trials-unread", &err);
		return 0;
	}
	progress_fill(look, &progress);
	room = study_limits_room(&limits, &progress);
	look_again(look, study_limits_next_us(&limits, &progress));
	if (!room)
		suggestion_forget(look);
	if (!room && limits.interrupts)
		open_interrupt(look);
	return room;
}
