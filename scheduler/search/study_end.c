/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/study_end.h"

#include "daemon/base/clock.h"
#include "scheduler/job_run.h"
#include "scheduler/reconciler.h"
#include "scheduler/search/look.h"
#include "scheduler/search/new_trials.h"
#include "scheduler/search/study_limits.h"
#include "scheduler/search/trial_stops.h"

/* A moment that is over, of the wall clock, on the one that never jumps. What lies ahead was just now: the clock was put
 * back meanwhile. */
static int64_t past_us(const struct clock *clock, int64_t wall_us)
{
	const int64_t mono_us =
		clock_mono_us(clock); /* first: a step in between makes it earlier, never later */
	const int64_t ago_us = clock_wall_us(clock) - wall_us;

	return mono_us - (ago_us > 0 ? ago_us : 0);
}

void study_begin(struct tuner *tuner, const struct clock *clock, int64_t created_us)
{
	tuner->begun_us = past_us(clock, created_us);
}

/* When the best trial ended. It may count as ended before its containers are gone: then it did now. */
static int64_t best_ended_us(const struct look *look, size_t index, const struct study_progress *progress)
{
	const struct stored_trial *stored = &look->list.trials[index];
	struct tuner *tuner = look->tuner;

	if (tuner->best != stored->number)
		tuner->best_us = stored->ended_us ? past_us(look->reconciler->clock, stored->ended_us)
						  : progress->now_us;
	tuner->best = stored->number;
	return tuner->best_us;
}

/* Rules of progress are for one metric only, as the service has them. */
static void progress_fill(const struct look *look, struct study_progress *progress)
{
	const struct trial *best = study_best(look->study, look->trials, look->list.count);

	progress->has_progress = look->study->metric_count == 1;
	progress->best_us = progress->begun_us;
	for (size_t i = 0; i < look->list.count; i++) {
		const struct trial *trial = &look->trials[i];

		progress->completed += trial->state == TRIAL_COMPLETED;
		progress->ended_since_best += trial->ended_as > (best ? best->ended_as : 0);
		if (trial == best)
			progress->best_us = best_ended_us(look, i, progress);
	}
}

size_t study_room(struct look *look)
{
	const struct study_limits limits = study_limits_from_json(look->run->plan->study_limits);
	struct study_progress progress = { .begun_us = look->tuner->begun_us,
					   .now_us = clock_mono_us(look->reconciler->clock),
					   .wall_us = clock_wall_us(look->reconciler->clock),
					   .trials = look->list.count };
	struct error err AUTO_ERROR = { 0 };
	size_t room;

	if (look_fill(look, &err)) {
		look_postpone(look, "trials-unread", &err);
		return 0;
	}
	progress_fill(look, &progress);
	room = study_limits_room(&limits, &progress);
	look->next_us = study_limits_next_us(&limits, &progress);
	if (!room)
		suggestion_forget(look);
	if (!room && limits.interrupts)
		open_interrupt(look);
	return room;
}
