/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/reconcile.h"

static const char *const step_names[STEP_COUNT] = {
	[STEP_NONE] = "none",
	[STEP_FETCH] = "fetch",
	[STEP_CREATE] = "create",
	[STEP_START] = "start",
	[STEP_DECLARE_RUNNING] = "declare-running",
	[STEP_JUDGE] = "judge",
	[STEP_EXPIRE] = "expire",
	[STEP_STOP] = "stop",
	[STEP_REMOVE] = "remove",
	[STEP_EXPLAIN] = "explain",
	[STEP_RETRY] = "retry",
	[STEP_CLOSE] = "close",
	[STEP_RESTART] = "restart",
	[STEP_LEAVE] = "leave",
	[STEP_FINISH] = "finish",
};

const char *step_name(enum step step)
{
	return step_names[step];
}

/* Until all replicas are started: at first, and when one of them was lost. */
static enum step next_while_starting(const struct job_view *view)
{
	if (view->missing) {
		bool asked = view->images_asked && view->network != NETWORK_NONE;

		if (!view->images_ready || view->network != NETWORK_READY)
			return asked ? STEP_NONE : STEP_FETCH;
		return view->gateway_awaited ? STEP_NONE : STEP_CREATE;
	}
	if (view->count[SEEN_CREATING])
		return STEP_NONE;
	if (view->count[SEEN_CREATED])
		return STEP_START;
	return view->count[SEEN_STARTING] || view->state == JOB_RUNNING ? STEP_NONE : STEP_DECLARE_RUNNING;
}

static enum step next_while_wanted(const struct job_view *view)
{
	const bool queued = view->state == JOB_QUEUED;

	/* What has happened by itself, or as it was ordered, comes before a limit that passed meanwhile. */
	if (view->decided && (queued || view->sighted))
		return STEP_JUDGE;
	if (view->expired)
		return STEP_EXPIRE;
	if (queued || !view->sighted)
		return STEP_NONE;
	return view->restarts ? STEP_RESTART : next_while_starting(view);
}

/* Containers and their output, until nothing of them is left. */
static enum step next_while_stopping(const struct job_view *view)
{
	if (view->stoppable)
		return STEP_STOP;
	if (view->removable)
		return STEP_REMOVE;
	if (view->count[SEEN_CREATING] || view->count[SEEN_STARTING] || view->count[SEEN_RUNNING] ||
	    view->unread)
		return STEP_NONE;
	if (!view->explained)
		return STEP_EXPLAIN;
	if (view->network != NETWORK_NONE && view->verdict != JOB_PREPARING)
		return STEP_LEAVE;
	if (view->count[SEEN_NOTHING] < view->total)
		return STEP_NONE;
	return view->verdict == JOB_PREPARING ? STEP_RETRY : STEP_CLOSE;
}

static enum step next_while_closing(const struct job_view *view)
{
	if (view->touched && view->network != NETWORK_NONE)
		return STEP_LEAVE;
	return view->last_words_stored ? STEP_FINISH : STEP_NONE;
}

enum step reconcile_next(const struct job_view *view)
{
	if (job_state_is_final(view->state))
		return STEP_NONE;
	if (view->verdict == JOB_STATE_UNSPECIFIED)
		return next_while_wanted(view);
	if (view->touched && !view->sighted)
		return STEP_NONE;
	if (view->torn_down)
		return next_while_closing(view);
	if (view->touched)
		return next_while_stopping(view);
	return view->explained ? STEP_CLOSE : STEP_EXPLAIN;
}
