/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/observe.h"

#include <stdlib.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/faults/faults.h"
#include "scheduler/job_table.h"
#include "scheduler/order_give.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/scheduler_state.h"
#include "store/logs/logs.h"

enum {
	HOLD_AFTER_FAILURE_US = 1000000,
	SIGNAL_EXIT_KILL = 137,
	SIGNAL_EXIT_TERM = 143,
	ENGINE_LOST_EXIT =
		255,        /* the code that an engine reports for containers that died with the machine */
	DOUBT_US = 2000000, /* an engine that stops kills its containers before its connections */
};

/* A stopping dockerd gives its containers 15 s before it kills them; 5 s are to spare. */
#define ENGINE_STOP_NS ((int64_t)20 * 1000000000)
/* How long the loss of an engine may go unnoticed. */
#define LOSS_NOTICED_NS ((int64_t)1 * 1000000000)

void observe_hold(struct scheduler *scheduler, struct job_run *run)
{
	job_run_hold(run, clock_mono_us(scheduler->reconciler.clock) + HOLD_AFTER_FAILURE_US);
}

void observe_lost_answer(struct job_run *run, struct job_node *on)
{
	struct scheduler *scheduler = on->node->scheduler;

	on->observation++;
	if (on == run->nodes)
		run->network = NETWORK_NONE;
	observe_hold(scheduler, run);
	listing_want(on->node, clock_mono_us(scheduler->reconciler.clock));
}

struct replica_run *observed_replica(struct scheduler *scheduler, const struct replica_key *key,
				     struct job_run **ret_run)
{
	struct job_run *run = scheduler_find(scheduler, key->job);
	struct replica_run *replica;

	*ret_run = run;
	if (!run || run->row->attempt != key->attempt)
		return NULL;
	replica = job_run_replica(run, key->role, key->index);
	return replica && replica->key.restart == key->restart ? replica : NULL;
}

static bool exit_is_kill(const struct replica_status *status)
{
	return !status->out_of_memory &&
	       (status->exit_code == SIGNAL_EXIT_KILL || status->exit_code == SIGNAL_EXIT_TERM ||
		status->exit_code == ENGINE_LOST_EXIT);
}

/* Whether an event found in the first listing happened while the engine was away, or up to @before_ns before. If the
 * clock was set in between, times cannot be compared: true. */
static bool is_of_loss(const struct node *node, const struct replica_status *status, int64_t before_ns)
{
	return node->clock_set_in_loss ||
	       (status->finished_ns >= node->lost_ns - before_ns && status->finished_ns <= node->back_ns);
}

/* Whether a kill found in the first listing counts as caused by the engine: nothing proves another cause, and it happened
 * around the time when the engine was away. If this daemon was away itself, every such kill counts: the machine may have
 * crashed. */
static bool kill_is_loss(const struct node *node, const struct replica_status *status)
{
	return !status->witnessed && (!node->lost_ns || is_of_loss(node, status, ENGINE_STOP_NS));
}

/* Reports that output may be missing. If an engine dies, no process reads the programs' pipes any more, and their
 * contents are lost when the programs end. An engine that was only unreachable has read on. */
static void report_missing_lines(struct job_run *run, const struct replica_run *replica,
				 const struct replica_status *status)
{
	const struct job_node *on = &run->nodes[replica->at];
	char name[REPLICA_NAME_MAX];

	if (job_node_is_observed(on) || status->witnessed || !on->node->lost_ns ||
	    (replica->observed != OBSERVED_STARTING && replica->observed != OBSERVED_RUNNING) ||
	    !is_of_loss(on->node, status, LOSS_NOTICED_NS))
		return;
	replica_sentence_name(run->plan, replica->key.role, replica->key.index, name);
	notes_say(
		&run->notes, SEVERITY_WARNING,
		"The container engine was away when the replica %s ended: the last lines that it printed may be "
		"missing.",
		name);
}

/* Whether the replica ended unobserved, after its job should have been cancelled. Then the cancellation decides the
 * outcome. */
static bool exit_is_late(struct job_run *run, const struct replica_run *replica,
			 const struct replica_status *status)
{
	const struct job_node *on = &run->nodes[replica->at];
	const struct clock *clock = on->node->scheduler->reconciler.clock;
	const int64_t now_us = clock_mono_us(clock);
	const int64_t ago_us = (clock_outside_ns(clock) - status->finished_ns) / 1000;

	return !job_node_is_observed(on) && run->row->state == JOB_RUNNING && !on->node->clock_set_in_loss &&
	       now_us - ago_us > job_run_deadline_us(run, clock_wall_us(clock), now_us);
}

/* How the replica ended. The exit status alone proves nothing, because a program may exit with the status of any signal.
 * END_NONE: not certain yet. */
static enum replica_end exit_classify(const struct job_run *run, const struct replica_run *replica,
				      const struct replica_status *status)
{
	if (!exit_is_kill(status) || status->witnessed || order_was_given(&replica->orders, ORDER_STOP) ||
	    run->row->outcome != JOB_STATE_UNSPECIFIED)
		return END_EXIT;
	/* This daemon did not send the signal: the engine is stopping, perhaps long before its connections end. */
	if (status->exit_code == SIGNAL_EXIT_TERM && status->signalled)
		return END_LOST;
	if (!job_node_is_observed(&run->nodes[replica->at]))
		return kill_is_loss(job_run_node_of(run, replica), status) ? END_LOST : END_EXIT;
	return status->exit_code == ENGINE_LOST_EXIT ? END_EXIT : END_NONE;
}

void observe_exit(struct scheduler *scheduler, struct job_run *run, struct replica_run *replica,
		  const struct replica_status *status)
{
	const bool doubted = replica->in_doubt;

	report_missing_lines(run, replica, status);
	replica->observed = OBSERVED_EXITED;
	if (status->finished_ns > 0)
		replica->ended_us =
			clock_from_outside_ns(scheduler->reconciler.clock, status->finished_ns) / 1000;
	if (!replica->ordered) { /* otherwise an injected fault has ended it, and has set these values itself */
		replica->exit_code = status->exit_code;
		replica->out_of_memory = status->out_of_memory;
		replica->of_itself = status->witnessed;
	}
	if (replica->end != END_NONE || faults_end(run, replica) || exit_is_late(run, replica, status) ||
	    (doubted && !status->witnessed && !status->signalled))
		return;
	replica->end = exit_classify(run, replica, status);
	replica->in_doubt = replica->end == END_NONE;
	if (replica->in_doubt && !doubted)
		run->doubt_until_us = clock_mono_us(scheduler->reconciler.clock) + DOUBT_US;
}

void observe_end_of_doubt(struct job_run *run, int64_t now_us)
{
	const bool stays = job_run_doubts(run) && now_us < run->doubt_until_us;
	bool doubted = false;

	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];

		if (replica->in_doubt && !stays) {
			replica->end = END_EXIT;
			replica->in_doubt = false;
		}
		doubted = doubted || replica->in_doubt;
	}
	if (!doubted)
		run->doubt_until_us = 0;
}

/* The container is gone. If this daemon has not ordered that, another program has removed the container, and a replica
 * that was started and has not ended counts as lost. A kill with an unknown cause (in_doubt) was part of the
 * removal. */
void observe_removal(struct replica_run *replica)
{
	const bool asked = order_was_given(&replica->orders, ORDER_REMOVE);

	if (!asked && replica->end == END_NONE && replica->observed >= OBSERVED_STARTING)
		replica->end = END_LOST;
	if (asked && replica->output == OUTPUT_OPEN && order_was_given(&replica->orders, ORDER_FOLLOW))
		replica->output = OUTPUT_STORED;
	replica->observed = OBSERVED_NOTHING;
	replica->in_doubt = false;
}

/* The replica cannot be reached any more. Output that was not read is lost, unless the node is back before the replica of the
 * next attempt runs: log_pump_line(). */
static bool replica_lose(const struct job_run *run, struct replica_run *replica, const char *node)
{
	const bool ends = replica->end == END_NONE && run->row->outcome == JOB_STATE_UNSPECIFIED;

	if (ends) {
		replica->end = END_LOST;
		free(replica->refusal);
		replica->refusal = memory_printf("its node %s does not answer", node);
	}
	replica->observed = OBSERVED_NOTHING;
	replica->output = OUTPUT_STORED;
	replica->in_doubt = false;
	return ends;
}

void observe_lost_nodes(struct job_run *run)
{
	for (unsigned at = 0; run->counted && at < run->node_count; at++) {
		struct job_node *on = &run->nodes[at];
		unsigned lost = 0;

		on->is_lost = on->node->is_lost;
		if (!on->is_lost || job_node_is_observed(on))
			continue;
		for (size_t i = 0; i < run->replica_count; i++)
			if (run->replicas[i].at == at)
				lost += replica_lose(run, &run->replicas[i], on->node->name);
		on->listed_in = on->observation;
		if (lost)
			notes_say(&run->notes, SEVERITY_WARNING,
				  "The node %s does not answer (%s)%s: the replicas there are lost.",
				  on->node->name, on->node->text,
				  on->node->gone_us ? ", and its swarm reports it as down or drained" : "");
	}
}

void replica_refuse(struct replica_run *replica, enum replica_end end, const char *text)
{
	if (replica->end != END_NONE)
		return;
	replica->end = end;
	free(replica->refusal);
	replica->refusal = memory_strdup(text);
}

/* How a refused start counts. END_BROKEN: the fault is inside the engine, not in the job. For example, a killed engine
 * forgets starts that its runtime still knows, and refuses these names for ever; the next attempt has other names. */
enum replica_end refusal_kind(enum status status)
{
	return status == STATUS_INTERNAL || status == STATUS_ALREADY_EXISTS || status == STATUS_UNKNOWN
		       ? END_BROKEN
		       : END_REFUSED;
}

/* Choice: a job with a paused replica continues when the replica does; its limits count on meanwhile. */
void observe_pause(struct job_run *run, struct replica_run *replica, bool paused)
{
	char name[REPLICA_NAME_MAX];

	replica->pause_doubted_us = 0;
	if (replica->paused == paused)
		return;
	replica->paused = paused;
	replica_sentence_name(run->plan, replica->key.role, replica->key.index, name);
	if (paused)
		notes_say(
			&run->notes, SEVERITY_WARNING,
			"The container of the replica %s was paused from outside; it goes on when it is unpaused "
			"(docker unpause).",
			name);
	else
		notes_say(&run->notes, SEVERITY_INFO, "The container of the replica %s goes on.", name);
}
