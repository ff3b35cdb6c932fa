/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/decide.h"

#include <string.h>

#include "daemon/base/memory.h"
#include "scheduler/create.h"
#include "scheduler/faults/faults.h"
#include "scheduler/gateway_keep.h"
#include "scheduler/job_run.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/placement.h"
#include "scheduler/reconciler.h"
#include "scheduler/replica_journal.h"
#include "store/logs/logs.h"

/* ---- a summary of the replicas ---- */

/* A summary of the job's replicas. */
struct glance {
	unsigned observed[OBSERVED_COUNT];
	bool missing; /* a replica has neither a container nor an end */
	bool unread;  /* a replica has output that is not stored yet */
};

static struct glance glance_at(const struct job_run *run)
{
	struct glance glance = { 0 };

	for (size_t i = 0; i < run->replica_count; i++) {
		const struct replica_run *replica = &run->replicas[i];

		glance.observed[replica->observed]++;
		glance.missing =
			glance.missing || (replica->observed == OBSERVED_NOTHING && replica->end == END_NONE);
		glance.unread = glance.unread || replica_is_unread(replica);
	}
	return glance;
}

/* Whether the job has left the queue, so that the engine may have containers or networks of it. */
static bool is_touched(const struct job_run *run)
{
	return run->row->started_us && run->work == WORK_REPLICAS;
}

bool job_run_rests(const struct job_run *run, int64_t mono_us)
{
	return mono_us < run->hold_until_us || job_run_doubts(run);
}

/* Whether it is unknown if the job ended before its limit, while the daemon or the engine was away. */
static bool end_is_open(const struct job_run *run)
{
	return !job_run_is_observed(run) && run->row->state == JOB_RUNNING && run->work == WORK_REPLICAS;
}

/* When the job's time limit passes. INT64_MAX: no limit applies now, because an end is still to be observed: one that
 * an injected fault ordered and that is in the log already, or one that may have come while the engine was away. Such
 * an end decides the outcome even if the limit has passed meanwhile. */
static int64_t limit_us(const struct job_run *run)
{
	return faults_await_end(run) || end_is_open(run) ? INT64_MAX : run->deadline_us;
}

/* When lost replicas are restarted: after a pause, because an engine that is stopping loses the other replicas as well,
 * and then the whole attempt is retried. INT64_MAX: no replica is lost. */
static int64_t restart_us(const struct job_run *run, const struct decision_context *context)
{
	if (!run->lost_at_us)
		return INT64_MAX;
	return run->lost_at_us +
	       (faults_caused_all_restarts(run) ? 0 : (int64_t)context->reconciler->retry_pause_ms * 1000);
}

static void earlier(int64_t *at_us, int64_t other_us)
{
	if (other_us < *at_us)
		*at_us = other_us;
}

int64_t decide_wake_us(const struct job_run *run, const struct decision_context *context)
{
	const int64_t restart_at_us = restart_us(run, context);
	int64_t at_us = INT64_MAX;

	if (context->mono_us < run->hold_until_us)
		return run->hold_until_us;
	if (job_run_doubts(run))
		return run->doubt_until_us;
	if (run->row->outcome == JOB_STATE_UNSPECIFIED)
		at_us = limit_us(run);
	/* After this time the restart waits for the removal of containers, which is reported by events. */
	if (restart_at_us > context->mono_us)
		earlier(&at_us, restart_at_us);
	if (job_run_is_observed(run) && run->gateway.retry_at_us > context->mono_us)
		earlier(&at_us, run->gateway.retry_at_us);
	if (run->fault_at_us)
		earlier(&at_us, run->fault_at_us);
	return at_us;
}

/* ---- steps until the job runs ---- */

static bool has_replicas(const struct job_run *run, unsigned at, enum role role)
{
	for (size_t i = 0; i < run->replica_count; i++)
		if (run->replicas[i].at == at && run->replicas[i].key.role == role)
			return true;
	return false;
}

static void decide_fetch(struct decision *decision, const struct job_run *run)
{
	if (run->network == NETWORK_NONE)
		decision_order(decision, ORDER_NETWORK, 0);
	for (unsigned role = 0; role < ROLE_COUNT; role++)
		for (unsigned at = 0; at < run->node_count; at++) {
			const struct job_node *on = &run->nodes[at];

			if (has_replicas(run, at, (enum role)role) && !on->image_ids[role] &&
			    !order_is_pending(&on->images, role)) {
				decision_order(decision, ORDER_IMAGE, role);
				decision->orders[decision->order_count - 1].how = at;
			}
		}
}

static bool has_images(const struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++)
		if (!run->nodes[run->replicas[i].at].image_ids[run->replicas[i].key.role])
			return false;
	return true;
}

/* Orders all containers before any is started: most bad requests fail here, before user code runs, and every replica's
 * name resolves when the first program starts. */
static void decide_create(struct decision *decision, const struct job_run *run)
{
	for (unsigned i = 0; i < run->replica_count; i++)
		if (run->replicas[i].observed == OBSERVED_NOTHING && run->replicas[i].end == END_NONE)
			decision_order(decision, ORDER_CREATE, i);
}

/* Logs, once per attempt, that the program is about to start. */
static void decide_announcement(struct decision *decision, const struct job_run *run, enum job_state to)
{
	if (run->row->announced == run->row->attempt && to == run->row->state)
		return;
	decision_change(decision, run, to);
	if (run->row->announced == run->row->attempt)
		return;
	decision->change.announces = true;
	notes_say_all(&decision->says, SEVERITY_INFO, dialect_of(run->plan)->starting);
}

/* Orders the start of all created replicas at once; the engine starts a few at a time. */
static void decide_start(struct decision *decision, const struct job_run *run)
{
	for (int i = 0; i < ROLE_COUNT; i++)
		for (unsigned at = 0; at < run->replica_count; at++)
			if (run->replicas[at].key.role == role_start_order[i] &&
			    run->replicas[at].observed == OBSERVED_CREATED)
				decision_order(decision, ORDER_START, at);
	decide_announcement(decision, run, run->row->state);
}

static void decide_running(struct decision *decision, const struct job_run *run,
			   const struct decision_context *context)
{
	if (run->row->state == JOB_RUNNING)
		return;
	decide_announcement(decision, run, JOB_RUNNING);
	if (!run->row->running_us)
		decision->change.running_us = context->wall_us;
	notes_say(&decision->says, SEVERITY_INFO, "Job is running.");
}

/* Creates and starts replicas until all are started: at the beginning of an attempt, and after a replica was lost. */
static void decide_starting(struct decision *decision, const struct job_run *run,
			    const struct decision_context *context)
{
	const struct glance glance = glance_at(run);
	const bool claimed = !context->awaits_devices;

	if (glance.missing && (!has_images(run) || run->network != NETWORK_READY))
		decide_fetch(decision, run);
	else if (glance.missing && claimed && !gateway_is_awaited(context->reconciler, run))
		decide_create(decision, run);
	else if (glance.missing || glance.observed[OBSERVED_CREATING])
		return;
	else if (glance.observed[OBSERVED_CREATED] && claimed)
		decide_start(decision, run);
	else if (!glance.observed[OBSERVED_CREATED] && !glance.observed[OBSERVED_STARTING])
		decide_running(decision, run, context);
}

/* ---- replicas that were lost ---- */

/* Whether the replica's container can be removed: all its output is stored, and no removal is pending. */
static bool is_removable(const struct replica_run *replica)
{
	return !order_is_pending(&replica->orders, ORDER_REMOVE) &&
	       (replica->observed == OBSERVED_CREATED ||
		(replica->observed == OBSERVED_EXITED && !replica_is_unread(replica)));
}

static void decide_renewal(struct decision *decision, const struct job_run *run,
			   const struct replica_run *replica)
{
	char name[REPLICA_NAME_MAX];

	note_restart(decision, replica);
	decision_change(decision, run, run->row->state);
	replica_sentence_name(run->plan, replica->key.role, replica->key.index, name);
	notes_say(&decision->says, SEVERITY_WARNING,
		  "The replica %s was lost and is restarted (%u of %d times).", name, replica->key.restart + 1,
		  REPLICA_RESTARTS_MAX);
}

/* Restarts lost replicas under the same names while the other replicas run on, as the service does when it moves a
 * machine. First the old container, which may still run if its node is back, is removed, and all its output is stored;
 * then the restart is stored and logged; only then is a new container made. False: nothing can be done for the lost
 * replicas now. */
static bool decide_restart(struct decision *decision, const struct job_run *run)
{
	for (unsigned i = 0; i < run->replica_count; i++) {
		const struct replica_run *replica = &run->replicas[i];

		if (!job_run_restarts(run, replica))
			continue;
		if (is_removable(replica) || (replica->observed == OBSERVED_RUNNING &&
					      !order_is_pending(&replica->orders, ORDER_REMOVE)))
			decision_order(decision, ORDER_REMOVE, i);
		else if (replica->observed == OBSERVED_NOTHING && !replica_is_unread(replica))
			decide_renewal(decision, run, replica);
	}
	return !decision_is_empty(decision);
}

/* ---- the outcome ---- */

/* Whether the job's program ran although the job never became RUNNING, for example because the daemon was down. Such a
 * job becomes RUNNING before its outcome, so that clients never see a job succeed, or fail by its own program, directly
 * from PREPARING. */
static bool ran_unseen(const struct job_run *run, enum job_state outcome)
{
	return run->row->state == JOB_PREPARING && (outcome == JOB_SUCCEEDED || job_run_began(run));
}

enum { EXIT_NO_PROGRAM = 127 };

/* Logs an explanation for replicas that ended with EXIT_NO_PROGRAM: usually the image has no python, or its entry point
 * took the arguments. Choice: the service logs no such line. */
static void report_missing_programs(struct decision *decision, const struct job_run *run,
				    const struct decision_context *context)
{
	for (size_t i = 0; i < run->replica_count; i++) {
		const struct replica_run *replica = &run->replicas[i];
		AUTO(string) char *line = NULL;
		char name[REPLICA_NAME_MAX];

		if (replica->end != END_EXIT || replica->exit_code != EXIT_NO_PROGRAM || replica->ordered)
			continue;
		line = replica_command_line(context->reconciler, run, &replica->key);
		if (!line)
			continue;
		replica_sentence_name(run->plan, replica->key.role, replica->key.index, name);
		notes_say(&decision->says, SEVERITY_WARNING,
			  "Status %d says that the replica %s found no such program. It was started as: %s",
			  EXIT_NO_PROGRAM, name, line);
	}
}

/* Decides the outcome by the exits of the replicas, before anything is removed. False: they decide nothing. */
static bool decide_outcome(struct decision *decision, const struct job_run *run,
			   const struct decision_context *context)
{
	const struct job_outcome outcome = job_run_outcome(run);

	if (outcome.outcome == JOB_STATE_UNSPECIFIED)
		return false;
	if (ran_unseen(run, outcome.outcome))
		decide_running(decision, run, context);
	else
		decision_change(decision, run, run->row->state);
	decision->change.decides = true;
	decision->change.outcome = outcome.outcome;
	decision->change.outcome_code = outcome.code;
	decision->outcome_message = outcome.message;
	note_blame(decision, run, outcome.outcome);
	if (outcome.outcome == JOB_PREPARING)
		notes_say(&decision->says, SEVERITY_WARNING, "%sThe job is tried again (attempt %u).",
			  outcome.message, run->row->attempt + 1);
	if (outcome.outcome == JOB_FAILED)
		report_missing_programs(decision, run, context);
	if (outcome.outcome == JOB_SUCCEEDED)
		notes_say_all(&decision->says, SEVERITY_INFO, dialect_of(run->plan)->ending);
	return true;
}

void decide_expiry(struct decision *decision, const struct job_run *run)
{
	const struct dialect *dialect = dialect_of(run->plan);
	const bool ran = run->row->running_us != 0;
	const int64_t passed_us = ran ? run->plan->max_running_us : run->plan->max_wait_us;

	decision_change(decision, run, JOB_CANCELLING);
	decision->change.decides = true;
	decision->change.outcome = JOB_CANCELLED;
	decision->change.outcome_code = STATUS_CANCELLED;
	decision->outcome_message = memory_printf(
		"The job was cancelled because it %s longer than its %s of %.15gs.", ran ? "ran" : "waited",
		ran ? dialect->running_limit : dialect->wait_limit, (double)passed_us / 1e6);
}

static void decide_wanted(struct decision *decision, const struct job_run *run,
			  const struct decision_context *context)
{
	const bool waits = job_run_waits(run), observed = job_run_is_observed(run);

	/* An exit that was observed decides the outcome before a time limit that passed meanwhile. */
	if ((waits || observed) && decide_outcome(decision, run, context))
		return;
	if (limit_us(run) <= context->mono_us)
		decide_expiry(decision, run);
	else if (!waits && observed &&
		 (restart_us(run, context) > context->mono_us || !decide_restart(decision, run)))
		decide_starting(decision, run, context);
}

/* ---- the end of a job ---- */

/* Choice: after the master has ended the others get only a short grace; a cancelled job gets its full grace. */
enum { GRACE_AFTER_END_S = 5 };

static void decide_stop(struct decision *decision, const struct job_run *run,
			const struct decision_context *context)
{
	unsigned grace_s = context->reconciler->stop_grace_s;

	if (run->row->outcome != JOB_CANCELLED && grace_s > GRACE_AFTER_END_S)
		grace_s = GRACE_AFTER_END_S;
	for (unsigned i = 0; i < run->replica_count; i++) {
		const struct replica_run *replica = &run->replicas[i];

		if ((replica->observed == OBSERVED_RUNNING || replica->observed == OBSERVED_STARTING) &&
		    !order_is_pending(&replica->orders, ORDER_STOP)) {
			decision_order(decision, ORDER_STOP, i);
			decision->orders[decision->order_count - 1].how = grace_s;
		} else if (is_removable(replica)) {
			decision_order(decision, ORDER_REMOVE, i);
		}
	}
}

static bool is_explained(const struct job *row)
{
	return row->outcome == JOB_SUCCEEDED || row->outcome == JOB_PREPARING || row->error_message;
}

/* The first replica that failed the job by its own end; NULL: none did. */
static const struct replica_run *culprit(const struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++)
		if (run->replicas[i].end == END_EXIT && run->replicas[i].journaled == JOURNALED_BLAME)
			return &run->replicas[i];
	return NULL;
}

/* Stores the message of a failed or cancelled job once all its output can be read. */
static void decide_explanation(struct decision *decision, const struct job_run *run)
{
	decision_change(decision, run, run->row->state);
	decision->change.error_code = run->row->outcome_code;
	decision->explains = run->row->outcome == JOB_FAILED;
	decision->culprit = decision->explains ? culprit(run) : NULL;
	decision->error_message = memory_strdup(run->row->outcome_message ? run->row->outcome_message : "");
	decision->change.reason_bytes = strlen(decision->error_message);
	if (run->row->started_us)
		notes_say_all(&decision->says, SEVERITY_INFO, dialect_of(run->plan)->ending);
}

/* Whether the attempt was lost because of the engine. A stopping engine still accepts requests for a while, and kills
 * the containers that it starts then. */
static bool was_lost(const struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++)
		if ((run->replicas[i].end == END_LOST && !run->replicas[i].ordered) ||
		    run->replicas[i].end == END_BROKEN)
			return true;
	return false;
}

/* Begins the next attempt, under the same names, once nothing is left of the last one. If a node is lost, the job gives
 * its resources back, and waits in the queue until it is admitted again. */
static void decide_retry(struct decision *decision, const struct job_run *run,
			 const struct decision_context *context)
{
	const int64_t pause_us = (int64_t)context->reconciler->retry_pause_ms * 1000;

	decision_change(decision, run, JOB_PREPARING);
	decision->change.retries = true;
	decision->change.returns_leases = job_run_lacks_node(run);
	if (was_lost(run))
		decision->hold_until_us = context->mono_us + (pause_us << (run->row->attempt - 1));
}

static const char *last_words(enum job_state outcome)
{
	switch (outcome) {
	case JOB_SUCCEEDED:
		return "Job completed successfully.";
	case JOB_CANCELLED:
		return "Job cancelled.";
	default:
		return "Job failed.";
	}
}

/* The last service lines of a job, written before its final state, so that they can be read once the end is seen. */
static void decide_close(struct decision *decision, const struct job_run *run)
{
	decision_change(decision, run, run->row->state);
	decision->change.tears_down = true;
	if (run->row->started_us)
		notes_say_all(&decision->says, SEVERITY_INFO, dialect_of(run->plan)->ended);
	notes_say(&decision->says, SEVERITY_INFO, "%s", last_words(run->row->outcome));
}

/* Stops containers and stores their output, until none is left. The job's network is given back, for the next job or
 * for removal, only when no program of the job runs any more. */
static void decide_stopping(struct decision *decision, const struct job_run *run,
			    const struct decision_context *context)
{
	const struct glance glance = glance_at(run);
	const bool again = run->row->outcome == JOB_PREPARING;

	decide_stop(decision, run, context);
	if (decision->order_count || glance.observed[OBSERVED_CREATING] ||
	    glance.observed[OBSERVED_STARTING] || glance.observed[OBSERVED_RUNNING] || glance.unread)
		return;
	if (!is_explained(run->row))
		decide_explanation(decision, run);
	else if (run->network != NETWORK_NONE && !again)
		decision_order(decision, ORDER_LEAVE, 0);
	else if (glance.observed[OBSERVED_NOTHING] < run->replica_count)
		return;
	else if (again)
		decide_retry(decision, run, context);
	else
		decide_close(decision, run);
}

static void decide_closing(struct decision *decision, const struct job_run *run,
			   const struct decision_context *context)
{
	if (run->last_words == OUTPUT_OPEN)
		decision_order(decision, ORDER_LAST_WORDS, 0);
	if (is_touched(run) && run->network != NETWORK_NONE)
		decision_order(decision, ORDER_LEAVE, 0);
	if (decision->order_count || run->last_words != OUTPUT_STORED)
		return;
	decision_change(decision, run, run->row->outcome);
	/* The replicas ended at over_us; after that the job waited only for its cleanup. A later end could overlap with the
	 * start of the next trial. */
	decision->change.ended_us = run->over_us ? run->over_us : context->wall_us;
}

void decide_end(struct decision *decision, const struct job_run *run, const struct decision_context *context)
{
	if (is_touched(run) && !job_run_is_observed(run))
		return;
	if (run->row->torn_down)
		decide_closing(decision, run, context);
	else if (is_touched(run))
		decide_stopping(decision, run, context);
	else if (is_explained(run->row))
		decide_close(decision, run);
	else
		decide_explanation(decision, run);
}

/* ---- log lines and orders that do not depend on the job's state ---- */

static void report_engine_loss(struct decision *decision, const struct job_run *run,
			       const struct decision_context *context)
{
	if (!context->engine_away || run->row->outcome != JOB_STATE_UNSPECIFIED ||
	    (run->logged_loss == context->engine_loss && run->logged_loss_in == run->row->state))
		return;
	decision->logged_loss = context->engine_loss;
	notes_say(&decision->says, SEVERITY_WARNING, "Waiting for the container engine%s%s: %s",
		  context->lost_node ? " of the node " : "", context->lost_node ? context->lost_node : "",
		  context->engine_away);
}

/* Orders the reading of each replica's output that is not being read yet. */
static void decide_following(struct decision *decision, const struct job_run *run)
{
	for (unsigned i = 0; i < run->replica_count; i++) {
		const struct replica_run *replica = &run->replicas[i];

		if (job_node_is_observed(&run->nodes[replica->at]) && replica->output == OUTPUT_OPEN &&
		    !order_is_pending(&replica->orders, ORDER_FOLLOW) &&
		    (replica->observed == OBSERVED_RUNNING || replica->observed == OBSERVED_EXITED ||
		     order_was_given(&replica->orders, ORDER_FOLLOW)))
			decision_order(decision, ORDER_FOLLOW, i);
	}
}

struct decision job_decide(const struct job_run *run, const struct decision_context *context)
{
	struct decision decision = { .wake_at_us = decide_wake_us(run, context) };

	if (job_run_rests(run, context->mono_us))
		return decision;
	report_engine_loss(&decision, run, context);
	note_replicas(&decision, run);
	decide_following(&decision, run);
	gateway_decide(&decision, run, context);
	faults_decide(&decision, run, context);
	if (decision_is_empty(&decision) && run->row->outcome == JOB_STATE_UNSPECIFIED)
		decide_wanted(&decision, run, context);
	else if (decision_is_empty(&decision))
		decide_end(&decision, run, context);
	if (!decision.stores &&
	    (decision.says.count || decision.journal_count || run->notes.count || run->differs))
		decision_change(&decision, run, run->row->state);
	return decision;
}
