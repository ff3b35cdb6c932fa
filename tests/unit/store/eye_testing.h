/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/store/eye_testing.h: what a database holds, seen by a connection of the test's own. */
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/base/text.h"
#include "tests/unit/testing.h"

/* Where a store writes without waiting for a disk, if there is such a place. */
static inline const char *eye_directory_pattern(void)
{
	return access("/dev/shm", W_OK) ? "/tmp/trainyard-test-XXXXXX" : "/dev/shm/trainyard-test-XXXXXX";
}

/* Whether it sees: 0, as fixtures say it. sqlite3_close_v2() */
static inline int eye_open(const char *dir, const char *file, sqlite3 **ret_eye)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return sqlite3_open_v2(path, ret_eye, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK ? 0 : -1;
}

/* Appends all rows of a table. */
static inline void eye_look(sqlite3 *eye, const char *table, struct text *ret_seen)
{
	char sql[64];
	sqlite3_stmt *rows = NULL;

	snprintf(sql, sizeof(sql), "SELECT * FROM %s", table);
	assert_int_equal(sqlite3_prepare_v2(eye, sql, -1, &rows, NULL), SQLITE_OK);
	text_printf(ret_seen, "%s\n", table);
	while (sqlite3_step(rows) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(rows); i++) {
			const char *value = (const char *)sqlite3_column_text(rows, i);

			text_puts(ret_seen, value ? value : "-");
			text_putc(ret_seen, '|');
		}
		text_putc(ret_seen, '\n');
	}
	sqlite3_finalize(rows);
}
