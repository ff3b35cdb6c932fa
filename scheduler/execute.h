/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/execute.h: decisions become true: their changes are stored, and what they order is asked for after that, so that
 * what the engine is asked for follows from what is stored: a crash at any point only asks again. Thread: the scheduler's. */
#include <stddef.h>

struct decision;
struct job_run;
struct scheduler;

/* Those that are executed together, at most one of a job. */
struct decisions {
	struct decision *items;
	size_t count;
};

/* Takes @decision, which is of @run; one that is empty is nothing. */
void decisions_add(struct scheduler *scheduler, struct job_run *run, struct decision *decision);
/* Stores the changes in one commit, or, when that is refused, each in its own; then gives the orders of those that were
 * stored. A job with a change that was refused rests for a moment; nothing of its decision happened. */
void decisions_execute(struct scheduler *scheduler);
void decisions_free(struct scheduler *scheduler);
