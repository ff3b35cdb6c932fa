/* SPDX-License-Identifier: Apache-2.0 */
#include "store/state_writer.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "store/logs_writer.h"

enum { CHANGES_WAITING_MAX = 1024 };

/* One caller's change, on its stack until it is answered. */
struct change {
	struct change *next;
	change_run run;
	void *arg;
	enum status status;
	struct error err;
	bool done;
	pthread_cond_t answered;
	int64_t woken; /* the job that it woke, 0: none */
};

struct state_writer {
	struct connection *connection;
	struct logs_writer *logs;
	const struct clock *clock;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wanted;
	struct change *first, **last; /* waiting, under the lock */
	unsigned waiting;
	bool stopping;
	void (*wake)(void *arg, int64_t job);
	void *wake_arg;
	uint64_t generation; /* commits so far; atomic */
	int64_t handed;      /* the last outbox row given to the logs; the thread's own */
	int64_t deleted;     /* rows up to here are gone from the outbox */
};

enum status outbox_add(struct change_scope *scope, int64_t job, int severity, const char *line,
		       struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(scope->connection, OUTBOX_INSERT);

	bind_int(statement, ":job", job);
	bind_int(statement, ":severity", severity);
	bind_int(statement, ":time", scope->now_ns);
	bind_text(statement, ":line", line);
	scope->adds_lines = true;
	return statement_run(statement, err);
}

static struct log_source *service_source(int64_t job, const char *project, const char *job_id)
{
	/* Written by the JSON library: a project is whatever a caller put into a path. */
	AUTO(json)
	json_t *labels =
		json_pack("{s:s, s:s, s:s}", "project_id", project, "job_id", job_id, "task_name", "service");
	AUTO(string) char *labels_text = json_dump_compact(labels);
	struct text name AUTO_TEXT = { 0 };

	text_printf(&name, "ml.googleapis.com%%2F%s", job_id);
	if (name.failed || !labels_text)
		return NULL;
	return log_source_new(&(struct log_source_spec){
		.job = job,
		.project = project,
		.log_name = name.data,
		.resource_type = "ml_job",
		.resource_labels = labels_text,
	});
}

static bool line_hand_over(struct state_writer *writer, sqlite3_stmt *row)
{
	struct log_source *source =
		service_source(sqlite3_column_int64(row, 1), column_text(row, 5), column_text(row, 6));
	struct log_record record = {
		.source = source,
		.severity = sqlite3_column_int(row, 2),
		.time_ns = sqlite3_column_int64(row, 3),
		.kind = LOG_TEXT,
		.payload = column_text(row, 4),
		.payload_length = (size_t)sqlite3_column_bytes(row, 4),
	};
	bool taken = source && logs_writer_offer_line(writer->logs, &record, sqlite3_column_int64(row, 0));

	log_source_unref(source);
	return taken;
}

/* Gives the logs what was committed since the last time. What cannot be given now is tried again
 * after the next commit, in the same order. */
static void outbox_hand_over(struct state_writer *writer)
{
	AUTO(statement) sqlite3_stmt *rows = connection_statement(writer->connection, OUTBOX_AFTER);

	bind_int(rows, ":after", writer->handed);
	while (sqlite3_step(rows) == SQLITE_ROW) {
		if (!line_hand_over(writer, rows))
			return;
		writer->handed = sqlite3_column_int64(rows, 0);
	}
}

/* Forgets the rows that the logs hold. */
static void outbox_trim(struct state_writer *writer, int64_t reached)
{
	AUTO(statement) sqlite3_stmt *statement = NULL;

	if (reached <= writer->deleted)
		return;
	statement = connection_statement(writer->connection, OUTBOX_DELETE);
	bind_int(statement, ":reached", reached);
	statement_run(statement, NULL);
}

static void change_perform(struct state_writer *writer, struct change_scope *shared, struct change *change)
{
	struct change_scope scope = { .connection = writer->connection,
				      .now_ns = clock_wall_ns(writer->clock) };

	if (sqlite3_get_autocommit(writer->connection->db))
		return; /* the transaction is gone: a savepoint would be one of its own */
	change->status = connection_exec(writer->connection, "SAVEPOINT change", &change->err);
	if (change->status)
		return;
	change->status = change->run(&scope, change->arg, &change->err);
	if (change->status) {
		connection_exec(writer->connection, "ROLLBACK TO change; RELEASE change", NULL);
		return;
	}
	change->status = connection_exec(writer->connection, "RELEASE change", &change->err);
	change->woken = scope.woken;
	shared->adds_lines |= scope.adds_lines;
}

/* All of @first fails for one reason. */
static void changes_fail(struct change *first, const struct error *cause)
{
	for (struct change *change = first; change; change = change->next) {
		if (change->status)
			continue; /* has a reason of its own */
		change->status =
			error_set(&change->err, cause->status, NULL, "%s", cause->text ? cause->text : "");
	}
}

/* A full disk takes the whole transaction back by itself; the change that met it knows why. */
static enum status transaction_lost(const struct change *first, struct error *err)
{
	for (; first; first = first->next)
		if (first->status == STATUS_UNAVAILABLE || first->status == STATUS_INTERNAL)
			return error_set(err, first->status, NULL, "%s",
					 first->err.text ? first->err.text : "");
	return error_set(err, STATUS_UNAVAILABLE, NULL, "the transaction was taken back");
}

/* One transaction for all of @first. True when it was committed. */
static bool changes_commit(struct state_writer *writer, struct change *first, struct change_scope *shared)
{
	struct error err AUTO_ERROR = { 0 };
	int64_t reached = logs_writer_reached(writer->logs);
	enum status rc = connection_exec(writer->connection, "BEGIN IMMEDIATE", &err);

	if (!rc) {
		outbox_trim(writer, reached);
		for (struct change *change = first; change; change = change->next)
			change_perform(writer, shared, change);
		if (sqlite3_get_autocommit(writer->connection->db))
			rc = transaction_lost(first, &err);
		else
			rc = connection_exec(writer->connection, "COMMIT", &err);
	}
	if (!rc) {
		__atomic_add_fetch(&writer->generation, 1, __ATOMIC_RELEASE);
		writer->deleted = reached > writer->deleted ? reached : writer->deleted;
		return true;
	}
	if (!sqlite3_get_autocommit(writer->connection->db))
		connection_exec(writer->connection, "ROLLBACK", NULL);
	log_event(LOG_ERROR, "state-commit-failed", "error=\"%s\"", err.text ? err.text : "");
	changes_fail(first, &err);
	return false;
}

static void changes_answer(struct state_writer *writer, struct change *first)
{
	struct change *next;

	pthread_mutex_lock(&writer->lock);
	for (struct change *change = first; change; change = next) {
		next = change->next; /* the change is the caller's again once done is set and the lock is free */
		change->done = true;
		pthread_cond_signal(&change->answered);
	}
	pthread_mutex_unlock(&writer->lock);
}

/* NULL when it is time to end. */
static struct change *changes_take(struct state_writer *writer)
{
	struct change *first;

	pthread_mutex_lock(&writer->lock);
	while (!writer->first && !writer->stopping)
		pthread_cond_wait(&writer->wanted, &writer->lock);
	first = writer->first;
	writer->first = NULL;
	writer->last = &writer->first;
	writer->waiting = 0;
	pthread_mutex_unlock(&writer->lock);
	return first;
}

static void intents_announce(struct state_writer *writer, const struct change *first)
{
	void (*wake)(void *arg, int64_t job);
	void *arg;

	pthread_mutex_lock(&writer->lock);
	wake = writer->wake;
	arg = writer->wake_arg;
	pthread_mutex_unlock(&writer->lock);
	for (; wake && first; first = first->next)
		if (first->woken && !first->status)
			wake(arg, first->woken);
}

static void *writer_main(void *arg)
{
	struct state_writer *writer = arg;
	struct change *first;

	while ((first = changes_take(writer))) {
		struct change_scope shared = { 0 };
		bool committed = changes_commit(writer, first, &shared);

		/* Lines first: who waits for the logs after its change has returned finds them there. */
		if (committed && shared.adds_lines)
			outbox_hand_over(writer);
		if (committed)
			intents_announce(writer, first);
		changes_answer(writer, first);
	}
	return NULL;
}

uint64_t state_writer_generation(struct state_writer *writer)
{
	return __atomic_load_n(&writer->generation, __ATOMIC_ACQUIRE);
}

enum status state_writer_change(struct state_writer *writer, change_run run, void *arg, struct error *err)
{
	struct change change = { .run = run, .arg = arg };

	pthread_cond_init(&change.answered, NULL);
	pthread_mutex_lock(&writer->lock);
	if (writer->waiting == CHANGES_WAITING_MAX || writer->stopping) {
		change.status = error_set(&change.err, STATUS_UNAVAILABLE, NULL,
					  writer->stopping ? "the store is closing"
							   : "too many changes wait to be stored");
	} else {
		*writer->last = &change;
		writer->last = &change.next;
		if (writer->waiting++ == 0)
			pthread_cond_signal(&writer->wanted);
		while (!change.done)
			pthread_cond_wait(&change.answered, &writer->lock);
	}
	pthread_mutex_unlock(&writer->lock);
	pthread_cond_destroy(&change.answered);
	if (!change.status)
		return STATUS_OK;
	change.err.status = change.status;
	return error_move(err, &change.err);
}

void state_writer_on_intent(struct state_writer *writer, void (*wake)(void *arg, int64_t job), void *arg)
{
	pthread_mutex_lock(&writer->lock);
	writer->wake = wake;
	writer->wake_arg = arg;
	pthread_mutex_unlock(&writer->lock);
}

enum status state_writer_open(struct connection *connection, struct logs_writer *logs,
			      const struct clock *clock, struct state_writer **ret_writer, struct error *err)
{
	struct state_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return error_no_memory(err);
	writer->connection = connection;
	writer->logs = logs;
	writer->clock = clock;
	writer->last = &writer->first;
	writer->handed = logs_writer_reached(logs);
	pthread_mutex_init(&writer->lock, NULL);
	pthread_cond_init(&writer->wanted, NULL);
	outbox_hand_over(writer); /* before anybody can wait for the logs */
	if (pthread_create(&writer->thread, NULL, writer_main, writer) != 0) {
		free(writer);
		return error_set(err, STATUS_INTERNAL, NULL, "no thread for the state writer");
	}
	*ret_writer = writer;
	return STATUS_OK;
}

void state_writer_close(struct state_writer *writer)
{
	if (!writer)
		return;
	pthread_mutex_lock(&writer->lock);
	writer->stopping = true;
	pthread_cond_signal(&writer->wanted);
	pthread_mutex_unlock(&writer->lock);
	pthread_join(writer->thread, NULL);
	connection_exec(writer->connection, "PRAGMA wal_checkpoint(TRUNCATE)", NULL);
	connection_close(writer->connection);
	pthread_cond_destroy(&writer->wanted);
	pthread_mutex_destroy(&writer->lock);
	free(writer);
}
