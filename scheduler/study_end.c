/* SPDX-License-Identifier: Apache-2.0 */
/* What ends a tuning job's search besides the number of its trials. */
#include "scheduler/study_limits.h"
#include "scheduler/tuner_look.h"

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
		/* It may count as ended before its containers are gone. */
		if (trial == best)
			progress->best_us = look->list.trials[i].ended_us ? look->list.trials[i].ended_us
									  : progress->now_us;
	}
}

size_t study_room(struct look *look)
{
	const struct study_limits limits = study_limits_from_json(look->run->plan->study_limits);
	struct study_progress progress = { .begun_us = look->run->row->created_us,
					   .now_us = clock_wall_us(look->reconciler->clock),
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
