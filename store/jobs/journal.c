/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/journal.h"

#include <stdlib.h>

#include "daemon/base/memory.h"
#include "store/state_writer.h"
#include "store/store_parts.h"

void journal_deinit(struct journal *journal)
{
	free(journal->rows);
	*journal = (struct journal){ 0 };
}

static void row_read(sqlite3_stmt *rows, struct journal_row *ret_row)
{
	*ret_row = (struct journal_row){
		.time_us = sqlite3_column_int64(rows, 0),
		.kind = (enum journal_kind)sqlite3_column_int(rows, 1),
		.attempt = (unsigned)sqlite3_column_int(rows, 2),
		.of_replica = sqlite3_column_type(rows, 3) != SQLITE_NULL,
		.role = sqlite3_column_int(rows, 3),
		.index = (unsigned)sqlite3_column_int(rows, 4),
		.restart = (unsigned)sqlite3_column_int(rows, 5),
		.cause = sqlite3_column_int(rows, 6),
		.number = sqlite3_column_int64(rows, 7),
		.flags = (unsigned)sqlite3_column_int(rows, 8),
	};
}

enum status journal_read(struct store *store, int64_t job, struct journal *ret_journal, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	struct journal journal AUTO_JOURNAL = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, JOURNAL);

	bind_int(rows, ":job", job);
	while (statement_next(rows, &rc, err)) {
		journal.rows = memory_resize(journal.rows, journal.count + 1, sizeof(*journal.rows));
		row_read(rows, &journal.rows[journal.count++]);
	}
	if (rc)
		return rc;
	*ret_journal = journal;
	journal = (struct journal){ 0 };
	return STATUS_OK;
}

static void replica_bind(sqlite3_stmt *statement, const struct journal_row *row)
{
	bind_int(statement, ":role", row->role);
	bind_int(statement, ":index", row->index);
	bind_int(statement, ":restart", row->restart);
}

static enum status replica_blame(struct change_scope *scope, int64_t job, const struct journal_row *row,
				 struct error *err)
{
	AUTO(statement) sqlite3_stmt *blame = connection_statement(scope->connection, JOURNAL_BLAME_SET);

	bind_int(blame, ":job", job);
	bind_int(blame, ":attempt", row->attempt);
	bind_int(blame, ":ended", JOURNAL_ENDED);
	bind_int(blame, ":blamed", JOURNAL_BLAMED);
	replica_bind(blame, row);
	return statement_run(blame, err);
}

static enum status row_add(struct change_scope *scope, int64_t job, const struct journal_row *row,
			   struct error *err)
{
	AUTO(statement) sqlite3_stmt *insert = connection_statement(scope->connection, JOURNAL_INSERT);

	bind_int(insert, ":job", job);
	bind_int(insert, ":time", row->time_us ? row->time_us : scope->now_ns / 1000);
	bind_int(insert, ":kind", row->kind);
	bind_int(insert, ":attempt", row->attempt);
	if (row->of_replica)
		replica_bind(insert, row);
	bind_int(insert, ":cause", row->cause);
	bind_int(insert, ":number", row->number);
	bind_int(insert, ":flags", row->flags);
	return statement_run(insert, err);
}

enum status journal_add(struct change_scope *scope, int64_t job, const struct journal_row *rows, size_t count,
			struct error *err)
{
	enum status rc = STATUS_OK;

	for (size_t i = 0; !rc && i < count; i++)
		rc = rows[i].kind == JOURNAL_BLAME ? replica_blame(scope, job, &rows[i], err)
						   : row_add(scope, job, &rows[i], err);
	return rc;
}

enum status journal_add_state(struct change_scope *scope, int64_t job, enum job_state from, enum job_state to,
			      struct error *err)
{
	const struct journal_row row = { .kind = JOURNAL_STATE, .cause = (int)to, .number = from };

	return journal_add(scope, job, &row, to != from, err);
}

enum status journal_add_decision(struct change_scope *scope, int64_t job, enum job_state outcome, int code,
				 struct error *err)
{
	const struct journal_row row = { .kind = JOURNAL_DECIDED, .cause = (int)outcome, .number = code };

	return journal_add(scope, job, &row, 1, err);
}
