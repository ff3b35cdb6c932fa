/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/job_rows.h: reads and writes rows of table job as struct job. */
#include "store/connection.h"
#include "store/jobs/jobs.h"
#include "store/state_writer.h"

/* Reads a row of one of the JOB_… statements. */
void job_row_read(sqlite3_stmt *row, struct job *ret_job);

/* Inserts a new row as QUEUED, inside a change. ALREADY_EXISTS: the project has a job with this id. */
enum status job_row_insert(struct change_scope *scope, const struct job *job, int64_t *ret_id,
			   struct error *err);

/* As job_row_insert(), with the first service lines of the job; wakes the scheduler. @ret_job: the stored row; NULL:
 * not wanted. */
enum status job_row_add(struct change_scope *scope, const struct job *job, const struct service_line *lines,
			size_t line_count, struct job **ret_job, struct error *err);
/* Adds service lines of the job, inside a change. */
enum status job_lines_add(struct change_scope *scope, int64_t job, const struct service_line *lines,
			  size_t count, struct error *err);
/* The job with this number. NOT_FOUND. */
enum status job_row_get_placed(struct connection *connection, int64_t id, struct job **ret_job,
			       struct error *err);
/* As job_row_get_placed(), without the position in the queue. */
enum status job_row_get(struct connection *connection, int64_t id, struct job **ret_job, struct error *err);

/* Reads the job that a statement with bound values selects. NOT_FOUND: it selects none. */
enum status job_row_fetch(sqlite3_stmt *statement, struct job **ret_job, struct error *err);
/* Does the work of job_cancel(), inside a change. */
enum status job_row_cancel(struct change_scope *scope, const struct job *job, const char *message,
			   struct error *err);

/* Sets the queue positions of the AI Platform jobs in @list (clients see those of no others), in one pass over the
 * queue. */
enum status job_positions_fill(struct connection *connection, struct job_list *list, struct error *err);
