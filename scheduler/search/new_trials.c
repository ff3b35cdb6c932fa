/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/new_trials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/job_run.h"
#include "scheduler/plan/trial_plan.h"
#include "scheduler/scheduler_state.h"
#include "scheduler/search/look.h"
#include "scheduler/search/study_end.h"
#include "scheduler/search/suggester.h"
#include "scheduler/search/trial_run.h"

/* ---- suggestions ---- */

static enum status suggestion_ask(struct look *look, size_t wanted, struct error *err)
{
	struct suggestion *suggestion;
	struct study *study = NULL;
	enum status rc = look_fill(look, err);

	if (!rc)
		rc = study_from_json(look->run->plan->search, &study, err);
	if (rc)
		return rc;
	suggestion = suggestion_new(look->run->row->id, study, look->all, look->all_count, wanted);
	suggestion->first = (unsigned)look->list.count + 1;
	suggestion->known = (unsigned)look->list.count - look->open;
	suggester_ask(look->scheduler->suggester, suggestion);
	look->tuner->asked = true;
	return STATUS_OK;
}

void suggestion_forget(struct look *look)
{
	if (look->tuner && look->tuner->asked)
		suggester_forget(look->scheduler->suggester, look->run->row->id);
	if (look->tuner)
		look->tuner->asked = false;
}

/* ---- trials ---- */

/* Those of one suggestion. */
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

static void batch_init(struct batch *batch, size_t count)
{
	batch->starts = memory_calloc(count + 1, sizeof(*batch->starts));
	batch->runs = memory_calloc(count + 1, sizeof(*batch->runs));
	batch->count = count;
}

static void batch_fill(const struct look *look, const struct suggestion *suggestion, struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		const unsigned number = suggestion->first + (unsigned)i;
		AUTO(json) json_t *values = trial_values_to_json(look->study, suggestion->values[i]);

		batch->runs[i] = trial_run_make(look->run->row, look->run->plan, look->study, number,
						suggestion->values[i]);
		batch->starts[i] = (struct trial_start){ .number = number,
							 .known = suggestion->known,
							 .parameters = json_dump_compact(values),
							 .run = &batch->runs[i] };
	}
}

/* The scheduler takes up what was stored, as if it had been told by a client. */
static void arrivals_add(struct scheduler *scheduler, const struct batch *batch)
{
	scheduler->arrived = memory_resize(scheduler->arrived, scheduler->arrived_count + batch->count + 1,
					   sizeof(*scheduler->arrived));
	for (size_t i = 0; i < batch->count; i++)
		scheduler->arrived[scheduler->arrived_count++] = batch->starts[i].run_id;
}

static enum status trials_store(struct look *look, const struct suggestion *suggestion, struct error *err)
{
	struct batch batch = { 0 };
	enum status rc = STATUS_OK;

	batch_init(&batch, suggestion->count);
	batch_fill(look, suggestion, &batch);
	if (batch.count)
		rc = trials_start(look->reconciler->store, look->run->row->id, batch.starts, batch.count,
				  err);
	if (!rc)
		arrivals_add(look->scheduler, &batch);
	batch_deinit(&batch);
	return rc;
}

/* What was suggested becomes trials, unless others have come since. */
static enum status suggestion_use(struct look *look, struct suggestion *suggestion, struct error *err)
{
	enum status rc = suggestion->status;

	look->tuner->asked = false;
	if (rc)
		return error_move(err, &suggestion->err);
	if (suggestion->first == look->list.count + 1) {
		rc = trials_store(look, suggestion, err);
		look->tuner->exhausted = !rc && suggestion->count < suggestion->wanted;
	}
	if (rc && rc != STATUS_ABORTED)
		return rc;
	/* Whether the job ended meanwhile, or there is nothing left to try: the next look sees it. */
	look->run->stale = look->run->stale || rc == STATUS_ABORTED;
	job_run_touch(look->run);
	return STATUS_OK;
}

void trials_begin(struct look *look, size_t wanted)
{
	AUTO(suggestion)
	struct suggestion *suggestion =
		look->tuner->asked ? suggester_take(look->scheduler->suggester, look->run->row->id) : NULL;
	struct error err AUTO_ERROR = { 0 };
	enum status rc = STATUS_OK;

	if (suggestion)
		rc = suggestion_use(look, suggestion, &err);
	else if (!look->tuner->asked)
		rc = suggestion_ask(look, wanted, &err);
	if (rc)
		look_postpone(look, "trials-unstored", &err);
}

size_t trials_wanted(struct look *look)
{
	const struct plan *plan = look->run->plan;
	const size_t left = plan->trial_count > look->list.count ? plan->trial_count - look->list.count : 0;
	const size_t room =
		plan->parallel_trial_count > look->open ? plan->parallel_trial_count - look->open : 0;
	const size_t wanted = left < room ? left : room;
	const size_t allowed = plan->study_limits ? study_room(look) : wanted;

	if (look->tuner->exhausted)
		return 0;
	return wanted < allowed ? wanted : allowed;
}
