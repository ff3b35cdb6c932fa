/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "store/jobs/faults.h"
#include "store/jobs/job_rows.h"
#include "store/jobs/journal.h"
#include "store/jobs/lease_rows.h"
#include "store/jobs/model_rows.h"
#include "store/state_writer.h"
#include "store/store_parts.h"

static enum status fetch_by_name(struct connection *connection, const char *project, const char *job_id,
				 struct job **ret_job, struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(connection, JOB_BY_NAME);
	enum status rc;

	bind_text(statement, ":project", project);
	bind_text(statement, ":job_id", job_id);
	rc = job_row_fetch(statement, ret_job, err);
	if (rc == STATUS_NOT_FOUND)
		return error_set(err, rc, "name", "The job projects/%s/jobs/%s could not be found.", project,
				 job_id);
	return rc;
}

enum status job_get(struct store *store, const char *project, const char *job_id, struct job **ret_job,
		    struct error *err)
{
	uint64_t generation = state_writer_generation(store->state);
	struct reader reader AUTO_READER = { 0 };
	enum status rc;

	*ret_job = job_cache_find(&store->jobs, project, job_id, generation);
	if (*ret_job)
		return STATUS_OK;
	rc = reader_borrow(&store->state_readers, &reader, err);
	if (!rc)
		rc = fetch_by_name(reader.connection, project, job_id, ret_job, err);
	if (!rc)
		job_cache_put(&store->jobs, *ret_job, generation);
	return rc;
}

enum status job_get_by_id(struct store *store, int64_t id, struct job **ret_job, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	return rc ? rc : job_row_get(reader.connection, id, ret_job, err);
}

/* Binds 0 as null, by which the statements mean "unchanged". */
static void bind_unless_zero(sqlite3_stmt *statement, const char *name, int64_t value)
{
	if (value)
		bind_int(statement, name, value);
}

struct insertion {
	const struct job *job;
	const struct service_line *lines;
	size_t line_count;
	struct job **ret_job; /* may be NULL */
};

static enum status insertion_run(struct change_scope *scope, void *arg, struct error *err)
{
	struct insertion *insertion = arg;

	return job_row_add(scope, insertion->job, insertion->lines, insertion->line_count, insertion->ret_job,
			   err);
}

/* Runs a change that sets *made. The job is freed if the change fails, which can happen as late as at the commit. */
static enum status change_with_job(struct store *store, change_run run, void *arg, struct job **made,
				   struct job **ret_job, struct error *err)
{
	enum status rc = state_writer_change(store->state, run, arg, err);

	if (rc || !ret_job)
		job_free(*made);
	else
		*ret_job = *made;
	return rc;
}

enum status job_insert(struct store *store, const struct job *job, const struct service_line *lines,
		       size_t line_count, struct job **ret_job, struct error *err)
{
	struct job *made = NULL;
	struct insertion insertion = { job, lines, line_count, ret_job ? &made : NULL };

	return change_with_job(store, insertion_run, &insertion, &made, ret_job, err);
}

static enum status end_run(struct change_scope *scope, void *arg, struct error *err)
{
	(void)arg, (void)err;
	*scope->no_more_jobs = true;
	return STATUS_OK;
}

enum status jobs_end(struct store *store, struct error *err)
{
	return state_writer_change(store->state, end_run, NULL, err);
}

struct labelling {
	const char *project, *job_id, *labels, *etag;
	struct job **ret_job;
};

static enum status labelling_run(struct change_scope *scope, void *arg, struct error *err)
{
	struct labelling *labelling = arg;
	AUTO(job) struct job *job = NULL;
	enum status rc = fetch_by_name(scope->connection, labelling->project, labelling->job_id, &job, err);

	if (!rc)
		rc = job_etag_check(job, labelling->etag, err);
	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *update = connection_statement(scope->connection, JOB_SET_LABELS);

	bind_text(update, ":labels", labelling->labels);
	bind_int(update, ":now", scope->now_ns / 1000);
	bind_int(update, ":id", job->id);
	rc = statement_run(update, err);
	if (!rc)
		rc = job_row_get_placed(scope->connection, job->id, labelling->ret_job, err);
	return rc;
}

enum status job_set_labels(struct store *store, const char *project, const char *job_id, const char *labels,
			   const char *etag, struct job **ret_job, struct error *err)
{
	struct job *made = NULL;
	struct labelling labelling = { project, job_id, labels, etag, &made };

	return change_with_job(store, labelling_run, &labelling, &made, ret_job, err);
}

struct cancellation {
	const char *project, *job_id, *message; /* project NULL: the job is found by @id */
	int64_t id;
};

static enum status cancellation_run(struct change_scope *scope, void *arg, struct error *err)
{
	struct cancellation *cancellation = arg;
	AUTO(job) struct job *job = NULL;
	enum status rc = cancellation->project
				 ? fetch_by_name(scope->connection, cancellation->project,
						 cancellation->job_id, &job, err)
				 : job_row_get_placed(scope->connection, cancellation->id, &job, err);

	return rc ? rc : job_row_cancel(scope, job, cancellation->message, err);
}

enum status job_cancel(struct store *store, const char *project, const char *job_id, const char *message,
		       struct error *err)
{
	struct cancellation cancellation = { project, job_id, message, 0 };

	return state_writer_change(store->state, cancellation_run, &cancellation, err);
}

enum status job_cancel_by_id(struct store *store, int64_t id, const char *message, struct error *err)
{
	struct cancellation cancellation = { .message = message, .id = id };

	return state_writer_change(store->state, cancellation_run, &cancellation, err);
}

struct application {
	struct job_change *changes;
	size_t count;
};

/* Whether clients see another version of the job. */
static bool makes_version(const struct job_change *change)
{
	return change->to != change->from || change->started_us || change->running_us || change->ended_us ||
	       change->error_message || change->output || change->assignment || change->decides ||
	       change->retries || change->tears_down;
}

/* Whether the change writes the job's row; if not, it adds only lines and rows of other tables. */
static bool has_row(const struct job_change *change)
{
	return makes_version(change) || change->announces;
}

static void change_bind(sqlite3_stmt *advance, const struct job_change *change)
{
	bind_int(advance, ":id", change->job);
	bind_int(advance, ":from", change->from);
	bind_int(advance, ":to", change->to);
	bind_unless_zero(advance, ":started", change->started_us);
	bind_unless_zero(advance, ":running", change->running_us);
	bind_unless_zero(advance, ":ended", change->ended_us);
	bind_text(advance, ":message", change->error_message);
	bind_int(advance, ":reason_bytes", (int64_t)change->reason_bytes);
	bind_int(advance, ":error_code", change->error_code);
	bind_text(advance, ":output", change->output);
	bind_text(advance, ":assignment", change->assignment);
	bind_int(advance, ":decides", change->decides);
	bind_text(advance, ":verdict_message", change->decides ? change->outcome_message : NULL);
	if (change->decides || change->retries)
		bind_int(advance, ":verdict", change->decides ? change->outcome : JOB_STATE_UNSPECIFIED);
	bind_int(advance, ":retries", change->retries);
	if (change->tears_down || change->retries)
		bind_int(advance, ":torn_down", change->tears_down && !change->retries);
	bind_int(advance, ":announces", change->announces);
	bind_int(advance, ":verdict_code", change->decides ? change->outcome_code : 0);
	bind_int(advance, ":changes", makes_version(change));
}

static enum status row_advance(struct change_scope *scope, const struct job_change *change, bool *ret_applied,
			       struct error *err)
{
	AUTO(statement) sqlite3_stmt *advance = connection_statement(scope->connection, JOB_ADVANCE);
	enum status rc;

	change_bind(advance, change);
	bind_int(advance, ":now", scope->now_ns / 1000);
	rc = statement_run(advance, err);
	*ret_applied = !rc && sqlite3_changes(scope->connection->db) == 1;
	return rc;
}

/* Checks that the job is in the state that the change expects. Used for a change that adds only lines and journal rows,
 * because an UPDATE would write the row and six entries of indexes anew. */
static enum status row_look(struct change_scope *scope, const struct job_change *change, bool *ret_applied,
			    struct error *err)
{
	AUTO(statement) sqlite3_stmt *look = connection_statement(scope->connection, JOB_IS_IN_STATE);

	bind_int(look, ":id", change->job);
	bind_int(look, ":from", change->from);
	job_touch(scope, change->job);
	return statement_step(look, ret_applied, err);
}

/* Stores the journal rows of a change: first its reasons, then the change itself. */
static enum status change_note(struct change_scope *scope, const struct job_change *change, struct error *err)
{
	const struct journal_row retry = { .kind = JOURNAL_RETRIED };
	enum status rc = journal_add(scope, change->job, change->journal, change->journal_count, err);

	if (!rc && change->decides)
		rc = journal_add_decision(scope, change->job, change->outcome, change->outcome_code, err);
	if (!rc)
		rc = journal_add(scope, change->job, &retry, change->retries, err);
	return rc ? rc : journal_add_state(scope, change->job, change->from, change->to, err);
}

static enum status application_run(struct change_scope *scope, void *arg, struct error *err)
{
	struct application *application = arg;

	for (size_t i = 0; i < application->count; i++) {
		struct job_change *change = &application->changes[i];
		bool stand = true;
		enum status rc = fault_injections_stand(scope, change->injections, change->injection_count,
							&stand, err);

		if (rc)
			return rc;
		if (!stand)
			continue;
		rc = has_row(change) ? row_advance(scope, change, &change->applied, err)
						: row_look(scope, change, &change->applied, err);
		if (rc)
			return rc;
		if (!change->applied)
			continue;
		if (change->returns_leases)
			rc = leases_drop(scope, change->job, err);
		if (!rc)
			rc = leases_add(scope, change->job, change->leases, change->lease_count, err);
		if (!rc)
			rc = job_lines_add(scope, change->job, change->lines, change->line_count, err);
		if (!rc && change->to == JOB_SUCCEEDED && change->from != JOB_SUCCEEDED)
			rc = model_row_upload(scope, change->job, err);
		if (!rc)
			rc = fault_injections_add(scope, change->injections, change->injection_count, err);
		if (!rc)
			rc = change_note(scope, change, err);
		if (rc)
			return rc;
	}
	return STATUS_OK;
}

enum status job_apply(struct store *store, struct job_change *changes, size_t count, struct error *err)
{
	struct application application = { changes, count };
	enum status rc;

	for (size_t i = 0; i < count; i++) {
		const struct job_change *change = &changes[i];

		changes[i].applied = false;
		if (change->to != change->from && !job_state_may_follow(change->from, change->to))
			return error_set(err, STATUS_INTERNAL, NULL, "job %lld: %s does not follow %s",
					 (long long)change->job, job_state_name(change->to),
					 job_state_name(change->from));
	}
	rc = state_writer_change(store->state, application_run, &application, err);
	for (size_t i = 0; rc && i < count; i++)
		changes[i].applied = false;
	return rc;
}

static void list_append(struct job_list *list, size_t *size, sqlite3_stmt *row)
{
	if (list->count == *size) {
		*size = *size ? *size * 2 : 16;
		list->jobs = memory_resize(list->jobs, *size, sizeof(*list->jobs));
	}
	job_row_read(row, &list->jobs[list->count++]);
}

static enum status list_read(struct store *store, enum statement_id which, struct job_list *ret_list,
			     struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	struct job_list list AUTO_JOB_LIST = { 0 };
	size_t size = 0;
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, which);

	while (statement_next(rows, &rc, err))
		list_append(&list, &size, rows);
	if (!rc && which == JOB_UNFINISHED)
		rc = job_positions_fill(reader.connection, &list, err);
	if (rc)
		return rc;
	*ret_list = list;
	list = (struct job_list){ 0 };
	return STATUS_OK;
}

enum status job_list_unfinished(struct store *store, struct job_list *ret_list, struct error *err)
{
	return list_read(store, JOB_UNFINISHED, ret_list, err);
}

enum status job_list_attended(struct store *store, struct job_list *ret_list, struct error *err)
{
	return list_read(store, JOB_ATTENDED, ret_list, err);
}

enum status job_each_waiting(struct store *store, void (*each)(void *arg, const struct waiting_job *job),
			     void *arg, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, JOB_WAITING);

	while (statement_next(rows, &rc, err))
		each(arg, &(struct waiting_job){
				  .id = sqlite3_column_int64(rows, 0),
				  .project = column_text(rows, 1),
				  .priority = sqlite3_column_int(rows, 2),
				  .gpu_count = (unsigned)sqlite3_column_int64(rows, 3),
				  .created_us = sqlite3_column_int64(rows, 4),
				  .max_wait_us = sqlite3_column_int64(rows, 5),
			  });
	return rc;
}
