/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/search_decide.h"

#include "scheduler/decide.h"
#include "scheduler/job_run.h"
#include "scheduler/search/ended_trials.h"
#include "scheduler/search/look.h"
#include "scheduler/search/new_trials.h"
#include "scheduler/search/study_end.h"
#include "scheduler/search/trial_stops.h"
#include "scheduler/search/tuner_state.h"

static void next_while_wanted(struct look *look)
{
	size_t wanted;

	if (look->run->deadline_us <= look->context->mono_us) {
		decide_expiry(&look->decision, look->run);
		return;
	}
	if (state_follow(look))
		return;
	if (too_many_failed(look)) {
		job_fail(look);
		return;
	}
	wanted = trials_wanted(look);
	if (look->decision.trials.failed)
		return;
	if (wanted)
		trials_begin(look, wanted);
	else if (!look->open)
		job_succeed(look);
	if (look->open && look->study->stopping != STOPPING_NONE && !look->decision.trials.failed)
		running_stop(look);
}

static void next_while_ending(struct look *look)
{
	suggestion_forget(look);
	if (look->open)
		open_cancel(look);
	else if (!look->lingering)
		job_end(look);
}

void search_decide(struct look *look)
{
	const struct job_run *run = look->run;
	const bool wanted = run->row->outcome == JOB_STATE_UNSPECIFIED;

	if (!look->study && wanted)
		job_fault(look);
	else if (!ended_take(look)) {
		if (wanted)
			next_while_wanted(look);
		else
			next_while_ending(look);
	}
	if (!look->decision.stores && run->notes.count)
		decision_change(&look->decision, run, run->row->state);
	look->decision.wake_at_us = decide_wake_us(run, look->context);
	if (look->next_us && look->next_us < look->decision.wake_at_us)
		look->decision.wake_at_us = look->next_us;
}
