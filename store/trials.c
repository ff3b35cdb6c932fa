/* SPDX-License-Identifier: Apache-2.0 */
#include "store/trials.h"

#include <stdlib.h>

#include "store/job_rows.h"
#include "store/state_writer.h"
#include "store/store_parts.h"

static void stored_trial_deinit(struct stored_trial *trial)
{
	free(trial->parameters);
	free(trial->final);
	free(trial->error_message);
}

void trial_list_deinit(struct trial_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		stored_trial_deinit(&list->trials[i]);
	free(list->trials);
	*list = (struct trial_list){ 0 };
}

/* In the order of TRIALS. */
static bool trial_read(sqlite3_stmt *row, struct stored_trial *trial)
{
	*trial = (struct stored_trial){
		.number = (unsigned)sqlite3_column_int(row, 0),
		.run = sqlite3_column_int64(row, 1),
		.outcome = (enum trial_outcome)sqlite3_column_int(row, 2),
		.known = (unsigned)sqlite3_column_int(row, 3),
		.ended_as = (unsigned)sqlite3_column_int(row, 4),
		.stopped_early = sqlite3_column_int(row, 5) != 0,
		.parameters = column_copy(row, 6),
		.final = column_copy(row, 7),
		.state = (enum job_state)sqlite3_column_int(row, 8),
		.started_us = sqlite3_column_int64(row, 9),
		.running_us = sqlite3_column_int64(row, 10),
		.ended_us = sqlite3_column_int64(row, 11),
		.error_message = column_copy(row, 12),
	};
	return trial->parameters;
}

static enum status list_add(struct trial_list *list, size_t *size, sqlite3_stmt *row, struct error *err)
{
	if (list->count == *size) {
		size_t wanted = *size ? *size * 2 : 16;
		struct stored_trial *grown = realloc(list->trials, wanted * sizeof(*grown));

		if (!grown)
			return error_no_memory(err);
		list->trials = grown;
		*size = wanted;
	}
	if (!trial_read(row, &list->trials[list->count++]))
		return error_no_memory(err);
	return STATUS_OK;
}

enum status trial_list_read(struct store *store, int64_t job, struct trial_list *ret_list, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	size_t size = 0;
	bool row = true;
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, TRIALS);

	bind_int(rows, ":job", job);
	while (!rc && row) {
		rc = statement_step(rows, &row, err);
		if (!rc && row)
			rc = list_add(&list, &size, rows, err);
	}
	if (rc)
		return rc;
	*ret_list = list;
	list = (struct trial_list){ 0 };
	return STATUS_OK;
}

struct starting {
	int64_t job;
	struct trial_start *starts;
	size_t count;
};

static enum status parent_check(struct change_scope *scope, int64_t id, struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(scope->connection, JOB_BY_ID);
	struct job job = { 0 };
	bool row = false;
	enum status rc;

	bind_int(statement, ":id", id);
	rc = statement_step(statement, &row, err);
	if (!rc && row)
		rc = job_row_read(statement, &job, err);
	if (!rc && (!row || job_state_is_final(job.state) || job.verdict != JOB_STATE_UNSPECIFIED))
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

struct ending {
	int64_t job;
	unsigned number;
	enum trial_outcome outcome;
	const char *final;
};

static enum status ending_run(struct change_scope *scope, void *arg, struct error *err)
{
	const struct ending *ending = arg;
	AUTO(statement) sqlite3_stmt *update = connection_statement(scope->connection, TRIAL_END);

	bind_int(update, ":job", ending->job);
	bind_int(update, ":number", ending->number);
	bind_int(update, ":outcome", ending->outcome);
	bind_text(update, ":final", ending->final);
	return statement_run(update, err);
}

enum status trial_end(struct store *store, int64_t job, unsigned number, enum trial_outcome outcome,
		      const char *final, struct error *err)
{
	struct ending ending = { job, number, outcome, final };

	return state_writer_change(store->state, ending_run, &ending, err);
}

static enum status stopping_run(struct change_scope *scope, void *arg, struct error *err)
{
	const struct ending *stopping = arg;
	AUTO(statement) sqlite3_stmt *update = connection_statement(scope->connection, TRIAL_STOP);

	bind_int(update, ":job", stopping->job);
	bind_int(update, ":number", stopping->number);
	return statement_run(update, err);
}

enum status trial_stop(struct store *store, int64_t job, unsigned number, struct error *err)
{
	struct ending stopping = { .job = job, .number = number };

	return state_writer_change(store->state, stopping_run, &stopping, err);
}
