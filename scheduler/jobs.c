/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/gateway_keep.h"
#include "scheduler/job_run.h"
#include "scheduler/job_table.h"
#include "scheduler/logs/log_pump.h"
#include "scheduler/queue.h"
#include "scheduler/room.h"
#include "scheduler/scheduler_state.h"
#include "scheduler/search/look.h"
#include "scheduler/told_differences.h"
#include "store/jobs/jobs.h"
#include "store/jobs/journal.h"

enum { LOAD_AGAIN_US = 1000000 };

/* Room for one more, in the queue and among the times as well. */
static void runs_reserve(struct scheduler *scheduler)
{
	const size_t size = scheduler->run_size ? scheduler->run_size * 2 : 16;

	if (scheduler->run_count < scheduler->run_size)
		return;
	scheduler->runs = memory_resize(scheduler->runs, size, sizeof(struct job_run *));
	scheduler->queue = memory_resize(scheduler->queue, size, sizeof(struct job_run *));
	wakes_reserve(&scheduler->wakes, size);
	scheduler->run_size = size;
}

/* What its journal tells; of a job that was never let in, that is nothing. */
static enum status run_unfold(struct scheduler *scheduler, struct job_run *run, struct error *err)
{
	struct journal journal AUTO_JOURNAL = { 0 };
	enum status rc = STATUS_OK;

	if (run->row->started_us)
		rc = journal_read(scheduler->reconciler.store, run->row->id, &journal, err);
	if (!rc)
		job_run_unfold(run, &journal);
	return rc;
}

enum status jobs_add(struct scheduler *scheduler, struct job *row, struct error *err)
{
	AUTO(job_run) struct job_run *run = job_run_new(row);
	enum status rc = run_unfold(scheduler, run, err);

	if (rc)
		return rc;
	runs_reserve(scheduler);
	if (row->started_us && !plan_tunes(run->plan))
		room_take(scheduler, run);
	job_table_insert(scheduler, run);
	job_run_touch(run);
	told_share(scheduler, run);
	queue_update(scheduler, run);
	run = NULL; /* the table's */
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

void jobs_free(struct scheduler *scheduler)
{
	for (size_t i = 0; i < scheduler->run_count; i++) {
		tuner_free(scheduler->runs[i]->tuner);
		job_run_free(scheduler->runs[i]);
	}
	free(scheduler->runs);
	free(scheduler->queue);
	wakes_deinit(&scheduler->wakes);
	free(scheduler->arrived);
}

void jobs_wake(struct scheduler *scheduler, int64_t job)
{
	struct job_run *run = scheduler_find(scheduler, job);
	struct error err AUTO_ERROR = { 0 };
	AUTO(job) struct job *row = NULL;

	if (run) {
		run->stale = true;
		job_run_touch(run);
		run->hold_until_us = 0; /* a client waits for it */
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

enum status jobs_load(struct scheduler *scheduler, struct error *err)
{
	struct job_list list AUTO_JOB_LIST = { 0 };
	enum status rc = job_list_unfinished(scheduler->reconciler.store, &list, err);

	for (size_t i = 0; !rc && i < list.count; i++) {
		struct job *row;

		if (scheduler_find(scheduler, list.jobs[i].id))
			continue;
		row = memory_alloc(sizeof(*row));
		*row = list.jobs[i];
		list.jobs[i] = (struct job){ 0 };
		rc = jobs_add(scheduler, row, err);
	}
	return rc;
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
