/* SPDX-License-Identifier: Apache-2.0 */
#include "store/reader_pool.h"

#include <string.h>
#include <time.h>

#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "daemon/base/work.h"

/* LOOK_US: how often a waiting caller checks that its work is still wanted. */
enum { STEPS_BETWEEN_LOOKS = 5000, LOOK_US = 100 * 1000 };

static __thread bool goes_first;

void reader_go_first(void)
{
	goes_first = true;
}

void reader_pool_init(struct reader_pool *pool, const char *path, enum connection_role role)
{
	pthread_condattr_t attributes;

	*pool = (struct reader_pool){ .role = role, .path = memory_strdup(path) };
	pthread_mutex_init(&pool->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->returned, &attributes);
	pthread_condattr_destroy(&attributes);
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

/* Whether a connection may be lent for work of @owner now. Call with the lock held. */
static bool may_take(const struct reader_pool *pool, int64_t owner)
{
	const unsigned most = goes_first ? READER_LIMIT + READER_KEPT : READER_LIMIT;
	unsigned own = 0, owned = 0;

	for (unsigned i = 0; i < pool->lent_count; i++) {
		own += pool->owners[i] == owner;
		owned += pool->owners[i] != 0;
	}
	return pool->lent_count < most && (owner == 0 || (own < READER_SHARE && owned < READER_OWNED));
}

/* Takes an idle connection; or, with *ret_connection NULL, a slot for a new one. False: none was free for
 * READER_TIME_US, or the work was abandoned. */
static bool idle_take(struct reader_pool *pool, struct connection **ret_connection)
{
	const int64_t owner = work_owner(), until_us = clock_mono_us(&system_clock) + READER_TIME_US;
	int64_t now_us = 0;
	bool taken;

	*ret_connection = NULL;
	pthread_mutex_lock(&pool->lock);
	while (!may_take(pool, owner) && now_us < until_us && !work_is_abandoned()) {
		const int64_t look_us = clock_mono_us(&system_clock) + LOOK_US;
		const struct timespec look = { .tv_sec = look_us / 1000000,
					       .tv_nsec = look_us % 1000000 * 1000 };

		pool->waiting++;
		pthread_cond_timedwait(&pool->returned, &pool->lock, &look);
		pool->waiting--;
		now_us = clock_mono_us(&system_clock);
	}
	taken = may_take(pool, owner);
	if (taken)
		pool->owners[pool->lent_count++] = owner;
	if (taken && pool->idle_count > 0)
		*ret_connection = pool->idle[--pool->idle_count];
	pthread_mutex_unlock(&pool->lock);
	return taken;
}

/* SQLite calls this regularly during a query. Nonzero ends the query: its time is up, or its client has gone. */
static int time_is_up(void *arg)
{
	const struct reader_pool *pool = ((struct connection *)arg)->pool;

	return (!goes_first && __atomic_load_n(&pool->ends, __ATOMIC_RELAXED)) || work_is_abandoned() ||
	       clock_mono_us(&system_clock) > ((struct connection *)arg)->deadline_us;
}

/* Gives a reader back; call with the lock held. Wakes all waiting callers, because some of them may not take
 * a connection yet: may_take(). */
static void loan_end(struct reader_pool *pool, int64_t owner)
{
	unsigned i = 0;

	while (pool->owners[i] != owner)
		i++;
	pool->owners[i] = pool->owners[--pool->lent_count];
	if (pool->waiting)
		pthread_cond_broadcast(&pool->returned);
}

static void right_return(struct reader_pool *pool, int64_t owner)
{
	pthread_mutex_lock(&pool->lock);
	loan_end(pool, owner);
	pthread_mutex_unlock(&pool->lock);
}

enum status reader_borrow(struct reader_pool *pool, struct reader *ret_reader, struct error *err)
{
	struct connection *connection;

	if (!idle_take(pool, &connection))
		return work_is_abandoned()
			       ? work_check(err)
			       : error_set(err, STATUS_UNAVAILABLE, NULL, "Too many queries are under way.");
	if (!connection) {
		enum status rc = connection_open(pool->path, pool->role, &connection, err);

		if (rc) {
			right_return(pool, work_owner());
			return rc;
		}
		connection->pool = pool;
		sqlite3_progress_handler(connection->db, STEPS_BETWEEN_LOOKS, time_is_up, connection);
	}
	connection->deadline_us = clock_mono_us(&system_clock) + READER_TIME_US;
	connection->owner = work_owner();
	connection->has_pages = true;
	*ret_reader = (struct reader){ pool, connection };
	return STATUS_OK;
}

/* True if the connection has no open transaction. If one cannot be ended, the connection must be closed: it would
 * read the same old snapshot for ever. */
static bool is_at_rest(struct connection *connection)
{
	return sqlite3_get_autocommit(connection->db) || !connection_exec(connection, "ROLLBACK", NULL);
}

/* Frees the cached pages of connections that were unused for READER_REST_US. The last returned one is lent first, so
 * the others are used only at times of many requests. */
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
		const int64_t owner = reader->connection->owner;

		connection_close(reader->connection);
		right_return(pool, owner);
		*reader = (struct reader){ 0 };
		return;
	}
	pthread_mutex_lock(&pool->lock);
	loan_end(pool, reader->connection->owner);
	pool->idle[pool->idle_count++] = reader->connection;
	pages_release(pool);
	pthread_mutex_unlock(&pool->lock);
	*reader = (struct reader){ 0 };
}
