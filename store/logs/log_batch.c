/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logs/log_batch.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "store/logs/log_source.h"

static enum status meta_get(struct connection *connection, const char *name, int64_t *ret_value,
			    struct error *err)
{
	AUTO(statement) sqlite3_stmt *get = connection_statement(connection, LOGS_META_GET);
	bool row = false;
	enum status rc;

	bind_text(get, ":name", name);
	rc = statement_step(get, &row, err);
	if (!rc)
		*ret_value = row ? sqlite3_column_int64(get, 0) : 0;
	return rc;
}

static enum status meta_put(struct connection *connection, const char *name, int64_t value, struct error *err)
{
	AUTO(statement) sqlite3_stmt *put = connection_statement(connection, LOGS_META_PUT);

	bind_text(put, ":name", name);
	bind_int(put, ":value", value);
	return statement_run(put, err);
}

/* Reads the batch's state from the file again, and empties its caches. */
static enum status standing_read(struct log_batch *batch, struct error *err)
{
	enum status rc = meta_get(batch->connection, "sequence", &batch->sequence, err);

	memset(batch->clocks, 0, sizeof(batch->clocks));
	memset(batch->reaches, 0, sizeof(batch->reaches));
	batch->reach_count = 0;
	batch->numbering++;
	if (!rc)
		rc = meta_get(batch->connection, "outbox", &batch->reached, err);
	if (!rc)
		rc = meta_get(batch->connection, "received", &batch->received, err);
	return rc;
}

enum status log_batch_init(struct log_batch *batch, struct connection *connection, struct error *err)
{
	batch->connection = connection;
	/* A log_source can be used with one store after another. This number tells whether its row is one of this store. */
	randombytes_buf(&batch->numbering, sizeof(batch->numbering));
	return standing_read(batch, err);
}

static void source_bind(sqlite3_stmt *statement, const struct log_source *source)
{
	bind_text(statement, ":project", source->project);
	bind_text(statement, ":log_name", source->log_name);
	bind_int(statement, ":job", source->job);
	bind_text(statement, ":type", source->resource_type);
	bind_text(statement, ":resource_labels", source->resource_labels);
	bind_text(statement, ":labels", source->labels);
}

static enum status source_row(struct log_batch *batch, struct log_source *source, struct error *err)
{
	AUTO(statement) sqlite3_stmt *insert = connection_statement(batch->connection, SOURCE_INSERT);
	AUTO(statement) sqlite3_stmt *find = connection_statement(batch->connection, SOURCE_ID);
	bool row = false;
	enum status rc;

	source_bind(insert, source);
	rc = statement_run(insert, err);
	source_bind(find, source);
	if (!rc)
		rc = statement_step(find, &row, err);
	if (!rc && !row)
		rc = error_set(err, STATUS_INTERNAL, NULL, "a stored log source cannot be read back");
	if (rc)
		return rc;
	source->row = sqlite3_column_int64(find, 0);
	source->known_by = batch->numbering;
	batch->used[(uint64_t)source->row % SOURCE_SLOTS] = batch->received;
	return STATUS_OK;
}

static enum status clock_save(struct log_batch *batch, struct job_clock *clock, struct error *err)
{
	if (!clock->dated || !clock->changed)
		return STATUS_OK;
	clock->changed = false;
	AUTO(statement) sqlite3_stmt *put = connection_statement(batch->connection, DATED_JOB_PUT);

	bind_int(put, ":job", clock->job);
	bind_int(put, ":last", clock->last_ns);
	bind_int(put, ":named", clock->named);
	return statement_run(put, err);
}

/* Loads the clock of a job: the time of its last entry that is not dated. A dated entry (log_record.dated) has a time
 * that a program set; it does not count, even if its time is later. */
static enum status clock_load(struct log_batch *batch, int64_t job, struct job_clock *clock,
			      struct error *err)
{
	AUTO(statement) sqlite3_stmt *dated = connection_statement(batch->connection, DATED_JOB_GET);
	AUTO(statement) sqlite3_stmt *any = connection_statement(batch->connection, ENTRY_LAST);
	sqlite3_stmt *last = dated;
	bool row = false, is_dated;
	enum status rc = clock_save(batch, clock, err);

	bind_int(dated, ":job", job);
	if (!rc)
		rc = statement_step(dated, &row, err);
	is_dated = row;
	if (!rc && !row) {
		last = any;
		bind_int(any, ":job", job);
		rc = statement_step(any, &row, err);
	}
	if (rc)
		return rc;
	*clock = (struct job_clock){ .job = job, .last_ns = INT64_MIN, .dated = is_dated };
	if (row) {
		clock->last_ns = sqlite3_column_int64(last, 0);
		clock->named = sqlite3_column_int(last, 1) != 0;
	}
	return STATUS_OK;
}

/* Sets the time under which the entry is stored. The times of a job's entries never go back, except those that a
 * program sets. Entries with the same time are in the order of their insert ids, which need not grow if the
 * store did not make them. So if this entry or the one before has such an id, the time must grow. */
static enum status time_raise(struct log_batch *batch, const struct log_record *record, int64_t *ret_ns,
			      struct error *err)
{
	int64_t job = record->source->job;
	bool named = record->insert_id != NULL;
	struct job_clock *clock = &batch->clocks[(uint64_t)job % JOB_CLOCKS];
	int64_t least;

	*ret_ns = record->time_ns;
	if (job == 0)
		return STATUS_OK;
	if (clock->job != job) {
		enum status rc = clock_load(batch, job, clock, err);

		if (rc)
			return rc;
	}
	clock->changed = true;
	if (record->dated) {
		clock->dated = true;
		return STATUS_OK;
	}
	least = clock->last_ns + (clock->last_ns != INT64_MIN && (named || clock->named));
	if (*ret_ns < least)
		*ret_ns = least;
	clock->last_ns = *ret_ns;
	clock->named = named;
	return STATUS_OK;
}

static enum status reaches_write(struct log_batch *batch, struct error *err)
{
	AUTO(statement) sqlite3_stmt *put = connection_statement(batch->connection, POSITION_PUT);
	enum status rc = STATUS_OK;

	for (unsigned i = 0; i < POSITION_SLOTS && !rc && batch->reach_count; i++) {
		struct replica_reach *reach = &batch->reaches[i];

		if (!reach->key.job)
			continue;
		bind_int(put, ":job", reach->key.job);
		bind_int(put, ":attempt", reach->key.attempt);
		bind_int(put, ":role", reach->key.role);
		bind_int(put, ":replica", reach->key.index);
		bind_int(put, ":restart", reach->key.restart);
		bind_int(put, ":stdout", reach->streams[0].time_ns);
		bind_int(put, ":stdout_behind", reach->streams[0].behind);
		bind_int(put, ":stdout_parts", reach->streams[0].parts);
		bind_int(put, ":stdout_parts_ns", reach->streams[0].parts_ns);
		bind_int(put, ":stderr", reach->streams[1].time_ns);
		bind_int(put, ":stderr_behind", reach->streams[1].behind);
		bind_int(put, ":stderr_parts", reach->streams[1].parts);
		bind_int(put, ":stderr_parts_ns", reach->streams[1].parts_ns);
		rc = statement_run(put, err);
		*reach = (struct replica_reach){ 0 };
	}
	batch->reach_count = 0;
	return rc;
}

static bool is_further(const struct log_reach *reach, const struct log_reach *other)
{
	if (reach->time_ns != other->time_ns)
		return reach->time_ns > other->time_ns;
	if (reach->behind != other->behind)
		return reach->behind > other->behind;
	return reach->parts > other->parts;
}

static enum status reach_note(struct log_batch *batch, const struct log_record *record, struct error *err)
{
	const __typeof__(record->position) *at = &record->position;
	unsigned slot = (unsigned)((uint64_t)at->key.job * 31 + at->key.attempt * UINT64_C(17) +
				   at->key.role * UINT64_C(61) + at->key.index) %
			POSITION_SLOTS;
	struct replica_reach *reach;

	if (at->key.job == 0 || at->stream < 1 || at->stream > 2)
		return STATUS_OK;
	if (batch->reach_count > POSITION_SLOTS * 3 / 4) {
		enum status rc = reaches_write(batch, err);

		if (rc)
			return rc;
	}
	for (;; slot = (slot + 1) % POSITION_SLOTS) {
		reach = &batch->reaches[slot];
		if (!reach->key.job || replica_keys_equal(&reach->key, &at->key))
			break;
	}
	if (!reach->key.job) {
		*reach = (struct replica_reach){ .key = at->key };
		batch->reach_count++;
	}
	if (is_further(&at->reach, &reach->streams[at->stream - 1]))
		reach->streams[at->stream - 1] = at->reach;
	return STATUS_OK;
}

/* The parameters of ENTRY_INSERT, in its order, and of each row of ENTRIES_INSERT. They are bound by number: finding
 * ten parameters by name took a seventh of all instructions that a line costs between the engine's stream and the
 * file. */
enum entry_parameter {
	ENTRY_JOB = 1,
	ENTRY_TS,
	ENTRY_ID,
	ENTRY_SOURCE,
	ENTRY_SEVERITY,
	ENTRY_KIND,
	ENTRY_STREAM,
	ENTRY_RECEIVED,
	ENTRY_EXTRA,
	ENTRY_PAYLOAD,
	ENTRY_PARAMETERS = ENTRY_PAYLOAD,
};

/* A row to store. */
struct entry {
	const struct log_record *record;
	int64_t time_ns, received;
	int64_t sequence;              /* the insert id, unless it is a text */
	const char *id;                /* NULL: the id is the sequence */
	char made_id[LOG_MADE_ID_SIZE];
};

/* Rows that one statement stores: SQLite searches the trees of the table and the index once for each statement, and not
 * once for each row. */
struct entries {
	struct entry rows[ENTRIES_AT_ONCE];
	unsigned count;
	size_t lost; /* records that could not be stored, in all */
	struct error first;
};

/* A generated id of an entry that a program dates is stored as a text, like programs' own ids, so that entries with the
 * same time are in the order of their printed ids. */
static void entry_make(struct log_batch *batch, const struct log_record *record, int64_t time_ns, struct entry *ret_entry)
{
	ret_entry->record = record;
	ret_entry->time_ns = time_ns;
	ret_entry->received = batch->received;
	ret_entry->id = record->insert_id;
	if (!record->insert_id)
		ret_entry->sequence = ++batch->sequence;
	if (!record->insert_id && record->dated) {
		snprintf(ret_entry->made_id, LOG_MADE_ID_SIZE, LOG_MADE_ID, ret_entry->sequence);
		ret_entry->id = ret_entry->made_id;
	}
}

/* @row is the index of the row within the statement, from 0. */
static void entry_bind(sqlite3_stmt *insert, unsigned row, const struct entry *entry)
{
	const struct log_record *record = entry->record;
	const int base = (int)row * ENTRY_PARAMETERS;

	sqlite3_bind_int64(insert, base + ENTRY_JOB, record->source->job);
	sqlite3_bind_int64(insert, base + ENTRY_TS, entry->time_ns);
	if (entry->id)
		sqlite3_bind_text(insert, base + ENTRY_ID, entry->id, -1, SQLITE_STATIC);
	else
		sqlite3_bind_int64(insert, base + ENTRY_ID, entry->sequence);
	sqlite3_bind_int64(insert, base + ENTRY_SOURCE, record->source->row);
	sqlite3_bind_int(insert, base + ENTRY_SEVERITY, (int)record->severity);
	sqlite3_bind_int(insert, base + ENTRY_KIND, (int)record->kind);
	sqlite3_bind_int(insert, base + ENTRY_STREAM, (int)record->position.stream);
	sqlite3_bind_int64(insert, base + ENTRY_RECEIVED, entry->received);
	sqlite3_bind_text(insert, base + ENTRY_EXTRA, record->extra, -1, SQLITE_STATIC); /* NULL: null */
	sqlite3_bind_text64(insert, base + ENTRY_PAYLOAD, record->payload ? record->payload : "",
			    record->payload_length, SQLITE_STATIC, SQLITE_UTF8);
}

/* Call after a failed insert. Returns OK if only this record cannot be stored: it is counted as lost, and the others
 * are stored. */
static enum status loss_note(struct log_batch *batch, struct entries *entries, enum status rc, struct error *own,
			     struct error *err)
{
	if (rc != STATUS_INTERNAL || sqlite3_get_autocommit(batch->connection->db))
		return error_move(err, own);
	if (entries->lost++ == 0)
		error_move(&entries->first, own);
	return STATUS_OK;
}

static enum status rows_store_each(struct log_batch *batch, struct entries *entries, struct error *err)
{
	AUTO(statement) sqlite3_stmt *insert = connection_statement(batch->connection, ENTRY_INSERT);
	enum status rc = STATUS_OK;

	for (unsigned i = 0; i < entries->count && !rc; i++) {
		struct error own AUTO_ERROR = { 0 };

		entry_bind(insert, 0, &entries->rows[i]);
		rc = statement_run(insert, &own);
		if (rc)
			rc = loss_note(batch, entries, rc, &own, err);
	}
	return rc;
}

/* Stores ENTRIES_AT_ONCE rows with one statement, which stores none of them if it fails. */
static enum status rows_store_together(struct log_batch *batch, const struct entries *entries, struct error *err)
{
	AUTO(statement) sqlite3_stmt *insert = connection_statement(batch->connection, ENTRIES_INSERT);

	for (unsigned i = 0; i < ENTRIES_AT_ONCE; i++)
		entry_bind(insert, i, &entries->rows[i]);
	return statement_run(insert, err);
}

static enum status rows_store(struct log_batch *batch, struct entries *entries, struct error *err)
{
	struct error own AUTO_ERROR = { 0 };
	enum status rc = entries->count < ENTRIES_AT_ONCE ? STATUS_INTERNAL
							  : rows_store_together(batch, entries, &own);

	/* The failure is not about one record, so the whole batch is written again. */
	if (rc && rc != STATUS_INTERNAL)
		return error_move(err, &own);
	if (rc && sqlite3_get_autocommit(batch->connection->db))
		return error_move(err, &own);
	if (rc)
		rc = rows_store_each(batch, entries, err);
	entries->count = 0;
	return rc;
}

static enum status item_add(struct log_batch *batch, struct entries *entries, const struct log_item *item,
			    struct error *err)
{
	const struct log_record *record = &item->record;
	int64_t time_ns;
	enum status rc = STATUS_OK;

	batch->received++; /* so that received_ns has the order in which entries came */
	if (item->kind == ITEM_BARRIER)
		return STATUS_OK;
	if (item->kind == ITEM_LINE) {
		if (item->outbox_id <= batch->reached)
			return STATUS_OK; /* an earlier process has stored it */
		batch->reached = item->outbox_id;
	}
	if (record->source->known_by != batch->numbering)
		rc = source_row(batch, record->source, err);
	if (!rc)
		rc = time_raise(batch, record, &time_ns, err);
	if (!rc)
		rc = reach_note(batch, record, err);
	if (rc)
		return rc;
	if (time_ns < batch->oldest_ns)
		batch->oldest_ns = time_ns;
	entry_make(batch, record, time_ns, &entries->rows[entries->count++]);
	return entries->count == ENTRIES_AT_ONCE ? rows_store(batch, entries, err) : STATUS_OK;
}

static enum status records_write(struct log_batch *batch, const struct log_queue *queue, struct error *err)
{
	struct entries entries;
	struct log_cursor cursor = { 0 };
	struct log_item *item;
	enum status rc = STATUS_OK;

	entries.count = 0;
	entries.lost = 0;
	entries.first = (struct error){ 0 };
	while (!rc && (item = log_queue_next(queue, &cursor))) {
		struct error own AUTO_ERROR = { 0 };

		rc = item_add(batch, &entries, item, &own);
		if (rc)
			rc = loss_note(batch, &entries, rc, &own, err);
	}
	if (!rc && entries.count)
		rc = rows_store(batch, &entries, err);
	if (entries.lost)
		log_event(LOG_ERROR, "log-records-lost", "records=%zu error=\"%s\"", entries.lost,
			  entries.first.text ? entries.first.text : "");
	error_deinit(&entries.first);
	return rc;
}

static enum status items_write(struct log_batch *batch, const struct log_queue *queue, int64_t received_ns,
			       struct error *err)
{
	int64_t sequence = batch->sequence, reached = batch->reached, received = batch->received;
	enum status rc;

	batch->oldest_ns = INT64_MAX;
	if (batch->received < received_ns - 1)
		batch->received = received_ns - 1;
	rc = records_write(batch, queue, err);

	if (!rc)
		rc = reaches_write(batch, err);
	for (unsigned i = 0; i < JOB_CLOCKS && !rc; i++)
		rc = clock_save(batch, &batch->clocks[i], err);
	if (!rc && batch->sequence != sequence)
		rc = meta_put(batch->connection, "sequence", batch->sequence, err);
	if (!rc && batch->reached != reached)
		rc = meta_put(batch->connection, "outbox", batch->reached, err);
	if (!rc && batch->received != received)
		rc = meta_put(batch->connection, "received", batch->received, err);
	return rc;
}

static bool has_lines(const struct log_queue *queue)
{
	struct log_cursor cursor = { 0 };
	struct log_item *item;

	while ((item = log_queue_next(queue, &cursor)))
		if (item->kind == ITEM_LINE)
			return true;
	return false;
}

enum status log_batch_write(struct log_batch *batch, const struct log_queue *queue, int64_t received_ns,
			    struct error *err)
{
	int64_t sequence = batch->sequence, reached = batch->reached;
	/* state.db deletes outbox lines once they are stored here, so a batch with such lines must be synced to the
	 * disk. */
	const char *synchronous =
		has_lines(queue) ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL";
	enum status rc = transaction_rollback(batch->connection, err);

	if (!rc)
		rc = connection_exec(batch->connection, synchronous, err);
	if (!rc)
		rc = transaction_begin(batch->connection, err);
	if (!rc)
		rc = items_write(batch, queue, received_ns, err);
	if (!rc)
		rc = transaction_commit(batch->connection, err);
	if (!rc)
		return STATUS_OK;
	transaction_rollback(batch->connection, NULL);
	batch->sequence = sequence;
	batch->reached = reached;
	standing_read(batch, NULL);
	return rc;
}
