/* SPDX-License-Identifier: Apache-2.0 */
#include "store/state_writer.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "store/group_writer.h"
#include "store/job_changes.h"
#include "store/jobs/job_state.h"
#include "store/logs/logs_writer.h"

/* Jobs with rows that the current transaction changed. */
struct touched_jobs {
	size_t count; /* a count above JOB_CHANGES_KEPT means that the jobs are not known */
	int64_t jobs[JOB_CHANGES_KEPT];
};

struct state_writer {
	struct connection *connection; /* of the group writer, used on its thread only */
	struct logs_writer *logs;
	struct job_changes *changes;
	struct touched_jobs touched; /* used by the writer's thread only */
	struct group_writer *group;
	pthread_mutex_t lock; /* guards wake() and wake_arg */
	void (*wake)(void *arg, int64_t job);
	void *wake_arg;
	uint64_t generation; /* commits so far; atomic */
	int64_t handed;      /* last outbox row passed to the logs; used on the writer's thread only */
	int64_t reached;     /* last outbox row that the logs had when the transaction began */
	int64_t deleted;     /* outbox rows up to this one are deleted */
	bool is_behind;      /* some committed line could not be passed to the logs yet */
	bool no_more_jobs;   /* used by the writer's thread only */
};

/* A caller's change, on the caller's stack. */
struct state_change {
	struct state_writer *writer;
	struct change_scope scope;
	change_run run;
	void *arg;
};

static void touched_add(struct touched_jobs *touched, int64_t job)
{
	if (touched->count && touched->count <= JOB_CHANGES_KEPT && touched->jobs[touched->count - 1] == job)
		return;
	if (touched->count < JOB_CHANGES_KEPT)
		touched->jobs[touched->count] = job;
	if (touched->count <= JOB_CHANGES_KEPT)
		touched->count++;
}

/* SQLite calls this for each changed row, also of changes that are undone later, which does no harm. */
static void on_row(void *arg, int operation, const char *database, const char *table, sqlite3_int64 row)
{
	(void)operation;
	(void)database;
	if (strcmp(table, "job") == 0)
		touched_add(arg, row);
}

void job_touch(struct change_scope *scope, int64_t job)
{
	touched_add(scope->touched, job);
}

static void touched_report(struct state_writer *writer)
{
	if (writer->touched.count > JOB_CHANGES_KEPT)
		job_changes_lose(writer->changes);
	else
		for (size_t i = 0; i < writer->touched.count; i++)
			job_changes_add(writer->changes, writer->touched.jobs[i]);
}

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

/* Makes the source of a job's service lines. @endpoint: "" for Vertex AI, where entries have such a label; else
 * NULL. */
static struct log_source *service_source(int64_t job, const char *project, const char *job_id, unsigned trial,
					 const char *endpoint, enum job_state ended_as)
{
	/* Built by the JSON library, because a project may contain any text from a client's path. */
	AUTO(json)
	json_t *labels =
		json_pack("{s:s, s:s, s:s}", "project_id", project, "job_id", job_id, "task_name", "service");
	AUTO(string) char *labels_text = json_dump_compact(labels);
	const char *state = ended_as ? job_state_name(ended_as) : NULL;
	AUTO(string) char *own_text = log_labels(NULL, trial, endpoint, state);
	struct text name AUTO_TEXT = { 0 };

	text_printf(&name, "ml.googleapis.com%%2F%s", job_id);
	return log_source_new(&(struct log_source_spec){
		.job = job,
		.project = project,
		.log_name = name.data,
		.resource_type = "ml_job",
		.resource_labels = labels_text,
		.labels = own_text,
	});
}

/* The source of the last line that was passed. Most lines come several at a time from one job: they share a source, so
 * that its texts are made once, and its row in logs.db is looked for once. */
struct last_source {
	struct log_source *source; /* NULL: none yet */
	int64_t job;
	unsigned trial;
	enum job_state ended_as;
};

static void last_source_deinit(struct last_source *last)
{
	log_source_unref(last->source);
}
#define AUTO_LAST_SOURCE __attribute__((cleanup(last_source_deinit)))

/* Returns the source of the line in @row; borrowed from @last. */
static struct log_source *row_source(sqlite3_stmt *row, struct last_source *last)
{
	const int64_t job = sqlite3_column_int64(row, 1);
	const unsigned trial = (unsigned)sqlite3_column_int(row, 7);
	const enum job_state ended_as = (enum job_state)sqlite3_column_int(row, 8);

	if (last->source && last->job == job && last->trial == trial && last->ended_as == ended_as)
		return last->source;
	last_source_deinit(last);
	*last = (struct last_source){ service_source(job, column_text(row, 5), column_text(row, 6), trial,
						     sqlite3_column_int(row, 9) ? "" : NULL, ended_as),
				      job, trial, ended_as };
	return last->source;
}

static bool line_hand_over(struct state_writer *writer, sqlite3_stmt *row, struct last_source *last)
{
	struct log_record record = {
		.source = row_source(row, last),
		.severity = sqlite3_column_int(row, 2),
		.time_ns = sqlite3_column_int64(row, 3),
		.kind = LOG_TEXT,
		.payload = column_text(row, 4),
		.payload_length = (size_t)sqlite3_column_bytes(row, 4),
	};

	return logs_writer_offer_line(writer->logs, &record, sqlite3_column_int64(row, 0));
}

/* Passes newly committed lines to the logs. Lines that the logs cannot take now are passed after the next commit, in
 * the same order. */
static void outbox_hand_over(struct state_writer *writer)
{
	AUTO(statement) sqlite3_stmt *rows = connection_statement(writer->connection, OUTBOX_AFTER);
	struct last_source last AUTO_LAST_SOURCE = { 0 };
	int code;

	writer->is_behind = true;
	bind_int(rows, ":after", writer->handed);
	while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
		if (!line_hand_over(writer, rows, &last))
			return;
		writer->handed = sqlite3_column_int64(rows, 0);
	}
	writer->is_behind = code != SQLITE_DONE;
}

/* Deletes the outbox rows that the logs have stored. */
static void outbox_trim(struct state_writer *writer, int64_t reached)
{
	AUTO(statement) sqlite3_stmt *statement = NULL;

	if (reached <= writer->deleted)
		return;
	statement = connection_statement(writer->connection, OUTBOX_DELETE);
	bind_int(statement, ":reached", reached);
	statement_run(statement, NULL);
}

static enum status state_change_run(struct connection *connection, int64_t now_ns, void *arg,
				    struct error *err)
{
	struct state_change *change = arg;

	change->scope = (struct change_scope){ .connection = connection,
					       .now_ns = now_ns,
					       .no_more_jobs = &change->writer->no_more_jobs,
					       .touched = &change->writer->touched };
	return change->run(&change->scope, change->arg, err);
}

static void transaction_begun(void *arg)
{
	struct state_writer *writer = arg;

	writer->touched.count = 0;
	writer->reached = logs_writer_reached(writer->logs);
	outbox_trim(writer, writer->reached);
}

static void intents_announce(struct state_writer *writer, const struct group_change *first)
{
	void (*wake)(void *arg, int64_t job);
	void *arg;

	pthread_mutex_lock(&writer->lock);
	wake = writer->wake;
	arg = writer->wake_arg;
	pthread_mutex_unlock(&writer->lock);
	for (; wake && first; first = first->next) {
		const struct state_change *change = first->arg;

		if (change->scope.woken && !first->status)
			wake(arg, change->scope.woken);
	}
}

static void transaction_committed(void *arg, const struct group_change *first)
{
	struct state_writer *writer = arg;
	bool adds_lines = false;

	__atomic_add_fetch(&writer->generation, 1, __ATOMIC_RELEASE);
	writer->deleted = writer->reached > writer->deleted ? writer->reached : writer->deleted;
	for (const struct group_change *change = first; change; change = change->next)
		adds_lines |= !change->status && ((const struct state_change *)change->arg)->scope.adds_lines;
	/* Pass lines before callers are answered: a caller that reads the logs after its change finds its lines
	 * there. */
	if (adds_lines || writer->is_behind)
		outbox_hand_over(writer);
	touched_report(writer);
	intents_announce(writer, first);
}

uint64_t state_writer_generation(struct state_writer *writer)
{
	return __atomic_load_n(&writer->generation, __ATOMIC_ACQUIRE);
}

enum status state_writer_change(struct state_writer *writer, change_run run, void *arg, struct error *err)
{
	struct state_change change = { .writer = writer, .run = run, .arg = arg };

	return group_writer_change(writer->group, state_change_run, &change, err);
}

void state_writer_on_intent(struct state_writer *writer, void (*wake)(void *arg, int64_t job), void *arg)
{
	pthread_mutex_lock(&writer->lock);
	writer->wake = wake;
	writer->wake_arg = arg;
	pthread_mutex_unlock(&writer->lock);
}

enum status state_writer_open(struct connection *connection, struct logs_writer *logs,
			      struct job_changes *changes, const struct clock *clock,
			      struct state_writer **ret_writer, struct error *err)
{
	struct state_writer *writer = memory_calloc(1, sizeof(*writer));
	enum status rc;

	writer->connection = connection;
	writer->logs = logs;
	writer->changes = changes;
	writer->handed = logs_writer_reached(logs);
	pthread_mutex_init(&writer->lock, NULL);
	sqlite3_update_hook(connection->db, on_row, &writer->touched);
	outbox_hand_over(writer); /* log entries that an earlier daemon did not hand over: before the first call is answered */
	rc = group_writer_open(connection, clock, "state",
			       &(struct group_hooks){ transaction_begun, transaction_committed, writer },
			       &writer->group, err);
	if (rc) {
		free(writer);
		return rc;
	}
	*ret_writer = writer;
	return STATUS_OK;
}

void state_writer_close(struct state_writer *writer)
{
	if (!writer)
		return;
	group_writer_close(writer->group);
	pthread_mutex_destroy(&writer->lock);
	free(writer);
}
