/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/state_writer.h: the one thread that writes state.db.
 *
 * A group writer (group_writer.h) that commits its transactions with an fsync, passes service lines to the logs, and
 * wakes the scheduler for jobs that need a step. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/clock.h"
#include "daemon/base/error.h"
#include "store/connection.h"

struct job_changes;
struct logs_writer;
struct state_writer;

/* The arguments and results of a change, for its run() on the writer's thread. */
struct change_scope {
	struct connection *connection;
	int64_t now_ns;
	int64_t woken;   /* output of the change: the job that has work for the scheduler */
	bool adds_lines; /* set by outbox_add() */
	bool *no_more_jobs;           /* for the writer: set by jobs_end() */
	struct touched_jobs *touched; /* for the writer: job_touch() adds to it */
};

typedef enum status (*change_run)(struct change_scope *scope, void *arg, struct error *err);

/* Takes over @connection if it succeeds. Passes service lines to @logs: at once, those that an earlier process stored
 * and @logs does not have yet; later, those of each commit. Each commit adds the jobs of the rows that it changed to
 * @changes, which must outlive the writer. */
enum status state_writer_open(struct connection *connection, struct logs_writer *logs,
			      struct job_changes *changes, const struct clock *clock,
			      struct state_writer **ret_writer, struct error *err);
/* Runs the waiting changes, and ends the thread. */
void state_writer_close(struct state_writer *writer);
void state_writer_on_intent(struct state_writer *writer, void (*wake)(void *arg, int64_t job), void *arg);

/* Runs @run(@arg) and returns once its result is durable. UNAVAILABLE: too many changes are waiting already. */
enum status state_writer_change(struct state_writer *writer, change_run run, void *arg, struct error *err);

/* A number that grows with every commit, before a waiting caller is answered. Thread: any. */
uint64_t state_writer_generation(struct state_writer *writer);

/* Reports a job as changed. Call it for changes that clients see in the job although its row does not change;
 * changes of the row are noticed automatically. */
void job_touch(struct change_scope *scope, int64_t job);

/* Adds a service line (task "service") of the job to the change's transaction. */
enum status outbox_add(struct change_scope *scope, int64_t job, int severity, const char *line,
		       struct error *err);
