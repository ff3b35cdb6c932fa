/* SPDX-License-Identifier: Apache-2.0 */
#include "store/reader_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/testing.h"

enum { CROWD = 5, RESTED = 3, TABLE_BYTES = 200000, READ_BYTES = TABLE_BYTES / 2 };

static char path[64];

static int pool_open(void **state)
{
	struct reader_pool *pool = calloc(1, sizeof(*pool));
	struct error err AUTO_ERROR = { 0 };
	sqlite3 *db = NULL;
	char sql[128];
	int made;

	*state = pool;
	snprintf(path, sizeof(path), "/tmp/trainyard-test-XXXXXX");
	made = mkstemp(path);
	if (made < 0)
		return -1;
	close(made);
	snprintf(sql, sizeof(sql), "CREATE TABLE t (x BLOB); INSERT INTO t VALUES (zeroblob(%d))",
		 TABLE_BYTES);
	made = sqlite3_open(path, &db) == SQLITE_OK && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
	sqlite3_close(db);
	return made && !reader_pool_init(pool, path, STATE_READER, &err) ? 0 : -1;
}

static int pool_close(void **state)
{
	reader_pool_deinit(*state);
	free(*state);
	return unlink(path);
}

static void table_read(const struct reader *reader)
{
	sqlite3_stmt *rows = NULL;

	assert_int_equal(
		sqlite3_prepare_v2(reader->connection->db, "SELECT length(hex(x)) FROM t", -1, &rows, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
	assert_int_equal(sqlite3_column_int(rows, 0), 2 * TABLE_BYTES);
	sqlite3_finalize(rows);
}

static int bytes_held(const struct connection *connection)
{
	int held = 0, most;

	sqlite3_db_status(connection->db, SQLITE_DBSTATUS_CACHE_USED, &held, &most, 0);
	return held;
}

/* Broken: reader_return() without pages_release(); pages_release() that looks at the first one only, or at no time. */
static void those_that_nobody_needs_any_more_hold_no_pages(void **state)
{
	struct reader_pool *pool = *state;
	struct reader crowd[CROWD] = { 0 };
	struct error err AUTO_ERROR = { 0 };

	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < CROWD; i++) {
			assert_int_equal(reader_borrow(pool, &crowd[i], &err), STATUS_OK);
			table_read(&crowd[i]);
		}
		for (int i = 0; i < CROWD; i++)
			reader_return(&crowd[i]);
		for (int i = 0; i < CROWD; i++)
			assert_true(bytes_held(pool->idle[i]) > READ_BYTES);
		for (int i = 0; i < RESTED; i++)
			pool->idle[i]->deadline_us -= READER_REST_US;
		assert_int_equal(reader_borrow(pool, &crowd[0], &err), STATUS_OK);
		reader_return(&crowd[0]);
		for (int i = 0; i < CROWD; i++)
			assert_int_equal(bytes_held(pool->idle[i]) > READ_BYTES, i >= RESTED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(those_that_nobody_needs_any_more_hold_no_pages, pool_open,
						pool_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
