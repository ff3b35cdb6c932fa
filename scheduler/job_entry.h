/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/job_entry.h: what is kept in memory of every unfinished job. Of one that waits in the queue, with nothing to be
 * stored or decided, this is all: its row and its plan are in the store, and are read when a place is tried for it, or
 * something happens to it.
 * Thread: the scheduler's. */
#include <stdbool.h>
#include <stdint.h>

#include "scheduler/plan/placement.h"
#include "scheduler/wakes.h"

struct job_run;

struct job_entry {
	int64_t id;
	struct job_run *run; /* NULL: it is in the store alone, jobs_open() */
	struct wake wake;
	bool queued; /* waits in the scheduler's queue */
	/* Its turn in the queue, and what its row and its plan say of that. */
	int priority;
	int64_t place;
	unsigned accelerators; /* that are to be attached */
	char *project;
	/* What its log said last that it waits for, NONE: its turn; and when each was said last (monotonic); 0: never */
	enum shortage logged_wait;
	int64_t logged_wait_us[SHORTAGE_KINDS];
	/* Of struct job_run, while there is none. */
	unsigned logged_loss;
	int64_t deadline_us;
};
