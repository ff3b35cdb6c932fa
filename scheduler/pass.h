/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/pass.h: the changes of job rows that the scheduler commits together. Thread: the scheduler's. */
#include <jansson.h>
#include <stddef.h>

#include "store/jobs/jobs.h"

struct job_run;
struct journal_row;
struct lease;
struct service_line;

/* The changes of one pass. */
struct planned_change {
	struct job_run *run;
	struct job_change change;
	struct service_line *lines; /* the run's notes and the step's own */
	size_t note_mark;           /* how many notes the run had before the step */
	char *error_message, *verdict_message, *assignment;
	struct lease *leases;
	size_t lease_count;
	struct journal_row *journal;
	size_t journal_count;
	json_t *told; /* by a trial, for its siblings too: differences_untold(); NULL: nothing */
};

struct pass {
	struct planned_change *planned;
	size_t count, size;
};

/* Adds a change of @run's row, from its present state to @to; the run's notes go with it.
 * The caller fills the rest of the returned change before it returns; NULL when memory ran out. */
struct planned_change *pass_add(struct pass *pass, struct job_run *run, enum job_state to);
/* Adds a row of the job's journal: why the change is made. */
void planned_change_note(struct planned_change *planned, const struct journal_row *row);
void pass_clear(struct pass *pass);
