/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/job_rows.h: rows of table job as struct job, for jobs.c and job_page.c. */
#include "store/connection.h"
#include "store/jobs.h"

/* Reads a row of one of the JOB_… statements. */
enum status job_row_read(sqlite3_stmt *row, struct job *ret_job, struct error *err);

struct change_scope;

/* A new row as QUEUED, inside a change. ALREADY_EXISTS. */
enum status job_row_insert(struct change_scope *scope, const struct job *job, int64_t *ret_id,
			   struct error *err);

/* Numbers those of @list that wait, in one walk along the queue. */
enum status job_positions_fill(struct connection *connection, struct job_list *list, struct error *err);
