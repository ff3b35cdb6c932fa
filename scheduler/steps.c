/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/create.h"
#include "scheduler/gateway_keep.h"
#include "scheduler/gcs_keep.h"
#include "scheduler/job_run.h"
#include "scheduler/pass.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/difference.h"
#include "scheduler/plan/placement.h"
#include "scheduler/reconciler.h"
#include "scheduler/restarts.h"
#include "scheduler/spare_network.h"
#include "scheduler/told_differences.h"
#include "store/jobs/journal.h"
#include "store/logs/logs.h"

static void tell_differences(struct job_run *run, json_t **ret_told)
{
	json_t *all = run->assignment->differences;
	json_t *fresh = run->told ? differences_untold(run->told, all) : NULL;
	AUTO(string) char *line = differences_line(run->plan->differences, fresh ? fresh : all);

	if (line)
		job_run_say(run, SEVERITY_NOTICE, "%s", line);
	*ret_told = fresh;
}

/* What holds for every job of this daemon. False when memory ran out. */
static bool surroundings_differ(const struct reconciler *reconciler, json_t *differences)
{
	if (reconciler->adc &&
	    !difference_add(
		    differences, DONE_OTHERWISE, "adc-given", NULL,
		    "The replicas are given the developer's own credentials (--adc), not those of the "
		    "job's service account."))
		return false;
	return !reconciler->cut_off ||
	       difference_add(differences, DONE_OTHERWISE, "cut-off", NULL,
			      "The replicas are cut off from the outside (--egress none).");
}

void step_admit(struct reconciler *reconciler, struct job_run *run)
{
	spare_network_take(reconciler->spares, run);
	AUTO(string)
	char *text = surroundings_differ(reconciler, run->assignment->differences)
			     ? assignment_to_text(run->assignment)
			     : NULL;
	struct error err AUTO_ERROR = { 0 };
	struct planned_change *planned;
	struct lease *leases = NULL;
	size_t count = 0;

	if (!text || assignment_leases(run->assignment, run->row->id, &leases, &count, &err))
		return;
	planned = pass_add(reconciler->pass, run, JOB_PREPARING);
	if (!planned) {
		leases_free(leases, count);
		return;
	}
	planned->assignment = TAKE(text);
	planned->leases = leases;
	planned->lease_count = count;
	planned->change.started_us = clock_wall_us(reconciler->clock);
	tell_differences(run, &planned->told);
	job_run_say_all(run, SEVERITY_INFO, dialect_of(run->plan)->admitted);
}

void step_fetch(struct reconciler *reconciler, struct job_run *run)
{
	struct engine *engine = reconciler->engine;

	if (run->network == NETWORK_NONE) {
		run->network = NETWORK_CREATING;
		engine->ops->create_network(engine, job_run_network(run), (unsigned)run->replica_count);
	}
	for (int role = 0; role < ROLE_COUNT; role++) {
		if (!run->plan->pools[role].count || run->image_ids[role] ||
		    order_is_pending(&run->images, (unsigned)role))
			continue;
		order_give(&run->images, (unsigned)role);
		engine->ops->ensure_image(engine, run->plan->pools[role].image);
	}
}

/* A change to @to which tells the log, once in an attempt, that the program is about to start. NULL when there
 * is nothing to change. */
static struct planned_change *start_announce(struct reconciler *reconciler, struct job_run *run,
					     enum job_state to)
{
	struct planned_change *planned;

	if (run->row->announced == run->row->attempt && to == run->row->state)
		return NULL;
	planned = pass_add(reconciler->pass, run, to);
	if (!planned || run->row->announced == run->row->attempt)
		return planned;
	planned->change.announces = true;
	job_run_say_all(run, SEVERITY_INFO, dialect_of(run->plan)->starting);
	return planned;
}

static void role_start(struct reconciler *reconciler, struct job_run *run, enum role role)
{
	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];

		if (replica->key.role != role || replica->seen != SEEN_CREATED)
			continue;
		replica->seen = SEEN_STARTING;
		reconciler->engine->ops->start_replica(reconciler->engine, &replica->key);
	}
}

void step_start(struct reconciler *reconciler, struct job_run *run)
{
	gcs_keep(reconciler, run);
	for (int i = 0; i < ROLE_COUNT; i++)
		role_start(reconciler, run, role_start_order[i]);
	start_announce(reconciler, run, run->row->state);
}

/* The change to RUNNING, told in the log; NULL when there is none to be made. */
static struct planned_change *running_declare(struct reconciler *reconciler, struct job_run *run)
{
	struct planned_change *planned = start_announce(reconciler, run, JOB_RUNNING);

	if (!planned)
		return NULL;
	if (!run->row->running_us)
		planned->change.running_us = clock_wall_us(reconciler->clock);
	job_run_say(run, SEVERITY_INFO, "Job is running.");
	return planned;
}

void step_declare_running(struct reconciler *reconciler, struct job_run *run)
{
	running_declare(reconciler, run);
}

bool replica_is_replaceable(const struct replica_run *replica)
{
	return replica->seen == SEEN_NOTHING && !replica_is_unread(replica);
}

static void renewal_tell(struct job_run *run, const struct replica_key *key)
{
	char name[REPLICA_NAME_MAX];

	replica_sentence_name(run->plan, key->role, key->index, name);
	job_run_say(run, SEVERITY_WARNING, "The replica %s was lost and is restarted (%u of %d times).", name,
		    key->restart + 1, REPLICA_RESTARTS_MAX);
}

static struct journal_row end_row(const struct replica_run *replica, unsigned flags)
{
	return (struct journal_row){
		.time_us = replica->ended_us,
		.kind = JOURNAL_ENDED,
		.attempt = replica->key.attempt,
		.of_replica = true,
		.role = (int)replica->key.role,
		.index = replica->key.index,
		.restart = replica->key.restart,
		.cause = (int)replica->end,
		.number = replica->exit_code,
		.flags = flags | (replica->out_of_memory ? JOURNAL_OUT_OF_MEMORY : 0) |
			 (replica->of_itself ? JOURNAL_OF_ITSELF : 0) |
			 (replica->ordered ? JOURNAL_ORDERED : 0),
	};
}

static void renewal_note(struct planned_change *planned, const struct replica_run *replica)
{
	struct journal_row row = end_row(replica, JOURNAL_BLAMED);

	planned_change_note(planned, &row);
	row = (struct journal_row){ .kind = JOURNAL_RESTARTED,
				    .attempt = row.attempt,
				    .of_replica = true,
				    .role = row.role,
				    .index = row.index,
				    .restart = row.restart + 1 };
	planned_change_note(planned, &row);
}

/* Those that can be replaced now, in one change. */
static void renewals_plan(struct reconciler *reconciler, struct job_run *run)
{
	struct planned_change *planned = NULL;

	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];

		if (!job_run_restarts(run, replica) || !replica_is_replaceable(replica))
			continue;
		if (!planned)
			planned = pass_add(reconciler->pass, run, run->row->state);
		if (!planned)
			return;
		renewal_note(planned, replica);
		replica->renews = true;
		restarts_change(run);
		renewal_tell(run, &replica->key);
	}
}

void step_restart(struct reconciler *reconciler, struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];

		if (!job_run_restarts(run, replica) || !replica_is_removable(replica))
			continue;
		order_give(&replica->orders, ORDER_REMOVE);
		reconciler->engine->ops->remove_replica(reconciler->engine, &replica->key);
	}
	renewals_plan(reconciler, run);
}

/* Its program ran, though it ended before all of its replicas were seen to: while no daemon looked, say. Clients see no
 * job succeed that never ran, and none fail by its own program before it did. */
static bool ran_unseen(const struct job_run *run, const struct judgement *judgement)
{
	return run->row->state == JOB_PREPARING &&
	       (judgement->verdict == JOB_SUCCEEDED || job_run_began(run));
}

enum { EXIT_NO_PROGRAM = 127 };

/* Users ask for it: what is missing is mostly an image's python, or arguments that its own entry point has swallowed.
 * Choice: the service says nothing of the kind. */
static void tell_missing_programs(const struct reconciler *reconciler, struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++) {
		const struct replica_run *replica = &run->replicas[i];
		AUTO(string) char *line = NULL;
		char name[REPLICA_NAME_MAX];

		if (replica->end != END_EXIT || replica->exit_code != EXIT_NO_PROGRAM || replica->ordered)
			continue;
		line = replica_command_line(reconciler, run, &replica->key);
		if (!line)
			continue;
		replica_sentence_name(run->plan, replica->key.role, replica->key.index, name);
		job_run_say(run, SEVERITY_WARNING,
			    "Status %d says that the replica %s found no such program. It was started as: %s",
			    EXIT_NO_PROGRAM, name, line);
	}
}

/* What is known of the ends of replicas when they, and not a fault of the job itself, decide it. */
static void ends_note(struct planned_change *planned, const struct job_run *run, enum job_state verdict)
{
	for (size_t i = 0; !run->fault && i < run->replica_count; i++) {
		const struct replica_run *replica = &run->replicas[i];
		const bool bad = end_is_bad(replica->end, replica->exit_code);
		const bool blamed = verdict == JOB_SUCCEEDED ? replica->key.role == ROLE_MASTER && !bad : bad;
		const struct journal_row row = end_row(replica, blamed ? JOURNAL_BLAMED : 0);

		if (replica->end != END_NONE && !job_run_restarts(run, replica))
			planned_change_note(planned, &row);
	}
}

void step_judge(struct reconciler *reconciler, struct job_run *run)
{
	struct judgement judgement = job_run_judge(run);
	struct planned_change *planned = ran_unseen(run, &judgement)
						 ? running_declare(reconciler, run)
						 : pass_add(reconciler->pass, run, run->row->state);

	if (!planned) {
		free(judgement.message);
		return;
	}
	planned->change.decides = true;
	planned->change.verdict = judgement.verdict;
	planned->change.verdict_code = judgement.code;
	planned->verdict_message = judgement.message;
	ends_note(planned, run, judgement.verdict);
	if (judgement.verdict == JOB_PREPARING)
		job_run_say(run, SEVERITY_WARNING, "%sThe job is tried again (attempt %u).",
			    judgement.message, run->row->attempt + 1);
	if (judgement.verdict == JOB_FAILED)
		tell_missing_programs(reconciler, run);
	if (judgement.verdict == JOB_SUCCEEDED)
		job_run_say_all(run, SEVERITY_INFO, dialect_of(run->plan)->ending);
	log_event(LOG_INFO, "job-decided", "project=%s job=%s verdict=%s attempt=%u", run->row->project,
		  run->row->job_id, job_state_name(judgement.verdict), run->row->attempt);
}

static bool is_limited(const struct job_run *run)
{
	return run->plan && !(plan_tunes(run->plan) && run->plan->limits_each_trial);
}

/* From what the wall clock says now. A start that lies ahead of it, since the clock was put back, was just now. */
static int64_t deadline_reckon(const struct job_run *run, int64_t wall_us, int64_t mono_us)
{
	int64_t from = run->row->running_us ? run->row->running_us : run->row->created_us;
	int64_t limit = !is_limited(run)       ? 0
			: run->row->running_us ? run->plan->max_running_us
					       : run->plan->max_wait_us;

	if (from > wall_us)
		from = wall_us;
	return limit ? mono_us + (from + limit - wall_us) : INT64_MAX;
}

int64_t job_deadline_us(struct job_run *run, int64_t wall_us, int64_t mono_us)
{
	if (!run->deadline_us || run->deadline_of_us != run->row->running_us) {
		run->deadline_us = deadline_reckon(run, wall_us, mono_us);
		run->deadline_of_us = run->row->running_us;
	}
	return run->deadline_us;
}

void step_expire(struct reconciler *reconciler, struct job_run *run)
{
	struct planned_change *planned = pass_add(reconciler->pass, run, JOB_CANCELLING);
	bool ran = run->row->running_us != 0;
	const struct dialect *dialect = dialect_of(run->plan);
	int64_t limit_us = ran ? run->plan->max_running_us : run->plan->max_wait_us;

	if (!planned)
		return;
	planned->change.decides = true;
	planned->change.verdict = JOB_CANCELLED;
	planned->change.verdict_code = STATUS_CANCELLED;
	if (asprintf(&planned->verdict_message,
		     "The job was cancelled because it %s longer than its %s of %.15gs.",
		     ran ? "ran" : "waited", ran ? dialect->running_limit : dialect->wait_limit,
		     (double)limit_us / 1e6) < 0) {
		memory_note_failure();
		planned->verdict_message = NULL;
	}
}

/* Choice: after the master has ended nobody waits for the others; a cancelled job gets its full grace. */
enum { GRACE_AFTER_END_S = 5 };

bool replica_is_stoppable(const struct replica_run *replica)
{
	return (replica->seen == SEEN_RUNNING || replica->seen == SEEN_STARTING) &&
	       !order_is_pending(&replica->orders, ORDER_STOP);
}

void step_stop(struct reconciler *reconciler, struct job_run *run)
{
	unsigned grace_s = reconciler->stop_grace_s;

	if (run->row->verdict != JOB_CANCELLED && grace_s > GRACE_AFTER_END_S)
		grace_s = GRACE_AFTER_END_S;
	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];

		if (!replica_is_stoppable(replica))
			continue;
		order_give(&replica->orders, ORDER_STOP);
		reconciler->engine->ops->stop_replica(reconciler->engine, &replica->key, grace_s);
	}
}

bool replica_is_removable(const struct replica_run *replica)
{
	if (order_is_pending(&replica->orders, ORDER_REMOVE))
		return false;
	return replica->seen == SEEN_CREATED || (replica->seen == SEEN_EXITED && !replica_is_unread(replica));
}

void step_remove(struct reconciler *reconciler, struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++) {
		if (!replica_is_removable(&run->replicas[i]))
			continue;
		order_give(&run->replicas[i].orders, ORDER_REMOVE);
		reconciler->engine->ops->remove_replica(reconciler->engine, &run->replicas[i].key);
	}
}

enum { TAIL_LINES = 200 }; /* in which a traceback may begin */

/* The first replica that failed the job by its own end; NULL: none did. */
static const struct journal_row *culprit(const struct journal *journal, unsigned attempt)
{
	for (size_t i = 0; i < journal->count; i++) {
		const struct journal_row *row = &journal->rows[i];

		if (row->kind == JOURNAL_ENDED && row->attempt == attempt && row->cause == END_EXIT &&
		    (row->flags & JOURNAL_BLAMED))
			return row;
	}
	return NULL;
}

/* The end of what that replica wrote to stderr. NULL: it is not known. */
static char *stderr_tail(struct reconciler *reconciler, const struct job_run *run)
{
	struct journal journal AUTO_JOURNAL = { 0 };
	struct error err AUTO_ERROR = { 0 };
	char task[REPLICA_NAME_MAX] = "";
	char *tail = NULL;
	enum status rc = journal_read(reconciler->store, run->row->id, &journal, &err);
	const struct journal_row *of = rc ? NULL : culprit(&journal, run->row->attempt);

	if (of) {
		replica_task_name(run->plan, (enum role)of->role, of->index, task);
		rc = log_stderr_tail(reconciler->store, job_run_owner(run), run->plan->trial, task,
				     TAIL_LINES, &tail, &err);
	}
	if (rc)
		log_event(LOG_WARNING, "stderr-tail-unread", "job=%s task=%s error=\"%s\"", run->row->job_id,
			  task, err.text ? err.text : "");
	return tail;
}

void step_explain(struct reconciler *reconciler, struct job_run *run)
{
	struct planned_change *planned = pass_add(reconciler->pass, run, run->row->state);
	const char *reason = run->row->verdict_message ? run->row->verdict_message : "";
	AUTO(string) char *tail = NULL;

	if (!planned)
		return;
	planned->change.error_code = run->row->verdict_code;
	if (run->row->verdict == JOB_FAILED) {
		tail = stderr_tail(reconciler, run);
		planned->error_message =
			error_message_text(reason, tail, reconciler->project_number, run->plan->job_id);
		job_run_say(run, SEVERITY_ERROR, "%s",
			    planned->error_message ? planned->error_message : reason);
	} else {
		planned->error_message = memory_strdup(reason);
	}
	if (run->row->started_us)
		job_run_say_all(run, SEVERITY_INFO, dialect_of(run->plan)->ending);
}

/* Whether the engine is to blame. One that stops still takes requests for a while: what is started in it then is
 * killed as well. */
static bool was_lost(const struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++)
		if ((run->replicas[i].end == END_LOST && !run->replicas[i].ordered) ||
		    run->replicas[i].end == END_BROKEN)
			return true;
	return false;
}

void step_retry(struct reconciler *reconciler, struct job_run *run)
{
	struct planned_change *planned = pass_add(reconciler->pass, run, JOB_PREPARING);
	int64_t pause_us = (int64_t)reconciler->retry_pause_ms * 1000 << (run->row->attempt - 1);

	if (!planned)
		return;
	planned->change.retries = true;
	if (was_lost(run))
		job_run_hold(run, clock_mono_us(reconciler->clock) + pause_us);
}

static const char *last_words(enum job_state verdict)
{
	switch (verdict) {
	case JOB_SUCCEEDED:
		return "Job completed successfully.";
	case JOB_CANCELLED:
		return "Job cancelled.";
	default:
		return "Job failed.";
	}
}

void step_close(struct reconciler *reconciler, struct job_run *run)
{
	struct planned_change *planned = pass_add(reconciler->pass, run, run->row->state);

	if (!planned)
		return;
	planned->change.tears_down = true;
	if (run->row->started_us)
		job_run_say_all(run, SEVERITY_INFO, dialect_of(run->plan)->ended);
	job_run_say(run, SEVERITY_INFO, "%s", last_words(run->row->verdict));
}

void step_leave(struct reconciler *reconciler, struct job_run *run)
{
	gateway_leave(reconciler, run);
	spare_network_leave(reconciler->spares, reconciler->engine, run, clock_mono_us(reconciler->clock));
}

void step_finish(struct reconciler *reconciler, struct job_run *run)
{
	struct planned_change *planned = pass_add(reconciler->pass, run, run->row->verdict);

	if (!planned)
		return;
	/* What was waited for since was the engine's clearing; a trial that follows may have begun meanwhile. */
	planned->change.ended_us = run->over_us ? run->over_us : clock_wall_us(reconciler->clock);
	log_event(LOG_INFO, "job-ended", "project=%s job=%s state=%s", run->row->project, run->row->job_id,
		  job_state_name(run->row->verdict));
}
