/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/faults/fault_registry.h"
#include "scheduler/gateway_keep.h"
#include "scheduler/job_entry.h"
#include "scheduler/job_run.h"
#include "scheduler/job_table.h"
#include "scheduler/logs/log_pump.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/queue.h"
#include "scheduler/reported_deviations.h"
#include "scheduler/room.h"
#include "scheduler/scheduler_state.h"
#include "scheduler/search/look.h"
#include "store/jobs/jobs.h"
#include "store/jobs/journal.h"

enum { LOAD_AGAIN_US = 1000000 };

/* Makes room for one more job in the table, the queue and the heap of wake-ups. */
static void entries_reserve(struct scheduler *scheduler)
{
	const size_t size = scheduler->entry_size ? scheduler->entry_size * 2 : 16;

	if (scheduler->entry_count < scheduler->entry_size)
		return;
	scheduler->entries = memory_resize(scheduler->entries, size, sizeof(struct job_entry *));
	scheduler->queue = memory_resize(scheduler->queue, size, sizeof(struct job_entry *));
	wakes_reserve(&scheduler->wakes, size);
	scheduler->entry_size = size;
}

/* Fills the run from its stored journal, which is empty for a job that was never admitted. */
static enum status run_unfold(struct scheduler *scheduler, struct job_run *run, struct error *err)
{
	struct journal journal AUTO_JOURNAL = { 0 };
	enum status rc = STATUS_OK;

	run->nodes->node = scheduler->nodes;
	if (run->row->started_us)
		rc = journal_read(scheduler->reconciler.store, run->row->id, &journal, err);
	if (!rc)
		job_run_unfold(run, &journal);
	return rc;
}

/* Refuses a job with containers on a node that this daemon does not know. */
static enum status node_check(struct scheduler *scheduler, const struct job_run *run, struct error *err)
{
	const char *name = run->assignment ? run->assignment->node : NULL;
	bool known = !job_run_is_placed(run) || node_named(scheduler, name);

	for (size_t i = 0; known && job_run_is_placed(run) && run->assignment && i < run->replica_count; i++) {
		const struct replica_key *key = &run->replicas[i].key;

		name = assignment_node(run->assignment, key->role, key->index);
		known = node_named(scheduler, name);
	}
	if (known)
		return STATUS_OK;
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
			 "job %s is on the node %s, which no --node names: name it until the job has ended",
			 run->row->job_id, name);
}

enum status jobs_add(struct scheduler *scheduler, struct job *row, struct error *err)
{
	AUTO(job_run) struct job_run *run = job_run_new(row);
	enum status rc = run_unfold(scheduler, run, err);

	if (!rc)
		rc = node_check(scheduler, run, err);
	if (rc)
		return rc;
	entries_reserve(scheduler);
	if (row->started_us && run->work == WORK_REPLICAS && job_run_is_placed(run))
		room_take(scheduler, run);
	job_table_insert(scheduler, run);
	job_run_touch(run);
	reported_share(scheduler, run);
	queue_update(scheduler, run);
	run = NULL; /* now owned by the table */
	return STATUS_OK;
}

void jobs_remove(struct scheduler *scheduler, struct job_run *run)
{
	log_pump_close(scheduler->reconciler.pump, run->row->id);
	gateway_leave(&scheduler->reconciler, run);
	queue_leave(scheduler, run);
	room_return(scheduler, run);
	job_table_remove(scheduler, run);
	tuner_free(run->tuner);
	job_run_free(run);
}

bool jobs_open(struct scheduler *scheduler, struct job_entry *entry)
{
	AUTO(job_run) struct job_run *run = NULL;
	AUTO(job) struct job *row = NULL;
	struct error err AUTO_ERROR = { 0 };
	enum status rc = STATUS_OK;

	if (entry->run)
		return true;
	rc = job_get_by_id(scheduler->reconciler.store, entry->id, &row, &err);
	if (!rc) {
		run = job_run_new(TAKE(row));
		rc = run_unfold(scheduler, run, &err);
	}
	if (rc) {
		log_event(LOG_ERROR, "job-unread", "id=%lld error=\"%s\"", (long long)entry->id,
			  err.text ? err.text : "");
		wakes_set(&scheduler->wakes, entry,
			  clock_mono_us(scheduler->reconciler.clock) + LOAD_AGAIN_US);
		return false;
	}
	run->deadline_us = entry->deadline_us;
	run->logged_loss = entry->logged_loss;
	run->logged_loss_in = JOB_QUEUED;
	run->entry = entry;
	entry->run = run;
	reported_share(scheduler, run);
	queue_opened(scheduler, entry);
	if (run->row->state != JOB_QUEUED || run->row->outcome != JOB_STATE_UNSPECIFIED || run->fault) {
		run->stale = true;
		job_run_touch(run);
	}
	run = NULL; /* now owned by the entry */
	return true;
}

/* Whether the job's run can be dropped from memory: nothing is to be done or stored for the job, and the store has all
 * that is known of it. */
static bool only_waits(const struct job_entry *entry)
{
	const struct job_run *run = entry->run;

	return !entry->wake.touched && !run->stale && !run->hold_until_us && !run->notes.count &&
	       !run->fault && !run->assignment && !run->injection_count && !run->fault_at_us;
}

void jobs_rest(struct scheduler *scheduler)
{
	size_t kept = 0;

	for (size_t i = 0; i < scheduler->opened_count; i++) {
		struct job_entry *entry = job_table_find(scheduler, scheduler->opened[i]);

		if (!entry || !entry->run || !entry->queued)
			continue;
		/* The first job of the queue is considered again and again, so it stays in memory. */
		if (entry == scheduler->queue[0] || !only_waits(entry)) {
			scheduler->opened[kept++] = entry->id;
			continue;
		}
		entry->deadline_us = entry->run->deadline_us;
		entry->logged_loss = entry->run->logged_loss_in == JOB_QUEUED ? entry->run->logged_loss : 0;
		job_run_free(TAKE(entry->run));
	}
	scheduler->opened_count = kept;
}

void jobs_free(struct scheduler *scheduler)
{
	for (size_t i = 0; i < scheduler->entry_count; i++) {
		struct job_run *run = scheduler->entries[i]->run;

		if (run)
			tuner_free(run->tuner);
		job_run_free(run);
		job_entry_free(scheduler->entries[i]);
	}
	free(scheduler->entries);
	free(scheduler->queue);
	free(scheduler->opened);
	wakes_deinit(&scheduler->wakes);
	free(scheduler->arrived);
}

void jobs_wake(struct scheduler *scheduler, int64_t job)
{
	struct job_entry *entry = job_table_find(scheduler, job);
	struct error err AUTO_ERROR = { 0 };
	AUTO(job) struct job *row = NULL;

	if (entry) {
		job_entry_touch(entry);
		if (!entry->run)
			return;
		entry->run->stale = true;
		entry->run->hold_until_us = 0; /* a client waits for it */
		return;
	}
	if (!job_get_by_id(scheduler->reconciler.store, job, &row, &err) &&
	    (job_state_is_final(row->state) || !jobs_add(scheduler, TAKE(row), &err)))
		return;
	log_event(LOG_ERROR, "job-unread", "id=%lld error=\"%s\"", (long long)job, err.text ? err.text : "");
	if (!scheduler->load_at_us)
		scheduler->load_at_us = clock_mono_us(scheduler->reconciler.clock) + LOAD_AGAIN_US;
}

void jobs_arrive(struct scheduler *scheduler)
{
	for (size_t i = 0; i < scheduler->arrived_count; i++)
		jobs_wake(scheduler, scheduler->arrived[i]);
	scheduler->arrived_count = 0;
}

/* Adds a waiting job without its plan, which is read when the job's turn comes or an event concerns it. To read
 * thousands of plans at the start would take most of the time that the daemon needs to start. */
static void waiting_add(void *arg, const struct waiting_job *job)
{
	struct scheduler *scheduler = arg;
	const struct reconciler *reconciler = &scheduler->reconciler;
	const int64_t mono_us = clock_mono_us(reconciler->clock); /* read before wall time: see step_clock_move() */
	struct job_entry *entry;

	if (job_table_find(scheduler, job->id))
		return;
	entries_reserve(scheduler);
	entry = job_table_insert_waiting(scheduler, job);
	entry->deadline_us = limit_deadline_us(job->created_us, job->max_wait_us,
					       clock_wall_us(reconciler->clock), mono_us);
	wakes_set(&scheduler->wakes, entry, entry->deadline_us);
	queue_insert(scheduler, entry);
	scheduler->queue_stirred = true;
	if (nodes_are_away(scheduler) || (reconciler->faults && !fault_registry_is_empty(reconciler->faults)))
		job_entry_touch(entry);
}

enum status jobs_load(struct scheduler *scheduler, struct error *err)
{
	struct job_list list AUTO_JOB_LIST = { 0 };
	enum status rc = job_list_attended(scheduler->reconciler.store, &list, err);

	for (size_t i = 0; !rc && i < list.count; i++) {
		struct job *row;

		if (job_table_find(scheduler, list.jobs[i].id))
			continue;
		row = memory_alloc(sizeof(*row));
		*row = list.jobs[i];
		list.jobs[i] = (struct job){ 0 };
		rc = jobs_add(scheduler, row, err);
	}
	return rc ? rc : job_each_waiting(scheduler->reconciler.store, waiting_add, scheduler, err);
}

void jobs_load_again(struct scheduler *scheduler)
{
	const int64_t now_us = clock_mono_us(scheduler->reconciler.clock);
	struct error err AUTO_ERROR = { 0 };

	if (!scheduler->load_at_us || now_us < scheduler->load_at_us)
		return;
	scheduler->load_at_us = 0;
	if (!jobs_load(scheduler, &err))
		return;
	log_event(LOG_ERROR, "jobs-unread", "error=\"%s\"", err.text ? err.text : "");
	scheduler->load_at_us = now_us + LOAD_AGAIN_US;
}
