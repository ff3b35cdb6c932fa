/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "store/job_changes.h"
#include "store/job_progress.h"
#include "store/logs/logs_writer.h"
#include "store/state_dir.h"
#include "store/state_writer.h"
#include "store/store_parts.h"

DEFINE_AUTO(store, struct store *, store_close)

static char *path_in(const char *dir, const char *name)
{
	struct text path AUTO_TEXT = { 0 };

	text_printf(&path, "%s/%s", dir, name);
	return text_take(&path);
}

static void instance_make(char ret_name[9])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";

	ret_name[0] = letters[randombytes_uniform(26)];
	for (int i = 1; i < 8; i++)
		ret_name[i] = letters[randombytes_uniform(36)];
	ret_name[8] = '\0';
}

/* Reads the value of @name into @value; if there is none, stores @value. */
static enum status meta_keep(struct connection *connection, const char *name, void *value, size_t size,
			     struct error *err)
{
	AUTO(statement) sqlite3_stmt *get = connection_statement(connection, STATE_META_GET);
	AUTO(statement) sqlite3_stmt *put = connection_statement(connection, STATE_META_PUT);
	bool row = false;
	enum status rc;

	bind_text(get, ":name", name);
	rc = statement_step(get, &row, err);
	if (rc)
		return rc;
	if (row && (size_t)sqlite3_column_bytes(get, 0) == size) {
		memcpy(value, sqlite3_column_blob(get, 0), size);
		return STATUS_OK;
	}
	bind_text(put, ":name", name);
	sqlite3_bind_blob(put, sqlite3_bind_parameter_index(put, ":value"), value, (int)size, SQLITE_STATIC);
	return statement_run(put, err);
}

/* Counts the openings of the directory, including this one. */
static enum status start_count(struct connection *connection, uint64_t *ret_start, struct error *err)
{
	AUTO(statement) sqlite3_stmt *get = connection_statement(connection, STATE_META_GET);
	AUTO(statement) sqlite3_stmt *put = connection_statement(connection, STATE_META_PUT);
	bool row = false;
	enum status rc;

	bind_text(get, ":name", "starts");
	rc = statement_step(get, &row, err);
	if (rc)
		return rc;
	*ret_start = 1 + (row ? (uint64_t)sqlite3_column_int64(get, 0) : 0);
	bind_text(put, ":name", "starts");
	bind_int(put, ":value", (int64_t)*ret_start);
	return statement_run(put, err);
}

static enum status identity_load(struct store *store, struct connection *connection, struct error *err)
{
	enum status rc;

	instance_make(store->instance);
	randombytes_buf(store->page_key.bytes, sizeof(store->page_key.bytes));
	randombytes_buf(store->secret, sizeof(store->secret));
	rc = connection_exec(connection, "BEGIN IMMEDIATE", err);
	if (!rc)
		rc = start_count(connection, &store->start, err);
	if (!rc)
		rc = meta_keep(connection, "instance", store->instance, 8, err);
	if (!rc)
		rc = meta_keep(connection, "page_key", store->page_key.bytes, sizeof(store->page_key.bytes),
			       err);
	if (!rc)
		rc = meta_keep(connection, "secret", store->secret, sizeof(store->secret), err);
	return rc ? rc : connection_exec(connection, "COMMIT", err);
}

static enum status files_open(struct store *store, const char *state_path, const char *logs_path,
			      struct error *err)
{
	AUTO(connection) struct connection *state = NULL;
	enum status rc = connection_open(state_path, STATE_WRITER, &state, err);

	if (rc)
		return rc;
	rc = identity_load(store, state, err);
	if (rc)
		return connection_open_fail(state, rc, err);
	rc = logs_writer_open(logs_path, store->instance, store->changes, store->progress, store->clock,
			      &store->logs, err);
	if (!rc)
		rc = state_writer_open(state, store->logs, store->changes, store->clock, &store->state, err);
	if (rc)
		return rc;
	state = NULL; /* the state writer's now */
	reader_pool_init(&store->state_readers, state_path, STATE_READER);
	reader_pool_init(&store->logs_readers, logs_path, LOGS_READER);
	return STATUS_OK;
}

enum status store_open(const char *state_dir, const struct clock *clock, struct store **ret_store,
		       struct error *err)
{
	AUTO(store) struct store *store = memory_calloc(1, sizeof(*store));
	AUTO(string) char *state_path = path_in(state_dir, "state.db");
	AUTO(string) char *logs_path = path_in(state_dir, "logs.db");
	enum status rc;

	store->clock = clock;
	store->lock_fd = -1;
	job_cache_init(&store->jobs);
	store->changes = job_changes_new();
	store->progress = progress_board_new();
	if (sodium_init() < 0)
		return error_set(err, STATUS_INTERNAL, NULL, "the system's random number generator failed");
	rc = state_dir_make(state_dir, err);
	if (!rc)
		rc = state_dir_lock(state_dir, &store->lock_fd, err);
	if (rc)
		return rc;
	state_dir_sweep(state_dir);
	rc = files_open(store, state_path, logs_path, err);
	if (rc)
		return rc;
	*ret_store = TAKE(store);
	return STATUS_OK;
}

void store_read_first(void)
{
	reader_go_first();
}

void store_end_queries(struct store *store)
{
	reader_pool_end(&store->logs_readers);
}

void store_close(struct store *store)
{
	if (!store)
		return;
	job_cache_deinit(&store->jobs);
	reader_pool_deinit(&store->state_readers);
	reader_pool_deinit(&store->logs_readers);
	state_writer_close(store->state); /* close it first, because its last lines go to the logs */
	logs_writer_close(store->logs);
	job_changes_free(store->changes);
	progress_board_free(store->progress);
	if (store->lock_fd >= 0)
		close(store->lock_fd);
	free(store);
}

const char *store_instance(const struct store *store)
{
	return store->instance;
}

uint64_t store_start(const struct store *store)
{
	return store->start;
}

const unsigned char *store_secret(const struct store *store)
{
	return store->secret;
}

const struct page_key *store_page_key(const struct store *store)
{
	return &store->page_key;
}

struct job_changes *store_job_changes(struct store *store)
{
	return store->changes;
}

struct progress_board *store_progress(struct store *store)
{
	return store->progress;
}

void store_on_intent(struct store *store, void (*wake)(void *arg, int64_t job), void *arg)
{
	state_writer_on_intent(store->state, wake, arg);
}
