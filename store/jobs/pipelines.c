/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/pipelines.h"

#include <stdlib.h>
#include <string.h>

#include "store/jobs/job_rows.h"
#include "store/jobs/model_rows.h"
#include "store/jobs/operation_rows.h"
#include "store/jobs/pipeline_filter.h"
#include "store/row_page.h"
#include "store/state_writer.h"
#include "store/store_parts.h"

void pipeline_deinit(struct pipeline *pipeline)
{
	free(pipeline->project);
	free(pipeline->location);
	free(pipeline->pipeline_id);
	free(pipeline->display_name);
	free(pipeline->labels);
	free(pipeline->input);
	free(pipeline->model_id);
	free(pipeline->model_input);
	job_free(pipeline->job);
	*pipeline = (struct pipeline){ 0 };
}

void pipeline_list_deinit(struct pipeline_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		pipeline_deinit(&list->pipelines[i]);
	free(list->pipelines);
	free(list->next_page_token);
	*list = (struct pipeline_list){ 0 };
}

const char *pipeline_state_name(const struct pipeline *pipeline)
{
	enum job_state state = pipeline->job->state;

	return pipeline_state_names[state == JOB_QUEUED ? JOB_PREPARING : state];
}

/* Reads the columns of PIPELINE_COLUMNS (statements.c), in their order. */
static enum status row_read(struct connection *connection, sqlite3_stmt *row, struct pipeline *ret_pipeline,
			    struct error *err)
{
	struct pipeline pipeline AUTO_PIPELINE = {
		.id = sqlite3_column_int64(row, 0),
		.project = column_copy(row, 1),
		.location = column_copy(row, 2),
		.pipeline_id = column_copy(row, 3),
		.display_name = column_copy(row, 4),
		.labels = column_copy(row, 5),
		.input = column_copy(row, 6),
		.created_us = sqlite3_column_int64(row, 8),
		.model_id = column_copy(row, 9),
		.model_input = column_copy(row, 10),
		.model_version = (unsigned)sqlite3_column_int(row, 11),
	};
	enum status rc = job_row_get(connection, sqlite3_column_int64(row, 7), &pipeline.job, err);

	if (rc)
		return rc;
	*ret_pipeline = pipeline;
	pipeline = (struct pipeline){ 0 };
	return STATUS_OK;
}

static enum status fetch(struct connection *connection, const struct pipeline_name *name,
			 struct pipeline *ret_pipeline, struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(connection, PIPELINE_BY_NAME);
	bool row = false;
	enum status rc;

	bind_text(statement, ":project", name->project);
	bind_text(statement, ":location", name->location);
	bind_text(statement, ":pipeline_id", name->id);
	rc = statement_step(statement, &row, err);
	if (!rc && !row)
		return error_set(
			err, STATUS_NOT_FOUND, NULL,
			"The TrainingPipeline \"projects/%.100s/locations/%.100s/trainingPipelines/%.100s\" "
			"does not exist.",
			name->project, name->location, name->id);
	return rc ? rc : row_read(connection, statement, ret_pipeline, err);
}

static enum status fetch_by_id(struct connection *connection, int64_t id, struct pipeline *ret_pipeline,
			       struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(connection, PIPELINE_ROW);
	bool row = false;
	enum status rc;

	bind_int(statement, ":id", id);
	rc = statement_step(statement, &row, err);
	if (!rc && !row)
		return error_set(err, STATUS_INTERNAL, NULL, "a training pipeline was deleted while it was read");
	return rc ? rc : row_read(connection, statement, ret_pipeline, err);
}

struct insertion {
	const struct pipeline_draft *draft;
	struct pipeline pipeline; /* out */
};

static enum status row_insert(struct change_scope *scope, const struct pipeline_draft *draft, int64_t job,
			      int64_t *ret_id, struct error *err)
{
	AUTO(statement) sqlite3_stmt *insert = connection_statement(scope->connection, PIPELINE_INSERT);
	bool row = false;
	enum status rc;

	bind_text(insert, ":project", draft->job->project);
	bind_text(insert, ":location", draft->job->location);
	bind_text(insert, ":pipeline_id", draft->pipeline_id);
	bind_text(insert, ":display_name", draft->display_name);
	bind_text(insert, ":labels", draft->labels);
	bind_text(insert, ":input", draft->input);
	bind_int(insert, ":job", job);
	bind_int(insert, ":now", scope->now_ns / 1000);
	rc = statement_step(insert, &row, err);
	if (!rc)
		*ret_id = sqlite3_column_int64(insert, 0);
	return rc;
}

static enum status insertion_run(struct change_scope *scope, void *arg, struct error *err)
{
	struct insertion *insertion = arg;
	const struct pipeline_draft *draft = insertion->draft;
	AUTO(job) struct job *job = NULL;
	int64_t id = 0;
	enum status rc = job_row_add(scope, draft->job, draft->lines, draft->line_count, &job, err);

	if (!rc)
		rc = row_insert(scope, draft, job->id, &id, err);
	if (!rc && draft->model_id)
		rc = model_row_insert(scope, id, draft, err);
	return rc ? rc : fetch_by_id(scope->connection, id, &insertion->pipeline, err);
}

enum status pipeline_insert(struct store *store, const struct pipeline_draft *draft,
			    struct pipeline *ret_pipeline, struct error *err)
{
	struct insertion insertion = { .draft = draft };
	enum status rc = state_writer_change(store->state, insertion_run, &insertion, err);

	if (rc)
		pipeline_deinit(&insertion.pipeline);
	else
		*ret_pipeline = insertion.pipeline;
	return rc;
}

enum status pipeline_get(struct store *store, const struct pipeline_name *name, struct pipeline *ret_pipeline,
			 struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	return rc ? rc : fetch(reader.connection, name, ret_pipeline, err);
}

struct cancellation {
	const struct pipeline_name *name;
	const char *message;
};

static enum status cancellation_run(struct change_scope *scope, void *arg, struct error *err)
{
	const struct cancellation *cancellation = arg;
	struct pipeline pipeline AUTO_PIPELINE = { 0 };
	enum status rc = fetch(scope->connection, cancellation->name, &pipeline, err);

	return rc ? rc : job_row_cancel(scope, pipeline.job, cancellation->message, err);
}

enum status pipeline_cancel(struct store *store, const struct pipeline_name *name, const char *message,
			    struct error *err)
{
	struct cancellation cancellation = { name, message };

	return state_writer_change(store->state, cancellation_run, &cancellation, err);
}

static enum status deletable_check(const struct pipeline *pipeline, struct error *err)
{
	if (job_state_is_final(pipeline->job->state))
		return STATUS_OK;
	return error_set(
		err, STATUS_FAILED_PRECONDITION, NULL,
		"The TrainingPipeline \"projects/%.100s/locations/%.100s/trainingPipelines/%.100s\" is in "
		"state %s and cannot be deleted. Cancel it, and wait for its end.",
		pipeline->project, pipeline->location, pipeline->pipeline_id, pipeline_state_name(pipeline));
}

static enum status row_hide(struct change_scope *scope, int64_t id, struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(scope->connection, PIPELINE_DELETE);

	bind_int(statement, ":id", id);
	return statement_run(statement, err);
}

static enum status deletion_run(struct change_scope *scope, void *arg, struct error *err)
{
	struct deletion *deletion = arg;
	struct pipeline pipeline AUTO_PIPELINE = { 0 };
	enum status rc = fetch(scope->connection, deletion->what, &pipeline, err);

	if (!rc)
		rc = deletable_check(&pipeline, err);
	if (!rc)
		rc = row_hide(scope, pipeline.id, err);
	if (!rc)
		job_touch(scope, pipeline.job->id);
	return rc ? rc
		  : operation_row_insert(scope, pipeline.project, pipeline.location, "trainingPipelines",
					 pipeline.pipeline_id, &deletion->operation, err);
}

enum status pipeline_delete(struct store *store, const struct pipeline_name *name,
			    struct operation *ret_operation, struct error *err)
{
	return deletion_change(store, deletion_run, name, ret_operation, err);
}

static enum status item_read(struct connection *connection, int64_t id, void *ret_item, struct error *err)
{
	return fetch_by_id(connection, id, ret_item, err);
}

enum status pipeline_list_page(struct store *store, const struct pipeline_name *name, const char *filter,
			       unsigned page_size, const char *page_token, struct pipeline_list *ret_list,
			       struct error *err)
{
	struct pipeline_list list AUTO_PIPELINE_LIST = { 0 };
	struct row_page page AUTO_ROW_PAGE = {
		.from = "pipeline WHERE deleted = 0 AND project = :project AND location = :location",
		.bound = { { ":project", name->project }, { ":location", name->location } },
		.size = page_size,
	};
	struct row_items items = { .size = sizeof(*list.pipelines), .read = item_read };
	enum status rc = pipeline_filter_make(filter, &page.filter, &page.created, err);

	if (!rc)
		rc = row_page_begin(&page, &store->page_key, filter, page_token, err);
	if (!rc)
		rc = row_page_walk(store, &page, &items, &list.next_page_token, err);
	list.pipelines = items.made;
	list.count = items.count;
	if (rc)
		return rc;
	*ret_list = list;
	list = (struct pipeline_list){ 0 };
	return STATUS_OK;
}
