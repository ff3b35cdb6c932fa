/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/search_execute.h"

#include <stdlib.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/decision.h"
#include "scheduler/job_run.h"
#include "scheduler/plan/trial_plan.h"
#include "scheduler/scheduler_state.h"
#include "scheduler/search/look.h"
#include "scheduler/search/suggester.h"
#include "scheduler/search/trial_curves.h"
#include "scheduler/search/trial_directory.h"
#include "scheduler/search/trial_job.h"
#include "store/logs/logs.h"

/* ---- new trials ---- */

/* The trials of one suggestion. */
struct batch {
	struct trial_start *starts;
	struct job *runs;
	size_t count;
};

static void batch_deinit(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		free((char *)batch->starts[i].parameters);
		job_deinit(&batch->runs[i]);
	}
	free(batch->starts);
	free(batch->runs);
}

static struct batch batch_make(const struct job_run *run, const struct suggestion *suggestion)
{
	const struct study *study = run->tuner->study;
	struct batch batch = { .count = suggestion->count };

	batch.starts = memory_calloc(batch.count + 1, sizeof(*batch.starts));
	batch.runs = memory_calloc(batch.count + 1, sizeof(*batch.runs));
	for (size_t i = 0; i < batch.count; i++) {
		const unsigned number = suggestion->first + (unsigned)i;
		AUTO(json) json_t *values = trial_values_to_json(study, suggestion->values[i]);

		batch.runs[i] = trial_job_make(run->row, run->plan, study, number, suggestion->values[i]);
		batch.starts[i] = (struct trial_start){ .number = number,
							.known = suggestion->known,
							.parameters = json_dump_compact(values),
							.run = &batch.runs[i] };
	}
	return batch;
}

/* Makes the scheduler read the stored jobs as if a client had created them. */
static void arrivals_add(struct scheduler *scheduler, const struct batch *batch)
{
	scheduler->arrived = memory_resize(scheduler->arrived, scheduler->arrived_count + batch->count + 1,
					   sizeof(*scheduler->arrived));
	for (size_t i = 0; i < batch->count; i++)
		scheduler->arrived[scheduler->arrived_count++] = batch->starts[i].run_id;
}

static void suggestion_drop(struct scheduler *scheduler, struct job_run *run)
{
	suggester_forget(scheduler->suggester, run->row->id);
	tuner_suggestion_drop(run->tuner);
}

static enum status trials_begin(struct scheduler *scheduler, struct job_run *run, struct error *err)
{
	const struct suggestion *suggestion = run->tuner->suggestion;
	struct batch batch = batch_make(run, suggestion);
	enum status rc = batch.count ? trials_start(scheduler->reconciler.store, run->row->id, batch.starts,
						    batch.count, err)
				     : STATUS_OK;

	if (!rc)
		arrivals_add(scheduler, &batch);
	run->tuner->exhausted = !rc && batch.count < suggestion->wanted;
	batch_deinit(&batch);
	tuner_suggestion_drop(run->tuner);
	/* ABORTED: the row has changed, perhaps because the job is ending; the next look reads it. */
	run->stale = run->stale || rc == STATUS_ABORTED;
	return rc == STATUS_ABORTED ? STATUS_OK : rc;
}

/* ---- existing trials ---- */

/* Stores how a trial ended, in one commit with the log lines about it, so that they are logged exactly once. */
static enum status trial_act_end(struct scheduler *scheduler, struct job_run *run,
				 const struct trial_act *act, struct error *err)
{
	struct service_line *lines = memory_calloc(act->says.count + 1, sizeof(*lines));
	const struct trial_ending ending = { .job = run->row->id,
					     .number = act->number,
					     .run = act->run,
					     .outcome = act->outcome,
					     .final_step = act->final_step,
					     .final = act->final,
					     .curve = act->curve,
					     .lines = lines,
					     .line_count = act->says.count };
	enum status rc;

	notes_write(&act->says, lines);
	rc = trial_end(scheduler->reconciler.store, &ending, err);
	if (!rc && run->tuner)
		curve_finish(run->tuner, &scheduler->reconciler, act->number, act->run);
	free(lines);
	return rc;
}

static enum status trial_act_stop(struct scheduler *scheduler, const struct job_run *run,
				  const struct trial_act *act, struct error *err)
{
	struct service_line line;

	notes_write(&act->says, &line);
	return trial_stop(scheduler->reconciler.store,
			  &(struct trial_stopping){ .job = run->row->id,
						    .number = act->number,
						    .run = act->run,
						    .message = "The trial was stopped early.",
						    .line = &line },
			  err);
}

static enum status trial_act_execute(struct scheduler *scheduler, struct job_run *run,
				     const struct trial_act *act, struct error *err)
{
	switch (act->kind) {
	case TRIAL_ENDS:
		return trial_act_end(scheduler, run, act, err);
	case TRIAL_STOPS:
		return trial_act_stop(scheduler, run, act, err);
	case TRIAL_CANCELS:
		return job_cancel_by_id(scheduler->reconciler.store, act->run,
					"The trial was cancelled with its job.", err);
	case TRIAL_CLEARS:
		break;
	}
	trial_directory_remove(&scheduler->reconciler, act->run);
	return STATUS_OK;
}

bool search_execute(struct scheduler *scheduler, struct decision *decision)
{
	static const char *const events[] = { [TRIAL_ENDS] = "trial-unstored",
					      [TRIAL_STOPS] = "trial-unstopped",
					      [TRIAL_CANCELS] = "trial-uncancelled" };
	struct trial_acts *acts = &decision->trials;
	struct job_run *run = decision->run;
	struct error err AUTO_ERROR = { 0 };
	bool ended = false;

	if (acts->failed)
		look_postpone(scheduler, run, acts->failed, &acts->err);
	for (size_t i = 0; i < acts->count; i++) {
		if (trial_act_execute(scheduler, run, &acts->items[i], &err)) {
			look_postpone(scheduler, run, events[acts->items[i].kind], &err);
			return true;
		}
		ended = ended || acts->items[i].kind == TRIAL_ENDS;
	}
	if (acts->best) {
		run->tuner->best = acts->best;
		run->tuner->best_us = acts->best_us;
	}
	if (acts->forgets)
		suggestion_drop(scheduler, run);
	if (acts->starts && trials_begin(scheduler, run, &err))
		look_postpone(scheduler, run, "trials-unstored", &err);
	if (acts->asks) {
		suggester_ask(scheduler->suggester, TAKE(acts->asks));
		run->tuner->asked = true;
	}
	return ended || acts->starts || acts->forgets || acts->failed || decision->stores;
}
