/* SPDX-License-Identifier: Apache-2.0 */
/* store/logs/log_query.c: one page of log entries.
 *
 * Entries are read along one of two keys, both in the order of the answer: those of a few jobs along the primary key
 * (one leg for each job, merged), all others along time. A page starts at the later of two positions, the filter's
 * first time and the end of the previous page, so that earlier entries are never read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/jobs/trials.h"
#include "store/logs/entry_row.h"
#include "store/logs/log_filter.h"
#include "store/logs/logs.h"
#include "store/store_parts.h"

enum { LEGS_MAX = 4 };

struct query {
	const struct log_query *asked;
	struct log_filter filter;
	struct filter_sql sql;
	struct text bound_to; /* the text that its tokens are bound to */
	/* If the query asks for a job that runs a trial: the tuning job's id, and the trial's number. NULL, "": it does
	 * not. */
	char *owner;
	char trial[12];
	bool unfinished; /* the job of the streamed log has not ended */
	bool continues;
	struct page_mark mark; /* where the page begins; after it was read, where it ended */
	int64_t jobs[LEGS_MAX];
	/* number of jobs; 0: the entries of all jobs are read in the order of time */
	unsigned job_count;
};

static void query_deinit(struct query *query)
{
	log_filter_deinit(&query->filter);
	filter_sql_deinit(&query->sql);
	text_deinit(&query->bound_to);
	free(query->owner);
}

/* ":project0, :project1" */
static void projects_put(struct text *sql, size_t count)
{
	for (size_t i = 0; i < count; i++)
		text_printf(sql, "%s:project%zu", i ? ", " : "", i);
}

static void projects_bind(sqlite3_stmt *statement, const struct log_query *asked)
{
	char name[32];

	for (size_t i = 0; i < asked->project_count; i++) {
		snprintf(name, sizeof(name), ":project%zu", i);
		bind_text(statement, name, asked->projects[i]);
	}
}

static enum status jobs_read(sqlite3_stmt *rows, struct query *query, unsigned *ret_count, struct error *err)
{
	unsigned count = 0;
	bool row = true;

	for (;; count++) {
		enum status rc = statement_step(rows, &row, err);

		*ret_count = count;
		if (rc || !row || count == LEGS_MAX)
			return rc ? rc : STATUS_OK;
		query->jobs[count] = sqlite3_column_int64(rows, 0);
	}
}

/* Finds the jobs with entries that carry the job label of the filter. If they are few, each becomes a leg. If there are
 * none, sets *ret_none. If there are too many, because clients may write any label, sets job_count to 0: all entries
 * are read along time. */
static enum status jobs_find(struct connection *connection, struct query *query, bool *ret_none,
			     struct error *err)
{
	AUTO(query) sqlite3_stmt *rows = NULL;
	struct text sql AUTO_TEXT = { 0 };
	unsigned count = 0;
	enum status rc;

	if (!query->filter.job_label)
		return STATUS_OK;
	text_printf(&sql, "SELECT DISTINCT job FROM source WHERE job_label %s AND project IN (",
		    query->owner ? "IN (:label, :owner)" : "= :label");
	projects_put(&sql, query->asked->project_count);
	text_printf(&sql, ") LIMIT %d", LEGS_MAX + 1);
	rc = connection_prepare(connection, sql.data, &rows, err);
	if (rc)
		return rc;
	bind_text(rows, ":label", query->filter.job_label);
	if (query->owner)
		bind_text(rows, ":owner", query->owner);
	projects_bind(rows, query->asked);
	rc = jobs_read(rows, query, &count, err);
	*ret_none = count == 0;
	query->job_count = count < LEGS_MAX ? count : 0;
	return rc;
}

/* If a program dates its lines, it may still write a line that belongs before lines that were read. So the upper bound
 * of gcloud's streaming, which log_filter_init() lifted, applies again while the job is unfinished. Once the job has
 * ended, the present is the bound, so lines with times in the future are not returned. */
static enum status margin_keep(struct connection *connection, struct query *query, struct error *err)
{
	const int64_t bound_ns = query->unfinished ? query->filter.margin_ns : query->asked->now_ns;
	bool dated = false;
	enum status rc = STATUS_OK;

	for (unsigned i = 0; i < query->job_count && !rc && !dated; i++) {
		AUTO(statement) sqlite3_stmt *get = connection_statement(connection, DATED_JOB_GET);

		bind_int(get, ":job", query->jobs[i]);
		rc = statement_step(get, &dated, err);
	}
	if (dated && query->filter.timestamp.to_ns > bound_ns)
		query->filter.timestamp.to_ns = bound_ns;
	return rc;
}

/* Appends the conditions for the first and the last entry of the page. */
static void range_put(struct text *sql, const struct query *query)
{
	bool descending = query->asked->descending;
	const struct filter_interval *interval = &query->filter.timestamp;

	if (query->continues)
		text_printf(
			sql,
			"(e.ts, e.insert_id, e.job, e.source) %c (:mark_ts, :mark_id, :mark_job, :mark_source)",
			descending ? '<' : '>');
	else
		text_puts(sql, descending ? "e.ts <= :to" : "e.ts >= :from");
	if (descending ? interval->from_ns != INT64_MIN : interval->to_ns != INT64_MAX)
		text_puts(sql, descending ? " AND e.ts >= :from" : " AND e.ts <= :to");
}

static void leg_put(struct text *sql, const struct query *query, unsigned leg)
{
	text_printf(
		sql,
		"SELECT " ENTRY_ROW_COLUMNS " FROM entry AS e%s CROSS JOIN source AS s ON s.id = e.source WHERE ",
		query->job_count ? "" : " INDEXED BY entry_time");
	if (query->job_count)
		text_printf(sql, "e.job = :job%u AND ", leg);
	range_put(sql, query);
	text_puts(sql, " AND s.project IN (");
	projects_put(sql, query->asked->project_count);
	text_puts(sql, ")");
	if (query->sql.where.length)
		text_printf(sql, " AND %s", query->sql.where.data);
}

static void query_put(struct text *sql, const struct query *query)
{
	const char *way = query->asked->descending ? "DESC" : "ASC";

	leg_put(sql, query, 0);
	for (unsigned leg = 1; leg < query->job_count; leg++) {
		text_puts(sql, " UNION ALL ");
		leg_put(sql, query, leg);
	}
	text_printf(sql, " ORDER BY ts %s, insert_id %s, job %s, source %s LIMIT :count", way, way, way, way);
}

static void bind_if_used(sqlite3_stmt *statement, const char *name, int64_t value)
{
	int index = sqlite3_bind_parameter_index(statement, name);

	if (index)
		sqlite3_bind_int64(statement, index, value);
}

static void query_bind(const struct query *query, sqlite3_stmt *statement)
{
	char name[16];

	projects_bind(statement, query->asked);
	filter_sql_bind(&query->sql, statement);
	for (unsigned i = 0; i < query->job_count; i++) {
		snprintf(name, sizeof(name), ":job%u", i);
		bind_if_used(statement, name, query->jobs[i]);
	}
	bind_if_used(statement, ":from", query->filter.timestamp.from_ns);
	bind_if_used(statement, ":to", query->filter.timestamp.to_ns);
	bind_int(statement, ":count", (int64_t)query->asked->page_size + 1);
	if (query->continues)
		entry_mark_bind(statement, &query->mark);
}

/* Passes the rows to @give. *ret_more: the page is full, and there are entries after @ret_last. */
static enum status rows_give(sqlite3_stmt *rows, unsigned page_size,
			     void (*give)(void *arg, const struct log_entry *entry), void *arg,
			     struct page_mark *ret_last, bool *ret_more, struct error *err)
{
	size_t bytes = 0;

	for (unsigned count = 0;; count++) {
		bool row = false;
		enum status rc = statement_step(rows, &row, err);

		*ret_more = row && (count == page_size || bytes >= LOG_PAGE_BYTES);
		if (rc || !row || *ret_more)
			return rc;
		entry_mark_read(rows, ret_last);
		bytes += entry_row_give(rows, ret_last, give, arg);
	}
}

static enum status query_run(struct connection *connection, struct query *query,
			     void (*row)(void *arg, const struct log_entry *entry), void *arg, bool *ret_more,
			     struct error *err)
{
	AUTO(query) sqlite3_stmt *rows = NULL;
	struct text sql AUTO_TEXT = { 0 };
	bool none = false;
	enum status rc = jobs_find(connection, query, &none, err);

	if (!rc && query->filter.margin_ns != INT64_MAX)
		rc = margin_keep(connection, query, err);
	if (!rc) /* even if no entry can match, because an invalid filter must be refused */
		rc = log_filter_sql(&query->filter, query->job_count > 0, &query->sql, err);
	if (rc || none)
		return rc;
	query_put(&sql, query);
	rc = connection_prepare(connection, sql.data, &rows, err);
	if (rc)
		return rc;
	query_bind(query, rows);
	return rows_give(rows, query->asked->page_size, row, arg, &query->mark, ret_more, err);
}

/* Lines of a trial with a job of its own are stored under the tuning job: a query for the trial's job must find them as
 * well. */
static enum status trial_find(struct store *store, struct query *query, struct error *err)
{
	const char *label = query->filter.job_label;
	unsigned trial = 0;
	enum status rc = STATUS_OK;

	for (size_t i = 0; label && !rc && !trial && i < query->asked->project_count; i++)
		rc = trial_of_job(store, query->asked->projects[i], label, &query->owner, &trial, err);
	if (rc || !trial)
		return rc;
	snprintf(query->trial, sizeof(query->trial), "%u", trial);
	log_filter_add_trial(&query->filter, query->owner, query->trial);
	return STATUS_OK;
}

static enum status unfinished_find(struct store *store, struct query *query, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc;

	if (query->filter.margin_ns == INT64_MAX)
		return STATUS_OK;
	rc = reader_borrow(&store->state_readers, &reader, err);
	for (size_t i = 0; i < query->asked->project_count && !rc && !query->unfinished; i++) {
		AUTO(statement)
		sqlite3_stmt *rows = connection_statement(reader.connection, JOB_UNFINISHED_NAMED);

		bind_text(rows, ":project", query->asked->projects[i]);
		bind_text(rows, ":job_id", query->filter.job_label);
		rc = statement_step(rows, &query->unfinished, err);
	}
	return rc;
}

static enum status query_init(struct store *store, struct query *query, struct error *err)
{
	const struct log_query *asked = query->asked;
	const char *filter = asked->filter ? asked->filter : "";
	enum status rc = log_filter_init(&query->filter, filter, asked->descending ? 0 : asked->now_ns,
					 asked->ahead_ns, err);

	if (rc)
		return rc;
	text_printf(&query->bound_to, "entries %s %s", asked->descending ? "desc" : "asc", filter);
	for (size_t i = 0; i < asked->project_count; i++)
		text_printf(&query->bound_to, "\n%s", asked->projects[i]);
	rc = unfinished_find(store, query, err);
	if (!rc)
		rc = trial_find(store, query, err);
	if (rc)
		return rc;
	query->continues = asked->page_token && *asked->page_token;
	if (!query->continues)
		return STATUS_OK;
	return page_token_read(&store->page_key, query->bound_to.data, query->bound_to.length,
			       asked->page_token, &query->mark, err);
}

enum status log_query_run(struct store *store, const struct log_query *asked,
			  void (*row)(void *arg, const struct log_entry *entry), void *arg,
			  char **ret_next_page_token, struct error *err)
{
	__attribute__((cleanup(query_deinit))) struct query query = { .asked = asked };
	struct reader reader AUTO_READER = { 0 };
	char *token = NULL;
	bool more = false;
	enum status rc = query_init(store, &query, err);

	if (!rc && asked->project_count > 0) {
		rc = reader_borrow(&store->logs_readers, &reader, err);
		if (!rc)
			rc = query_run(reader.connection, &query, row, arg, &more, err);
	}
	if (rc)
		return rc;
	if (more) {
		token = page_token_write(&store->page_key, query.bound_to.data, query.bound_to.length,
					 &query.mark);
	}
	*ret_next_page_token = token;
	return STATUS_OK;
}
