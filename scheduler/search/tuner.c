/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/tuner.h"

#include <stdlib.h>

#include "daemon/base/memory.h"
#include "scheduler/job_run.h"
#include "scheduler/job_table.h"
#include "scheduler/scheduler_state.h"
#include "scheduler/search/ended_trials.h"
#include "scheduler/search/look.h"
#include "scheduler/search/search_decide.h"
#include "scheduler/search/study_end.h"
#include "scheduler/search/suggester.h"
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

/* ---- the tuner's memory ---- */

/* Reads the study and earlier jobs' trials. A job with a decided end starts no trials, so it does not need the earlier
 * trials, even if they cannot be read. */
static struct tuner *tuner_open(const struct look *look, struct error *err)
{
	const struct reconciler *reconciler = look->reconciler;
	const struct job_run *run = look->run;
	const bool ends = run->row->outcome != JOB_STATE_UNSPECIFIED;
	struct tuner *tuner = memory_calloc(1, sizeof(*tuner));
	enum status rc = study_from_json(run->plan->search, &tuner->study, err);

	if (!rc && !ends)
		rc = earlier_trials_read(reconciler->store, run->plan, tuner->study, &tuner->earlier, err);
	if (!rc && tuner->study->stopping != STOPPING_NONE)
		rc = curves_load(tuner, reconciler, run, err);
	if (!rc) {
		study_begin(tuner, look->context, run->row->created_us);
		return tuner;
	}
	tuner_free(tuner);
	return NULL;
}

/* Opens the study; look->study is NULL if it cannot be read. False: the store did not answer. */
static bool study_open(struct look *look, struct job_run *run)
{
	if (!run->tuner)
		run->tuner = tuner_open(look, &look->err);
	look->tuner = run->tuner;
	look->study = run->tuner ? run->tuner->study : NULL;
	return run->tuner || (look->err.status != STATUS_INTERNAL && look->err.status != STATUS_UNAVAILABLE);
}

/* ---- a look ---- */

/* Counts a trial that is certain to end as ended, before its containers are removed, so that the next one may begin. */
static void ends_foresee(struct scheduler *scheduler, struct look *look)
{
	for (size_t i = 0; i < look->list.count; i++) {
		struct stored_trial *stored = &look->list.trials[i];
		const struct job_run *run;

		if (job_state_is_final(stored->state))
			continue;
		look->lingering++;
		run = scheduler_find(scheduler, stored->run);
		stored->decided = run && job_state_is_final(run->row->outcome);
		if (run && job_run_is_over(run))
			stored->state = run->row->outcome;
	}
}

static enum status look_open(struct scheduler *scheduler, struct look *look, struct error *err)
{
	enum status rc = trial_list_read(look->reconciler->store, look->run->row->id, &look->list, err);

	if (!rc)
		ends_foresee(scheduler, look);
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
	job_free(look->failure);
	error_deinit(&look->err);
}

static enum status failure_read(struct look *look, struct error *err)
{
	if (look->run->row->outcome != JOB_STATE_UNSPECIFIED || !too_many_failed(look))
		return STATUS_OK;
	return job_get_by_id(look->reconciler->store, look->list.trials[last_failed(look)].run,
			     &look->failure, err);
}

/* Reads the reports of running trials every REPORTS_EVERY_US, and stores them also for the next start of the daemon. */
static enum status running_read(struct look *look, struct error *err)
{
	const int64_t now_us = look->context->mono_us;
	struct tuner *tuner = look->tuner;

	if (look->run->row->outcome != JOB_STATE_UNSPECIFIED || look->study->stopping == STOPPING_NONE ||
	    !look->open || (tuner->read_at_us && now_us < tuner->read_at_us + REPORTS_EVERY_US))
		return STATUS_OK;
	tuner->read_at_us = now_us;
	look->reported = true;
	return curves_read(look, err);
}

/* Reads the reports of ended trials. */
static void ended_read(struct look *look)
{
	for (size_t i = 0; i < look->list.count; i++)
		if (trial_has_ended(&look->list.trials[i]))
			trial_metrics_read(curve_of(look, &look->list.trials[i]));
}

/* Fills in the observed state. */
static enum status look_fill_in(struct scheduler *scheduler, struct look *look, struct error *err)
{
	struct tuner *tuner = look->tuner;
	enum status rc = look_open(scheduler, look, err);

	if (!rc)
		rc = failure_read(look, err);
	if (!rc && tuner)
		rc = running_read(look, err);
	if (rc || !tuner)
		return rc;
	ended_read(look);
	if (tuner->asked && !tuner->suggestion)
		tuner->suggestion = suggester_take(scheduler->suggester, look->run->row->id);
	return STATUS_OK;
}

struct decision search_serve(struct scheduler *scheduler, struct job_run *run,
			     const struct decision_context *context)
{
	struct look look = { .reconciler = &scheduler->reconciler, .run = run, .context = context };
	struct error err AUTO_ERROR = { 0 };

	if (!study_open(&look, run)) {
		look_postpone(scheduler, run, "study-unread", &look.err);
		look.decision.wake_at_us = run->hold_until_us;
	} else if (look.tuner || run->row->outcome != JOB_STATE_UNSPECIFIED
			   ? look_fill_in(scheduler, &look, &err)
			   : STATUS_OK) {
		look_postpone(scheduler, run, "trials-unread", &err);
		look.decision.wake_at_us = run->hold_until_us;
	} else {
		search_decide(&look);
	}
	look_close(&look);
	return look.decision;
}
