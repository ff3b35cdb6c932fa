/* SPDX-License-Identifier: Apache-2.0 */
#include "store/reader_pool.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "daemon/base/clock.h"

enum { STEPS_BETWEEN_LOOKS = 5000 };

static __thread bool goes_first;

void reader_go_first(void)
{
	goes_first = true;
}

enum status reader_pool_init(struct reader_pool *pool, const char *path, enum connection_role role,
			     struct error *err)
{
	pthread_condattr_t attributes;

	*pool = (struct reader_pool){ .role = role, .path = strdup(path) };
	pthread_mutex_init(&pool->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->returned, &attributes);
	pthread_condattr_destroy(&attributes);
	return pool->path ? STATUS_OK : error_no_memory(err);
}

void reader_pool_deinit(struct reader_pool *pool)
{
	if (!pool->path)
		return;
	for (unsigned i = 0; i < pool->idle_count; i++)
		connection_close(pool->idle[i]);
	free(pool->path);
	pthread_cond_destroy(&pool->returned);
	pthread_mutex_destroy(&pool->lock);
	*pool = (struct reader_pool){ 0 };
}

void reader_pool_end(struct reader_pool *pool)
{
	__atomic_store_n(&pool->ends, true, __ATOMIC_RELAXED);
}

/* Takes an idle connection, or the right to open one: *ret_connection is NULL then. False after a long wait. */
static bool idle_take(struct reader_pool *pool, struct connection **ret_connection)
{
	const unsigned most = goes_first ? READER_LIMIT + READER_KEPT : READER_LIMIT;
	int64_t until_us = clock_mono_us(&system_clock) + READER_TIME_US;
	struct timespec until = { .tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000 };
	bool taken;
	int rc = 0;

	*ret_connection = NULL;
	pthread_mutex_lock(&pool->lock);
	while (pool->lent_count >= most && rc != ETIMEDOUT) {
		pool->waiting++;
		rc = pthread_cond_timedwait(&pool->returned, &pool->lock, &until);
		pool->waiting--;
	}
	taken = pool->lent_count < most;
	if (taken)
		pool->lent_count++;
	if (taken && pool->idle_count > 0)
		*ret_connection = pool->idle[--pool->idle_count];
	pthread_mutex_unlock(&pool->lock);
	return taken;
}

/* SQLite asks every so often; a query whose answer comes too late, or for nobody, ends. */
static int time_is_up(void *arg)
{
	const struct reader_pool *pool = ((struct connection *)arg)->pool;

	return (!goes_first && __atomic_load_n(&pool->ends, __ATOMIC_RELAXED)) ||
	       clock_mono_us(&system_clock) > ((struct connection *)arg)->deadline_us;
}

static void right_return(struct reader_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->lent_count--;
	pthread_cond_signal(&pool->returned);
	pthread_mutex_unlock(&pool->lock);
}

enum status reader_borrow(struct reader_pool *pool, struct reader *ret_reader, struct error *err)
{
	struct connection *connection;

	if (!idle_take(pool, &connection))
		return error_set(err, STATUS_UNAVAILABLE, NULL, "Too many queries are under way.");
	if (!connection) {
		enum status rc = connection_open(pool->path, pool->role, &connection, err);

		if (rc) {
			right_return(pool);
			return rc;
		}
		connection->pool = pool;
		sqlite3_progress_handler(connection->db, STEPS_BETWEEN_LOOKS, time_is_up, connection);
	}
	connection->deadline_us = clock_mono_us(&system_clock) + READER_TIME_US;
	connection->has_pages = true;
	*ret_reader = (struct reader){ pool, connection };
	return STATUS_OK;
}

/* One whose transaction could not be ended would see for ever what was there when that began. */
static bool is_at_rest(struct connection *connection)
{
	return sqlite3_get_autocommit(connection->db) || !connection_exec(connection, "ROLLBACK", NULL);
}

/* The last one that came back is lent first, so that those below wait for a crowd: they hold nothing meanwhile. */
static void pages_release(struct reader_pool *pool)
{
	const int64_t since_us = clock_mono_us(&system_clock) - READER_REST_US;

	for (unsigned i = 0; i < pool->idle_count; i++) {
		struct connection *connection = pool->idle[i];

		if (connection->deadline_us - READER_TIME_US > since_us)
			return;
		if (connection->has_pages)
			sqlite3_db_release_memory(connection->db);
		connection->has_pages = false;
	}
}

void reader_return(struct reader *reader)
{
	struct reader_pool *pool = reader->pool;

	if (!pool)
		return;
	if (!is_at_rest(reader->connection)) {
		connection_close(reader->connection);
		right_return(pool);
		*reader = (struct reader){ 0 };
		return;
	}
	pthread_mutex_lock(&pool->lock);
	pool->lent_count--;
	pool->idle[pool->idle_count++] = reader->connection;
	pages_release(pool);
	if (pool->waiting)
		pthread_cond_signal(&pool->returned);
	pthread_mutex_unlock(&pool->lock);
	*reader = (struct reader){ 0 };
}
