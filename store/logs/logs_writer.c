/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logs/logs_writer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/tally.h"
#include "daemon/base/text.h"
#include "store/job_changes.h"
#include "store/job_progress.h"
#include "store/logs/log_batch.h"
#include "store/logs/log_purge.h"
#include "store/logs/log_source.h"

enum {
	QUEUE_BYTES_MAX = 16 * 1024 * 1024,
	QUEUE_COUNT_MAX = 65536,
	COMPANY_US = 20 * 1000, /* how long the first record of a batch waits for more */
	COMPANY_COUNT = 1000,
	RETRY_US = 200 * 1000,
	LAST_TRIES = 3, /* attempts to store the last batch while closing */
	/* a longer structured entry is not parsed for its message, so it is not reported as progress */
	STRUCTURED_MAX = 64 * 1024,
};

struct logs_writer {
	const struct clock *clock;
	struct job_changes *changes;
	struct progress_board *progress;
	struct log_batch batch; /* used by the writer's thread only */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wanted, written;
	struct log_queue queue;              /* the lock guards this and all members below */
	size_t written_bytes, written_count; /* of the current batch: they still count as queued */
	bool refused;                        /* a caller waits for room, or for memory */
	bool urgent;                         /* a caller waits at a barrier */
	bool stopping;
	int64_t reached;
	uint64_t stored; /* batches */
	int64_t received;
	struct log_listener *listeners;
	void (*room)(void *arg);
	void *room_arg;
};

static bool is_full(const struct logs_writer *writer)
{
	return writer->queue.bytes + writer->written_bytes >= QUEUE_BYTES_MAX ||
	       writer->queue.count + writer->written_count >= QUEUE_COUNT_MAX;
}

static bool item_push(struct logs_writer *writer, const struct log_item *item, bool always)
{
	bool taken = false;

	pthread_mutex_lock(&writer->lock);
	if (always || !is_full(writer))
		taken = log_queue_push(&writer->queue, item);
	if (!taken)
		writer->refused = true;
	else if (item->kind == ITEM_BARRIER)
		writer->urgent = true;
	/* Wake the thread also if the queue is empty: then there was no memory for the record. The thread has to tell
	 * the caller to try again, which it otherwise does after storing a batch. */
	if (writer->queue.count <= 1 || writer->queue.count == COMPANY_COUNT || item->kind == ITEM_BARRIER)
		pthread_cond_signal(&writer->wanted);
	pthread_mutex_unlock(&writer->lock);
	return taken;
}

bool logs_writer_offer(struct logs_writer *writer, const struct log_record *record)
{
	return item_push(writer, &(struct log_item){ .kind = ITEM_RECORD, .record = *record }, false);
}

bool logs_writer_offer_line(struct logs_writer *writer, const struct log_record *record, int64_t outbox_id)
{
	return item_push(writer,
			 &(struct log_item){ .kind = ITEM_LINE, .record = *record, .outbox_id = outbox_id },
			 true);
}

void logs_writer_barrier(struct logs_writer *writer, const struct log_item *barrier)
{
	item_push(writer, barrier, true);
}

/* A slice of a purge. Lives on the stack of the caller, which waits for it. */
struct purge {
	struct logs_writer *writer;
	struct log_selection *selection;
	bool more, done;
	enum status status;
	struct error err;
	pthread_mutex_t lock;
	pthread_cond_t committed;
};

/* Removes the slice. Called on the writer's thread, once the batch with the purge's barrier is stored. */
static void purge_on_commit(void *arg, enum status status)
{
	struct purge *purge = arg;
	bool more = false;
	struct error err = { 0 };

	if (status)
		error_set(&err, status, NULL, "log entries cannot be stored now");
	else
		status = log_batch_purge(&purge->writer->batch, purge->selection, &more, &err);
	pthread_mutex_lock(&purge->lock);
	purge->status = status;
	purge->err = err;
	purge->more = more;
	purge->done = true;
	pthread_cond_signal(&purge->committed);
	pthread_mutex_unlock(&purge->lock);
}

enum status logs_writer_purge(struct logs_writer *writer, struct log_selection *selection, bool *ret_more,
			      struct error *err)
{
	struct purge purge = { .writer = writer, .selection = selection };

	pthread_mutex_init(&purge.lock, NULL);
	pthread_cond_init(&purge.committed, NULL);
	logs_writer_barrier(
		writer,
		&(struct log_item){ .kind = ITEM_BARRIER, .on_commit = purge_on_commit, .arg = &purge });
	pthread_mutex_lock(&purge.lock);
	while (!purge.done)
		pthread_cond_wait(&purge.committed, &purge.lock);
	pthread_mutex_unlock(&purge.lock);
	pthread_cond_destroy(&purge.committed);
	pthread_mutex_destroy(&purge.lock);
	*ret_more = purge.more;
	if (purge.status)
		error_set(err, purge.status, NULL, "%s", purge.err.text ? purge.err.text : "");
	error_deinit(&purge.err);
	return purge.status;
}

void logs_writer_on_room(struct logs_writer *writer, void (*hook)(void *arg), void *arg)
{
	pthread_mutex_lock(&writer->lock);
	writer->room = hook;
	writer->room_arg = arg;
	pthread_mutex_unlock(&writer->lock);
}

int64_t logs_writer_reached(struct logs_writer *writer)
{
	int64_t reached;

	pthread_mutex_lock(&writer->lock);
	reached = writer->reached;
	pthread_mutex_unlock(&writer->lock);
	return reached;
}

/* Waits with the lock held, by the system's own clock, because a clock of a test may stand still. */
static bool wait_until(struct logs_writer *writer, pthread_cond_t *what, int64_t mono_us)
{
	struct timespec until = { .tv_sec = mono_us / 1000000, .tv_nsec = mono_us % 1000000 * 1000 };

	return pthread_cond_timedwait(what, &writer->lock, &until) == 0;
}

uint64_t logs_writer_stored(struct logs_writer *writer)
{
	uint64_t stored;

	pthread_mutex_lock(&writer->lock);
	stored = writer->stored;
	pthread_mutex_unlock(&writer->lock);
	return stored;
}

bool logs_writer_await(struct logs_writer *writer, uint64_t stored, int64_t at_most_us)
{
	const int64_t until = clock_mono_us(&system_clock) + at_most_us;
	bool more;

	pthread_mutex_lock(&writer->lock);
	while (writer->stored <= stored && wait_until(writer, &writer->written, until))
		;
	more = writer->stored > stored;
	pthread_mutex_unlock(&writer->lock);
	return more;
}

int64_t logs_writer_listen(struct logs_writer *writer, struct log_listener *listener)
{
	int64_t received;

	pthread_mutex_lock(&writer->lock);
	listener->oldest_ns = INT64_MAX;
	listener->next = writer->listeners;
	writer->listeners = listener;
	received = writer->received;
	pthread_mutex_unlock(&writer->lock);
	return received;
}

void logs_writer_unlisten(struct logs_writer *writer, struct log_listener *listener)
{
	struct log_listener **link = &writer->listeners;

	pthread_mutex_lock(&writer->lock);
	while (*link && *link != listener)
		link = &(*link)->next;
	if (*link)
		*link = listener->next;
	pthread_mutex_unlock(&writer->lock);
}

int64_t logs_writer_heard(struct logs_writer *writer, struct log_listener *listener, int64_t *ret_oldest_ns)
{
	int64_t received;

	pthread_mutex_lock(&writer->lock);
	*ret_oldest_ns = listener->oldest_ns;
	listener->oldest_ns = INT64_MAX;
	received = writer->received;
	pthread_mutex_unlock(&writer->lock);
	return received;
}

/* Reports the batch to the listeners. Call with the lock held. */
static void listeners_report(struct logs_writer *writer)
{
	writer->received = writer->batch.received;
	for (struct log_listener *listener = writer->listeners; listener; listener = listener->next) {
		if (writer->batch.oldest_ns < listener->oldest_ns)
			listener->oldest_ns = writer->batch.oldest_ns;
		if (listener->wake_fd >= 0)
			eventfd_write(listener->wake_fd, 1);
	}
}

/* Waits for items and moves them to @queue, which stays empty if all offers were refused. False: the thread
 * must end. */
static bool batch_take(struct logs_writer *writer, struct log_queue *queue)
{
	int64_t until;
	bool goes_on;

	pthread_mutex_lock(&writer->lock);
	while (writer->queue.count == 0 && !writer->refused && !writer->stopping)
		pthread_cond_wait(&writer->wanted, &writer->lock);
	until = clock_mono_us(&system_clock) + COMPANY_US;
	while (writer->queue.count < COMPANY_COUNT && !writer->urgent && !writer->stopping)
		if (!wait_until(writer, &writer->wanted, until))
			break;
	log_queue_move(queue, &writer->queue);
	writer->urgent = false;
	writer->written_bytes = queue->bytes;
	writer->written_count = queue->count;
	goes_on = queue->count > 0 || !writer->stopping;
	pthread_mutex_unlock(&writer->lock);
	return goes_on;
}

/* Calls the barriers in the queue. After a failure, calls only on_commit(); done() is called once a try succeeds. */
static void barriers_call(const struct log_queue *queue, enum status status)
{
	struct log_cursor cursor = { 0 };
	struct log_item *item;

	while ((item = log_queue_next(queue, &cursor))) {
		if (item->on_commit)
			item->on_commit(item->arg, status);
		item->on_commit = NULL; /* once */
		if (item->done && status == STATUS_OK)
			item->done(item->arg);
	}
}

/* Answers callers that came to the queue while a batch cannot be stored: they do not wait for the next
 * attempt. */
static void newcomers_on_commit(struct logs_writer *writer, enum status status)
{
	pthread_mutex_lock(&writer->lock);
	barriers_call(&writer->queue, status);
	pthread_mutex_unlock(&writer->lock);
}

/* Waits after a failure. True: try the batch again. */
static bool may_retry(struct logs_writer *writer, enum status status, unsigned tries)
{
	bool stopping;

	pthread_mutex_lock(&writer->lock);
	if (!writer->stopping)
		wait_until(writer, &writer->wanted, clock_mono_us(&system_clock) + RETRY_US);
	stopping = writer->stopping;
	pthread_mutex_unlock(&writer->lock);
	return status == STATUS_UNAVAILABLE && (!stopping || tries < LAST_TRIES);
}

/* Counts the items that are lines, without barriers. */
static uint64_t line_count(const struct log_queue *queue)
{
	struct log_cursor cursor = { 0 };
	const struct log_item *item;
	uint64_t count = 0;

	while ((item = log_queue_next(queue, &cursor)))
		count += item->kind != ITEM_BARRIER;
	return count;
}

static void batch_store(struct logs_writer *writer, const struct log_queue *queue)
{
	for (unsigned tries = 1;; tries++) {
		struct error err AUTO_ERROR = { 0 };
		enum status rc = log_batch_write(&writer->batch, queue, clock_wall_ns(writer->clock), &err);

		if (!rc) {
			tally_add(TALLY_LOG_LINES, line_count(queue));
			break;
		}
		if (tries == 1)
			log_event(LOG_ERROR, "log-commit-failed", "records=%zu error=\"%s\"", queue->count,
				  err.text ? err.text : "");
		barriers_call(queue, rc);
		newcomers_on_commit(writer, rc);
		if (may_retry(writer, rc, tries))
			continue;
		log_event(LOG_ERROR, "log-records-lost", "records=%zu error=\"%s\"", queue->count,
			  err.text ? err.text : "");
		break;
	}
}

/* Call when the batch is stored, or lost: frees its room in the queue, and lets its outbox rows be
 * deleted. */
static void batch_finish(struct logs_writer *writer)
{
	void (*room)(void *arg) = NULL;
	void *arg;

	pthread_mutex_lock(&writer->lock);
	writer->written_bytes = writer->written_count = 0;
	writer->reached = writer->batch.reached;
	writer->stored++;
	listeners_report(writer);
	pthread_cond_broadcast(&writer->written);
	arg = writer->room_arg;
	if (writer->refused && !is_full(writer)) {
		room = writer->room;
		writer->refused = false;
	}
	pthread_mutex_unlock(&writer->lock);
	if (room)
		room(arg);
}

static void line_note(struct logs_writer *writer, const struct log_record *record)
{
	const int64_t job = record->source->job;

	if (record->kind == LOG_TEXT) {
		progress_line_set(writer->progress, job, record->payload, record->payload_length);
	} else if (record->payload_length <= STRUCTURED_MAX) {
		AUTO(json) json_t *fields = json_loadb(record->payload, record->payload_length, 0, NULL);
		const json_t *message = json_object_get(fields, "message");

		if (json_is_string(message))
			progress_line_set(writer->progress, job, json_string_value(message),
					  json_string_length(message));
	}
}

/* The last record of each job in a batch; of a batch with more than PROGRESS_JOBS jobs, only some jobs. */
struct last_lines {
	const struct log_record *records[PROGRESS_JOBS];
	size_t count;
};

static void last_lines_add(struct last_lines *lines, const struct log_record *record)
{
	size_t i = lines->count;

	while (i && lines->records[i - 1]->source->job != record->source->job)
		i--;
	if (i)
		lines->records[i - 1] = record;
	else if (lines->count < PROGRESS_JOBS)
		lines->records[lines->count++] = record;
}

/* Reports new lines to the readers of jobs. Call when the lines can be read. */
static void lines_report(struct logs_writer *writer, const struct log_queue *queue)
{
	struct last_lines last = { .count = 0 };
	struct log_cursor cursor = { 0 };
	const struct log_item *item;

	while ((item = log_queue_next(queue, &cursor)))
		if (item->kind == ITEM_LINE)
			job_changes_add(writer->changes, item->record.source->job);
		else if (item->kind == ITEM_RECORD && item->record.source->job)
			last_lines_add(&last, &item->record);
	for (size_t i = 0; i < last.count; i++)
		line_note(writer, last.records[i]);
}

static void *writer_main(void *arg)
{
	struct logs_writer *writer = arg;
	struct log_queue queue = { 0 };

	while (batch_take(writer, &queue)) {
		if (queue.count > 0)
			batch_store(writer, &queue);
		batch_finish(writer);
		lines_report(writer, &queue);
		barriers_call(&queue, STATUS_OK);
		log_queue_deinit(&queue);
	}
	return NULL;
}

/* Checks that the file's logs belong to this instance. Stores the instance's name in a new file. */
static enum status owner_check(struct connection *connection, const char *instance, bool *ret_ours,
			       struct error *err)
{
	AUTO(statement) sqlite3_stmt *get = connection_statement(connection, LOGS_META_GET);
	AUTO(statement) sqlite3_stmt *put = connection_statement(connection, LOGS_META_PUT);
	bool row = false;
	enum status rc;

	bind_text(get, ":name", "instance");
	rc = statement_step(get, &row, err);
	*ret_ours = !rc && (!row || strcmp(column_text(get, 0), instance) == 0);
	if (rc || row)
		return rc;
	bind_text(put, ":name", "instance");
	bind_text(put, ":value", instance);
	return statement_run(put, err);
}

static enum status set_aside(const char *path, struct error *err)
{
	struct text aside AUTO_TEXT = { 0 };

	text_printf(&aside, "%s.other", path);
	if (rename(path, aside.data) != 0)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%s belongs to another state.db",
				 path);
	log_event(LOG_WARNING, "logs-set-aside", "file=%s", aside.data);
	return STATUS_OK;
}

static enum status own_file_open(const char *path, const char *instance, struct connection **ret_connection,
				 struct error *err)
{
	for (int tries = 0; tries < 2; tries++) {
		AUTO(connection) struct connection *connection = NULL;
		bool ours = false;
		enum status rc = connection_open(path, LOGS_WRITER, &connection, err);

		if (rc)
			return rc;
		rc = owner_check(connection, instance, &ours, err);
		if (rc)
			return connection_open_fail(connection, rc, err);
		if (ours) {
			*ret_connection = TAKE(connection);
			return STATUS_OK;
		}
		/* SQLite copies the -wal file's contents into the file */
		connection_close(TAKE(connection));
		rc = set_aside(path, err);
		if (rc)
			return rc;
	}
	return error_set(err, STATUS_INTERNAL, NULL, "%s cannot be made", path);
}

static void conditions_init(struct logs_writer *writer)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&writer->wanted, &monotonic);
	pthread_cond_init(&writer->written, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&writer->lock, NULL);
}

DEFINE_AUTO(writer_memory, struct logs_writer *, free)

enum status logs_writer_open(const char *path, const char *instance, struct job_changes *changes,
			     struct progress_board *progress, const struct clock *clock, struct logs_writer **ret_writer, struct error *err)
{
	AUTO(writer_memory) struct logs_writer *memory = memory_calloc(1, sizeof(*memory));
	struct logs_writer *writer = memory;
	AUTO(connection) struct connection *connection = NULL;
	enum status rc;

	rc = own_file_open(path, instance, &connection, err);
	if (rc)
		return rc;
	rc = log_batch_init(&writer->batch, connection, err);
	if (rc)
		return connection_open_fail(connection, rc, err);
	writer->clock = clock;
	writer->changes = changes;
	writer->progress = progress;
	writer->reached = writer->batch.reached;
	writer->received = writer->batch.received;
	conditions_init(writer);
	if (pthread_create(&writer->thread, NULL, writer_main, writer) != 0)
		return error_set(err, STATUS_INTERNAL, NULL,
				 "cannot start the thread that writes logs: "
				 "the limit of threads or memory is reached");
	connection = NULL;
	memory = NULL;
	*ret_writer = writer;
	return STATUS_OK;
}

void logs_writer_close(struct logs_writer *writer)
{
	if (!writer)
		return;
	pthread_mutex_lock(&writer->lock);
	writer->stopping = true;
	pthread_cond_signal(&writer->wanted);
	pthread_mutex_unlock(&writer->lock);
	pthread_join(writer->thread, NULL);
	connection_exec(writer->batch.connection, "PRAGMA wal_checkpoint(TRUNCATE)", NULL);
	connection_close(writer->batch.connection);
	pthread_cond_destroy(&writer->wanted);
	pthread_cond_destroy(&writer->written);
	pthread_mutex_destroy(&writer->lock);
	log_queue_deinit(&writer->queue);
	free(writer);
}
