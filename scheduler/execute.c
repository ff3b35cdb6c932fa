/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/execute.h"

#include <stdlib.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/decision.h"
#include "scheduler/faults/faults.h"
#include "scheduler/gcs_keep.h"
#include "scheduler/job_entry.h"
#include "scheduler/job_run.h"
#include "scheduler/observe_networks.h"
#include "scheduler/order_give.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/reported_deviations.h"
#include "scheduler/room.h"
#include "scheduler/scheduler_state.h"
#include "scheduler/search/search_execute.h"
#include "store/jobs/journal.h"
#include "store/logs/logs.h"

enum {
	RETRY_AFTER_STORE_US = 1000000, /* when a commit failed */
	TAIL_LINES = 200,               /* the last lines of stderr, which are searched for a traceback */
};

void decisions_add(struct scheduler *scheduler, struct job_run *run, struct decision *decision)
{
	struct decisions *decisions = &scheduler->decisions;

	if (decision_is_empty(decision)) {
		decision_deinit(decision);
		return;
	}
	decision->run = run;
	decisions->items = memory_resize(decisions->items, decisions->count + 1, sizeof(*decisions->items));
	decisions->items[decisions->count++] = *decision;
}

void decisions_free(struct scheduler *scheduler)
{
	struct decisions *decisions = &scheduler->decisions;

	for (size_t i = 0; i < decisions->count; i++)
		decision_deinit(&decisions->items[i]);
	free(decisions->items);
	*decisions = (struct decisions){ 0 };
}

/* ---- the change ---- */

/* The end of the stderr of the replica to blame. NULL: unknown. */
static char *stderr_tail(const struct reconciler *reconciler, const struct decision *decision)
{
	const struct job_run *run = decision->run;
	struct error err AUTO_ERROR = { 0 };
	char task[REPLICA_NAME_MAX];
	char *tail = NULL;

	if (!decision->culprit)
		return NULL;
	replica_task_name(run->plan, decision->culprit->key.role, decision->culprit->key.index, task);
	if (log_stderr_tail(reconciler->store, job_run_owner(run), run->plan->trial, task, TAIL_LINES, &tail,
			    &err))
		log_event(LOG_WARNING, "stderr-tail-unread", "job=%s task=%s error=\"%s\"", run->row->job_id,
			  task, err.text ? err.text : "");
	return tail;
}

static void explanation_complete(const struct reconciler *reconciler, struct decision *decision)
{
	const struct job_run *run = decision->run;
	AUTO(string) char *reason = decision->error_message;
	AUTO(string) char *tail = stderr_tail(reconciler, decision);
	struct notes ending = decision->says;

	decision->error_message = error_message_text(reason, tail, reconciler->project_number,
						     run->plan->job_id, &decision->change.reason_bytes);
	decision->says = (struct notes){ 0 };
	notes_say(&decision->says, SEVERITY_ERROR, "%s", decision->error_message);
	for (size_t i = 0; i < ending.count; i++)
		notes_say(&decision->says, ending.items[i].severity, "%s", ending.items[i].text);
	notes_clear(&ending);
}

/* Completes the change with all that belongs into the same commit: it is stored as a whole or not at all. */
static void change_complete(const struct reconciler *reconciler, struct decision *decision)
{
	struct job_run *run = decision->run;
	struct job_change *change = &decision->change;
	const struct assignment *assignment = decision->assignment;
	struct assignment given_up;
	struct service_line *lines;

	if (decision->explains)
		explanation_complete(reconciler, decision);
	if (!assignment && run->differs)
		assignment = run->assignment;
	if (change->returns_leases && run->assignment) {
		given_up = *run->assignment;
		given_up.is_given_up = true;
		given_up.placed = (char *)"A node of the job is lost, and the job waits for another one.";
		assignment = &given_up;
	}
	lines = memory_calloc(run->notes.count + decision->says.count + 1, sizeof(*lines));
	notes_write(&decision->says, notes_write(&run->notes, lines));
	change->lines = lines;
	change->line_count = run->notes.count + decision->says.count;
	change->error_message = decision->error_message;
	change->outcome_message = decision->outcome_message;
	change->assignment = assignment ? assignment_to_text(assignment) : NULL;
	change->leases = decision->leases;
	change->lease_count = decision->lease_count;
	change->journal = decision->journal;
	change->journal_count = decision->journal_count;
}

static void change_discard(struct job_change *change)
{
	free((char *)change->assignment);
	free((struct service_line *)change->lines);
	change->assignment = NULL;
	change->lines = NULL;
}

static void run_admitted(struct scheduler *scheduler, struct decision *decision)
{
	struct job_run *run = decision->run;

	assignment_free(run->assignment); /* the assignment of a place that the job has given up, or NULL */
	run->assignment = TAKE(decision->assignment);
	room_take(scheduler, run);
	room_lease(run);
	network_enter(run);
	deviations_mark_reported(run->reported, decision->reported);
}

/* Applies the effects of a decision that is stored now. After every commit, also of log lines or of applied faults alone,
 * the run is marked as stale, so that the job is not admitted before its row is read again: otherwise the queue, which
 * is served later in the same pass, could admit a job that a stored stockout holds. */
static void decision_on_commit(struct scheduler *scheduler, struct decision *decision)
{
	const struct job_change *change = &decision->change;
	struct job_run *run = decision->run;

	run->stale = true;
	job_run_touch(run);
	faults_on_commit(scheduler, run, change->applied);
	if (!change->applied)
		return;
	if (decision->assignment)
		run_admitted(scheduler, decision);
	run->differs = run->differs && !change->assignment;
	notes_clear(&run->notes);
	for (size_t i = 0; i < decision->journal_count; i++) {
		const struct journal_row *row = &decision->journal[i];
		struct replica_run *replica = job_run_replica(run, (enum role)row->role, row->index);

		if (row->kind == JOURNAL_RESTARTED)
			replica_renew(run, replica);
		else
			replica->journaled = row->kind == JOURNAL_MADE    ? JOURNALED_MADE
					     : row->kind == JOURNAL_ENDED ? JOURNALED_END
									  : JOURNALED_BLAME;
	}
	if (decision->logged_wait_us) {
		run->entry->logged_wait = decision->logged_wait;
		run->entry->logged_wait_us[decision->logged_wait] = decision->logged_wait_us;
	}
	if (decision->logged_loss) {
		run->logged_loss = decision->logged_loss;
		run->logged_loss_in = change->to;
	}
	job_run_hold(run, decision->hold_until_us);
	if (change->decides)
		log_event(LOG_INFO, "job-decided", "project=%s job=%s outcome=%s attempt=%u",
			  run->row->project, run->row->job_id, job_state_name(change->outcome),
			  run->row->attempt);
	if (job_state_is_final(change->to))
		log_event(LOG_INFO, "job-ended", "project=%s job=%s state=%s", run->row->project,
			  run->row->job_id, job_state_name(change->to));
}

static enum status changes_commit(struct scheduler *scheduler, struct decision *decisions, size_t count,
				  struct error *err)
{
	struct job_change *changes = memory_calloc(count + 1, sizeof(*changes));
	size_t stored = 0, at = 0;
	enum status rc = STATUS_OK;

	for (size_t i = 0; i < count; i++)
		if (decisions[i].stores)
			changes[stored++] = decisions[i].change;
	if (stored)
		rc = job_apply(scheduler->reconciler.store, changes, stored, err);
	for (size_t i = 0; i < count; i++)
		if (decisions[i].stores)
			decisions[i].change.applied = changes[at++].applied;
	free(changes);
	return rc;
}

static void change_refused(struct scheduler *scheduler, const struct decision *decision,
			   const struct error *err)
{
	const struct job_run *run = decision->run;

	log_event(LOG_ERROR, "change-unstored", "project=%s job=%s error=\"%s\"", run->row->project,
		  run->row->job_id, err->text ? err->text : "");
	job_run_hold(decision->run, clock_mono_us(scheduler->reconciler.clock) + RETRY_AFTER_STORE_US);
}

/* Stores the changes of all decisions. A change that cannot be stored does not keep the others from being stored. */
static void changes_store(struct scheduler *scheduler)
{
	struct decision *items = scheduler->decisions.items;
	const size_t count = scheduler->decisions.count;
	struct error all AUTO_ERROR = { 0 };
	bool refused = false;

	for (size_t i = 0; i < count; i++)
		if (items[i].stores)
			change_complete(&scheduler->reconciler, &items[i]);
	if (changes_commit(scheduler, items, count, &all))
		for (size_t i = 0; i < count; i++) {
			struct error err AUTO_ERROR = { 0 };

			if (!items[i].stores || !changes_commit(scheduler, &items[i], 1, &err))
				continue;
			change_refused(scheduler, &items[i], &err);
			refused = true;
		}
	for (size_t i = 0; i < count; i++) {
		if (!items[i].stores)
			continue;
		decision_on_commit(scheduler, &items[i]);
		change_discard(&items[i].change);
	}
	if (refused && room_leases_load(scheduler, &all))
		log_event(LOG_ERROR, "leases-unread", "error=\"%s\"", all.text ? all.text : "");
}

static bool starts_some(const struct decision *decision, unsigned at)
{
	for (size_t i = 0; i < decision->order_count; i++) {
		const struct order *order = &decision->orders[i];

		if ((order->verb == ORDER_CREATE || order->verb == ORDER_START) &&
		    decision->run->replicas[order->of].at == at)
			return true;
	}
	return false;
}

/* Finds the directory of Cloud Storage as files, on each node where replicas are about to be made or started. */
static void files_find(struct scheduler *scheduler, const struct decision *decision)
{
	struct job_run *run = decision->run;

	for (unsigned at = 0; at < run->node_count; at++)
		run->nodes[at].gcs = starts_some(decision, at)
					     ? gcs_keep(&scheduler->reconciler, run, run->nodes[at].node)
					     : NULL;
}

void decisions_execute(struct scheduler *scheduler)
{
	struct decisions *decisions = &scheduler->decisions;

	changes_store(scheduler);
	for (size_t i = 0; i < decisions->count; i++) {
		struct decision *decision = &decisions->items[i];
		const bool stands = !decision->stores || decision->change.applied;

		if (stands)
			files_find(scheduler, decision);
		for (size_t at = 0; stands && at < decision->order_count; at++)
			order_give_out(scheduler, decision->run, &decision->orders[at]);
		if (decision->run->work != WORK_TRIALS || !stands || search_execute(scheduler, decision))
			job_run_touch(decision->run);
	}
	decisions_free(scheduler);
}
