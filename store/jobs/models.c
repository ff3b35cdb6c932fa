/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/models.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "store/jobs/model_rows.h"
#include "store/jobs/operation_rows.h"
#include "store/jobs/pipeline_filter.h"
#include "store/row_page.h"
#include "store/state_writer.h"
#include "store/store_parts.h"

#define DEFAULT_ALIAS "default"

void trained_model_deinit(struct trained_model *model)
{
	free(model->project);
	free(model->location);
	free(model->model_id);
	free(model->input);
	free(model->artifact_uri);
	free(model->aliases);
	free(model->pipeline_id);
	*model = (struct trained_model){ 0 };
}

void trained_model_list_deinit(struct trained_model_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		trained_model_deinit(&list->models[i]);
	free(list->models);
	free(list->next_page_token);
	*list = (struct trained_model_list){ 0 };
}

/* Reads the columns of MODEL_COLUMNS (statements.c), in their order. */
static void row_read(sqlite3_stmt *row, struct trained_model *ret_model)
{
	struct trained_model model AUTO_TRAINED_MODEL = {
		.id = sqlite3_column_int64(row, 0),
		.project = column_copy(row, 1),
		.location = column_copy(row, 2),
		.model_id = column_copy(row, 3),
		.version = (unsigned)sqlite3_column_int(row, 4),
		.input = column_copy(row, 5),
		.artifact_uri = column_copy(row, 6),
		.created_us = sqlite3_column_int64(row, 7),
		.first_us = sqlite3_column_int64(row, 8),
		.pipeline_id = column_copy(row, 9),
		.job = sqlite3_column_int64(row, 10),
		.aliases = column_copy(row, 11),
	};

	*ret_model = model;
	model = (struct trained_model){ 0 };
}

static void name_bind(sqlite3_stmt *statement, const char *project, const char *location, const char *id)
{
	bind_text(statement, ":project", project);
	bind_text(statement, ":location", location);
	bind_text(statement, ":model_id", id);
}

static enum status missing(const struct model_name *name, struct error *err)
{
	return error_set(
		err, STATUS_NOT_FOUND, NULL,
		"The Model \"projects/%.100s/locations/%.100s/models/%.100s%s%.130s\" does not exist.",
		name->project, name->location, name->id, name->version ? "@" : "",
		name->version ? name->version : "");
}

/* Text of digits only is a version number, because aliases begin with a letter. A number that is too large matches no
 * version. */
static void version_bind(sqlite3_stmt *statement, const char *version)
{
	if (version && *version && !version[strspn(version, "0123456789")])
		bind_int(statement, ":version", strlen(version) < 10 ? atoi(version) : -1);
	bind_text(statement, ":alias", version ? version : DEFAULT_ALIAS);
}

static enum status fetch(struct connection *connection, const struct model_name *name,
			 struct trained_model *ret_model, struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(connection, MODEL_BY_NAME);
	bool row = false;
	enum status rc;

	name_bind(statement, name->project, name->location, name->id);
	version_bind(statement, name->version);
	rc = statement_step(statement, &row, err);
	if (!rc && !row)
		return missing(name, err);
	if (!rc)
		row_read(statement, ret_model);
	return rc;
}

enum status model_get(struct store *store, const struct model_name *name, struct trained_model *ret_model,
		      struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	return rc ? rc : fetch(reader.connection, name, ret_model, err);
}

/* A version is added to an existing model; a new model needs a free name. */
static enum status claim_check(struct change_scope *scope, const struct pipeline_draft *draft,
			       struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(scope->connection, MODEL_CLAIM);
	const struct model_name name = { draft->job->project, draft->job->location, draft->model_id, NULL };
	bool row = false;
	enum status rc;

	name_bind(statement, name.project, name.location, name.id);
	rc = statement_step(statement, &row, err);
	if (rc)
		return rc;
	if (draft->extends_model)
		return row && sqlite3_column_int(statement, 0) ? STATUS_OK : missing(&name, err);
	if (!row)
		return STATUS_OK;
	return error_set(
		err, STATUS_ALREADY_EXISTS, NULL,
		"The Model \"projects/%.100s/locations/%.100s/models/%.100s\" already exists, or is to be made by "
		"another pipeline. Name it as parentModel to add a version to it.",
		name.project, name.location, name.id);
}

enum status model_row_insert(struct change_scope *scope, int64_t pipeline, const struct pipeline_draft *draft,
			     struct error *err)
{
	AUTO(statement) sqlite3_stmt *insert = connection_statement(scope->connection, MODEL_INSERT);
	enum status rc = claim_check(scope, draft, err);

	if (rc)
		return rc;
	bind_int(insert, ":pipeline", pipeline);
	name_bind(insert, draft->job->project, draft->job->location, draft->model_id);
	bind_text(insert, ":input", draft->model_input);
	bind_text(insert, ":artifact_uri", draft->artifact_uri);
	return statement_run(insert, err);
}

static enum status alias_put(struct change_scope *scope, const struct trained_model *model, const char *alias,
			     struct error *err)
{
	AUTO(statement) sqlite3_stmt *put = connection_statement(scope->connection, MODEL_ALIAS_PUT);

	name_bind(put, model->project, model->location, model->model_id);
	bind_text(put, ":alias", alias);
	bind_int(put, ":version", model->version);
	return statement_run(put, err);
}

static enum status aliases_put(struct change_scope *scope, const struct trained_model *model,
			       struct error *err)
{
	AUTO(json) json_t *input = NULL;
	const json_t *alias;
	size_t i;
	enum status rc = json_parse_own(model->input, &input, err);

	if (!rc && model->version == 1)
		rc = alias_put(scope, model, DEFAULT_ALIAS, err);
	json_array_foreach(json_object_get(input, "versionAliases"), i, alias)
		if (!rc)
			rc = alias_put(scope, model, json_string_value(alias), err);
	return rc;
}

static enum status fetch_by_id(struct connection *connection, int64_t id, struct trained_model *ret_model,
			       struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(connection, MODEL_ROW);
	bool row = false;
	enum status rc;

	bind_int(statement, ":id", id);
	rc = statement_step(statement, &row, err);
	if (!rc && !row)
		return error_set(err, STATUS_INTERNAL, NULL, "a model was deleted while it was read");
	if (!rc)
		row_read(statement, ret_model);
	return rc;
}

/* ret_id stays 0 when the job has no pipeline, or the pipeline no model. */
static enum status version_number(struct change_scope *scope, int64_t job, int64_t *ret_id, struct error *err)
{
	AUTO(statement) sqlite3_stmt *upload = connection_statement(scope->connection, MODEL_UPLOAD);
	bool row = false;
	enum status rc;

	bind_int(upload, ":job", job);
	bind_int(upload, ":now", scope->now_ns / 1000);
	rc = statement_step(upload, &row, err);
	if (!rc && row)
		*ret_id = sqlite3_column_int64(upload, 0);
	return rc;
}

enum status model_row_upload(struct change_scope *scope, int64_t job, struct error *err)
{
	struct trained_model model AUTO_TRAINED_MODEL = { 0 };
	int64_t id = 0;
	enum status rc = version_number(scope, job, &id, err);

	if (rc || !id)
		return rc;
	rc = fetch_by_id(scope->connection, id, &model, err);
	return rc ? rc : aliases_put(scope, &model, err);
}

static enum status all_drop(struct change_scope *scope, const struct model_name *name, enum statement_id id,
			    struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(scope->connection, id);

	name_bind(statement, name->project, name->location, name->id);
	return statement_run(statement, err);
}

static enum status deletion_run(struct change_scope *scope, void *arg, struct error *err)
{
	struct deletion *deletion = arg;
	const struct model_name *name = deletion->what;
	struct trained_model model AUTO_TRAINED_MODEL = { 0 };
	enum status rc = fetch(scope->connection, name, &model, err);

	if (!rc)
		rc = all_drop(scope, name, MODEL_DELETE, err);
	if (!rc)
		rc = all_drop(scope, name, MODEL_ALIASES_DELETE, err);
	return rc ? rc
		  : operation_row_insert(scope, name->project, name->location, "models", name->id,
					 &deletion->operation, err);
}

enum status model_delete(struct store *store, const struct model_name *name, struct operation *ret_operation,
			 struct error *err)
{
	return deletion_change(store, deletion_run, name, ret_operation, err);
}

static enum status item_read(struct connection *connection, int64_t id, void *ret_item, struct error *err)
{
	return fetch_by_id(connection, id, ret_item, err);
}

enum status model_list_page(struct store *store, const struct model_name *name, const char *filter,
			    unsigned page_size, const char *page_token, struct trained_model_list *ret_list,
			    struct error *err)
{
	struct trained_model_list list AUTO_TRAINED_MODEL_LIST = { 0 };
	struct row_page page AUTO_ROW_PAGE = {
		/* The same conditions as in the indexes, so that SQLite uses them. A model that is not uploaded yet has
		 * created_us 0. */
		.from = name->id ? "model WHERE deleted = 0 AND created_us > 0 AND project = :project"
				   " AND location = :location AND model_id = :model_id"
				 : "model WHERE deleted = 0 AND created_us > 0 AND project = :project"
				   " AND location = :location AND version = (SELECT version FROM model_alias"
				   " WHERE project = model.project AND location = model.location"
				   " AND model_id = model.model_id AND alias = '" DEFAULT_ALIAS "')",
		.bound = { { ":project", name->project },
			   { ":location", name->location },
			   { name->id ? ":model_id" : NULL, name->id } },
		.size = page_size,
	};
	struct row_items items = { .size = sizeof(*list.models), .read = item_read };
	enum status rc = model_filter_make(filter, &page.filter, &page.created, err);

	if (!rc)
		rc = row_page_begin(&page, &store->page_key, filter, page_token, err);
	if (!rc)
		rc = row_page_walk(store, &page, &items, &list.next_page_token, err);
	list.models = items.made;
	list.count = items.count;
	if (!rc && name->id && !list.count && !(page_token && *page_token) && !(filter && *filter))
		rc = missing(name, err);
	if (rc)
		return rc;
	*ret_list = list;
	list = (struct trained_model_list){ 0 };
	return STATUS_OK;
}
