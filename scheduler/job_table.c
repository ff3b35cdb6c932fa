/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/job_table.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "scheduler/job_entry.h"
#include "scheduler/job_run.h"
#include "scheduler/scheduler_state.h"

static size_t find_index(const struct scheduler *scheduler, int64_t job)
{
	size_t low = 0, high = scheduler->entry_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (scheduler->entries[middle]->id < job)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct job_entry *job_table_find(struct scheduler *scheduler, int64_t job)
{
	const size_t at = find_index(scheduler, job);

	return at < scheduler->entry_count && scheduler->entries[at]->id == job ? scheduler->entries[at]
										: NULL;
}

struct job_run *scheduler_find(struct scheduler *scheduler, int64_t job)
{
	const struct job_entry *entry = job_table_find(scheduler, job);

	return entry ? entry->run : NULL;
}

static void starting_note(struct scheduler *scheduler, struct job_run *run, bool starts)
{
	scheduler->starting += starts;
	scheduler->starting -= run->starts;
	run->starts = starts;
}

static void way_enter(struct scheduler *scheduler, struct job_run *run)
{
	run->under_way = true;
	run->way_before = scheduler->way_last;
	*(scheduler->way_last ? &scheduler->way_last->way_next : &scheduler->way_first) = run;
	scheduler->way_last = run;
}

static void way_leave(struct scheduler *scheduler, struct job_run *run)
{
	if (!run->under_way)
		return;
	run->under_way = false;
	*(run->way_before ? &run->way_before->way_next : &scheduler->way_first) = run->way_next;
	*(run->way_next ? &run->way_next->way_before : &scheduler->way_last) = run->way_before;
}

void job_table_note(struct scheduler *scheduler, struct job_run *run)
{
	const struct job *row = run->row;

	starting_note(scheduler, run,
		      row->state == JOB_PREPARING && row->outcome == JOB_STATE_UNSPECIFIED &&
			      run->work == WORK_REPLICAS);
	if (row->state != JOB_QUEUED && !run->under_way)
		way_enter(scheduler, run);
}

/* The number that orders jobs of equal priority in the queue. Choice: the first trials of a tuning job have its number.
 * Each later trial has its own, behind all jobs created before it was suggested. So a search of a thousand trials delays
 * other jobs only by as many trials as it may run at once. */
static int64_t place_of(const struct job_run *run)
{
	const struct job *row = run->row;

	return row->parent && row->trial <= run->plan->parallel_trial_count ? row->parent : row->id;
}

static struct job_entry *entry_add(struct scheduler *scheduler, int64_t id, const char *project)
{
	struct job_entry *entry = memory_calloc(1, sizeof(*entry));
	const size_t at = find_index(scheduler, id);

	entry->id = id;
	entry->project = memory_strdup(project);
	entry->wake.wakes = &scheduler->wakes;
	memmove(&scheduler->entries[at + 1], &scheduler->entries[at],
		(scheduler->entry_count - at) * sizeof(struct job_entry *));
	scheduler->entries[at] = entry;
	scheduler->entry_count++;
	return entry;
}

void job_table_insert(struct scheduler *scheduler, struct job_run *run)
{
	struct job_entry *entry = entry_add(scheduler, run->row->id, run->row->project);

	entry->run = run;
	entry->priority = run->row->priority;
	entry->place = place_of(run);
	entry->accelerators = plan_accelerator_count(run->plan);
	run->entry = entry;
	job_table_note(scheduler, run);
}

struct job_entry *job_table_insert_waiting(struct scheduler *scheduler, const struct waiting_job *job)
{
	struct job_entry *entry = entry_add(scheduler, job->id, job->project);

	entry->priority = job->priority;
	entry->place = job->id;
	entry->accelerators = job->gpu_count;
	return entry;
}

void job_table_remove(struct scheduler *scheduler, struct job_run *run)
{
	const size_t at = find_index(scheduler, run->row->id);

	memmove(&scheduler->entries[at], &scheduler->entries[at + 1],
		(scheduler->entry_count - at - 1) * sizeof(struct job_entry *));
	scheduler->entry_count--;
	wakes_forget(&scheduler->wakes, run->entry);
	job_entry_free(run->entry);
	run->entry = NULL;
	starting_note(scheduler, run, false);
	way_leave(scheduler, run);
}

void job_entry_free(struct job_entry *entry)
{
	free(entry->project);
	free(entry);
}
