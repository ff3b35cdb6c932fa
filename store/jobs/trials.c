/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/trials.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "store/jobs/job_rows.h"
#include "store/state_writer.h"
#include "store/store_parts.h"

static void stored_trial_deinit(struct stored_trial *trial)
{
	free(trial->parameters);
	free(trial->final);
}

void trial_list_deinit(struct trial_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		stored_trial_deinit(&list->trials[i]);
	free(list->trials);
	*list = (struct trial_list){ 0 };
}

/* Reads a row of TRIALS, column by column. The texts belong to the row. */
static struct stored_trial trial_read(sqlite3_stmt *row)
{
	return (struct stored_trial){
		.number = (unsigned)sqlite3_column_int(row, 0),
		.run = sqlite3_column_int64(row, 1),
		.outcome = (enum trial_outcome)sqlite3_column_int(row, 2),
		.known = (unsigned)sqlite3_column_int(row, 3),
		.ended_as = (unsigned)sqlite3_column_int(row, 4),
		.stopped_early = sqlite3_column_int(row, 5) != 0,
		.parameters = (char *)column_text(row, 6),
		.final_step = sqlite3_column_int64(row, 7),
		.final = (char *)column_text(row, 8),
		.state = (enum job_state)sqlite3_column_int(row, 9),
		.started_us = sqlite3_column_int64(row, 10),
		.running_us = sqlite3_column_int64(row, 11),
		.ended_us = sqlite3_column_int64(row, 12),
	};
}

typedef void (*trial_visit)(void *arg, size_t index, const struct stored_trial *trial);

static enum status job_visit(struct connection *connection, int64_t job, size_t index, trial_visit visit,
			     void *arg, struct error *err)
{
	AUTO(statement) sqlite3_stmt *rows = connection_statement(connection, TRIALS);
	enum status rc = STATUS_OK;

	bind_int(rows, ":job", job);
	while (statement_next(rows, &rc, err)) {
		const struct stored_trial trial = trial_read(rows);

		visit(arg, index, &trial);
	}
	return rc;
}

enum status trials_visit(struct store *store, const int64_t *jobs, size_t count, trial_visit visit, void *arg,
			 struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (!rc)
		rc = connection_exec(reader.connection, "BEGIN", err);
	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < count; i++)
		rc = job_visit(reader.connection, jobs[i], i, visit, arg, err);
	connection_exec(reader.connection, "COMMIT", NULL);
	return rc;
}

/* ---- reading a list of trials ---- */

struct collecting {
	struct trial_list list;
	size_t size;
};

static void room_make(struct collecting *collecting)
{
	const size_t size = collecting->size ? collecting->size * 2 : 16;
	struct stored_trial *grown;

	if (collecting->list.count < collecting->size)
		return;
	grown = memory_resize(collecting->list.trials, size, sizeof(*grown));
	collecting->list.trials = grown;
	collecting->size = size;
}

static void trial_collect(void *arg, size_t index, const struct stored_trial *trial)
{
	struct collecting *collecting = arg;
	struct stored_trial *copy;

	(void)index;
	room_make(collecting);
	copy = &collecting->list.trials[collecting->list.count++];
	*copy = *trial;
	copy->parameters = memory_strdup(trial->parameters);
	copy->final = memory_strdup(trial->final);
}

enum status trial_list_read(struct store *store, int64_t job, struct trial_list *ret_list, struct error *err)
{
	struct collecting collecting = { 0 };
	enum status rc = trials_visit(store, &job, 1, trial_collect, &collecting, err);

	if (rc)
		trial_list_deinit(&collecting.list);
	else
		*ret_list = collecting.list;
	return rc;
}

enum status trial_of_job(struct store *store, const char *project, const char *job_id, char **ret_owner,
			 unsigned *ret_trial, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	bool row = false;
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, TRIAL_OF_JOB);

	bind_text(rows, ":project", project);
	bind_text(rows, ":job_id", job_id);
	rc = statement_step(rows, &row, err);
	if (rc)
		return rc;
	*ret_owner = row ? column_copy(rows, 0) : NULL;
	*ret_trial = row ? (unsigned)sqlite3_column_int(rows, 1) : 0;
	return STATUS_OK;
}

/* ---- changes ---- */

struct starting {
	int64_t job;
	struct trial_start *starts;
	size_t count;
};

static enum status parent_check(struct change_scope *scope, int64_t id, struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(scope->connection, JOB_ROW);
	struct job job = { 0 };
	bool row = false;
	enum status rc;

	bind_int(statement, ":id", id);
	rc = statement_step(statement, &row, err);
	if (!rc && row)
		job_row_read(statement, &job);
	if (!rc && (!row || job_state_is_final(job.state) || job.outcome != JOB_STATE_UNSPECIFIED))
		rc = error_set(err, STATUS_ABORTED, NULL, "the tuning job is about to end");
	job_deinit(&job);
	return rc;
}

static enum status starting_run(struct change_scope *scope, void *arg, struct error *err)
{
	struct starting *starting = arg;
	enum status rc = parent_check(scope, starting->job, err);

	for (size_t i = 0; !rc && i < starting->count; i++) {
		AUTO(statement) sqlite3_stmt *insert = connection_statement(scope->connection, TRIAL_INSERT);
		struct trial_start *start = &starting->starts[i];

		rc = job_row_insert(scope, start->run, &start->run_id, err);
		if (rc)
			return rc;
		bind_int(insert, ":job", starting->job);
		bind_int(insert, ":number", start->number);
		bind_int(insert, ":run", start->run_id);
		bind_int(insert, ":known", start->known);
		bind_text(insert, ":parameters", start->parameters);
		rc = statement_run(insert, err);
	}
	return rc;
}

enum status trials_start(struct store *store, int64_t job, struct trial_start *starts, size_t count,
			 struct error *err)
{
	struct starting starting = { job, starts, count };

	return state_writer_change(store->state, starting_run, &starting, err);
}

static enum status curve_put(struct change_scope *scope, int64_t run, const char *points, struct error *err)
{
	AUTO(statement) sqlite3_stmt *put = connection_statement(scope->connection, CURVE_PUT);

	bind_int(put, ":run", run);
	bind_text(put, ":points", points);
	return statement_run(put, err);
}

static enum status ending_run(struct change_scope *scope, void *arg, struct error *err)
{
	const struct trial_ending *ending = arg;
	AUTO(statement) sqlite3_stmt *update = connection_statement(scope->connection, TRIAL_END);
	enum status rc;

	bind_int(update, ":job", ending->job);
	bind_int(update, ":number", ending->number);
	bind_int(update, ":outcome", ending->outcome);
	bind_int(update, ":final_step", ending->final_step);
	bind_text(update, ":final", ending->final);
	rc = statement_run(update, err);
	if (!rc && sqlite3_changes(scope->connection->db) == 1)
		rc = job_lines_add(scope, ending->job, ending->lines, ending->line_count, err);
	return rc || !ending->curve ? rc : curve_put(scope, ending->run, ending->curve, err);
}

enum status trial_end(struct store *store, const struct trial_ending *ending, struct error *err)
{
	return state_writer_change(store->state, ending_run, (void *)ending, err);
}

static enum status stopping_run(struct change_scope *scope, void *arg, struct error *err)
{
	const struct trial_stopping *stopping = arg;
	AUTO(statement) sqlite3_stmt *update = connection_statement(scope->connection, TRIAL_STOP);
	AUTO(job) struct job *run = NULL;
	enum status rc = job_row_get(scope->connection, stopping->run, &run, err);

	if (rc || job_state_is_final(run->outcome))
		return rc;
	bind_int(update, ":job", stopping->job);
	bind_int(update, ":number", stopping->number);
	rc = statement_run(update, err);
	if (rc || sqlite3_changes(scope->connection->db) == 0)
		return rc;
	rc = job_lines_add(scope, stopping->job, stopping->line, 1, err);
	return rc ? rc : job_row_cancel(scope, run, stopping->message, err);
}

enum status trial_stop(struct store *store, const struct trial_stopping *stopping, struct error *err)
{
	return state_writer_change(store->state, stopping_run, (void *)stopping, err);
}

/* ---- curves ---- */

struct curves {
	const struct trial_curve *list;
	size_t count;
};

static enum status curves_run(struct change_scope *scope, void *arg, struct error *err)
{
	const struct curves *curves = arg;
	enum status rc = STATUS_OK;

	for (size_t i = 0; !rc && i < curves->count; i++)
		rc = curve_put(scope, curves->list[i].run, curves->list[i].points, err);
	return rc;
}

enum status trial_curves_put(struct store *store, const struct trial_curve *list, size_t count,
			     struct error *err)
{
	struct curves curves = { list, count };

	return state_writer_change(store->state, curves_run, &curves, err);
}

enum status trial_curves_visit(struct store *store, int64_t job,
			       enum status (*visit)(void *arg, const struct trial_curve *curve,
						    struct error *err),
			       void *arg, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, CURVES);

	bind_int(rows, ":job", job);
	while (statement_next(rows, &rc, err))
		rc = visit(arg,
			   &(struct trial_curve){
				   .number = (unsigned)sqlite3_column_int(rows, 0),
				   .run = sqlite3_column_int64(rows, 1),
				   .outcome = (enum trial_outcome)sqlite3_column_int(rows, 2),
				   .running_us = sqlite3_column_int64(rows, 3),
				   .points = column_text(rows, 4),
			   },
			   err);
	return rc;
}
