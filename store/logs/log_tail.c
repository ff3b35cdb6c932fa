/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logs/log_tail.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "store/logs/log_filter.h"
#include "store/logs/logs_writer.h"
#include "store/store_parts.h"

enum { PAGE_COUNT = 1000, PAGE_BYTES = 4 << 20, SEARCH_SHARE = 10 };

/* An entry's position in the order of time. */
struct log_order_position {
	int64_t ts, source;
	char *id; /* NULL: the number is the id */
	int64_t id_number;
};

/* The part of the log that was read. */
struct progress {
	bool begun, caught_up; /* caught_up: all entries received up to floor were returned */
	bool placed;           /* entries up to place, in the order of time, were returned */
	struct log_order_position place;
	int64_t floor;
};

struct log_tail {
	struct store *store;
	int64_t job, since_ns, last;
	char *filter_text;
	struct log_filter filter;
	struct filter_sql sql;
	bool follows;
	struct progress now;
	struct progress before; /* the value of `now` when the last read began */
	/* monotonic time before which no read searches for entries by received_ns */
	int64_t search_at_us;
	uint64_t stored;        /* the number of commits of the writer before the last read */
};

void log_tail_close(struct log_tail *tail)
{
	if (!tail)
		return;
	log_filter_deinit(&tail->filter);
	filter_sql_deinit(&tail->sql);
	free(tail->filter_text);
	free(tail->now.place.id);
	free(tail->before.place.id);
	free(tail);
}

/* ---- cursors ---- */

/* Writes the cursor "1.FLOOR.1.TIME.SOURCE.nNUMBER" (or "…tID" if the id is a text): caught_up, floor, placed,
 * place. */
void log_tail_cursor(const struct log_tail *tail, struct text *text)
{
	const struct progress *at = &tail->before;

	text_printf(text, "%d.%" PRId64 ".%d.%" PRId64 ".%" PRId64 ".", at->caught_up, at->floor, at->placed,
		    at->place.ts, at->place.source);
	if (at->place.id)
		text_printf(text, "t%s", at->place.id);
	else
		text_printf(text, "n%" PRId64, at->place.id_number);
}

static enum status cursor_read(const char *cursor, struct progress *ret_progress, struct error *err)
{
	struct progress at = { .begun = true };
	int caught_up, placed, end = 0;
	char rest;

	if (sscanf(cursor, "%1d.%19" SCNd64 ".%1d.%20" SCNd64 ".%19" SCNd64 ".%n", &caught_up, &at.floor,
		   &placed, &at.place.ts, &at.place.source, &end) != 5 ||
	    !end ||
	    (cursor[end] != 't' && sscanf(cursor + end, "n%19" SCNd64 "%c", &at.place.id_number, &rest) != 1))
		return error_set(err, STATUS_INVALID_ARGUMENT, "cursor", "The cursor is malformed: use one that an earlier answer gave.");
	at.caught_up = caught_up;
	at.placed = placed;
	if (cursor[end] == 't')
		at.place.id = memory_strdup(cursor + end + 1);
	*ret_progress = at;
	return STATUS_OK;
}

/* Call when a read begins: it begins where the last one ended. */
static void progress_keep(struct log_tail *tail)
{
	free(tail->before.place.id);
	tail->before = tail->now;
	tail->before.place.id = memory_strdup(tail->now.place.id);
}

enum status log_tail_open(struct store *store, const struct log_tail_spec *spec, struct log_tail **ret_tail,
			  struct error *err)
{
	AUTO(log_tail) struct log_tail *tail = memory_calloc(1, sizeof(*tail));
	enum status rc;

	tail->store = store;
	tail->job = spec->job;
	tail->since_ns = spec->since_ns;
	tail->last = spec->last;
	tail->follows = spec->follows;
	tail->filter_text = memory_strdup(spec->filter ? spec->filter : "");
	rc = log_filter_init(&tail->filter, tail->filter_text, 0, 0, err);
	if (!rc)
		rc = log_filter_sql(&tail->filter, true, &tail->sql, err);
	if (!rc && spec->cursor)
		rc = cursor_read(spec->cursor, &tail->now, err);
	if (!rc)
		progress_keep(tail);
	if (!rc)
		*ret_tail = TAKE(tail);
	return rc;
}

/* ---- a look at the stored entries ---- */

enum look {
	LOOK_LAST,     /* finds the position before the last entries, and returns no entry */
	LOOK_STORED,   /* entries after place that were received up to floor, in the order of time */
	LOOK_NEW,      /* all entries after place, in the order of time */
	LOOK_RECEIVED, /* entries received since floor, in that order */
};

static enum status look_prepare(const struct log_tail *tail, struct connection *connection, enum look look,
				sqlite3_stmt **ret_rows, struct error *err)
{
#define IN_TIME " ORDER BY e.ts, e.insert_id, e.source LIMIT :count"
	static const char *const ends[] = {
		[LOOK_LAST] = " ORDER BY e.ts DESC, e.insert_id DESC, e.source DESC LIMIT 1 OFFSET :last",
		[LOOK_STORED] = " AND e.received_ns <= :floor" IN_TIME,
		[LOOK_NEW] = IN_TIME,
		[LOOK_RECEIVED] = " AND e.received_ns > :floor ORDER BY e.received_ns LIMIT :count",
	};
	struct text sql AUTO_TEXT = { 0 };

	text_puts(
		&sql,
		"SELECT e.ts, e.insert_id, e.source, e.severity, e.kind, e.payload, e.received_ns,"
		" json_extract(s.resource_labels, '$.task_name'), json_extract(s.labels, '$.\"ml.googleapis.com/trial_id\"')"
		" FROM entry AS e CROSS JOIN source AS s ON s.id = e.source"
		" WHERE e.job = :job0");
	/* Uses only one lower bound. With two, SQLite may seek by the earlier one, and walk over all entries that
	 * were read already. */
	if ((look == LOOK_STORED || look == LOOK_NEW) && tail->now.placed)
		text_puts(&sql, " AND (e.ts, e.insert_id, e.source) > (:ts, :id, :source)");
	else
		text_puts(&sql, " AND e.ts >= :since");
	if (tail->sql.where.length)
		text_printf(&sql, " AND %s", tail->sql.where.data);
	text_puts(&sql, ends[look]);
	return connection_prepare(connection, sql.data, ret_rows, err);
}

static void int_bind(sqlite3_stmt *rows, const char *name, int64_t value)
{
	if (sqlite3_bind_parameter_index(rows, name))
		bind_int(rows, name, value);
}

static void look_bind(const struct log_tail *tail, sqlite3_stmt *rows)
{
	filter_sql_bind(&tail->sql, rows);
	bind_int(rows, ":job0", tail->job);
	int_bind(rows, ":since", tail->since_ns);
	int_bind(rows, ":last", tail->last);
	int_bind(rows, ":floor", tail->now.floor);
	int_bind(rows, ":count", PAGE_COUNT);
	int_bind(rows, ":ts", tail->now.place.ts);
	int_bind(rows, ":source", tail->now.place.source);
	if (tail->now.place.id && sqlite3_bind_parameter_index(rows, ":id"))
		bind_text(rows, ":id", tail->now.place.id);
	else
		int_bind(rows, ":id", tail->now.place.id_number);
}

static void place_set(struct log_tail *tail, sqlite3_stmt *row)
{
	const bool is_text = sqlite3_column_type(row, 1) == SQLITE_TEXT;

	free(tail->now.place.id);
	tail->now.place =
		(struct log_order_position){ .ts = sqlite3_column_int64(row, 0),
					     .source = sqlite3_column_int64(row, 2),
					     .id = is_text ? column_copy(row, 1) : NULL,
					     .id_number = is_text ? 0 : sqlite3_column_int64(row, 1) };
	tail->now.placed = true;
}

struct page {
	void (*take)(void *arg, const struct tail_line *line);
	void *arg;
	unsigned count;
	size_t bytes;
};

static bool page_is_full(const struct page *page)
{
	return page->count >= PAGE_COUNT || page->bytes >= PAGE_BYTES;
}

static void line_give(sqlite3_stmt *row, struct page *page)
{
	const struct tail_line line = {
		.time_ns = sqlite3_column_int64(row, 0),
		.severity = sqlite3_column_int(row, 3),
		.kind = (enum log_payload)sqlite3_column_int(row, 4),
		.payload = column_text(row, 5),
		.payload_length = (size_t)sqlite3_column_bytes(row, 5),
		.task = column_text(row, 7),
		.trial = column_text(row, 8),
	};

	page->count++;
	page->bytes += line.payload_length;
	page->take(page->arg, &line);
}

static enum status look_run(struct log_tail *tail, struct connection *connection, enum look look,
			    struct page *page, struct error *err)
{
	AUTO(query) sqlite3_stmt *rows = NULL;
	enum status rc = look_prepare(tail, connection, look, &rows, err);

	if (rc)
		return rc;
	look_bind(tail, rows);
	while (!page_is_full(page) && statement_next(rows, &rc, err)) {
		if (look != LOOK_RECEIVED)
			place_set(tail, rows);
		if (look == LOOK_NEW || look == LOOK_RECEIVED)
			tail->now.floor = sqlite3_column_int64(rows, 6);
		if (look != LOOK_LAST)
			line_give(rows, page);
	}
	return rc;
}

/* ---- a read ---- */

/* Reads, in the snapshot of this read, whether a program dates lines of the job, and the received_ns of the last
 * entry of any job. */
static enum status view_read(const struct log_tail *tail, struct connection *connection, bool *ret_dated,
			     int64_t *ret_received, struct error *err)
{
	AUTO(statement) sqlite3_stmt *dated = connection_statement(connection, DATED_JOB_GET);
	AUTO(statement) sqlite3_stmt *meta = connection_statement(connection, LOGS_META_GET);
	bool row = false;
	enum status rc;

	bind_int(dated, ":job", tail->job);
	rc = statement_step(dated, ret_dated, err);
	bind_text(meta, ":name", "received");
	if (!rc)
		rc = statement_step(meta, &row, err);
	*ret_received = !rc && row ? sqlite3_column_int64(meta, 0) : 0;
	return rc;
}

static enum status new_give(struct log_tail *tail, struct connection *connection, bool dated,
			    int64_t received, struct page *page, struct error *err)
{
	const int64_t begin_us = clock_mono_us(&system_clock);
	enum status rc = look_run(tail, connection, dated ? LOOK_RECEIVED : LOOK_NEW, page, err);
	const int64_t end_us = clock_mono_us(&system_clock);

	if (dated)
		tail->search_at_us = end_us + SEARCH_SHARE * (end_us - begin_us);
	if (!rc && !page_is_full(page))
		tail->now.floor = received;
	return rc;
}

static enum status view_give(struct log_tail *tail, struct connection *connection, bool last_read,
			     struct page *page, struct error *err)
{
	bool dated = false;
	int64_t received = 0;
	enum status rc = view_read(tail, connection, &dated, &received, err);

	if (rc)
		return rc;
	if (!tail->now.begun) {
		tail->now.floor = received;
		rc = tail->last >= 0 ? look_run(tail, connection, LOOK_LAST, page, err) : STATUS_OK;
		tail->now.begun = !rc;
	}
	progress_keep(tail);
	if (!rc && !tail->now.caught_up) {
		rc = look_run(tail, connection, LOOK_STORED, page, err);
		tail->now.caught_up = !rc && !page_is_full(page);
		return rc;
	}
	if (rc || !tail->follows || tail->now.floor == received ||
	    (dated && !last_read && clock_mono_us(&system_clock) < tail->search_at_us))
		return rc;
	return new_give(tail, connection, dated, received, page, err);
}

enum status log_tail_read(struct log_tail *tail, bool last_read,
			  void (*take)(void *arg, const struct tail_line *line), void *arg,
			  unsigned *ret_count, struct error *err)
{
	struct page page = { .take = take, .arg = arg };
	struct reader reader AUTO_READER = { 0 };
	enum status rc;

	tail->stored = logs_writer_stored(tail->store->logs);
	rc = reader_borrow(&tail->store->logs_readers, &reader, err);
	if (!rc)
		rc = connection_exec(reader.connection, "BEGIN", err);
	if (rc)
		return rc;
	rc = view_give(tail, reader.connection, last_read, &page, err);
	connection_exec(reader.connection, "COMMIT", NULL);
	*ret_count = page.count;
	return rc;
}

bool log_tail_wait(struct log_tail *tail, int64_t at_most_us)
{
	return logs_writer_await(tail->store->logs, tail->stored, at_most_us);
}
