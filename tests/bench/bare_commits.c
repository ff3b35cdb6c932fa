/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs to store rows durably without a daemon: so many threads each insert a row, wait until it is committed, and go on;
 * one writer commits together what waits, as the store does. Prints the rows in a second.
 *
 *     bare_commits DATABASE THREADS SECONDS BYTES */
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t offered = PTHREAD_COND_INITIALIZER, committed = PTHREAD_COND_INITIALIZER;
static unsigned long waiting, batch, batch_done, rows;
static bool ends;
static char *text;

static void die(sqlite3 *db)
{
	fprintf(stderr, "bare_commits: %s\n", sqlite3_errmsg(db));
	exit(1);
}

static void run(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL))
		die(db);
}

/* A client: adds its row to the batch that is being gathered, again and again. */
static void *insert_again_and_again(void *arg)
{
	pthread_mutex_lock(&lock);
	while (!ends) {
		const unsigned long mine = batch;

		waiting++;
		pthread_cond_signal(&offered);
		while (batch_done <= mine && !ends)
			pthread_cond_wait(&committed, &lock);
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *write_batches(void *arg)
{
	sqlite3 *db = arg;
	sqlite3_stmt *insert;

	if (sqlite3_prepare_v2(db, "INSERT INTO job (name, state, text) VALUES (hex(randomblob(8)), 1, ?)", -1, &insert, NULL))
		die(db);
	sqlite3_bind_text(insert, 1, text, -1, SQLITE_STATIC);
	pthread_mutex_lock(&lock);
	while (!ends) {
		while (!waiting && !ends)
			pthread_cond_wait(&offered, &lock);
		const unsigned long count = waiting;

		waiting = 0;
		batch++;
		pthread_mutex_unlock(&lock);
		run(db, "BEGIN IMMEDIATE");
		for (unsigned long i = 0; i < count; i++) {
			if (sqlite3_step(insert) != SQLITE_DONE)
				die(db);
			sqlite3_reset(insert);
		}
		run(db, "COMMIT");
		pthread_mutex_lock(&lock);
		rows += count;
		batch_done = batch;
		pthread_cond_broadcast(&committed);
	}
	pthread_mutex_unlock(&lock);
	sqlite3_finalize(insert);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t clients[THREADS_MAX], writer;
	sqlite3 *db;

	if (argc != 5)
		return 2;
	const unsigned threads = (unsigned)strtoul(argv[2], NULL, 10), seconds = (unsigned)strtoul(argv[3], NULL, 10);
	const size_t bytes = strtoul(argv[4], NULL, 10);

	if (!threads || threads > THREADS_MAX || !seconds || bytes > 1 << 20)
		return 2;
	text = malloc(bytes + 1);
	if (!text || sqlite3_open(argv[1], &db))
		return 1;
	memset(text, 'x', bytes);
	text[bytes] = '\0';
	run(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
		"CREATE TABLE job (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state INTEGER NOT NULL, text TEXT);"
		"CREATE INDEX job_state ON job (state, id)");
	pthread_create(&writer, NULL, write_batches, db);
	for (unsigned i = 0; i < threads; i++)
		pthread_create(&clients[i], NULL, insert_again_and_again, NULL);
	sleep(seconds);
	pthread_mutex_lock(&lock);
	ends = true;
	printf("%lu\n", rows / seconds);
	pthread_cond_broadcast(&offered);
	pthread_cond_broadcast(&committed);
	pthread_mutex_unlock(&lock);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(clients[i], NULL);
	pthread_join(writer, NULL);
	sqlite3_close(db);
	free(text);
	return 0;
}
