/* SPDX-License-Identifier: Apache-2.0 */
#include "store/reader_pool.h"

#include <string.h>

enum status reader_pool_init(struct reader_pool *pool, const char *path, enum connection_role role, struct error *err)
{
	*pool = (struct reader_pool){ .role = role, .path = strdup(path) };
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->returned, NULL);
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

/* Takes an idle connection, or the right to open one: NULL then. */
static struct connection *idle_take(struct reader_pool *pool)
{
	struct connection *connection = NULL;

	pthread_mutex_lock(&pool->lock);
	while (pool->idle_count == 0 && pool->open_count == READER_LIMIT) {
		pool->waiting++;
		pthread_cond_wait(&pool->returned, &pool->lock);
		pool->waiting--;
	}
	if (pool->idle_count > 0)
		connection = pool->idle[--pool->idle_count];
	else
		pool->open_count++;
	pthread_mutex_unlock(&pool->lock);
	return connection;
}

static void right_return(struct reader_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->open_count--;
	pthread_cond_signal(&pool->returned);
	pthread_mutex_unlock(&pool->lock);
}

enum status reader_borrow(struct reader_pool *pool, struct reader *ret_reader, struct error *err)
{
	struct connection *connection = idle_take(pool);

	if (!connection) {
		enum status rc = connection_open(pool->path, pool->role, &connection, err);

		if (rc) {
			right_return(pool);
			return rc;
		}
	}
	*ret_reader = (struct reader){ pool, connection };
	return STATUS_OK;
}

void reader_return(struct reader *reader)
{
	struct reader_pool *pool = reader->pool;

	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->idle[pool->idle_count++] = reader->connection;
	if (pool->waiting)
		pthread_cond_signal(&pool->returned);
	pthread_mutex_unlock(&pool->lock);
	*reader = (struct reader){ 0 };
}
