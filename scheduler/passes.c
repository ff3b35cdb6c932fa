/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/passes.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/create.h"
#include "scheduler/faults/faults.h"
#include "scheduler/gateway_keep.h"
#include "scheduler/job_run.h"
#include "scheduler/job_table.h"
#include "scheduler/jobs.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/queue.h"
#include "scheduler/reconcile.h"
#include "scheduler/restarts.h"
#include "scheduler/room.h"
#include "scheduler/scheduler_state.h"
#include "scheduler/search/tuner.h"
#include "scheduler/sight.h"
#include "scheduler/steps.h"
#include "scheduler/told_differences.h"
#include "store/jobs/faults.h"
#include "store/logs/logs.h"

enum {
	STEPS_AT_ONCE = 32,             /* more in a row without an event would be a loop */
	RETRY_AFTER_STORE_US = 1000000, /* when a commit failed */
};

typedef void (*step_function)(struct reconciler *reconciler, struct job_run *run);

static const step_function steps[STEP_COUNT] = {
	[STEP_FETCH] = step_fetch,     [STEP_CREATE] = step_create,
	[STEP_START] = step_start,     [STEP_DECLARE_RUNNING] = step_declare_running,
	[STEP_RESTART] = step_restart, [STEP_JUDGE] = step_judge,
	[STEP_EXPIRE] = step_expire,   [STEP_STOP] = step_stop,
	[STEP_REMOVE] = step_remove,   [STEP_EXPLAIN] = step_explain,
	[STEP_RETRY] = step_retry,     [STEP_CLOSE] = step_close,
	[STEP_LEAVE] = step_leave,     [STEP_FINISH] = step_finish,
};

static bool images_are(const struct job_run *run, bool ready)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		if (!run->plan->pools[role].count)
			continue;
		if (!run->image_ids[role] && (ready || !order_is_pending(&run->images, (unsigned)role)))
			return false;
	}
	return true;
}

static void view_replicas(struct job_view *view, const struct job_run *run)
{
	view->total = (unsigned)run->replica_count;
	for (size_t i = 0; i < run->replica_count; i++) {
		const struct replica_run *replica = &run->replicas[i];

		view->count[replica->seen]++;
		view->missing += replica->seen == SEEN_NOTHING && replica->end == END_NONE;
		view->stoppable += replica_is_stoppable(replica);
		view->removable += replica_is_removable(replica);
		view->unread += replica_is_unread(replica);
	}
}

/* Whether something can be done for a lost replica now. */
static bool replicas_restart(const struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++)
		if (job_run_restarts(run, &run->replicas[i]) &&
		    (replica_is_removable(&run->replicas[i]) || replica_is_replaceable(&run->replicas[i])))
			return true;
	return false;
}

/* A lost replica waits a moment: if the engine is about to stop, the others are lost as well, and with them the
 * attempt. */
static void restart_schedule(struct scheduler *scheduler, struct job_run *run)
{
	const struct reconciler *reconciler = &scheduler->reconciler;

	if (!job_run_restarts_any(run))
		run->restart_at_us = 0;
	else if (!run->restart_at_us)
		run->restart_at_us = clock_mono_us(reconciler->clock) +
				     (faults_alone(run) ? 0 : (int64_t)reconciler->retry_pause_ms * 1000);
}

/* What may have ended in time already, since nobody could look. */
static bool end_is_open(const struct job_run *run)
{
	return !job_run_is_sighted(run) && run->row->state == JOB_RUNNING && !plan_tunes(run->plan);
}

/* When a limit of it passes. An end that was ordered, told and asked for comes before, however late it is seen. */
static int64_t limit_us(struct job_run *run, int64_t wall_us, int64_t now_us)
{
	return faults_await_end(run) || end_is_open(run) ? INT64_MAX : job_deadline_us(run, wall_us, now_us);
}

static struct job_view view_of(const struct scheduler *scheduler, struct job_run *run)
{
	const struct clock *clock = scheduler->reconciler.clock;
	int64_t now_us = clock_mono_us(clock);
	const struct job *row = run->row;
	struct job_view view = {
		.state = row->state,
		.verdict = row->verdict,
		.touched = row->started_us != 0,
		.sighted = job_run_is_sighted(run),
		.expired = limit_us(run, clock_wall_us(clock), now_us) <= now_us,
		.decided = job_run_is_decided(run),
		.restarts = run->restart_at_us && run->restart_at_us <= now_us && replicas_restart(run),
		.explained =
			row->verdict == JOB_SUCCEEDED || row->verdict == JOB_PREPARING || row->error_message,
		.torn_down = row->torn_down,
		.last_words_stored = run->last_words == OUTPUT_STORED,
		.images_ready = images_are(run, true),
		.images_asked = images_are(run, false),
		.network = run->network,
		.gateway_awaited = gateway_is_awaited(&scheduler->reconciler, run),
	};

	view_replicas(&view, run);
	return view;
}

/* Learns when the last service lines of a closed job can be read. */
static void ask_last_words(struct scheduler *scheduler, struct job_run *run)
{
	struct inbox_event *inbox_event;
	struct error err AUTO_ERROR = { 0 };

	if (!run->row->torn_down || run->last_words != OUTPUT_OPEN)
		return;
	inbox_event = inbox_event_new(INBOX_LAST_WORDS, run->row->id);
	inbox_event->to = scheduler;
	if (log_barrier(scheduler->reconciler.store, inbox_event_deliver, inbox_event, &err)) {
		log_event(LOG_ERROR, "log-barrier", "error=\"%s\"", err.text ? err.text : "");
		inbox_event_free(inbox_event);
		return;
	}
	run->last_words = OUTPUT_ENDED;
}

static void tell_engine_down(struct scheduler *scheduler, struct job_run *run)
{
	if (!scheduler->engine_down || run->told_down || run->row->verdict != JOB_STATE_UNSPECIFIED)
		return;
	run->told_down = true;
	job_run_say(run, SEVERITY_WARNING, "Waiting for the container engine: %s", scheduler->engine_text);
}

/* The steps that one job can take now; its change waits in the pass. */
static void run_step(struct scheduler *scheduler, struct job_run *run)
{
	run->stepped_at_us = clock_mono_us(scheduler->reconciler.clock);
	sight_settle(run, run->stepped_at_us);
	if (run->stepped_at_us < run->hold_until_us || job_run_doubts(run))
		return;
	if (plan_tunes(run->plan)) {
		ask_last_words(scheduler, run);
		tuner_step(scheduler, run);
		return;
	}
	tell_engine_down(scheduler, run);
	faults_step(scheduler, run);
	restart_schedule(scheduler, run);
	if (job_run_is_sighted(run))
		sight_follow(scheduler, run);
	ask_last_words(scheduler, run);
	for (int i = 0; i < STEPS_AT_ONCE && !run->change_pending && run->hold_until_us <= run->stepped_at_us;
	     i++) {
		struct job_view view;
		enum step step;

		gateway_keep(&scheduler->reconciler, run);
		view = view_of(scheduler, run);
		step = reconcile_next(&view);
		if (step == STEP_NONE)
			break;
		log_event(LOG_DEBUG, "step", "job=%s step=%s", run->row->job_id, step_name(step));
		steps[step](&scheduler->reconciler, run);
	}
	if (!run->over_us && job_run_is_over(run)) {
		run->over_us = clock_wall_us(scheduler->reconciler.clock);
		tuner_wake(scheduler, run);
	}
	if ((run->note_count || run->differs) && !run->change_pending)
		pass_add(&scheduler->pass, run, run->row->state);
}

/* The notes become the change's service lines, new differences and restarts its assignment: they are stored with it or not
 * at all. */
static bool change_complete(struct planned_change *planned)
{
	struct job_run *run = planned->run;

	if (run->differs && run->assignment && !planned->assignment) {
		planned->assignment = restarts_write(run) ? assignment_to_text(run->assignment) : NULL;
		if (!planned->assignment)
			return false;
	}
	planned->change.error_message = planned->error_message;
	planned->change.verdict_message = planned->verdict_message;
	planned->change.assignment = planned->assignment;
	planned->change.leases = planned->leases;
	planned->change.lease_count = planned->lease_count;
	planned->change.journal = planned->journal;
	planned->change.journal_count = planned->journal_count;
	planned->change.line_count = run->note_count;
	planned->change.hits = run->hit_count ? &run->hits[run->hits_stored] : NULL;
	planned->change.hit_count = run->hit_count - run->hits_stored;
	planned->lines = job_run_lines(run, 0);
	planned->change.lines = planned->lines;
	return planned->lines || !run->note_count;
}

/* False when the row cannot be read now: no step may be taken from the old one. */
static bool row_refresh(struct scheduler *scheduler, struct job_run *run)
{
	AUTO(job) struct job *row = NULL;
	struct error err AUTO_ERROR = { 0 };

	if (job_get_by_id(scheduler->reconciler.store, run->row->id, &row, &err)) {
		log_event(LOG_ERROR, "job-unread", "job=%s error=\"%s\"", run->row->job_id,
			  err.text ? err.text : "");
		job_run_hold(run, clock_mono_us(scheduler->reconciler.clock) + RETRY_AFTER_STORE_US);
		return false;
	}
	if (run->row->state == JOB_QUEUED && row->state != JOB_QUEUED && scheduler->engine_listed)
		run->listed_in = run->sight; /* the engine has nothing of it */
	run->told_down = run->told_down && row->state == run->row->state;
	job_free(run->row);
	run->row = TAKE(row);
	run->stale = false;
	job_table_note(scheduler, run);
	tuner_wake(scheduler, run);
	queue_update(scheduler, run);
	if (run->counted && !run->row->started_us)
		queue_retract(scheduler, run);
	if (run->replica_count && run->replicas[0].key.attempt != run->row->attempt)
		job_run_rewind(run);
	return true;
}

/* The change is stored, or was refused because a client changed the job meanwhile: the row tells. */
static void change_settle(struct scheduler *scheduler, const struct planned_change *planned)
{
	struct job_run *run = planned->run;

	run->change_pending = false;
	run->stale = true;
	job_run_touch(run);
	run->differs = run->differs && !planned->change.applied;
	restarts_settle(run, planned->change.applied);
	if (!planned->change.applied)
		differences_untell(run->told, planned->told);
	/* A step that did not take place says nothing: it says it when it does. */
	job_run_notes_cut(run, planned->change.applied ? 0 : planned->note_mark);
	faults_settle(scheduler, run, planned->change.applied);
}

static void changes_refused(struct scheduler *scheduler, const struct error *err)
{
	int64_t until_us = clock_mono_us(scheduler->reconciler.clock) + RETRY_AFTER_STORE_US;
	struct error problem AUTO_ERROR = { 0 };

	log_event(LOG_ERROR, "changes-unstored", "count=%zu error=\"%s\"", scheduler->pass.count,
		  err->text ? err->text : "");
	for (size_t i = 0; i < scheduler->pass.count; i++) {
		change_settle(scheduler, &scheduler->pass.planned[i]);
		job_run_hold(scheduler->pass.planned[i].run, until_us);
	}
	if (room_leases_load(scheduler, &problem))
		log_event(LOG_ERROR, "leases-unread", "error=\"%s\"", problem.text ? problem.text : "");
}

static enum status changes_store(struct scheduler *scheduler, struct error *err)
{
	struct pass *pass = &scheduler->pass;
	struct job_change *changes = calloc(pass->count, sizeof(*changes));
	enum status rc = STATUS_OK;

	if (!changes)
		return error_no_memory(err);
	for (size_t i = 0; i < pass->count && !rc; i++) {
		if (!change_complete(&pass->planned[i]))
			rc = error_no_memory(err);
		changes[i] = pass->planned[i].change;
	}
	if (!rc)
		rc = job_apply(scheduler->reconciler.store, changes, pass->count, err);
	for (size_t i = 0; i < pass->count && !rc; i++)
		pass->planned[i].change.applied = changes[i].applied;
	free(changes);
	return rc;
}

static void changes_commit(struct scheduler *scheduler)
{
	struct error err AUTO_ERROR = { 0 };

	if (changes_store(scheduler, &err))
		changes_refused(scheduler, &err);
	else
		for (size_t i = 0; i < scheduler->pass.count; i++)
			change_settle(scheduler, &scheduler->pass.planned[i]);
	pass_clear(&scheduler->pass);
}

/* @other_us: 0: none. */
static int64_t earlier_us(int64_t at_us, int64_t other_us)
{
	return other_us && other_us < at_us ? other_us : at_us;
}

int64_t run_wake_at_us(const struct scheduler *scheduler, struct job_run *run)
{
	const struct clock *clock = scheduler->reconciler.clock;
	int64_t at_us = INT64_MAX;

	if (run->hold_until_us)
		return run->hold_until_us;
	if (job_run_doubts(run))
		return run->doubt_until_us;
	if (run->row->verdict == JOB_STATE_UNSPECIFIED)
		at_us = limit_us(run, clock_wall_us(clock), clock_mono_us(clock));
	/* One that has become due since the last step is not missed. One that a step has seen stays, for
	 * replicas that cannot be replaced yet, and is not waited for. */
	if (run->restart_at_us > run->stepped_at_us)
		at_us = earlier_us(at_us, run->restart_at_us);
	/* The step that this one calls for unsets it. */
	if (job_run_is_sighted(run))
		at_us = earlier_us(at_us, run->gateway.retry_at_us);
	at_us = earlier_us(at_us, run->look_at_us);
	return earlier_us(at_us, run->fault_at_us);
}

/* Steps of one run, from what the store says of it. One whose end is stored is gone then. */
static void run_serve(struct scheduler *scheduler, struct job_run *run, int64_t now_us)
{
	if (run->hold_until_us <= now_us) {
		run->hold_until_us = 0;
		if (!run->stale || row_refresh(scheduler, run)) {
			if (job_state_is_final(run->row->state)) {
				jobs_remove(scheduler, run);
				return;
			}
			scheduler->queue_stirred = scheduler->queue_stirred || run->queued;
			run_step(scheduler, run);
		}
	}
	wakes_set(&scheduler->wakes, run, run_wake_at_us(scheduler, run));
}

/* False: nothing is left to be done now. A job that is touched while the others are served is served in the next pass. */
static bool runs_pass(struct scheduler *scheduler)
{
	const int64_t now_us = clock_mono_us(scheduler->reconciler.clock);
	const struct job_run *last;
	bool more;

	wakes_expire(&scheduler->wakes, now_us);
	last = scheduler->wakes.last;
	for (more = scheduler->wakes.first; more;) {
		struct job_run *run = wakes_take(&scheduler->wakes);

		more = run != last;
		run_serve(scheduler, run, now_us);
	}
	jobs_arrive(scheduler);
	queue_serve(scheduler, now_us);
	if (!scheduler->pass.count)
		return scheduler->wakes.first;
	changes_commit(scheduler);
	return true;
}

void scheduler_reconcile(struct scheduler *scheduler)
{
	const struct reconciler *reconciler = &scheduler->reconciler;

	clock_watch_note(&scheduler->clock_watch, reconciler->clock);
	jobs_load_again(scheduler);
	while (runs_pass(scheduler))
		continue;
	spare_networks_remove(&scheduler->spares, reconciler->engine, scheduler->starting,
			      clock_mono_us(reconciler->clock));
}

int64_t scheduler_deadline_us(const struct scheduler *scheduler)
{
	const int64_t spares_us = spare_networks_deadline_us(&scheduler->spares, scheduler->starting);

	return earlier_us(
		earlier_us(earlier_us(wakes_first_us(&scheduler->wakes), spares_us), scheduler->load_at_us),
		scheduler->network_look.again_us);
}
