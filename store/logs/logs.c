/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logs/logs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"
#include "daemon/base/work.h"
#include "store/logs/log_purge.h"
#include "store/logs/logs_writer.h"
#include "store/store_parts.h"

bool log_offer(struct store *store, const struct log_record *record)
{
	return logs_writer_offer(store->logs, record);
}

void log_on_room(struct store *store, void (*hook)(void *arg), void *arg)
{
	logs_writer_on_room(store->logs, hook, arg);
}

void log_barrier(struct store *store, void (*done)(void *arg), void *arg)
{
	struct log_item barrier = { .kind = ITEM_BARRIER, .done = done, .arg = arg };

	logs_writer_barrier(store->logs, &barrier);
}

/* A caller that waits in log_flush(). Lives on the caller's stack. */
struct flush {
	pthread_mutex_t lock;
	pthread_cond_t committed;
	bool done;
	enum status status;
};

static void flush_on_commit(void *arg, enum status status)
{
	struct flush *flush = arg;

	pthread_mutex_lock(&flush->lock);
	flush->status = status;
	flush->done = true;
	pthread_cond_signal(&flush->committed);
	pthread_mutex_unlock(&flush->lock);
}

enum status log_flush(struct store *store, struct error *err)
{
	struct flush flush = { .done = false };
	struct log_item barrier = { .kind = ITEM_BARRIER, .on_commit = flush_on_commit, .arg = &flush };

	pthread_mutex_init(&flush.lock, NULL);
	pthread_cond_init(&flush.committed, NULL);
	logs_writer_barrier(store->logs, &barrier);
	pthread_mutex_lock(&flush.lock);
	while (!flush.done)
		pthread_cond_wait(&flush.committed, &flush.lock);
	pthread_mutex_unlock(&flush.lock);
	pthread_cond_destroy(&flush.committed);
	pthread_mutex_destroy(&flush.lock);
	if (flush.status)
		return error_set(err, flush.status, NULL, "log entries cannot be stored now");
	return STATUS_OK;
}

enum { COLUMN_RESTART, COLUMN_STDOUT, COLUMN_STDERR = COLUMN_STDOUT + 4 /* each has four columns */ };

static struct log_reach column_reach(sqlite3_stmt *row, int column)
{
	return (struct log_reach){ .time_ns = sqlite3_column_int64(row, column),
				   .behind = sqlite3_column_int64(row, column + 1),
				   .parts = sqlite3_column_int64(row, column + 2),
				   .parts_ns = sqlite3_column_int64(row, column + 3) };
}

enum status log_position_get(struct store *store, const struct replica_key *key,
			     struct log_position *ret_position, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	bool row = false;
	enum status rc = reader_borrow(&store->logs_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *get = connection_statement(reader.connection, POSITION_GET);

	bind_int(get, ":job", key->job);
	bind_int(get, ":attempt", key->attempt);
	bind_int(get, ":role", key->role);
	bind_int(get, ":replica", key->index);
	rc = statement_step(get, &row, err);
	if (rc)
		return rc;
	*ret_position = (struct log_position){ 0 };
	/* A position in the output of an earlier container of the replica is ignored. */
	if (row && sqlite3_column_int64(get, COLUMN_RESTART) == key->restart)
		*ret_position = (struct log_position){ { column_reach(get, COLUMN_STDOUT),
							 column_reach(get, COLUMN_STDERR) } };
	return STATUS_OK;
}

enum { TAIL_LINES_MAX = 1000, TAIL_BYTES_ENOUGH = 64 * 1024 };

/* Joins the lines, which the rows give newest first, in the order of time. */
static enum status tail_read(sqlite3_stmt *rows, char **lines, size_t *count, struct error *err)
{
	bool row = true;
	size_t bytes = 0;

	for (;;) {
		enum status rc = statement_step(rows, &row, err);

		if (rc || !row || *count == TAIL_LINES_MAX || bytes > TAIL_BYTES_ENOUGH)
			return rc;
		bytes += (size_t)sqlite3_column_bytes(rows, 0);
		lines[*count] = column_copy(rows, 0);
		++*count;
	}
}

static char *tail_join(char **lines, size_t count)
{
	struct text text AUTO_TEXT = { 0 };

	while (count > 0) {
		text_puts(&text, lines[--count]);
		if (count > 0)
			text_putc(&text, '\n');
	}
	return text_take(&text);
}

char *log_labels(const char *host, unsigned trial, const char *endpoint, const char *ended_as)
{
	AUTO(json) json_t *labels = json_object();

	if (host)
		json_object_set_new(labels, "compute.googleapis.com/resource_name", json_string(host));
	if (trial)
		json_object_set_new(labels, "ml.googleapis.com/trial_id", json_sprintf("%u", trial));
	if (endpoint)
		json_object_set_new(labels, "ml.googleapis.com/endpoint", json_string(endpoint));
	if (ended_as)
		json_object_set_new(labels, "ml.googleapis.com/job_state", json_string(ended_as));
	return json_dump_compact(labels);
}

enum status log_stderr_tail(struct store *store, int64_t job, unsigned trial, const char *task_name,
			    unsigned count, char **ret_text, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	char trial_text[16];
	char *lines[TAIL_LINES_MAX];
	size_t line_count = 0;
	bool dated = false;
	enum status rc = reader_borrow(&store->logs_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *get = connection_statement(reader.connection, DATED_JOB_GET);

	bind_int(get, ":job", job);
	rc = statement_step(get, &dated, err);
	if (rc)
		return rc;
	/* If a program dates its lines, the last one stored need not be the last one in time: another statement sorts
	 * them. */
	AUTO(statement)
	sqlite3_stmt *rows =
		connection_statement(reader.connection, dated ? ENTRY_STDERR_TAIL_DATED : ENTRY_STDERR_TAIL);

	bind_int(rows, ":job", job);
	bind_text(rows, ":task", task_name);
	snprintf(trial_text, sizeof(trial_text), "%u", trial);
	bind_text(rows, ":trial", trial ? trial_text : NULL);
	bind_int(rows, ":count", count < TAIL_LINES_MAX ? count : TAIL_LINES_MAX);
	rc = tail_read(rows, lines, &line_count, err);
	AUTO(string) char *joined = rc ? NULL : tail_join(lines, line_count);

	while (line_count > 0)
		free(lines[--line_count]);
	if (rc)
		return rc;
	*ret_text = TAKE(joined);
	return STATUS_OK;
}

static enum status names_read(sqlite3_stmt *rows, const char *project, unsigned page_size, struct text *json,
			      struct page_mark *ret_last, bool *ret_more, struct error *err)
{
	struct text name AUTO_TEXT = { 0 };

	for (unsigned count = 0;; count++) {
		bool row = false;
		enum status rc = statement_step(rows, &row, err);
		const char *log_name;

		*ret_more = row && count == page_size;
		if (rc || !row || *ret_more)
			return rc;
		log_name = column_text(rows, 0);
		text_clear(&name);
		text_printf(&name, "projects/%s/logs/%s", project, log_name);
		if (count)
			text_putc(json, ',');
		text_json(json, name.data, name.length);
		strncpy(ret_last->name, log_name, PAGE_NAME_MAX - 1);
	}
}

/* Reads the position at which the page begins from its token; without a token, the list's beginning. */
static enum status names_mark(struct store *store, const struct text *bound_to, const char *page_token,
			      struct page_mark *ret_mark, struct error *err)
{
	*ret_mark = (struct page_mark){ 0 };
	if (!page_token || !*page_token)
		return STATUS_OK;
	return page_token_read(&store->page_key, bound_to->data, bound_to->length, page_token, ret_mark, err);
}

enum status log_names_page(struct store *store, const char *project, unsigned page_size,
			   const char *page_token, char **ret_names_json, char **ret_next_page_token,
			   struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	struct text bound_to AUTO_TEXT = { 0 };
	struct text json AUTO_TEXT = { 0 };
	struct page_mark mark, last = { 0 };
	bool more = false;
	enum status rc;

	text_printf(&bound_to, "logs %s", project);
	rc = names_mark(store, &bound_to, page_token, &mark, err);
	if (!rc)
		rc = reader_borrow(&store->logs_readers, &reader, err);
	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, SOURCE_NAMES);

	bind_text(rows, ":project", project);
	bind_text(rows, ":after", mark.name);
	bind_int(rows, ":count", (int64_t)page_size + 1);
	text_putc(&json, '[');
	rc = names_read(rows, project, page_size, &json, &last, &more, err);
	text_putc(&json, ']');
	if (rc)
		return rc;
	*ret_next_page_token =
		more ? page_token_write(&store->page_key, bound_to.data, bound_to.length, &last) : NULL;
	*ret_names_json = text_take(&json);
	return STATUS_OK;
}

/* Sets selection->job to the next job with entries in the log; 0: entries that belong to no job. *ret_found: there is
 * one. */
static enum status job_next(struct store *store, struct log_selection *selection, bool *ret_found,
			    struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	bool row = false;
	enum status rc = reader_borrow(&store->logs_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *next = connection_statement(reader.connection, LOG_NEXT_JOB);

	bind_text(next, ":project", selection->project);
	bind_text(next, ":log_name", selection->log_name);
	bind_int(next, ":after", selection->job);
	rc = statement_step(next, &row, err);
	*ret_found = !rc && row && sqlite3_column_type(next, 0) != SQLITE_NULL;
	if (*ret_found)
		selection->job = sqlite3_column_int64(next, 0);
	return rc;
}

enum status log_purge(struct store *store, const char *project, const char *log_name, struct error *err)
{
	struct log_selection selection = { .job = -1, .project = project, .log_name = log_name };
	enum status rc = log_flush(store, err);
	bool found = true, any = false;

	while (!rc && found) {
		bool more = true;

		rc = job_next(store, &selection, &found, err);
		selection.begun = false;
		while (!rc && found && more) {
			rc = work_check(err);
			if (!rc)
				rc = logs_writer_purge(store->logs, &selection, &more, err);
		}
		any = any || found;
	}
	sqlite3_value_free(selection.from_id);
	if (rc || any)
		return rc;
	return error_set(err, STATUS_NOT_FOUND, NULL, "no entry is in the log %s of the project %s", log_name,
			 project);
}
