/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logs/entry_row.h"

#include <stdio.h>
#include <string.h>

#include "store/logs/log_source.h"

enum mark_number { MARK_TS, MARK_ID, MARK_JOB, MARK_SOURCE };

void entry_mark_read(sqlite3_stmt *row, struct page_mark *mark)
{
	mark->numbers[MARK_TS] = sqlite3_column_int64(row, 0);
	mark->numbers[MARK_JOB] = sqlite3_column_int64(row, 2);
	mark->numbers[MARK_SOURCE] = sqlite3_column_int64(row, 3);
	mark->name[0] = '\0';
	if (sqlite3_column_type(row, 1) == SQLITE_TEXT)
		snprintf(mark->name, sizeof(mark->name), "%s", column_text(row, 1));
	else
		mark->numbers[MARK_ID] = sqlite3_column_int64(row, 1);
}

void entry_mark_bind(sqlite3_stmt *statement, const struct page_mark *mark)
{
	bind_int(statement, ":mark_ts", mark->numbers[MARK_TS]);
	bind_int(statement, ":mark_job", mark->numbers[MARK_JOB]);
	bind_int(statement, ":mark_source", mark->numbers[MARK_SOURCE]);
	if (*mark->name)
		bind_text(statement, ":mark_id", mark->name);
	else
		bind_int(statement, ":mark_id", mark->numbers[MARK_ID]);
}

size_t entry_row_give(sqlite3_stmt *row, const struct page_mark *mark,
		      void (*give)(void *arg, const struct log_entry *entry), void *arg)
{
	const char *labels = column_text(row, 13);
	char made_id[LOG_MADE_ID_SIZE];
	struct log_entry entry = {
		.project = column_text(row, 9),
		.log_name = column_text(row, 10),
		.resource_type = column_text(row, 11),
		.resource_labels = column_text(row, 12),
		.labels = labels && strcmp(labels, "{}") != 0 ? labels : NULL,
		.time_ns = mark->numbers[MARK_TS],
		.received_ns = sqlite3_column_int64(row, 6),
		.severity = sqlite3_column_int(row, 4),
		.insert_id = mark->name,
		.kind = (enum log_payload)sqlite3_column_int(row, 5),
		.payload = column_text(row, 8),
		.payload_length = (size_t)sqlite3_column_bytes(row, 8),
		.extra = column_text(row, 7),
	};

	if (!*mark->name) {
		snprintf(made_id, sizeof(made_id), LOG_MADE_ID, mark->numbers[MARK_ID]);
		entry.insert_id = made_id;
	}
	give(arg, &entry);
	return entry.payload_length + (size_t)sqlite3_column_bytes(row, 7) +
	       (size_t)sqlite3_column_bytes(row, 12) + (size_t)sqlite3_column_bytes(row, 13);
}
