/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logs/entry_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "store/logs/entry_row.h"
#include "store/logs/log_filter.h"
#include "store/logs/logs_writer.h"
#include "store/store_parts.h"

enum { PAGE_BYTES = 1 << 20 };

#define BACK_NS  INT64_C(1000000000) /* by how much a clock must go back to count as set back */
#define ALL_RIPE INT64_MAX

/* One look at the stored entries, in one or more pages. It returns the entries with a received_ns up to `upto` that are
 * due at the time `ripe`, except those that earlier looks returned. */
struct look {
	bool goes_on; /* not all of its pages were read; the last ended at mark */
	int64_t upto, ripe, oldest;
	struct page_mark mark;
};

struct entry_watch {
	struct store *store;
	char **projects;
	size_t project_count;
	char *filter_text;
	struct log_filter filter;
	struct filter_sql sql;
	int64_t window_ns;
	struct log_listener listener;
	int64_t begin;  /* received_ns of the last entry stored before the watch was opened */
	int64_t floor;  /* entries up to this received_ns were examined by earlier looks */
	/* of the examined entries, those that were due at this time were returned */
	int64_t ripe;
	int64_t oldest; /* the earliest time of the entries that were received after floor */
	struct look look;
	uint64_t stored;
};

void entry_watch_close(struct entry_watch *watch)
{
	if (!watch)
		return;
	logs_writer_unlisten(watch->store->logs, &watch->listener);
	for (size_t i = 0; i < watch->project_count; i++)
		free(watch->projects[i]);
	free(watch->projects);
	log_filter_deinit(&watch->filter);
	filter_sql_deinit(&watch->sql);
	free(watch->filter_text);
	free(watch);
}

enum status entry_watch_open(struct store *store, const struct entry_watch_spec *spec,
			     struct entry_watch **ret_watch, struct error *err)
{
	AUTO(entry_watch) struct entry_watch *watch = memory_calloc(1, sizeof(*watch));
	enum status rc;

	watch->store = store;
	watch->window_ns = spec->window_ns;
	watch->projects = memory_calloc(spec->project_count + 1, sizeof(*watch->projects));
	for (; watch->project_count < spec->project_count; watch->project_count++)
		watch->projects[watch->project_count] = memory_strdup(spec->projects[watch->project_count]);
	watch->filter_text = memory_strdup(spec->filter ? spec->filter : "");
	watch->listener.wake_fd = spec->wake_fd;
	watch->begin = watch->floor = logs_writer_listen(store->logs, &watch->listener);
	watch->oldest = INT64_MAX;
	rc = log_filter_init(&watch->filter, watch->filter_text, 0, 0, err);
	if (!rc)
		rc = log_filter_sql(&watch->filter, false, &watch->sql, err);
	if (!rc)
		*ret_watch = TAKE(watch);
	return rc;
}

/* Prepares a look for new entries, and for those held back before. False: no entry can be due. */
static bool look_begin(struct entry_watch *watch)
{
	struct look *look = &watch->look;
	int64_t oldest, now_ns;

	watch->stored = logs_writer_stored(watch->store->logs);
	look->upto = logs_writer_heard(watch->store->logs, &watch->listener, &oldest);
	if (oldest < watch->oldest)
		watch->oldest = oldest;
	now_ns = clock_wall_ns(watch->store->clock);
	look->ripe = now_ns - watch->window_ns;
	if (watch->ripe == ALL_RIPE || now_ns < look->upto - BACK_NS || look->ripe < watch->ripe - BACK_NS)
		look->ripe = ALL_RIPE;
	else if (look->ripe < watch->ripe)
		look->ripe = watch->ripe;
	look->oldest = watch->oldest;
	/* Entries that the last look held back have times after those that it returned. */
	if (watch->floor > watch->begin && watch->ripe != ALL_RIPE && watch->ripe < look->oldest)
		look->oldest = watch->ripe;
	return look->upto > watch->begin;
}

static void sql_put(const struct entry_watch *watch, struct text *sql)
{
	text_puts(sql,
		  "SELECT " ENTRY_ROW_COLUMNS
		  " FROM entry AS e INDEXED BY entry_time CROSS JOIN source AS s ON s.id = e.source WHERE ");
	text_puts(sql,
		  watch->look.goes_on
			  ? "(e.ts, e.insert_id, e.job, e.source) > (:mark_ts, :mark_id, :mark_job, :mark_source)"
			  : "e.ts >= :oldest");
	text_puts(sql, " AND e.received_ns > :begin AND e.received_ns <= :upto"
		       " AND (e.ts <= :ripe OR e.received_ns <= :ripe)"
		       " AND (e.received_ns > :floor OR (e.ts > :given AND e.received_ns > :given))"
		       " AND s.project IN (");
	for (size_t i = 0; i < watch->project_count; i++)
		text_printf(sql, "%s:project%zu", i ? ", " : "", i);
	text_puts(sql, ")");
	if (watch->sql.where.length)
		text_printf(sql, " AND %s", watch->sql.where.data);
	text_puts(sql, " ORDER BY e.ts, e.insert_id, e.job, e.source LIMIT :count");
}

static void sql_bind(const struct entry_watch *watch, sqlite3_stmt *rows)
{
	const struct look *look = &watch->look;
	char name[32];

	filter_sql_bind(&watch->sql, rows);
	for (size_t i = 0; i < watch->project_count; i++) {
		snprintf(name, sizeof(name), ":project%zu", i);
		bind_text(rows, name, watch->projects[i]);
	}
	if (look->goes_on)
		entry_mark_bind(rows, &look->mark);
	else
		bind_int(rows, ":oldest", look->oldest);
	bind_int(rows, ":begin", watch->begin);
	bind_int(rows, ":upto", look->upto);
	bind_int(rows, ":ripe", look->ripe);
	bind_int(rows, ":floor", watch->floor);
	bind_int(rows, ":given", watch->ripe);
	bind_int(rows, ":count", ENTRY_WATCH_PAGE);
}

static enum status page_give(struct entry_watch *watch,
			     void (*give)(void *arg, const struct log_entry *entry), void *arg,
			     unsigned *ret_count, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	struct text sql AUTO_TEXT = { 0 };
	size_t bytes = 0;
	enum status rc = reader_borrow(&watch->store->logs_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(query) sqlite3_stmt *rows = NULL;
	sql_put(watch, &sql);
	rc = connection_prepare(reader.connection, sql.data, &rows, err);
	if (rc)
		return rc;
	sql_bind(watch, rows);
	while (bytes < PAGE_BYTES && statement_next(rows, &rc, err)) {
		entry_mark_read(rows, &watch->look.mark);
		bytes += entry_row_give(rows, &watch->look.mark, give, arg);
		++*ret_count;
	}
	watch->look.goes_on = !rc && *ret_count;
	return rc;
}

enum status entry_watch_read(struct entry_watch *watch,
			     void (*give)(void *arg, const struct log_entry *entry), void *arg,
			     unsigned *ret_count, bool *ret_held, struct error *err)
{
	enum status rc;

	*ret_count = 0;
	if (!watch->look.goes_on && !look_begin(watch)) {
		*ret_held = false;
		return STATUS_OK;
	}
	rc = page_give(watch, give, arg, ret_count, err);
	if (!rc && !watch->look.goes_on) {
		watch->floor = watch->look.upto;
		watch->ripe = watch->look.ripe;
		watch->oldest = INT64_MAX;
	}
	*ret_held = watch->floor > watch->ripe;
	return rc;
}

bool entry_watch_has_news(const struct entry_watch *watch)
{
	return logs_writer_stored(watch->store->logs) != watch->stored;
}

void entry_watch_wait(struct entry_watch *watch, int64_t at_most_us)
{
	logs_writer_await(watch->store->logs, watch->stored, at_most_us);
}
