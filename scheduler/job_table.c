/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/job_table.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/job_run.h"
#include "scheduler/scheduler_state.h"

static size_t find_index(const struct scheduler *scheduler, int64_t job)
{
	size_t low = 0, high = scheduler->run_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (scheduler->runs[middle]->row->id < job)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct job_run *scheduler_find(struct scheduler *scheduler, int64_t job)
{
	size_t at = find_index(scheduler, job);

	return at < scheduler->run_count && scheduler->runs[at]->row->id == job ? scheduler->runs[at] : NULL;
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
		      row->state == JOB_PREPARING && row->verdict == JOB_STATE_UNSPECIFIED &&
			      !plan_tunes(run->plan));
	if (row->state != JOB_QUEUED && !run->under_way)
		way_enter(scheduler, run);
}

void job_table_insert(struct scheduler *scheduler, struct job_run *run)
{
	const size_t at = find_index(scheduler, run->row->id);

	memmove(&scheduler->runs[at + 1], &scheduler->runs[at],
		(scheduler->run_count - at) * sizeof(struct job_run *));
	scheduler->runs[at] = run;
	scheduler->run_count++;
	run->wake.wakes = &scheduler->wakes;
	job_table_note(scheduler, run);
}

void job_table_remove(struct scheduler *scheduler, struct job_run *run)
{
	const size_t at = find_index(scheduler, run->row->id);

	memmove(&scheduler->runs[at], &scheduler->runs[at + 1],
		(scheduler->run_count - at - 1) * sizeof(struct job_run *));
	scheduler->run_count--;
	wakes_forget(&scheduler->wakes, run);
	starting_note(scheduler, run, false);
	way_leave(scheduler, run);
}
