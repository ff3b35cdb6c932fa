/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/job_purge.h"

#include <stdlib.h>

#include "daemon/base/memory.h"
#include "store/jobs/summaries.h"
#include "store/logs/log_purge.h"
#include "store/logs/logs.h"
#include "store/logs/logs_writer.h"
#include "store/state_writer.h"
#include "store/store_parts.h"

enum { NO_JOB = 0 /* for entries that clients wrote themselves */ };

enum status job_purge_next(struct store *store, int64_t before_us, int64_t *ret_job, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	bool found = false;
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *row = connection_statement(reader.connection, JOB_OLDEST_ENDED);
	bind_int(row, ":before", before_us);
	rc = statement_step(row, &found, err);
	if (!rc)
		*ret_job = found ? sqlite3_column_int64(row, 0) : 0;
	return rc;
}

/* A job and the jobs that run its trials; the job itself comes first. */
struct family {
	int64_t *ids;
	size_t count, size;
};

static void family_deinit(struct family *family)
{
	free(family->ids);
}

static void family_add(struct family *family, int64_t id)
{
	if (family->count == family->size) {
		family->size = family->size ? 2 * family->size : 16;
		family->ids = memory_resize(family->ids, family->size, sizeof(*family->ids));
	}
	family->ids[family->count++] = id;
}

static enum status family_read(struct connection *connection, int64_t job, struct family *family,
			       struct error *err)
{
	AUTO(statement) sqlite3_stmt *trials = connection_statement(connection, JOB_TRIAL_IDS);
	enum status rc = STATUS_OK;

	family_add(family, job);
	bind_int(trials, ":id", job);
	while (statement_next(trials, &rc, err))
		family_add(family, sqlite3_column_int64(trials, 0));
	return rc;
}

static enum status ended_check(struct connection *connection, int64_t job, struct error *err)
{
	AUTO(statement) sqlite3_stmt *row = connection_statement(connection, JOB_ENDED);
	bool found = false;
	enum status rc;

	bind_int(row, ":id", job);
	rc = statement_step(row, &found, err);
	if (rc)
		return rc;
	if (!found)
		return error_set(err, STATUS_NOT_FOUND, NULL, "the job does not exist");
	return sqlite3_column_int(row, 0) ? STATUS_OK
					  : error_set(err, STATUS_FAILED_PRECONDITION, NULL,
						      "a job can be deleted only after it has ended");
}

static enum status rows_delete(struct connection *connection, const struct family *family, struct error *err)
{
	/* A row is deleted before the rows that it refers to. */
	static const enum statement_id deletions[] = {
		LEASE_PURGE, POLICY_PURGE, JOURNAL_PURGE, FAULT_INJECTION_PURGE, FAULT_MARK_PURGE,
		CURVE_PURGE, TRIAL_PURGE,  MODEL_PURGE,   PIPELINE_PURGE,        JOB_PURGE,
	};
	enum status rc = STATUS_OK;

	for (size_t i = family->count; !rc && i-- > 0;)
		for (size_t j = 0; !rc && j < sizeof(deletions) / sizeof(deletions[0]); j++) {
			AUTO(statement)
			sqlite3_stmt *statement = connection_statement(connection, deletions[j]);

			bind_int(statement, ":id", family->ids[i]);
			rc = statement_run(statement, err);
		}
	return rc;
}

static enum status purge_run(struct change_scope *scope, void *arg, struct error *err)
{
	__attribute__((cleanup(family_deinit))) struct family family = { 0 };
	const int64_t job = *(const int64_t *)arg;
	bool more = false;
	enum status rc = ended_check(scope->connection, job, err);

	if (!rc)
		rc = family_read(scope->connection, job, &family, err);
	if (!rc)
		rc = rows_delete(scope->connection, &family, err);
	return rc ? rc : connection_shrink(scope->connection, &more, err); /* the rest with the next job */
}

static enum status logs_purge(struct store *store, const struct family *family, struct error *err)
{
	enum status rc = log_flush(store, err); /* stores last lines that still wait in the queue */

	for (size_t i = 0; !rc && i < family->count; i++)
		for (bool more = true; !rc && more;)
			rc = logs_writer_purge(store->logs,
					       &(struct log_selection){ .job = family->ids[i] }, &more, err);
	return rc;
}

static enum status purge_prepare(struct store *store, int64_t job, struct family *family, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (!rc)
		rc = ended_check(reader.connection, job, err);
	return rc ? rc : family_read(reader.connection, job, family, err);
}

enum status job_purge(struct store *store, int64_t job, struct error *err)
{
	__attribute__((cleanup(family_deinit))) struct family family = { 0 };
	enum status rc = purge_prepare(store, job, &family, err);

	if (!rc)
		rc = logs_purge(store, &family, err);
	return rc ? rc : state_writer_change(store->state, purge_run, &job, err);
}

enum status job_purge_any(struct store *store, int64_t *ret_job, struct error *err)
{
	int64_t job = 0;
	bool found = false;
	enum status rc;

	{
		struct reader reader AUTO_READER = { 0 };

		rc = reader_borrow(&store->state_readers, &reader, err);
		if (rc)
			return rc;
		AUTO(statement) sqlite3_stmt *row = connection_statement(reader.connection, JOB_FIRST_ENDED);
		rc = statement_step(row, &found, err);
		if (!rc && found)
			job = sqlite3_column_int64(row, 0);
	}
	if (!rc && job)
		rc = job_purge(store, job, err);
	if (!rc)
		*ret_job = job;
	return rc;
}

static enum status rest_run(struct change_scope *scope, void *arg, struct error *err)
{
	static const enum statement_id deletions[] = { MODEL_ALIASES_PURGE, OPERATIONS_PURGE };
	enum status rc = STATUS_OK;

	(void)arg;
	for (size_t i = 0; !rc && i < sizeof(deletions) / sizeof(deletions[0]); i++) {
		AUTO(statement)
		sqlite3_stmt *statement = connection_statement(scope->connection, deletions[i]);

		rc = statement_run(statement, err);
	}
	return rc;
}

enum status job_purge_rest(struct store *store, bool *ret_more, struct error *err)
{
	struct job_counts counts = { 0 };
	enum status rc = summary_count(store, &counts, err);

	*ret_more = false;
	for (unsigned family = 0; family < SUMMARY_FAMILIES; family++)
		for (unsigned state = 0; state < JOB_STATE_COUNT; state++)
			*ret_more = *ret_more || counts.jobs[family][state];
	if (rc || *ret_more)
		return rc;
	rc = state_writer_change(store->state, rest_run, NULL, err);
	return rc ? rc : logs_writer_purge(store->logs, &(struct log_selection){ .job = NO_JOB }, ret_more,
					    err);
}

static enum status used_read(struct reader_pool *pool, int64_t *bytes, struct error *err)
{
	static const char sql[] = "SELECT (page_count - freelist_count) * page_size"
				  " FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
	struct reader reader AUTO_READER = { 0 };
	AUTO(query) sqlite3_stmt *query = NULL;
	bool found = false;
	enum status rc = reader_borrow(pool, &reader, err);

	if (!rc)
		rc = connection_prepare(reader.connection, sql, &query, err);
	if (!rc)
		rc = statement_step(query, &found, err);
	if (!rc && found)
		*bytes += sqlite3_column_int64(query, 0);
	return rc;
}

enum status store_used_bytes(struct store *store, int64_t *ret_bytes, struct error *err)
{
	int64_t bytes = 0;
	enum status rc = used_read(&store->state_readers, &bytes, err);

	if (!rc)
		rc = used_read(&store->logs_readers, &bytes, err);
	if (!rc)
		*ret_bytes = bytes;
	return rc;
}
