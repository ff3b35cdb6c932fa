/* SPDX-License-Identifier: Apache-2.0 */
/* store/job_page.c: one page of a project's jobs, newest first.
 *
 * A page is found in two steps: which ids, by the indexes alone where the filter allows, then those rows.
 * So nothing but a page's own rows is ever read whole. */
#include <stdlib.h>
#include <string.h>

#include "store/job_filter.h"
#include "store/job_rows.h"
#include "store/store_parts.h"

enum { PAGE_SIZE_MAX = 1000 };

struct page {
	const char *project;
	struct filter_sql filter;
	struct filter_interval created;
	unsigned size;
	struct text bound_to; /* what its tokens are bound to */
	bool continues;
	struct page_mark mark; /* numbers: created_us, id */
};

static void page_deinit(struct page *page)
{
	filter_sql_deinit(&page->filter);
	text_deinit(&page->bound_to);
}

/* The condition on time is written for the index once, and exactly in the filter's own words besides. */
static void ids_sql(const struct page *page, struct text *sql)
{
	text_puts(sql, "SELECT id, created_us FROM job WHERE parent IS NULL AND project = :project");
	if (page->continues)
		text_puts(sql, " AND (created_us, id) < (:mark_us, :mark_id)");
	else if (page->created.to_ns != INT64_MAX)
		text_puts(sql, " AND created_us <= :to");
	if (page->created.from_ns != INT64_MIN)
		text_puts(sql, " AND created_us >= :from");
	if (page->filter.where.length)
		text_printf(sql, " AND (%s)", page->filter.where.data);
	text_puts(sql, " ORDER BY created_us DESC, id DESC LIMIT :count");
}

static void ids_bind(const struct page *page, sqlite3_stmt *query)
{
	bind_text(query, ":project", page->project);
	if (page->continues) {
		bind_int(query, ":mark_us", page->mark.numbers[0]);
		bind_int(query, ":mark_id", page->mark.numbers[1]);
	} else if (page->created.to_ns != INT64_MAX) {
		bind_int(query, ":to", page->created.to_ns / 1000);
	}
	if (page->created.from_ns != INT64_MIN)
		bind_int(query, ":from", page->created.from_ns / 1000);
	filter_sql_bind(&page->filter, query);
	bind_int(query, ":count", (int64_t)page->size + 1);
}

/* Up to one more than the page holds: then there is a next one. Jobs get id and created_us. */
static enum status ids_read(struct connection *connection, const struct page *page, struct job_list *list,
			    bool *ret_more, struct error *err)
{
	AUTO(query) sqlite3_stmt *query = NULL;
	struct text sql AUTO_TEXT = { 0 };
	bool row = true;
	enum status rc;

	ids_sql(page, &sql);
	rc = sql.failed ? error_no_memory(err) : connection_prepare(connection, sql.data, &query, err);
	if (rc)
		return rc;
	ids_bind(page, query);
	for (;;) {
		rc = statement_step(query, &row, err);
		*ret_more = row && list->count == page->size;
		if (rc || !row || *ret_more)
			return rc;
		list->jobs[list->count].id = sqlite3_column_int64(query, 0);
		list->jobs[list->count++].created_us = sqlite3_column_int64(query, 1);
	}
}

static enum status rows_read(struct connection *connection, struct job_list *list, struct error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		AUTO(statement) sqlite3_stmt *statement = connection_statement(connection, JOB_ROW);
		bool row = false;
		enum status rc;

		bind_int(statement, ":id", list->jobs[i].id);
		rc = statement_step(statement, &row, err);
		if (!rc && !row)
			rc = error_set(err, STATUS_INTERNAL, NULL, "a job went away while its page was read");
		if (!rc)
			rc = job_row_read(statement, &list->jobs[i], err);
		if (rc)
			return rc;
	}
	return job_positions_fill(connection, list, err);
}

static enum status token_make(struct store *store, const struct page *page, struct job_list *list,
			      struct error *err)
{
	const struct job *last = &list->jobs[list->count - 1];
	struct page_mark mark = { .numbers = { last->created_us, last->id } };

	list->next_page_token =
		page_token_write(&store->page_key, page->bound_to.data, page->bound_to.length, &mark);
	return list->next_page_token ? STATUS_OK : error_no_memory(err);
}

static enum status page_read(struct store *store, struct connection *connection, const struct page *page,
			     struct job_list *list, struct error *err)
{
	bool more = false;
	enum status rc;

	list->jobs = calloc(page->size, sizeof(*list->jobs));
	if (!list->jobs)
		return error_no_memory(err);
	rc = connection_exec(connection, "BEGIN", err);
	if (rc)
		return rc;
	rc = ids_read(connection, page, list, &more, err);
	if (!rc && more)
		rc = token_make(store, page, list, err);
	if (!rc)
		rc = rows_read(connection, list, err);
	connection_exec(connection, "COMMIT", NULL);
	return rc;
}

static enum status page_init(struct store *store, struct page *page, const char *filter, const char *token,
			     struct error *err)
{
	enum status rc = job_filter_make(filter, &page->filter, &page->created, err);

	if (rc)
		return rc;
	text_printf(&page->bound_to, "jobs %s %s", page->project, filter ? filter : "");
	if (page->bound_to.failed)
		return error_no_memory(err);
	page->continues = token && *token;
	if (!page->continues)
		return STATUS_OK;
	return page_token_read(&store->page_key, page->bound_to.data, page->bound_to.length, token,
			       &page->mark, err);
}

enum status job_list_page(struct store *store, const char *project, const char *filter, unsigned page_size,
			  const char *page_token, struct job_list *ret_list, struct error *err)
{
	__attribute__((cleanup(page_deinit))) struct page page = {
		.project = project,
		.size = page_size < 1               ? 1
			: page_size > PAGE_SIZE_MAX ? PAGE_SIZE_MAX
						    : page_size,
	};
	struct job_list list AUTO_JOB_LIST = { 0 };
	struct reader reader AUTO_READER = { 0 };
	enum status rc = page_init(store, &page, filter, page_token, err);

	if (!rc)
		rc = reader_borrow(&store->state_readers, &reader, err);
	if (!rc)
		rc = page_read(store, reader.connection, &page, &list, err);
	if (rc)
		return rc;
	*ret_list = list;
	list = (struct job_list){ 0 };
	return STATUS_OK;
}
