/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/job_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/plan/deviation.h"
#include "scheduler/plan/placement.h"
#include "store/jobs/faults.h"
#include "store/jobs/journal.h"
#include "store/logs/logs.h"

/* Gives a job that has no place yet its first node. */
static void nodes_begin(struct job_run *run)
{
	run->nodes = memory_calloc(1, sizeof(*run->nodes));
	run->nodes->observation = 1;
	run->node_count = 1;
}

struct job_run *job_run_new(struct job *row)
{
	struct job_run *run = memory_calloc(1, sizeof(*run));

	run->row = row;
	nodes_begin(run);
	return run;
}

static void replicas_free(struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++)
		free(run->replicas[i].refusal);
	free(run->replicas);
	run->replicas = NULL;
	run->replica_count = 0;
}

static void nodes_free(struct job_run *run)
{
	for (size_t i = 0; i < run->node_count; i++)
		for (int role = 0; role < ROLE_COUNT; role++)
			free(run->nodes[i].image_ids[role]);
	free(run->nodes);
}

void job_run_leave_nodes(struct job_run *run, struct node *first)
{
	nodes_free(run);
	nodes_begin(run);
	run->nodes->node = first;
	run->nodes->listed_in = run->nodes->observation; /* the node has nothing of the job: no listing is needed */
	for (size_t i = 0; i < run->replica_count; i++)
		run->replicas[i].at = 0;
	run->network = NETWORK_NONE;
	run->left_network_in = 0;
}

bool job_run_lacks_node(const struct job_run *run)
{
	for (size_t i = 0; i < run->node_count; i++)
		if (run->nodes[i].is_lost)
			return true;
	return false;
}

bool job_run_waits(const struct job_run *run)
{
	const bool is_given_up = run->assignment && run->assignment->is_given_up;

	return run->work == WORK_REPLICAS &&
	       (run->row->state == JOB_QUEUED || (run->row->state == JOB_PREPARING && is_given_up));
}

bool job_run_is_placed(const struct job_run *run)
{
	return !job_run_waits(run) && !(run->assignment && run->assignment->is_given_up);
}

void job_run_free(struct job_run *run)
{
	if (!run)
		return;
	replicas_free(run);
	notes_clear(&run->notes);
	nodes_free(run);
	free(run->fault);
	json_decref(run->reported);
	for (size_t i = 0; i < run->injection_count; i++)
		free(run->injections[i].line);
	free(run->injections);
	assignment_free(run->assignment);
	plan_free(run->plan);
	job_free(run->row);
	free(run);
}

static struct replica_run replica_new(const struct replica_key *key, unsigned at)
{
	return (struct replica_run){ .key = *key,
				     .at = at,
				     .journaled = key->restart ? JOURNALED_NOTHING : JOURNALED_MADE };
}

static void replicas_make(struct job_run *run)
{
	const size_t count = run->work == WORK_TRIALS ? 0 : plan_replica_count(run->plan);
	struct replica_run *replicas = memory_calloc(count + 1, sizeof(*replicas));
	size_t at = 0;

	for (int role = 0; count && role < ROLE_COUNT; role++)
		for (unsigned i = 0; i < run->plan->pools[role].count; i++, at++)
			replicas[at] = replica_new(&(struct replica_key){ .job = run->row->id,
									  .attempt = run->row->attempt,
									  .role = (enum role)role,
									  .index = i },
						   at < run->replica_count ? run->replicas[at].at : 0);
	replicas_free(run);
	run->replicas = replicas;
	run->replica_count = count;
}

void job_run_assign(struct job_run *run)
{
	struct error err AUTO_ERROR = { 0 };

	assignment_free(run->assignment);
	run->assignment = NULL;
	if (!run->row->assignment || run->fault ||
	    !assignment_from_text(run->row->assignment, &run->assignment, &err))
		return;
	log_event(LOG_ERROR, "assignment-unread", "job=%s error=\"%s\"", run->row->job_id,
		  err.text ? err.text : "");
	run->fault = memory_strdup("Internal error: the job's assignment cannot be read.");
	run->fault_code = STATUS_INTERNAL;
}

static void fact_read(struct job_run *run, const struct journal_row *row)
{
	struct replica_run *replica = row->of_replica && row->attempt == run->row->attempt
					      ? job_run_replica(run, (enum role)row->role, row->index)
					      : NULL;

	if (!replica)
		return;
	if (row->kind == JOURNAL_RESTARTED) {
		replica->key.restart = row->restart;
		*replica = replica_new(&replica->key, replica->at);
	} else if (row->kind == JOURNAL_MADE) {
		replica->journaled = JOURNALED_MADE;
	} else if (row->kind == JOURNAL_ENDED) {
		replica->journaled = row->flags & JOURNAL_BLAMED ? JOURNALED_BLAME : JOURNALED_END;
		replica->end = (enum replica_end)row->cause;
		replica->exit_code = (int)row->number;
		replica->out_of_memory = row->flags & JOURNAL_OUT_OF_MEMORY;
		replica->of_itself = row->flags & JOURNAL_OF_ITSELF;
		replica->ordered = row->flags & JOURNAL_ORDERED;
		replica->ended_us = row->time_us;
	}
}

void job_run_unfold(struct job_run *run, const struct journal *journal)
{
	struct error err AUTO_ERROR = { 0 };

	if (plan_from_text(run->row->plan, &run->plan, &err)) {
		log_event(LOG_ERROR, "plan-unread", "job=%s error=\"%s\"", run->row->job_id,
			  err.text ? err.text : "");
		run->plan = plan_new();
		run->fault = memory_strdup("Internal error: the job's plan cannot be read.");
		run->fault_code = STATUS_INTERNAL;
	}
	run->work = plan_tunes(run->plan) ? WORK_TRIALS : WORK_REPLICAS;
	job_run_assign(run);
	replicas_make(run);
	for (size_t i = 0; i < journal->count; i++)
		fact_read(run, &journal->rows[i]);
}

void job_run_begin_attempt(struct job_run *run)
{
	/* No replica knows the gateway's port any more. An open gateway keeps its port, and is given the new
	 * attempt. */
	run->gateway = (struct gateway_run){
		.port = run->gateway.observed == GATEWAY_OPEN ? run->gateway.place.port : 0
	};
	replicas_make(run);
}

void replica_renew(struct job_run *run, struct replica_run *replica)
{
	struct replica_key key = replica->key;

	key.restart++;
	log_event(LOG_INFO, "replica-restarted", "project=%s job=%s replica=%s-%u restart=%u",
		  run->row->project, run->row->job_id, role_name(key.role), key.index, key.restart);
	free(replica->refusal);
	*replica = replica_new(&key, replica->at);
}

struct job_node *job_run_on(const struct job_run *run, const struct node *node)
{
	for (size_t i = 0; i < run->node_count; i++)
		if (run->nodes[i].node == node)
			return &run->nodes[i];
	return NULL;
}

unsigned job_run_join(struct job_run *run, struct node *node)
{
	const struct job_node *on = job_run_on(run, node);

	if (on)
		return (unsigned)(on - run->nodes);
	run->nodes = memory_resize(run->nodes, run->node_count + 1, sizeof(*run->nodes));
	run->nodes[run->node_count] = (struct job_node){ .node = node, .observation = 1 };
	return (unsigned)run->node_count++;
}

struct node *job_run_node_of(const struct job_run *run, const struct replica_run *replica)
{
	return run->nodes[replica->at].node;
}

/* Forgets the observed state of the network and the gateway; to be called for the first node, which has the
 * network. */
static void network_invalidate(struct job_run *run)
{
	run->network = NETWORK_NONE;
	if (run->gateway.observed == GATEWAY_OPEN)
		run->gateway = (struct gateway_run){ .port = run->gateway.place.port };
}

void job_run_invalidate(struct job_run *run, struct job_node *on)
{
	bool doubted = false;

	on->observation++;
	on->images.epoch++;
	if (on == run->nodes)
		network_invalidate(run);
	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];

		if (&run->nodes[replica->at] != on) {
			doubted = doubted || replica->in_doubt;
			continue;
		}
		if (replica->in_doubt)
			replica->end = END_LOST;
		replica->in_doubt = false;
		replica->orders.epoch++;
	}
	if (!doubted)
		run->doubt_until_us = 0;
}

bool job_node_is_observed(const struct job_node *on)
{
	return on->listed_in == on->observation;
}

bool job_run_is_observed(const struct job_run *run)
{
	for (size_t i = 0; i < run->node_count; i++)
		if (!job_node_is_observed(&run->nodes[i]))
			return false;
	return true;
}

void job_run_hold(struct job_run *run, int64_t until_us)
{
	if (until_us > run->hold_until_us)
		run->hold_until_us = until_us;
}

bool job_run_doubts(const struct job_run *run)
{
	return run->doubt_until_us && run->row->outcome == JOB_STATE_UNSPECIFIED;
}

bool replica_is_made(const struct replica_run *replica)
{
	return replica->observed != OBSERVED_NOTHING && replica->observed != OBSERVED_CREATING;
}

int64_t job_run_owner(const struct job_run *run)
{
	return run->row->parent ? run->row->parent : run->row->id;
}

bool replica_is_unread(const struct replica_run *replica)
{
	return (order_was_given(&replica->orders, ORDER_FOLLOW) || replica->observed == OBSERVED_EXITED) &&
	       replica->output != OUTPUT_STORED;
}

static bool replica_is_over(const struct replica_run *replica)
{
	const bool ended = replica->observed == OBSERVED_NOTHING || replica->observed == OBSERVED_CREATED ||
			   replica->observed == OBSERVED_EXITED;

	return ended && !replica_is_unread(replica);
}

bool job_run_is_over(const struct job_run *run)
{
	const struct job *row = run->row;

	if (job_state_is_final(row->state))
		return true;
	if (!job_state_is_final(row->outcome) || (row->started_us && !job_run_is_observed(run)))
		return false;
	if (row->outcome != JOB_SUCCEEDED && !row->error_message)
		return false;
	for (size_t i = 0; i < run->replica_count; i++)
		if (!replica_is_over(&run->replicas[i]))
			return false;
	return true;
}

int64_t job_network_of_attempt(int64_t job, unsigned attempt)
{
	enum { ID_BITS = 40 };

	return job + ((int64_t)attempt << ID_BITS);
}

int64_t job_run_network(const struct job_run *run)
{
	return run->assignment && run->assignment->network ? run->assignment->network : run->row->id;
}

void job_run_address(const struct job_run *run, enum role role, unsigned index, char ret_address[16])
{
	address_print(run->network_status.first + plan_replica_ordinal(run->plan, role, index), ret_address);
}

struct replica_run *job_run_replica(struct job_run *run, enum role role, unsigned index)
{
	for (size_t i = 0; i < run->replica_count; i++)
		if (run->replicas[i].key.role == role && run->replicas[i].key.index == index)
			return &run->replicas[i];
	return NULL;
}

void job_run_differ(struct job_run *run, const char *code, const char *hint, const char *format, ...)
{
	json_t *list = run->assignment ? run->assignment->deviations : NULL;
	AUTO(string) char *text = NULL;
	va_list args;

	va_start(args, format);
	text = memory_vprintf(format, args);
	va_end(args);
	if (list)
		deviation_add_another(list, DONE_OTHERWISE, code, text);
	notes_say(&run->notes, SEVERITY_WARNING, "%s%s", text, hint);
	run->differs = run->differs || list;
}

static bool is_limited(const struct job_run *run)
{
	return run->plan && !(run->work == WORK_TRIALS && run->plan->limits_each_trial);
}

/* Computes the deadline by the present wall time. A start in the future (the clock was set back) counts as now. */
int64_t limit_deadline_us(int64_t from_us, int64_t limit_us, int64_t wall_us, int64_t mono_us)
{
	if (from_us > wall_us)
		from_us = wall_us;
	return limit_us ? mono_us + (from_us + limit_us - wall_us) : INT64_MAX;
}

static int64_t deadline_reckon(const struct job_run *run, int64_t wall_us, int64_t mono_us)
{
	int64_t from = run->row->running_us ? run->row->running_us : run->row->created_us;
	int64_t limit = !is_limited(run)       ? 0
			: run->row->running_us ? run->plan->max_running_us
					       : run->plan->max_wait_us;

	return limit_deadline_us(from, limit, wall_us, mono_us);
}

int64_t job_run_deadline_us(struct job_run *run, int64_t wall_us, int64_t mono_us)
{
	if (!run->deadline_us || run->deadline_of_us != run->row->running_us) {
		run->deadline_us = deadline_reckon(run, wall_us, mono_us);
		run->deadline_of_us = run->row->running_us;
	}
	return run->deadline_us;
}

static bool some_replica_lives(const struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++)
		if (run->replicas[i].end == END_NONE)
			return true;
	return false;
}

bool job_run_restarts(const struct job_run *run, const struct replica_run *replica)
{
	return replica->end == END_LOST && run->row->state == JOB_RUNNING && !run->plan->restarts_whole &&
	       !run->plan->preemptible && !run->plan->never_retries &&
	       replica->key.restart < REPLICA_RESTARTS_MAX && some_replica_lives(run) &&
	       !run->nodes[replica->at].is_lost;
}

bool job_run_restarts_any(const struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++)
		if (job_run_restarts(run, &run->replicas[i]))
			return true;
	return false;
}

bool job_run_began(const struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++)
		if (run->replicas[i].observed != OBSERVED_RUNNING &&
		    run->replicas[i].observed != OBSERVED_EXITED)
			return false;
	return run->replica_count > 0;
}

struct job_outcome job_run_outcome(const struct job_run *run)
{
	struct replica_outcome *outcomes;
	struct job_outcome outcome;

	if (run->fault)
		return (struct job_outcome){ JOB_FAILED, memory_strdup(run->fault), run->fault_code };
	outcomes = memory_calloc(run->replica_count + 1, sizeof(*outcomes));
	for (size_t i = 0; i < run->replica_count; i++)
		outcomes[i] = (struct replica_outcome){
			.role = run->replicas[i].key.role,
			.index = run->replicas[i].key.index,
			.end = job_run_restarts(run, &run->replicas[i]) ? END_NONE : run->replicas[i].end,
			.exit_code = run->replicas[i].exit_code,
			.out_of_memory = run->replicas[i].out_of_memory,
			.of_itself = run->replicas[i].of_itself,
			.ordered = run->replicas[i].ordered,
			.text = run->replicas[i].refusal,
		};
	outcome = job_outcome_of(run->plan, outcomes, run->replica_count, run->row->attempt,
				 run->row->running_us != 0 || job_run_began(run));
	free(outcomes);
	return outcome;
}

bool job_run_is_decided(const struct job_run *run)
{
	struct job_outcome outcome = job_run_outcome(run);

	free(outcome.message);
	return outcome.outcome != JOB_STATE_UNSPECIFIED;
}
