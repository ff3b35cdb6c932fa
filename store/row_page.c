/* SPDX-License-Identifier: Apache-2.0 */
#include "store/row_page.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "store/store_parts.h"

void row_page_deinit(struct row_page *page)
{
	filter_sql_deinit(&page->filter);
	text_deinit(&page->bound_to);
	free(page->rows);
}

/* Writes the query. The filter's condition on times occurs twice: as an interval, so that SQLite can use the index,
 * and exactly as in the filter. */
static void sql_write(const struct row_page *page, struct text *sql)
{
	text_printf(sql, "SELECT id, created_us FROM %s", page->from);
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

static void sql_bind(const struct row_page *page, sqlite3_stmt *query)
{
	for (size_t i = 0; i < ROW_PAGE_BOUND_MAX && page->bound[i].name; i++)
		bind_text(query, page->bound[i].name, page->bound[i].value);
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

enum status row_page_begin(struct row_page *page, const struct page_key *key, const char *filter,
			   const char *token, struct error *err)
{
	page->size = page->size < 1 ? 1 : page->size > ROW_PAGE_MAX ? ROW_PAGE_MAX : page->size;
	text_puts(&page->bound_to, page->from);
	for (size_t i = 0; i < ROW_PAGE_BOUND_MAX && page->bound[i].name; i++)
		text_printf(&page->bound_to, "\n%s", page->bound[i].value);
	text_printf(&page->bound_to, "\n%s", filter ? filter : "");
	page->continues = token && *token;
	if (!page->continues)
		return STATUS_OK;
	return page_token_read(key, page->bound_to.data, page->bound_to.length, token, &page->mark, err);
}

/* Reads one row more than the page holds: if it exists, there is a next page. */
enum status row_page_read(struct connection *connection, struct row_page *page, struct error *err)
{
	AUTO(query) sqlite3_stmt *query = NULL;
	struct text sql AUTO_TEXT = { 0 };
	bool row = true;
	enum status rc;

	page->rows = memory_calloc(page->size, sizeof(*page->rows));
	sql_write(page, &sql);
	rc = connection_prepare(connection, sql.data, &query, err);
	if (rc)
		return rc;
	sql_bind(page, query);
	for (;;) {
		rc = statement_step(query, &row, err);
		page->more = !rc && row && page->count == page->size;
		if (rc || !row || page->more)
			return rc;
		page->rows[page->count++] = (struct row_mark){ .id = sqlite3_column_int64(query, 0),
							       .created_us = sqlite3_column_int64(query, 1) };
	}
}

void row_page_token(const struct row_page *page, const struct page_key *key, char **ret_token)
{
	struct page_mark mark = { 0 };

	*ret_token = NULL;
	if (!page->more)
		return;
	mark.numbers[0] = page->rows[page->count - 1].created_us;
	mark.numbers[1] = page->rows[page->count - 1].id;
	*ret_token = page_token_write(key, page->bound_to.data, page->bound_to.length, &mark);
}

static enum status items_read(struct connection *connection, const struct row_page *page,
			      struct row_items *items, struct error *err)
{
	enum status rc = STATUS_OK;

	items->made = page->count ? memory_calloc(page->count, items->size) : NULL;
	for (size_t i = 0; !rc && i < page->count; i++) {
		rc = items->read(connection, page->rows[i].id, (char *)items->made + i * items->size, err);
		items->count += !rc;
	}
	return rc || !items->finish ? rc : items->finish(connection, items->made, items->count, err);
}

static enum status rows_walk(struct connection *connection, struct row_page *page, struct row_items *items,
			     struct error *err)
{
	enum status rc = connection_exec(connection, "BEGIN", err);

	if (rc)
		return rc;
	rc = row_page_read(connection, page, err);
	if (!rc)
		rc = items_read(connection, page, items, err);
	connection_exec(connection, "COMMIT", NULL);
	return rc;
}

enum status row_page_walk(struct store *store, struct row_page *page, struct row_items *items,
			  char **ret_token, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (!rc)
		rc = rows_walk(reader.connection, page, items, err);
	if (!rc)
		row_page_token(page, &store->page_key, ret_token);
	return rc;
}
