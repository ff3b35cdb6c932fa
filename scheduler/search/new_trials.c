/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/new_trials.h"

#include "scheduler/job_run.h"
#include "scheduler/search/look.h"
#include "scheduler/search/study_end.h"
#include "scheduler/search/suggester.h"

void suggestion_forget(struct look *look)
{
	look->decision.trials.forgets = look->tuner && look->tuner->asked;
}

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
	look->decision.trials.asks = suggestion;
	return STATUS_OK;
}

/* Decides that the suggestion becomes trials, unless other trials were made since it was requested. */
static void suggestion_use(struct look *look, struct suggestion *suggestion)
{
	if (suggestion->status)
		look_fail(look, "trials-unstored", &suggestion->err);
	if (suggestion->status || suggestion->first != look->list.count + 1)
		suggestion_forget(look);
	else
		look->decision.trials.starts = true;
}

void trials_begin(struct look *look, size_t wanted)
{
	struct error err AUTO_ERROR = { 0 };

	if (look->tuner->suggestion)
		suggestion_use(look, look->tuner->suggestion);
	else if (!look->tuner->asked && suggestion_ask(look, wanted, &err))
		look_fail(look, "trials-unstored", &err);
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
