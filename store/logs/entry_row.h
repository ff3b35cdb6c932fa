/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/entry_row.h: reads a row of a query for entries, for the queries in store/logs/. */
#include "store/connection.h"
#include "store/logs/logs.h"
#include "store/page_token.h"

/* The columns, of the tables "entry AS e" and "source AS s". */
#define ENTRY_ROW_COLUMNS                                                                                    \
	"e.ts AS ts, e.insert_id AS insert_id, e.job AS job, e.source AS source, e.severity, e.kind,"        \
	" e.received_ns, e.extra, e.payload, s.project, s.log_name, s.resource_type, s.resource_labels, s.labels"

/* Reads the row's position in the order of time. mark->numbers: time, insert id, job, source; mark->name: the insert id
 * if it is a text, else "". */
void entry_mark_read(sqlite3_stmt *row, struct page_mark *mark);
/* Binds :mark_ts, :mark_id, :mark_job and :mark_source. @mark must outlive the statement's use. */
void entry_mark_bind(sqlite3_stmt *statement, const struct page_mark *mark);
/* Passes the row to the reader as a log entry. @mark: the row's. Returns the size of the entry in bytes. */
size_t entry_row_give(sqlite3_stmt *row, const struct page_mark *mark,
		      void (*give)(void *arg, const struct log_entry *entry), void *arg);
