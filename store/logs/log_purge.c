/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logs/log_purge.h"

#include "store/logs/log_batch.h"

/* Choice: about a tenth of a second of the writer's time on a slow disk. */
enum {
	PURGE_COUNT = 5000,
	/* more rows than a full queue adds between two slices, so that the purge ends although a program adds lines
	 * with old times */
	PURGE_READ = 80000,
};

/* Removes the job's rows from all tables except that of the entries, and makes the batch forget its sources' row ids
 * and its last time. */
static enum status job_forget(struct log_batch *batch, int64_t job, struct error *err)
{
	static const enum statement_id deletions[] = { REPLICA_POSITION_PURGE, DATED_JOB_PURGE,
						       SOURCE_PURGE };
	enum status rc = STATUS_OK;

	for (size_t i = 0; !rc && i < sizeof(deletions) / sizeof(deletions[0]); i++) {
		AUTO(statement)
		sqlite3_stmt *statement = connection_statement(batch->connection, deletions[i]);

		bind_int(statement, ":job", job);
		rc = statement_run(statement, err);
	}
	batch->numbering++;
	for (size_t i = 0; i < JOB_CLOCKS; i++)
		if (batch->clocks[i].job == job)
			batch->clocks[i] = (struct job_clock){ 0 };
	return rc;
}

/* Removes a slice of a job's entries. */
static enum status job_purge_slice(struct log_batch *batch, int64_t job, bool *ret_more, struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(batch->connection, ENTRY_PURGE);
	enum status rc;

	bind_int(statement, ":job", job);
	bind_int(statement, ":count", PURGE_COUNT);
	rc = statement_run(statement, err);
	*ret_more = !rc && sqlite3_changes(batch->connection->db) == PURGE_COUNT;
	return rc || *ret_more ? rc : job_forget(batch, job, err);
}

static void log_bind(sqlite3_stmt *statement, const struct log_selection *selection)
{
	bind_int(statement, ":job", selection->job);
	bind_text(statement, ":project", selection->project);
	bind_text(statement, ":log_name", selection->log_name);
}

/* Binds an insert id; NULL: a value that sorts after all insert ids. */
static void id_bind(sqlite3_stmt *statement, const char *name, const sqlite3_value *id)
{
	const int index = sqlite3_bind_parameter_index(statement, name);

	if (id)
		sqlite3_bind_value(statement, index, id);
	else
		sqlite3_bind_zeroblob(statement, index, 0);
}

static void slice_bind(sqlite3_stmt *statement, const struct log_selection *selection)
{
	log_bind(statement, selection);
	bind_int(statement, ":until", selection->until_ns);
	bind_int(statement, ":from", selection->from_ns);
	id_bind(statement, ":from_id", selection->from_id);
	bind_int(statement, ":from_source", selection->from_source);
}

/* Removes the sources of the log that have no entries any more: all entries up to the bound (until_ns) are gone, and
 * source_row() has noted in used[] which sources have later ones. If a removed source gets another entry, it gets a new
 * row. */
static enum status log_forget(struct log_batch *batch, const struct log_selection *selection, struct error *err)
{
	AUTO(statement) sqlite3_stmt *sources = connection_statement(batch->connection, LOG_SOURCES);
	AUTO(statement) sqlite3_stmt *purge = connection_statement(batch->connection, LOG_SOURCE_PURGE);
	enum status rc = STATUS_OK;
	bool row = true;

	log_bind(sources, selection);
	batch->numbering++;
	while (!rc) {
		int64_t source;

		rc = statement_step(sources, &row, err);
		if (rc || !row)
			return rc;
		source = sqlite3_column_int64(sources, 0);
		if (batch->used[(uint64_t)source % SOURCE_SLOTS] > selection->until_ns)
			continue;
		bind_int(purge, ":source", source);
		rc = statement_run(purge, err);
	}
	return rc;
}

/* Prepares the purge of a job, before its first slice. At the log's first job it sets the bound (until_ns), and changes
 * batch->numbering, so that source_row() looks up each source again at its next entry. The end (end_ns) keeps the
 * slices from going on for ever in a job that still writes. */
static enum status log_purge_begin(struct log_batch *batch, struct log_selection *selection, struct error *err)
{
	AUTO(statement) sqlite3_stmt *last = connection_statement(batch->connection, ENTRY_LAST);
	bool row = false;
	enum status rc;

	if (!selection->until_ns) {
		selection->until_ns = batch->received;
		batch->numbering++;
	}
	bind_int(last, ":job", selection->job);
	rc = statement_step(last, &row, err);
	if (rc)
		return rc;
	selection->begun = true;
	sqlite3_value_free(selection->from_id);
	selection->from_id = NULL;
	selection->from_ns = INT64_MIN;
	selection->end_ns = row ? sqlite3_column_int64(last, 0) : INT64_MIN;
	return STATUS_OK;
}

/* Reads to the end of a slice, and moves the beginning of @slice there. Without more rows, from_id is NULL. */
static enum status slice_read(struct log_batch *batch, struct log_selection *slice, unsigned *ret_count,
			      bool *ret_more, struct error *err)
{
	AUTO(statement) sqlite3_stmt *rows = connection_statement(batch->connection, LOG_ENTRY_SLICE);
	unsigned read = 0, count = 0;
	bool row = true;

	slice_bind(rows, slice);
	bind_int(rows, ":end", slice->end_ns);
	bind_int(rows, ":count", PURGE_READ);
	while (read < PURGE_READ && count < PURGE_COUNT) {
		enum status rc = statement_step(rows, &row, err);

		if (rc)
			return rc;
		if (!row)
			break;
		read++;
		count += sqlite3_column_int(rows, 3) != 0;
	}
	*ret_count = count;
	*ret_more = row;
	slice->from_ns = row ? sqlite3_column_int64(rows, 0) : slice->end_ns;
	slice->from_id = row ? sqlite3_value_dup(sqlite3_column_value(rows, 1)) : NULL;
	slice->from_source = row ? sqlite3_column_int64(rows, 2) : 0;
	return STATUS_OK;
}

/* Removes a slice of a log's entries. Each slice begins where the one before ended, so that a job's other entries are
 * read once. */
static enum status log_purge_slice(struct log_batch *batch, struct log_selection *selection, bool *ret_more,
				   struct error *err)
{
	struct log_selection next;
	unsigned count = 0;
	enum status rc = selection->begun ? STATUS_OK : log_purge_begin(batch, selection, err);

	if (rc)
		return rc;
	next = *selection;
	rc = slice_read(batch, &next, &count, ret_more, err);
	if (rc)
		return rc;
	if (count) {
		AUTO(statement) sqlite3_stmt *purge = connection_statement(batch->connection, LOG_ENTRY_PURGE);

		slice_bind(purge, selection);
		bind_int(purge, ":to", next.from_ns);
		id_bind(purge, ":to_id", next.from_id);
		bind_int(purge, ":to_source", next.from_source);
		rc = statement_run(purge, err);
	}
	sqlite3_value_free(selection->from_id);
	*selection = next;
	return rc || *ret_more ? rc : log_forget(batch, selection, err);
}

enum status log_batch_purge(struct log_batch *batch, struct log_selection *selection, bool *ret_more,
			    struct error *err)
{
	bool shrinks = false;
	enum status rc = transaction_begin(batch->connection, err);

	if (!rc)
		rc = selection->log_name ? log_purge_slice(batch, selection, ret_more, err)
					 : job_purge_slice(batch, selection->job, ret_more, err);
	if (!rc)
		rc = connection_shrink(batch->connection, &shrinks, err);
	if (!rc)
		rc = transaction_commit(batch->connection, err);
	*ret_more |= shrinks;
	if (rc)
		transaction_rollback(batch->connection, NULL);
	return rc;
}
