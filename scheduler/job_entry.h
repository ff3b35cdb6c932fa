/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/job_entry.h: the part of every unfinished job that is kept in memory. For a job that merely waits in the
 * queue this is all: its row and plan stay in the store, and are read when the job may start or an event concerns it.
 * Thread: the scheduler's. */
#include <stdbool.h>
#include <stdint.h>

#include "scheduler/plan/placement.h"
#include "scheduler/wakes.h"

struct job_run;

struct job_entry {
	int64_t id;
	struct job_run *run; /* NULL: the row is only in the store, see jobs_open() */
	struct wake wake;
	bool queued; /* waits in the scheduler's queue */
	/* The values of the job's row and plan that decide about its turn in the queue. */
	int priority;
	int64_t place;
	unsigned accelerators; /* GPUs to attach */
	char *project;
	/* The reason why the job waits, according to its log (NONE: only for its turn); and for each reason, when it
	 * was last logged (monotonic; 0: never) */
	enum shortage logged_wait;
	int64_t logged_wait_us[SHORTAGE_KINDS];
	/* Copies of the members of struct job_run, valid while @run is NULL. */
	unsigned logged_loss;
	int64_t deadline_us;
};
