/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/operations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "store/filter/filter_sql.h"
#include "store/jobs/operation_rows.h"
#include "store/jobs/resources.h"
#include "store/row_page.h"
#include "store/state_writer.h"
#include "store/store_parts.h"

static const int64_t day_us = INT64_C(86400) * 1000000;

void operation_deinit(struct operation *operation)
{
	free(operation->project);
	free(operation->location);
	free(operation->operation_id);
	free(operation->target);
	*operation = (struct operation){ 0 };
}

void operation_list_deinit(struct operation_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		operation_deinit(&list->operations[i]);
	free(list->operations);
	free(list->next_page_token);
	*list = (struct operation_list){ 0 };
}

/* Reads the columns of OPERATION_COLUMNS (statements.c), in their order. */
static void row_read(sqlite3_stmt *row, struct operation *ret_operation)
{
	*ret_operation = (struct operation){
		.id = sqlite3_column_int64(row, 0),
		.project = column_copy(row, 1),
		.location = column_copy(row, 2),
		.operation_id = column_copy(row, 3),
		.target = column_copy(row, 4),
		.created_us = sqlite3_column_int64(row, 5),
	};
}

static enum status fetch(struct connection *connection, const struct operation_name *name,
			 struct operation *ret_operation, struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(connection, OPERATION_BY_NAME);
	bool row = false;
	enum status rc;

	bind_text(statement, ":project", name->project);
	bind_text(statement, ":location", name->location);
	bind_text(statement, ":target", name->target);
	bind_text(statement, ":operation_id", name->id);
	rc = statement_step(statement, &row, err);
	if (rc)
		return rc;
	if (!row)
		return error_set(
			err, STATUS_NOT_FOUND, NULL,
			"The operation \"projects/%.100s/locations/%.100s/%.200s%soperations/%.100s\" "
			"does not exist.",
			name->project, name->location, name->target ? name->target : "",
			name->target ? "/" : "", name->id);
	row_read(statement, ret_operation);
	return STATUS_OK;
}

enum status operation_get(struct store *store, const struct operation_name *name,
			  struct operation *ret_operation, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	return rc ? rc : fetch(reader.connection, name, ret_operation, err);
}

static enum status deletion_run(struct change_scope *scope, void *arg, struct error *err)
{
	struct operation operation AUTO_OPERATION = { 0 };
	enum status rc = fetch(scope->connection, arg, &operation, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *statement = connection_statement(scope->connection, OPERATION_DELETE);

	bind_int(statement, ":id", operation.id);
	return statement_run(statement, err);
}

enum status operation_delete(struct store *store, const struct operation_name *name, struct error *err)
{
	struct operation_name copy = *name;

	return state_writer_change(store->state, deletion_run, &copy, err);
}

static enum status old_ones_drop(struct change_scope *scope, int64_t newest, struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(scope->connection, OPERATIONS_DROP);

	bind_int(statement, ":reached", newest - OPERATIONS_KEPT);
	bind_int(statement, ":before", scope->now_ns / 1000 - OPERATION_DAYS_KEPT * day_us);
	return statement_run(statement, err);
}

static enum status row_insert(struct change_scope *scope, const struct operation *operation, int64_t *ret_id,
			      struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(scope->connection, OPERATION_INSERT);
	bool row = false;
	enum status rc;

	bind_text(statement, ":project", operation->project);
	bind_text(statement, ":location", operation->location);
	bind_text(statement, ":operation_id", operation->operation_id);
	bind_text(statement, ":target", operation->target);
	bind_int(statement, ":now", operation->created_us);
	rc = statement_step(statement, &row, err);
	if (!rc)
		*ret_id = sqlite3_column_int64(statement, 0);
	return rc;
}

enum status operation_row_insert(struct change_scope *scope, const char *project, const char *location,
				 const char *collection, const char *id, struct operation *ret_operation,
				 struct error *err)
{
	char operation_id[RESOURCE_ID_SIZE];
	struct operation made AUTO_OPERATION = { 0 };
	enum status rc;

	resource_id_draw(RANDOM_RESOURCE, operation_id);
	made = (struct operation){
		.project = memory_strdup(project),
		.location = memory_strdup(location),
		.operation_id = memory_strdup(operation_id),
		.target = memory_printf("%s/%s", collection, id),
		.created_us = scope->now_ns / 1000,
	};
	rc = row_insert(scope, &made, &made.id, err);
	if (!rc)
		rc = old_ones_drop(scope, made.id, err);
	if (rc)
		return rc;
	*ret_operation = made;
	made = (struct operation){ 0 };
	return STATUS_OK;
}

static bool done_parse(const char *name, int64_t *ret_number)
{
	*ret_number = strcmp(name, "true") == 0;
	return *ret_number || strcmp(name, "false") == 0;
}

static const struct filter_field fields[] = {
	{ .path = "done", .kind = MATCH_ENUM, .traits = TRAIT_ALWAYS, .sql = "1", .parse = done_parse },
	{ .path = "createTime", .kind = MATCH_TIME, .traits = TRAIT_ALWAYS, .sql = "(created_us * 1000)" },
	{ .path = NULL },
};

static const struct filter_schema schema = { .fields = fields, .error_field = "filter" };

static enum status item_read(struct connection *connection, int64_t id, void *ret_item, struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(connection, OPERATION_ROW);
	bool row = false;
	enum status rc;

	bind_int(statement, ":id", id);
	rc = statement_step(statement, &row, err);
	if (!rc && !row)
		return error_set(err, STATUS_INTERNAL, NULL, "an operation was deleted while it was read");
	if (!rc)
		row_read(statement, ret_item);
	return rc;
}

enum status operation_list_page(struct store *store, const struct operation_name *name, const char *filter,
				unsigned page_size, const char *page_token, struct operation_list *ret_list,
				struct error *err)
{
	struct operation_list list AUTO_OPERATION_LIST = { 0 };
	struct row_page page AUTO_ROW_PAGE = {
		.from = name->target ? "operation WHERE project = :project AND location = :location"
				       " AND target = :target"
				     : "operation WHERE project = :project AND location = :location",
		.bound = { { ":project", name->project },
			   { ":location", name->location },
			   { name->target ? ":target" : NULL, name->target } },
		.size = page_size,
	};
	struct row_items items = { .size = sizeof(*list.operations), .read = item_read };
	enum status rc = filter_created_make(&schema, filter, &page.filter, &page.created, err);

	if (!rc)
		rc = row_page_begin(&page, &store->page_key, filter, page_token, err);
	if (!rc)
		rc = row_page_walk(store, &page, &items, &list.next_page_token, err);
	list.operations = items.made;
	list.count = items.count;
	if (rc)
		return rc;
	*ret_list = list;
	list = (struct operation_list){ 0 };
	return STATUS_OK;
}

enum status deletion_change(struct store *store, change_run run, const void *what,
			    struct operation *ret_operation, struct error *err)
{
	struct deletion deletion = { .what = what };
	enum status rc = state_writer_change(store->state, run, &deletion, err);

	if (rc)
		operation_deinit(&deletion.operation);
	else
		*ret_operation = deletion.operation;
	return rc;
}
