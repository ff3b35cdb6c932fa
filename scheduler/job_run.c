/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/job_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/plan/difference.h"
#include "scheduler/plan/placement.h"
#include "scheduler/restarts.h"
#include "store/jobs/faults.h"
#include "store/logs/logs.h"

struct job_run *job_run_new(struct job *row)
{
	struct job_run *run = calloc(1, sizeof(*run));

	if (!run)
		return NULL;
	run->row = row;
	run->sight = 1;
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

void job_run_notes_cut(struct job_run *run, size_t kept)
{
	while (run->note_count > kept)
		free(run->notes[--run->note_count].text);
	if (run->note_count)
		return;
	free(run->notes);
	run->notes = NULL;
}

void job_run_free(struct job_run *run)
{
	if (!run)
		return;
	replicas_free(run);
	job_run_notes_cut(run, 0);
	for (int role = 0; role < ROLE_COUNT; role++)
		free(run->image_ids[role]);
	free(run->fault);
	json_decref(run->told);
	for (size_t i = 0; i < run->hit_count; i++)
		free(run->hits[i].line);
	free(run->hits);
	assignment_free(run->assignment);
	plan_free(run->plan);
	job_free(run->row);
	free(run);
}

static enum status replicas_make(struct job_run *run, struct error *err)
{
	size_t count = plan_tunes(run->plan) ? 0 : plan_replica_count(run->plan);
	size_t next = 0;

	run->replicas = calloc(count ? count : 1, sizeof(*run->replicas));
	if (!run->replicas)
		return error_no_memory(err);
	run->replica_count = count;
	for (int role = 0; count && role < ROLE_COUNT; role++)
		for (unsigned i = 0; i < run->plan->pools[role].count; i++)
			run->replicas[next++].key = (struct replica_key){
				.job = run->row->id,
				.attempt = run->row->attempt,
				.role = (enum role)role,
				.index = i,
			};
	return STATUS_OK;
}

static enum status assignment_unfold(struct job_run *run, struct error *err)
{
	struct error problem AUTO_ERROR = { 0 };

	if (!run->row->assignment || run->fault ||
	    !assignment_from_text(run->row->assignment, &run->assignment, &problem))
		return STATUS_OK;
	log_event(LOG_ERROR, "assignment-unread", "job=%s error=\"%s\"", run->row->job_id,
		  problem.text ? problem.text : "");
	run->fault = memory_strdup("Internal error: the job's assignment cannot be read.");
	run->fault_code = STATUS_INTERNAL;
	return run->fault ? STATUS_OK : error_no_memory(err);
}

enum status job_run_unfold(struct job_run *run, struct error *err)
{
	struct error problem AUTO_ERROR = { 0 };

	if (plan_from_text(run->row->plan, &run->plan, &problem)) {
		log_event(LOG_ERROR, "plan-unread", "job=%s error=\"%s\"", run->row->job_id,
			  problem.text ? problem.text : "");
		run->plan = plan_new();
		run->fault = strdup("Internal error: the job's plan cannot be read.");
		run->fault_code = STATUS_INTERNAL;
		if (!run->plan || !run->fault)
			return error_no_memory(err);
	}
	if (assignment_unfold(run, err))
		return STATUS_INTERNAL;
	if (replicas_make(run, err))
		return STATUS_INTERNAL;
	restarts_read(run);
	return STATUS_OK;
}

void job_run_rewind(struct job_run *run)
{
	if (run->gateway.seen != GATEWAY_OPEN)
		run->gateway = (struct gateway_run){ 0 }; /* nobody is left who was told of it */
	run->doubt_until_us = 0;
	for (size_t i = 0; i < run->replica_count; i++) {
		free(run->replicas[i].refusal);
		run->replicas[i] = (struct replica_run){
			.key = {
				.job = run->row->id,
				.attempt = run->row->attempt,
				.role = run->replicas[i].key.role,
				.index = run->replicas[i].key.index,
			},
		};
	}
}

void job_run_unsee(struct job_run *run)
{
	run->sight++;
	run->images.epoch++;
	run->network = NETWORK_NONE;
	if (run->gateway.seen == GATEWAY_OPEN)
		run->gateway = (struct gateway_run){ .port = run->gateway.place.port };
	for (size_t i = 0; i < run->replica_count; i++) {
		if (run->replicas[i].in_doubt)
			run->replicas[i].end = END_LOST;
		run->replicas[i].in_doubt = false;
		run->replicas[i].orders.epoch++;
	}
	run->doubt_until_us = 0;
}

bool job_run_is_sighted(const struct job_run *run)
{
	return run->listed_in == run->sight;
}

void job_run_hold(struct job_run *run, int64_t until_us)
{
	if (until_us > run->hold_until_us)
		run->hold_until_us = until_us;
}

bool job_run_doubts(const struct job_run *run)
{
	return run->doubt_until_us && run->row->verdict == JOB_STATE_UNSPECIFIED;
}

int64_t job_run_owner(const struct job_run *run)
{
	return run->row->parent ? run->row->parent : run->row->id;
}

bool replica_is_unread(const struct replica_run *replica)
{
	return (order_was_given(&replica->orders, ORDER_FOLLOW) || replica->seen == SEEN_EXITED) &&
	       replica->output != OUTPUT_STORED;
}

static bool replica_is_over(const struct replica_run *replica)
{
	const bool ended = replica->seen == SEEN_NOTHING || replica->seen == SEEN_CREATED ||
			   replica->seen == SEEN_EXITED;

	return ended && !replica_is_unread(replica);
}

bool job_run_is_over(const struct job_run *run)
{
	const struct job *row = run->row;

	if (job_state_is_final(row->state))
		return true;
	if (!job_state_is_final(row->verdict) || (row->started_us && !job_run_is_sighted(run)))
		return false;
	if (row->verdict != JOB_SUCCEEDED && !row->error_message)
		return false;
	for (size_t i = 0; i < run->replica_count; i++)
		if (!replica_is_over(&run->replicas[i]))
			return false;
	return true;
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

bool job_run_say(struct job_run *run, int severity, const char *format, ...)
{
	struct note *grown = realloc(run->notes, (run->note_count + 1) * sizeof(*grown));
	char *text = NULL;
	va_list args;

	if (!grown) {
		memory_note_failure();
		return false;
	}
	run->notes = grown;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (text)
		run->notes[run->note_count++] = (struct note){ severity, text };
	else
		memory_note_failure();
	return text != NULL;
}

void job_run_say_all(struct job_run *run, int severity, const char *const *lines)
{
	for (; *lines; lines++)
		job_run_say(run, severity, "%s", *lines);
}

bool job_run_differ(struct job_run *run, const char *code, const char *hint, const char *format, ...)
{
	json_t *list = run->assignment ? run->assignment->differences : NULL;
	const size_t before = json_array_size(list);
	AUTO(string) char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (!text || (list && !difference_add_another(list, DONE_OTHERWISE, code, text))) {
		memory_note_failure();
		return false;
	}
	if (!job_run_say(run, SEVERITY_WARNING, "%s%s", text, hint)) {
		json_array_remove(list, before);
		return false;
	}
	run->differs = run->differs || list;
	return true;
}

struct service_line *job_run_lines(const struct job_run *run, size_t skipped)
{
	const size_t count = run->note_count - skipped;
	struct service_line *lines = count ? calloc(count, sizeof(*lines)) : NULL;

	for (size_t i = 0; lines && i < count; i++)
		lines[i] = (struct service_line){ run->notes[skipped + i].severity,
						  run->notes[skipped + i].text };
	return lines;
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
	       replica->key.restart < REPLICA_RESTARTS_MAX && some_replica_lives(run);
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
		if (run->replicas[i].seen != SEEN_RUNNING && run->replicas[i].seen != SEEN_EXITED)
			return false;
	return run->replica_count > 0;
}

struct judgement job_run_judge(const struct job_run *run)
{
	struct replica_outcome *outcomes = memory_calloc(run->replica_count + 1, sizeof(*outcomes));
	struct judgement judgement = { .verdict = JOB_STATE_UNSPECIFIED };

	if (run->fault)
		judgement = (struct judgement){ JOB_FAILED, memory_strdup(run->fault), run->fault_code };
	if (run->fault || !outcomes) {
		free(outcomes);
		return judgement;
	}
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
	judgement = verdict_of(run->plan, outcomes, run->replica_count, run->row->attempt,
			       run->row->running_us != 0 || job_run_began(run));
	free(outcomes);
	return judgement;
}

bool job_run_is_decided(const struct job_run *run)
{
	struct judgement judgement = job_run_judge(run);

	free(judgement.message);
	return judgement.verdict != JOB_STATE_UNSPECIFIED;
}
