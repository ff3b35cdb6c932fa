/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/tuner.h"

#include <stdlib.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/decide.h"
#include "scheduler/job_run.h"
#include "scheduler/job_table.h"
#include "scheduler/scheduler_state.h"
#include "scheduler/search/ended_trials.h"
#include "scheduler/search/look.h"
#include "scheduler/search/new_trials.h"
#include "scheduler/search/study_end.h"
#include "scheduler/search/trial_curves.h"
#include "scheduler/search/trial_stops.h"
#include "scheduler/search/tuner_state.h"

void tuner_wake(struct scheduler *scheduler, const struct job_run *run)
{
	struct job_run *owner = run->row->parent ? scheduler_find(scheduler, run->row->parent) : NULL;

	if (!owner)
		return;
	job_run_touch(owner);
}

/* ---- what it knows ---- */

/* A job whose end is decided tries nothing new: what others have tried, or whether it can be read, is nothing to it. */
static struct tuner *tuner_open(const struct reconciler *reconciler, struct job_run *run, struct error *err)
{
	const bool ends = run->row->verdict != JOB_STATE_UNSPECIFIED;
	struct tuner *tuner = memory_calloc(1, sizeof(*tuner));
	enum status rc = study_from_json(run->plan->search, &tuner->study, err);

	if (!rc && !ends)
		rc = earlier_trials_read(reconciler->store, run->plan, tuner->study, &tuner->earlier, err);
	if (!rc && tuner->study->stopping != STOPPING_NONE)
		rc = curves_load(tuner, reconciler, run, err);
	if (!rc) {
		study_begin(tuner, reconciler->clock, run->row->created_us);
		return tuner;
	}
	tuner_free(tuner);
	return NULL;
}

/* False: the store did not answer, and it is tried again. A study that cannot be read leaves none. */
static bool study_open(struct look *look, struct error *err)
{
	struct job_run *run = look->run;

	if (!run->tuner)
		run->tuner = tuner_open(look->reconciler, run, err);
	if (!run->tuner && (err->status == STATUS_INTERNAL || err->status == STATUS_UNAVAILABLE)) {
		look_postpone(look, "study-unread", err);
		return false;
	}
	look->tuner = run->tuner;
	look->study = run->tuner ? run->tuner->study : NULL;
	return true;
}

/* ---- a look ---- */

/* A trial whose end is certain counts as ended, before its containers are removed: the next one may begin. */
static void ends_foresee(struct look *look)
{
	for (size_t i = 0; i < look->list.count; i++) {
		struct stored_trial *stored = &look->list.trials[i];
		const struct job_run *run;

		if (job_state_is_final(stored->state))
			continue;
		look->lingering++;
		run = scheduler_find(look->scheduler, stored->run);
		if (run && job_run_is_over(run))
			stored->state = run->row->verdict;
	}
}

static enum status look_open(struct look *look, struct error *err)
{
	enum status rc = trial_list_read(look->reconciler->store, look->run->row->id, &look->list, err);

	if (!rc)
		ends_foresee(look);
	for (size_t i = 0; !rc && i < look->list.count; i++) {
		look->open += look->list.trials[i].outcome == OUTCOME_OPEN;
		look->completed += look->list.trials[i].outcome == OUTCOME_COMPLETED;
		look->failed += look->list.trials[i].outcome == OUTCOME_INFEASIBLE;
	}
	return rc;
}

static void look_close(struct look *look)
{
	trial_list_deinit(&look->list);
	free(look->all);
	free(look->values);
}

/* ---- what is due ---- */

/* Time alone may end the search: then it is looked at again. */
static void next_look(struct look *look)
{
	if (look->next_us && (!look->run->look_at_us || look->next_us < look->run->look_at_us))
		look->run->look_at_us = look->next_us;
}

static void next_while_wanted(struct look *look)
{
	size_t wanted;

	if (look->run->deadline_us <= look->outlook->mono_us) {
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
	if (look->run->hold_until_us)
		return;
	if (wanted)
		trials_begin(look, wanted);
	else if (!look->open)
		job_succeed(look);
	if (look->open && look->study->stopping != STOPPING_NONE && !look->run->hold_until_us)
		running_watch(look);
	next_look(look);
}

static void next_while_ending(struct look *look)
{
	suggestion_forget(look);
	if (look->open)
		open_cancel(look);
	else if (!look->lingering)
		job_end(look);
}

static void look_act(struct look *look)
{
	if (ended_take(look)) {
		job_run_touch(look->run);
		return;
	}
	if (look->run->hold_until_us)
		return;
	if (look->run->row->verdict == JOB_STATE_UNSPECIFIED)
		next_while_wanted(look);
	else
		next_while_ending(look);
}

struct decision search_decide(struct scheduler *scheduler, struct job_run *run, const struct outlook *outlook)
{
	struct look look = {
		.scheduler = scheduler, .reconciler = &scheduler->reconciler, .run = run, .outlook = outlook
	};
	struct error err AUTO_ERROR = { 0 };

	run->look_at_us = 0;
	if (study_open(&look, &err)) {
		if (!look.study && run->row->verdict == JOB_STATE_UNSPECIFIED)
			job_fault(&look, &err);
		else if (look_open(&look, &err))
			look_postpone(&look, "trials-unread", &err);
		else
			look_act(&look);
	}
	look_close(&look);
	if (!look.decision.stores && run->notes.count)
		decision_change(&look.decision, run, run->row->state);
	look.decision.wake_at_us = decide_wake_us(run, outlook);
	return look.decision;
}
