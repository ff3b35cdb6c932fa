/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/job_rows.h"

#include <stdlib.h>

#include "daemon/base/memory.h"
#include "store/jobs/journal.h"

/* Reads the columns of JOB_COLUMNS (statements.c), in their order. */
void job_row_read(sqlite3_stmt *row, struct job *ret_job)
{
	*ret_job = (struct job){
		.id = sqlite3_column_int64(row, 0),
		.project = column_copy(row, 1),
		.job_id = column_copy(row, 2),
		.state = (enum job_state)sqlite3_column_int(row, 3),
		.priority = sqlite3_column_int(row, 4),
		.version = sqlite3_column_int64(row, 5),
		.created_us = sqlite3_column_int64(row, 6),
		.started_us = sqlite3_column_int64(row, 7),
		.running_us = sqlite3_column_int64(row, 8),
		.ended_us = sqlite3_column_int64(row, 9),
		.error_message = column_copy(row, 10),
		.labels = column_copy(row, 11),
		.input = column_copy(row, 12),
		.output = column_copy(row, 13),
		.plan = column_copy(row, 14),
		.outcome = (enum job_state)sqlite3_column_int(row, 15),
		.outcome_message = column_copy(row, 16),
		.attempt = (unsigned)sqlite3_column_int(row, 17),
		.torn_down = sqlite3_column_int(row, 18) != 0,
		.announced = (unsigned)sqlite3_column_int(row, 19),
		.assignment = column_copy(row, 20),
		.ml_units_per_hour = sqlite3_column_double(row, 21),
		.parent = sqlite3_column_int64(row, 22),
		.trial = (unsigned)sqlite3_column_int(row, 23),
		.kind = (enum job_kind)sqlite3_column_int(row, 24),
		.location = column_copy(row, 25),
		.display_name = column_copy(row, 26),
		.updated_us = sqlite3_column_int64(row, 27),
		.error_code = sqlite3_column_int(row, 28),
		.outcome_code = sqlite3_column_int(row, 29),
		.web_access = sqlite3_column_int(row, 30) != 0,
		.traits = (unsigned)sqlite3_column_int(row, 31),
		.reason_bytes = (size_t)sqlite3_column_int64(row, 32),
		.position = sqlite3_column_int64(row, 33),
	};
}

static int by_id(const void *left, const void *right)
{
	int64_t a = (*(struct job *const *)left)->id, b = (*(struct job *const *)right)->id;

	return (a > b) - (a < b);
}

static size_t queued_collect(struct job_list *list, struct job **queued)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		if (list->jobs[i].state == JOB_QUEUED && list->jobs[i].kind == KIND_TRAINING &&
		    !list->jobs[i].parent)
			queued[count++] = &list->jobs[i];
	qsort(queued, count, sizeof(struct job *), by_id);
	return count;
}

enum status job_positions_fill(struct connection *connection, struct job_list *list, struct error *err)
{
	AUTO(statement) sqlite3_stmt *queue = connection_statement(connection, JOB_QUEUE);
	struct job **queued = memory_calloc(list->count + 1, sizeof(struct job *));
	size_t left = queued_collect(list, queued);
	size_t count = left;
	bool row = true;
	enum status rc = STATUS_OK;

	for (int64_t place = 1; !rc && row && left; place++) {
		rc = statement_step(queue, &row, err);
		struct job key = { .id = !rc && row ? sqlite3_column_int64(queue, 0) : 0 }, *wanted = &key;
		struct job **found = bsearch(&wanted, queued, count, sizeof(struct job *), by_id);

		if (!found)
			continue;
		(*found)->position = place;
		left--;
	}
	free(queued);
	return rc;
}

enum status job_row_fetch(sqlite3_stmt *statement, struct job **ret_job, struct error *err)
{
	struct job *job;
	bool row = false;
	enum status rc = statement_step(statement, &row, err);

	if (rc)
		return rc;
	if (!row)
		return error_set(err, STATUS_NOT_FOUND, "name", "The specified job could not be found.");
	job = memory_calloc(1, sizeof(*job));
	job_row_read(statement, job);
	*ret_job = job;
	return STATUS_OK;
}

enum status job_row_get_placed(struct connection *connection, int64_t id, struct job **ret_job,
			       struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(connection, JOB_BY_ID);

	bind_int(statement, ":id", id);
	return job_row_fetch(statement, ret_job, err);
}

enum status job_row_get(struct connection *connection, int64_t id, struct job **ret_job, struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(connection, JOB_ROW);

	bind_int(statement, ":id", id);
	return job_row_fetch(statement, ret_job, err);
}

enum status job_lines_add(struct change_scope *scope, int64_t job, const struct service_line *lines,
			  size_t count, struct error *err)
{
	enum status rc = STATUS_OK;

	for (size_t i = 0; i < count && !rc; i++)
		rc = outbox_add(scope, job, lines[i].severity, lines[i].text, err);
	return rc;
}

enum status job_row_insert(struct change_scope *scope, const struct job *job, int64_t *ret_id,
			   struct error *err)
{
	AUTO(statement) sqlite3_stmt *insert = connection_statement(scope->connection, JOB_INSERT);
	enum status rc;

	bind_text(insert, ":project", job->project);
	bind_text(insert, ":job_id", job->job_id);
	bind_int(insert, ":priority", job->priority);
	bind_int(insert, ":now", scope->now_ns / 1000);
	bind_text(insert, ":labels", job->labels);
	bind_text(insert, ":input", job->input);
	bind_text(insert, ":output", job->output ? job->output : "{}");
	bind_text(insert, ":plan", job->plan);
	bind_real(insert, ":ml_units_per_hour", job->ml_units_per_hour);
	if (job->parent)
		bind_int(insert, ":parent", job->parent);
	bind_int(insert, ":trial", job->trial);
	bind_int(insert, ":kind", job->kind);
	bind_text(insert, ":location", job->location);
	bind_text(insert, ":display_name", job->display_name);
	bind_int(insert, ":web_access", job->web_access);
	bind_int(insert, ":traits", job->traits);
	bind_int(insert, ":replica_count", job->replica_count);
	bind_int(insert, ":gpu_count", job->gpu_count);
	bind_int(insert, ":max_wait_us", job->max_wait_us);
	rc = statement_run(insert, err);
	if (!rc && sqlite3_changes(scope->connection->db) == 0)
		return error_set(err, STATUS_ALREADY_EXISTS, "job.job_id",
				 "A job with this id already exists.");
	if (rc)
		return rc;
	/* RETURNING would be slower: SQLite would collect its result in a temporary table. */
	*ret_id = sqlite3_last_insert_rowid(scope->connection->db);
	return journal_add_state(scope, *ret_id, JOB_STATE_UNSPECIFIED, JOB_QUEUED, err);
}

enum status job_row_add(struct change_scope *scope, const struct job *job, const struct service_line *lines,
			size_t line_count, struct job **ret_job, struct error *err)
{
	int64_t id = 0;
	enum status rc;

	if (*scope->no_more_jobs)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "trainyard is shutting down.");
	rc = job_row_insert(scope, job, &id, err);
	if (!rc)
		rc = job_lines_add(scope, id, lines, line_count, err);
	if (!rc && ret_job)
		rc = job_row_get(scope->connection, id, ret_job, err);
	scope->woken = id;
	return rc;
}

/* The outcome PREPARING (retry) is not final: such a job can still be cancelled. */
enum status job_row_cancel(struct change_scope *scope, const struct job *job, const char *message,
			   struct error *err)
{
	enum status rc;

	if ((job->outcome != JOB_STATE_UNSPECIFIED && job->outcome != JOB_PREPARING) ||
	    !job_state_may_follow(job->state, JOB_CANCELLING))
		return STATUS_OK;
	AUTO(statement) sqlite3_stmt *update = connection_statement(scope->connection, JOB_CANCEL);

	bind_int(update, ":cancelling", JOB_CANCELLING);
	bind_int(update, ":cancelled", JOB_CANCELLED);
	bind_text(update, ":message", message);
	bind_int(update, ":now", scope->now_ns / 1000);
	bind_int(update, ":id", job->id);
	scope->woken = job->id;
	rc = statement_run(update, err);
	if (!rc)
		rc = journal_add_decision(scope, job->id, JOB_CANCELLED, STATUS_CANCELLED, err);
	return rc ? rc : journal_add_state(scope, job->id, job->state, JOB_CANCELLING, err);
}
