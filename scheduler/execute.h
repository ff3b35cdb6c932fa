/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/execute.h: carries out decisions: stores their changes, then gives their orders to the engine. Orders thus
 * follow from stored state, and after a crash at any point the same orders are given again. Thread: the scheduler's. */
#include <stddef.h>

struct decision;
struct job_run;
struct scheduler;

/* Decisions that are executed together, at most one per job. */
struct decisions {
	struct decision *items;
	size_t count;
};

/* Adds @decision about @run, and takes over its contents. An empty decision is ignored. */
void decisions_add(struct scheduler *scheduler, struct job_run *run, struct decision *decision);
/* Stores all changes in one commit or, if that fails, each in a commit of its own; then gives the orders of the stored
 * ones. A job with a change that could not be stored is left alone for a moment, and nothing of its decision takes
 * effect. */
void decisions_execute(struct scheduler *scheduler);
void decisions_free(struct scheduler *scheduler);
