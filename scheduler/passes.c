/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/passes.h"

#include <string.h>

#include "daemon/base/log.h"
#include "scheduler/decide.h"
#include "scheduler/faults/faults.h"
#include "scheduler/gateway_keep.h"
#include "scheduler/job_entry.h"
#include "scheduler/job_run.h"
#include "scheduler/job_table.h"
#include "scheduler/jobs.h"
#include "scheduler/node_losses.h"
#include "scheduler/observe.h"
#include "scheduler/observe_networks.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/queue.h"
#include "scheduler/room.h"
#include "scheduler/scheduler_state.h"
#include "scheduler/search/tuner.h"

enum { READ_AGAIN_US = 1000000 }; /* pause before a row that could not be read is read again */

/* ---- kinds of jobs ---- */

/* Updates observed states by the time that has passed, and by stored faults. */
static void replicas_look(struct scheduler *scheduler, struct job_run *run,
			  const struct decision_context *context)
{
	if (job_run_rests(run, context->mono_us))
		return;
	faults_look(scheduler, run);
	run->lost_at_us = !job_run_restarts_any(run) ? 0
			  : run->lost_at_us          ? run->lost_at_us
						     : context->mono_us;
	if (!run->over_us && job_run_is_over(run)) {
		run->over_us = context->wall_us;
		tuner_wake(scheduler, run);
	}
}

static struct decision replicas_serve(struct scheduler *scheduler, struct job_run *run,
				      const struct decision_context *context)
{
	replicas_look(scheduler, run, context);
	return job_decide(run, context);
}

/* For each kind of work: a function that updates the observed state of a job and decides its next step. */
static struct decision (*const job_serve[])(struct scheduler *scheduler, struct job_run *run,
					    const struct decision_context *context) = {
	[WORK_REPLICAS] = replicas_serve,
	[WORK_TRIALS] = search_serve,
};

/* ---- passes ---- */

/* The sum of the losses of all of the job's nodes: it changes with each loss. */
static unsigned losses_of(const struct job_run *run)
{
	unsigned losses = 0;

	for (size_t i = 0; i < run->node_count; i++)
		losses += run->nodes[i].node->loss;
	return losses;
}

/* The lost node that the job waits for: one of its own or, while the job may still be placed on any node, the first node
 * if all nodes are away. NULL: none. */
static const struct node *lost_node(const struct scheduler *scheduler, const struct job_run *run)
{
	for (size_t i = 0; run->counted && i < run->node_count; i++)
		if (run->nodes[i].node->state == ENGINE_AWAY)
			return run->nodes[i].node;
	if (run->counted)
		return NULL;
	return nodes_are_away(scheduler) ? scheduler->nodes : NULL;
}

static void run_decide(struct scheduler *scheduler, struct job_run *run)
{
	const struct clock *clock = scheduler->reconciler.clock;
	const struct node *lost = lost_node(scheduler, run);
	const struct decision_context context = {
		.reconciler = &scheduler->reconciler,
		.mono_us = clock_mono_us(clock), /* read before the wall clock: see step_clock_move() */
		.wall_us = clock_wall_us(clock),
		.engine_away = lost ? lost->text : NULL,
		.lost_node = lost && run->counted ? node_shown(lost) : NULL,
		.engine_loss = losses_of(run),
		.awaits_devices = !room_devices_are_claimed(run),
	};
	struct decision decision;

	observe_lost_nodes(run);
	observe_end_of_doubt(run, context.mono_us);
	job_run_deadline_us(run, context.wall_us, context.mono_us);
	decision = job_serve[run->work](scheduler, run, &context);
	wakes_set(&scheduler->wakes, run->entry, decision.wake_at_us);
	decisions_add(scheduler, run, &decision);
}

/* Whether the stored assignment was given up since the run's row was read, which had @before. */
static bool is_given_up_since(const struct job *row, const char *before)
{
	AUTO(assignment) struct assignment *assignment = NULL;

	/* Only a second assignment can have been given up. */
	return before && row->assignment && strcmp(before, row->assignment) != 0 &&
	       !assignment_from_text(row->assignment, &assignment, NULL) && assignment->is_given_up;
}

/* Gives back all that the job has on its nodes; it waits in the queue from now on. Its network is removed, because
 * containers of a lost node may still be in it. */
static void run_give_up(struct scheduler *scheduler, struct job_run *run)
{
	gateway_leave(&scheduler->reconciler, run);
	pooled_network_leave(&run->nodes->node->pool, run, clock_mono_us(scheduler->reconciler.clock));
	room_return(scheduler, run);
	job_run_leave_nodes(run, scheduler->nodes);
	job_run_assign(run);
	memset(run->entry->logged_wait_us, 0, sizeof(run->entry->logged_wait_us)); /* it waits for a second time */
}

/* Takes up a job that was admitted by a commit, though the answer to the commit was lost. */
static void run_take_up(struct scheduler *scheduler, struct job_run *run)
{
	job_run_assign(run);
	if (!job_run_is_placed(run))
		return;
	room_take(scheduler, run);
	network_enter(run);
}

/* False when the row cannot be read now: nothing may be decided from the old one. */
static bool row_refresh(struct scheduler *scheduler, struct job_run *run)
{
	const bool was_queued = run->entry->queued;
	AUTO(job) struct job *row = NULL;
	struct error err AUTO_ERROR = { 0 };
	bool left_queue, gives_up;

	if (job_get_by_id(scheduler->reconciler.store, run->row->id, &row, &err)) {
		log_event(LOG_ERROR, "job-unread", "job=%s error=\"%s\"", run->row->job_id,
			  err.text ? err.text : "");
		job_run_hold(run, clock_mono_us(scheduler->reconciler.clock) + READ_AGAIN_US);
		return false;
	}
	left_queue = run->row->state == JOB_QUEUED && row->state != JOB_QUEUED;
	gives_up = run->counted && is_given_up_since(row, run->row->assignment);
	job_free(run->row);
	run->row = TAKE(row);
	run->stale = false;
	job_table_note(scheduler, run);
	tuner_wake(scheduler, run);
	if (gives_up)
		run_give_up(scheduler, run);
	else if (!run->counted && run->row->started_us && run->work == WORK_REPLICAS)
		run_take_up(scheduler, run);
	queue_update(scheduler, run);
	left_queue = left_queue || (was_queued && !run->entry->queued);
	for (struct job_node *on = run->nodes; left_queue && on < run->nodes + run->node_count; on++)
		if (on->node->state == ENGINE_LISTED)
			on->listed_in = on->observation; /* the engine has nothing of it */
	if (run->replica_count && run->replicas[0].key.attempt != run->row->attempt)
		job_run_begin_attempt(run);
	return true;
}

/* Takes the next step of one job, by its row. If the row has a final state, the run is freed. */
static void entry_serve(struct scheduler *scheduler, struct job_entry *entry, int64_t now_us)
{
	struct job_run *run;

	if (!jobs_open(scheduler, entry))
		return;
	run = entry->run;
	if (run->hold_until_us > now_us) {
		wakes_set(&scheduler->wakes, entry, run->hold_until_us);
		return;
	}
	run->hold_until_us = 0;
	if (run->stale && !row_refresh(scheduler, run)) {
		wakes_set(&scheduler->wakes, entry, run->hold_until_us);
		return;
	}
	if (job_state_is_final(run->row->state)) {
		jobs_remove(scheduler, run);
		return;
	}
	scheduler->queue_stirred = scheduler->queue_stirred || entry->queued;
	run_decide(scheduler, run);
}

/* Serves all touched jobs once; a job touched meanwhile is served in the next pass. False: nothing is left to be done
 * now. */
static bool runs_pass(struct scheduler *scheduler)
{
	const int64_t now_us = clock_mono_us(scheduler->reconciler.clock);
	const struct job_entry *last;
	bool more;

	wakes_expire(&scheduler->wakes, now_us);
	last = scheduler->wakes.last;
	for (more = scheduler->wakes.first; more;) {
		struct job_entry *entry = wakes_take(&scheduler->wakes);

		more = entry != last;
		entry_serve(scheduler, entry, now_us);
	}
	decisions_execute(scheduler);
	jobs_arrive(scheduler);
	queue_serve(scheduler, now_us);
	decisions_execute(scheduler);
	return scheduler->wakes.first;
}

void scheduler_reconcile(struct scheduler *scheduler)
{
	const struct reconciler *reconciler = &scheduler->reconciler;
	int64_t now_us;

	clock_watch_note(&scheduler->clock_watch, reconciler->clock);
	node_losses_look(scheduler);
	jobs_load_again(scheduler);
	while (runs_pass(scheduler))
		continue;
	now_us = clock_mono_us(reconciler->clock);
	jobs_rest(scheduler);
	for (struct node *node = scheduler->nodes; node < scheduler->nodes + scheduler->node_count; node++) {
		network_pool_remove(&node->pool, scheduler->starting, now_us);
		if (network_pool_look(&node->pool, now_us))
			listing_want(node, now_us);
		common_orders_give(node);
	}
}

/* @other_us: 0: none. */
static int64_t earlier_us(int64_t at_us, int64_t other_us)
{
	return other_us && other_us < at_us ? other_us : at_us;
}

int64_t scheduler_deadline_us(const struct scheduler *scheduler)
{
	int64_t at_us = earlier_us(wakes_first_us(&scheduler->wakes), scheduler->load_at_us);

	at_us = earlier_us(at_us, scheduler->claims_again_us);
	at_us = earlier_us(at_us, scheduler->hear_until_us);
	at_us = earlier_us(at_us, node_losses_deadline_us(scheduler));
	for (const struct node *node = scheduler->nodes; node < scheduler->nodes + scheduler->node_count;
	     node++) {
		at_us = earlier_us(at_us, network_pool_deadline_us(&node->pool, scheduler->starting));
		at_us = earlier_us(at_us, node->common.list_at_us);
		at_us = earlier_us(at_us, node->look.again_us);
	}
	return at_us;
}
