/* SPDX-License-Identifier: Apache-2.0 */
#include "store/group_writer.h"

#include <pthread.h>
#include <stdlib.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"

enum { CHANGES_WAITING_MAX = 1024 };

struct group_writer {
	struct connection *connection;
	const struct clock *clock;
	const char *name;
	struct group_hooks hooks;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wanted;
	struct group_change *first, **last; /* the waiting changes; protected by @lock */
	unsigned waiting;
	bool stopping;
	/* commits of this transaction are synced, against the database's default. Used by the writer's thread only */
	bool syncs;
	bool is_spoiled; /* the transaction has half of a change: do not commit it. Used by the writer's thread only */
};

static void change_perform(struct group_writer *writer, struct group_change *change)
{
	if (sqlite3_get_autocommit(writer->connection->db))
		return; /* SQLite rolled the transaction back: a savepoint would begin a new one */
	change->status = statement_run(connection_statement(writer->connection, CHANGE_BEGIN), &change->err);
	if (change->status)
		return;
	change->status =
		change->run(writer->connection, clock_wall_ns(writer->clock), change->arg, &change->err);
	if (!change->status)
		change->status =
			statement_run(connection_statement(writer->connection, CHANGE_END), &change->err);
	/* A failed change that cannot be undone would be committed with the others, though its caller gets an error. */
	if (change->status && connection_exec(writer->connection, "ROLLBACK TO change; RELEASE change", NULL))
		writer->is_spoiled = true;
}

/* Fails all changes from @first on with the error @cause, except those that have an error already. */
static void changes_fail(struct group_change *first, const struct error *cause)
{
	for (struct group_change *change = first; change; change = change->next) {
		if (change->status)
			continue; /* the change has an error already */
		change->status =
			error_set(&change->err, cause->status, NULL, "%s", cause->text ? cause->text : "");
	}
}

/* Sets *err to the reason why SQLite rolled the whole transaction back, for example a full disk: the error of the
 * change that was performed at that moment. */
static enum status transaction_lost(const struct group_change *first, struct error *err)
{
	for (; first; first = first->next)
		if (first->status == STATUS_UNAVAILABLE || first->status == STATUS_INTERNAL)
			return error_set(err, first->status, NULL, "%s",
					 first->err.text ? first->err.text : "");
	return error_set(err, STATUS_UNAVAILABLE, NULL, "the transaction was rolled back");
}

/* Sets whether the next commit is synced: yes if any change of the group requires it. Call before the transaction
 * begins, because SQLite refuses the setting within one. */
static enum status sync_choose(struct group_writer *writer, const struct group_change *first,
			       struct error *err)
{
	bool lasts = false;
	enum status rc;

	for (; first; first = first->next)
		lasts = lasts || first->lasts;
	if (lasts == writer->syncs)
		return STATUS_OK;
	rc = transaction_rollback(writer->connection, err);
	if (!rc)
		rc = connection_exec(writer->connection,
				     lasts ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL",
				     err);
	if (!rc)
		writer->syncs = lasts;
	return rc;
}

/* Runs all changes from @first on in one transaction. True: it was committed. */
static bool changes_commit(struct group_writer *writer, struct group_change *first)
{
	struct error err AUTO_ERROR = { 0 };
	enum status rc = sync_choose(writer, first, &err);

	if (!rc)
		rc = transaction_begin(writer->connection, &err);
	writer->is_spoiled = false;
	if (!rc) {
		if (writer->hooks.begun)
			writer->hooks.begun(writer->hooks.arg);
		for (struct group_change *change = first; change; change = change->next)
			change_perform(writer, change);
		if (writer->is_spoiled || sqlite3_get_autocommit(writer->connection->db))
			rc = transaction_lost(first, &err);
		else
			rc = transaction_commit(writer->connection, &err);
	}
	if (!rc)
		return true;
	transaction_rollback(writer->connection, NULL);
	log_event(LOG_ERROR, "commit-failed", "database=%s error=\"%s\"", writer->name,
		  err.text ? err.text : "");
	changes_fail(first, &err);
	return false;
}

/* Call without the lock: with it, each woken caller would have to wait for the lock until all callers are woken. */
static void changes_answer(struct group_change *first)
{
	struct group_change *next;

	for (struct group_change *change = first; change; change = next) {
		next = change->next; /* read first, because the answered caller may free the change */
		sem_post(&change->answered);
	}
}

/* Waits for changes and takes all of them. NULL: the writer must end. */
static struct group_change *changes_take(struct group_writer *writer)
{
	struct group_change *first;

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

static void *writer_main(void *arg)
{
	struct group_writer *writer = arg;
	struct group_change *first;

	while ((first = changes_take(writer))) {
		if (changes_commit(writer, first) && writer->hooks.committed)
			writer->hooks.committed(writer->hooks.arg, first);
		changes_answer(first);
	}
	return NULL;
}

static enum status change_make(struct group_writer *writer, struct group_change change, struct error *err)
{
	bool is_queued = false;

	sem_init(&change.answered, 0, 0);
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
		is_queued = true;
	}
	pthread_mutex_unlock(&writer->lock);
	while (is_queued && sem_wait(&change.answered) != 0)
		; /* interrupted by a signal */
	sem_destroy(&change.answered);
	if (!change.status)
		return STATUS_OK;
	change.err.status = change.status;
	return error_move(err, &change.err);
}

enum status group_writer_change(struct group_writer *writer, group_run run, void *arg, struct error *err)
{
	return change_make(writer, (struct group_change){ .run = run, .arg = arg }, err);
}

enum status group_writer_change_lasting(struct group_writer *writer, group_run run, void *arg,
					struct error *err)
{
	return change_make(writer, (struct group_change){ .run = run, .arg = arg, .lasts = true }, err);
}

enum status group_writer_open(struct connection *connection, const struct clock *clock, const char *name,
			      const struct group_hooks *hooks, struct group_writer **ret_writer,
			      struct error *err)
{
	struct group_writer *writer = memory_calloc(1, sizeof(*writer));

	writer->connection = connection;
	writer->clock = clock;
	writer->name = name;
	writer->hooks = *hooks;
	writer->last = &writer->first;
	pthread_mutex_init(&writer->lock, NULL);
	pthread_cond_init(&writer->wanted, NULL);
	if (pthread_create(&writer->thread, NULL, writer_main, writer) != 0) {
		free(writer);
		return error_set(err, STATUS_INTERNAL, NULL,
				 "cannot start the thread that writes %s: "
				 "the limit of threads or memory is reached", name);
	}
	*ret_writer = writer;
	return STATUS_OK;
}

void group_writer_close(struct group_writer *writer)
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
