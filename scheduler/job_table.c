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

void job_table_insert(struct scheduler *scheduler, struct job_run *run)
{
	const size_t at = find_index(scheduler, run->row->id);

	memmove(&scheduler->runs[at + 1], &scheduler->runs[at],
		(scheduler->run_count - at) * sizeof(struct job_run *));
	scheduler->runs[at] = run;
	scheduler->run_count++;
}

void job_table_remove(struct scheduler *scheduler, struct job_run *run)
{
	const size_t at = find_index(scheduler, run->row->id);

	memmove(&scheduler->runs[at], &scheduler->runs[at + 1],
		(scheduler->run_count - at - 1) * sizeof(struct job_run *));
	scheduler->run_count--;
}
