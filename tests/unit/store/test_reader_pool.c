/* SPDX-License-Identifier: Apache-2.0 */
#include "store/reader_pool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/work.h"
#include "tests/unit/testing.h"

/* Rows that fit into a page: SQLite 3.45 and later read the rest of longer ones without their cache. */
enum { CROWD = 5, RESTED = 3, ROWS = 200, ROW_BYTES = 1000, READ_BYTES = ROWS * ROW_BYTES / 2 };

static char path[64];

static int pool_open(void **state)
{
	struct reader_pool *pool = calloc(1, sizeof(*pool));
	struct error err AUTO_ERROR = { 0 };
	sqlite3 *db = NULL;
	char sql[200];
	int made;

	*state = pool;
	snprintf(path, sizeof(path), "/tmp/trainyard-test-XXXXXX");
	made = mkstemp(path);
	if (made < 0)
		return -1;
	close(made);
	snprintf(sql, sizeof(sql),
		 "CREATE TABLE t (x BLOB);"
		 "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT %d)"
		 " INSERT INTO t SELECT zeroblob(%d) FROM n",
		 ROWS, ROW_BYTES);
	made = sqlite3_open(path, &db) == SQLITE_OK && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
	sqlite3_close(db);
	reader_pool_init(pool, path, STATE_READER);
	return made ? 0 : -1;
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
		sqlite3_prepare_v2(reader->connection->db, "SELECT sum(length(hex(x))) FROM t", -1, &rows, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
	assert_int_equal(sqlite3_column_int(rows, 0), 2 * ROWS * ROW_BYTES);
	sqlite3_finalize(rows);
}

static int bytes_held(const struct connection *connection)
{
	int held = 0, most;

	sqlite3_db_status(connection->db, SQLITE_DBSTATUS_CACHE_USED, &held, &most, 0);
	return held;
}

/* Fails with: reader_return() without pages_release(); pages_release() that looks at the first one only, or at no time. */
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

/* A thread that borrows a reader and reads for a while. */
struct errand {
	struct reader_pool *pool;
	bool first;
	enum status borrowed;
	int read;  /* of SQLite */
	bool done; /* atomic */
};

static void *errand_main(void *arg)
{
	struct errand *errand = arg;
	struct reader reader AUTO_READER = { 0 };
	sqlite3_stmt *rows = NULL;

	if (errand->first)
		reader_go_first();
	errand->borrowed = reader_borrow(errand->pool, &reader, NULL);
	if (!errand->borrowed) {
		sqlite3_prepare_v2(
			reader.connection->db,
			"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)"
			" SELECT count(*) FROM n",
			-1, &rows, NULL);
		errand->read = sqlite3_step(rows);
		sqlite3_finalize(rows);
	}
	__atomic_store_n(&errand->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void errand_begin(struct errand *errand, pthread_t *ret_thread)
{
	assert_int_equal(pthread_create(ret_thread, NULL, errand_main, errand), 0);
}

static unsigned waiting_in(struct reader_pool *pool)
{
	unsigned waiting;

	pthread_mutex_lock(&pool->lock);
	waiting = pool->waiting;
	pthread_mutex_unlock(&pool->lock);
	return waiting;
}

/* Fails with: idle_take() with one limit for all (as it was): a caller that goes first waited, in vain after ten seconds; or one
 * that does not had what is kept.
 * Fails with: time_is_up() that ends all queries. */
static void who_goes_first_finds_a_reader_when_others_have_all(void **state)
{
	struct reader_pool *pool = *state;
	struct reader crowd[READER_LIMIT] = { 0 };
	struct errand one_more = { .pool = pool }, first = { .pool = pool, .first = true };
	pthread_t threads[2];

	for (int i = 0; i < READER_LIMIT; i++)
		assert_int_equal(reader_borrow(pool, &crowd[i], NULL), STATUS_OK);
	errand_begin(&one_more, &threads[0]);
	while (!waiting_in(pool) && !__atomic_load_n(&one_more.done, __ATOMIC_ACQUIRE))
		usleep(1000);
	reader_pool_end(pool);
	errand_begin(&first, &threads[1]);
	pthread_join(threads[1], NULL);
	assert_false(__atomic_load_n(&one_more.done, __ATOMIC_ACQUIRE));
	for (int i = 0; i < READER_LIMIT; i++)
		reader_return(&crowd[i]);
	pthread_join(threads[0], NULL);
	assert_int_equal(first.borrowed, STATUS_OK);
	assert_int_equal(first.read, SQLITE_ROW);
	assert_int_equal(one_more.borrowed, STATUS_OK);
	assert_int_equal(one_more.read, SQLITE_INTERRUPT);
}

static bool is_set(void *arg)
{
	return __atomic_load_n((bool *)arg, __ATOMIC_ACQUIRE);
}

/* A thread that borrows readers, keeps them until it is told, and reads. */
struct crowd {
	struct reader_pool *pool;
	int64_t owner;
	unsigned wanted, borrowed; /* borrowed: atomic */
	bool abandoned, leaves;    /* atomic */
	enum status last;
	struct error err;
};

static void *crowd_main(void *arg)
{
	struct crowd *crowd = arg;
	struct reader readers[READER_LIMIT] = { 0 };
	const struct work work = { is_set, &crowd->abandoned, crowd->owner };

	work_begin(&work);
	for (unsigned i = 0; i < crowd->wanted && !crowd->last; i++) {
		crowd->last = reader_borrow(crowd->pool, &readers[i], &crowd->err);
		__atomic_add_fetch(&crowd->borrowed, !crowd->last, __ATOMIC_RELEASE);
	}
	while (!crowd->last && !is_set(&crowd->leaves))
		usleep(1000);
	for (unsigned i = 0; i < crowd->wanted; i++)
		reader_return(&readers[i]);
	work_end();
	return NULL;
}

static void crowd_await(struct crowd *crowd, unsigned borrowed, unsigned waiting)
{
	while (__atomic_load_n(&crowd->borrowed, __ATOMIC_ACQUIRE) < borrowed ||
	       waiting_in(crowd->pool) < waiting)
		usleep(1000);
}

/* Fails with: may_take() without READER_SHARE: the first job has all; or without READER_OWNED: four jobs have. Fails with:
 * idle_take() that does not ask work_is_abandoned(): the job's threads wait ten seconds. */
static void a_job_has_a_share_and_all_jobs_leave_some(void **state)
{
	struct reader_pool *pool = *state;
	enum { JOBS = READER_OWNED / READER_SHARE + 1 };
	struct crowd jobs[JOBS] = { { .pool = pool } };
	struct crowd clients = { .pool = pool, .wanted = READER_LIMIT - READER_OWNED };
	pthread_t threads[JOBS], client;

	for (unsigned i = 0; i < JOBS; i++) {
		jobs[i] = (struct crowd){ .pool = pool, .owner = 1 + i, .wanted = READER_SHARE + 1 };
		assert_int_equal(pthread_create(&threads[i], NULL, crowd_main, &jobs[i]), 0);
		crowd_await(&jobs[i], i < JOBS - 1 ? READER_SHARE : 0, i + 1);
	}
	assert_int_equal(pthread_create(&client, NULL, crowd_main, &clients), 0);
	crowd_await(&clients, clients.wanted, 0);
	for (unsigned i = 0; i < JOBS; i++)
		assert_int_equal(jobs[i].borrowed, i < JOBS - 1 ? READER_SHARE : 0);
	/* A reader that one job returns can be used by another. */
	__atomic_store_n(&jobs[0].abandoned, true, __ATOMIC_RELEASE);
	pthread_join(threads[0], NULL);
	assert_int_equal(jobs[0].last, STATUS_CANCELLED);
	crowd_await(&jobs[JOBS - 1], READER_SHARE, 0);
	for (unsigned i = 1; i < JOBS; i++)
		__atomic_store_n(&jobs[i].abandoned, true, __ATOMIC_RELEASE);
	for (unsigned i = 1; i < JOBS; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&clients.leaves, true, __ATOMIC_RELEASE);
	pthread_join(client, NULL);
	assert_int_equal(pool->lent_count, 0);
	for (unsigned i = 0; i < JOBS; i++)
		error_deinit(&jobs[i].err);
}

/* Fails with: time_is_up() without work_is_abandoned(); database_error() that says of it that the query takes too long. */
static void a_query_that_is_not_waited_for_ends(void **state)
{
	struct reader_pool *pool = *state;
	struct reader reader AUTO_READER = { 0 };
	struct error err AUTO_ERROR = { 0 };
	AUTO(query) sqlite3_stmt *rows = NULL;
	bool abandoned = true, row;
	const int64_t begun_us = clock_mono_us(&system_clock);

	work_begin(&(struct work){ is_set, &abandoned, 1 });
	assert_int_equal(reader_borrow(pool, &reader, &err), STATUS_OK);
	assert_int_equal(connection_prepare(reader.connection,
					    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
					    " SELECT count(*) FROM n",
					    &rows, &err),
			 STATUS_OK);
	assert_int_equal(statement_step(rows, &row, &err), STATUS_CANCELLED);
	assert_true(clock_mono_us(&system_clock) - begun_us < READER_TIME_US / 2);
	work_end();
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(those_that_nobody_needs_any_more_hold_no_pages, pool_open,
						pool_close),
		cmocka_unit_test_setup_teardown(a_job_has_a_share_and_all_jobs_leave_some, pool_open,
						pool_close),
		cmocka_unit_test_setup_teardown(a_query_that_is_not_waited_for_ends, pool_open, pool_close),
		cmocka_unit_test_setup_teardown(who_goes_first_finds_a_reader_when_others_have_all, pool_open,
						pool_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
