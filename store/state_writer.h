/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/state_writer.h: the one thread that writes state.db.
 *
 * A group_writer.h that commits its transactions with an fsync, hands service lines to the logs, and tells the scheduler of
 * jobs with something new to do. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/clock.h"
#include "daemon/base/error.h"
#include "store/connection.h"

struct job_changes;
struct logs_writer;
struct state_writer;

/* What a change sees while it runs, on the writer's thread. */
struct change_scope {
	struct connection *connection;
	int64_t now_ns;
	int64_t woken;   /* set by the change: the job for which the scheduler has something new to do */
	bool adds_lines; /* set by outbox_add() */
	bool *no_more_jobs;           /* the writer's: set by jobs_end() */
	struct touched_jobs *touched; /* the writer's: job_touch() adds to it */
};

typedef enum status (*change_run)(struct change_scope *scope, void *arg, struct error *err);

/* Takes over @connection when it succeeds. Service lines go to @logs after each commit; those that
 * @logs does not hold yet are handed over again first. Each commit tells @changes of the jobs with rows that it changed; it
 * outlives the writer. */
enum status state_writer_open(struct connection *connection, struct logs_writer *logs,
			      struct job_changes *changes, const struct clock *clock,
			      struct state_writer **ret_writer, struct error *err);
/* Does what waits, and ends. */
void state_writer_close(struct state_writer *writer);
void state_writer_on_intent(struct state_writer *writer, void (*wake)(void *arg, int64_t job), void *arg);

/* Runs @run(@arg) and returns once its outcome is durable. UNAVAILABLE when too many wait already. */
enum status state_writer_change(struct state_writer *writer, change_run run, void *arg, struct error *err);

/* Grows with every commit, before a waiting caller is answered. Thread: any. */
uint64_t state_writer_generation(struct state_writer *writer);

/* For a change to what clients see of a job that is not one of the job's row, which is noticed by itself. */
void job_touch(struct change_scope *scope, int64_t job);

/* Adds a line of task "service" to the change's transaction. */
enum status outbox_add(struct change_scope *scope, int64_t job, int severity, const char *line,
		       struct error *err);
