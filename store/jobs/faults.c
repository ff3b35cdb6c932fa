/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/faults.h"

#include <stdlib.h>

#include "daemon/base/memory.h"
#include "store/state_writer.h"
#include "store/store_parts.h"

void fault_list_deinit(struct fault_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->faults[i].rule);
	free(list->faults);
	*list = (struct fault_list){ 0 };
}

void fault_injection_list_deinit(struct fault_injection_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->injections[i].line);
	free(list->injections);
	*list = (struct fault_injection_list){ 0 };
}

/* Reads the columns of the statement FAULTS, in their order. */
static void fault_add(sqlite3_stmt *row, struct fault_list *list)
{
	struct stored_fault *grown = memory_realloc(list->faults, (list->count + 1) * sizeof(*grown));

	list->faults = grown;
	grown[list->count] = (struct stored_fault){
		.id = sqlite3_column_int64(row, 0),
		.rule = column_copy(row, 1),
		.from_file = sqlite3_column_int(row, 2) != 0,
		.created_us = sqlite3_column_int64(row, 3),
		.injections = sqlite3_column_int64(row, 4),
		.draws = sqlite3_column_int64(row, 5),
		.last_injection_us = sqlite3_column_int64(row, 6),
	};
	list->count++;
}

enum status fault_list_read(struct store *store, struct fault_list *ret_list, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	struct fault_list list AUTO_FAULT_LIST = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, FAULTS);

	while (statement_next(rows, &rc, err))
		fault_add(rows, &list);
	if (rc)
		return rc;
	*ret_list = list;
	list = (struct fault_list){ 0 };
	return STATUS_OK;
}

struct alteration {
	const char *rule;
	bool from_file, all;
	int64_t id, draws;
};

static enum status insertion_run(struct change_scope *scope, void *arg, struct error *err)
{
	struct alteration *insertion = arg;
	AUTO(statement) sqlite3_stmt *insert = connection_statement(scope->connection, FAULT_INSERT);
	bool row = false;
	enum status rc;

	bind_text(insert, ":rule", insertion->rule);
	bind_int(insert, ":from_file", insertion->from_file);
	bind_int(insert, ":now", scope->now_ns / 1000);
	rc = statement_step(insert, &row, err);
	if (!rc)
		insertion->id = sqlite3_column_int64(insert, 0);
	return rc;
}

enum status fault_insert(struct store *store, const char *rule, bool from_file, int64_t *ret_id,
			 struct error *err)
{
	struct alteration insertion = { .rule = rule, .from_file = from_file };
	enum status rc = state_writer_change(store->state, insertion_run, &insertion, err);

	if (!rc)
		*ret_id = insertion.id;
	return rc;
}

static enum status rules_delete(struct change_scope *scope, const struct alteration *deletion,
				enum statement_id which, struct error *err)
{
	AUTO(statement) sqlite3_stmt *delete = connection_statement(scope->connection, which);

	bind_int(delete, ":first", deletion->all ? 0 : deletion->id);
	bind_int(delete, ":last", deletion->all ? INT64_MAX : deletion->id);
	return statement_run(delete, err);
}

static enum status deletion_run(struct change_scope *scope, void *arg, struct error *err)
{
	const struct alteration *deletion = arg;
	enum status rc = rules_delete(scope, deletion, FAULT_MARKS_DELETE, err);

	if (!rc)
		rc = rules_delete(scope, deletion, FAULT_DELETE, err);
	if (!rc && !deletion->all && sqlite3_changes(scope->connection->db) != 1)
		return error_set(err, STATUS_NOT_FOUND, NULL, "There is no fault rule %lld.",
				 (long long)deletion->id);
	return rc;
}

enum status fault_delete(struct store *store, int64_t id, struct error *err)
{
	struct alteration deletion = { .id = id };

	return state_writer_change(store->state, deletion_run, &deletion, err);
}

enum status fault_delete_all(struct store *store, struct error *err)
{
	struct alteration deletion = { .all = true };

	return state_writer_change(store->state, deletion_run, &deletion, err);
}

static enum status rule_count(struct change_scope *scope, int64_t id, int64_t draws, struct error *err)
{
	AUTO(statement) sqlite3_stmt *update = connection_statement(scope->connection, FAULT_COUNT);

	bind_int(update, ":id", id);
	bind_int(update, ":draws", draws);
	bind_int(update, ":now", scope->now_ns / 1000);
	return statement_run(update, err);
}

static enum status counting_run(struct change_scope *scope, void *arg, struct error *err)
{
	const struct alteration *counting = arg;

	return rule_count(scope, counting->id, counting->draws, err);
}

enum status fault_count(struct store *store, int64_t id, int64_t draws, struct error *err)
{
	struct alteration counting = { .id = id, .draws = draws };

	return state_writer_change(store->state, counting_run, &counting, err);
}

static enum status marking_run(struct change_scope *scope, void *arg, struct error *err)
{
	const struct fault_mark *mark = arg;
	AUTO(statement) sqlite3_stmt *insert = connection_statement(scope->connection, FAULT_MARK_INSERT);

	bind_int(insert, ":job", mark->key.job);
	bind_int(insert, ":attempt", mark->key.attempt);
	bind_int(insert, ":role", mark->key.role);
	bind_int(insert, ":index", mark->key.index);
	bind_int(insert, ":restart", mark->key.restart);
	bind_int(insert, ":fault", mark->fault);
	return statement_run(insert, err);
}

enum status fault_mark_put(struct store *store, const struct fault_mark *mark, struct error *err)
{
	struct fault_mark own = *mark;

	return state_writer_change(store->state, marking_run, &own, err);
}

enum status fault_marks_read(struct store *store,
			     enum status (*take)(void *arg, const struct fault_mark *mark, struct error *err),
			     void *arg, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, FAULT_MARKS);

	while (statement_next(rows, &rc, err))
		rc = take(arg,
			  &(struct fault_mark){
				  .key = { .job = sqlite3_column_int64(rows, 0),
					   .attempt = (unsigned)sqlite3_column_int(rows, 1),
					   .role = (enum role)sqlite3_column_int(rows, 2),
					   .index = (unsigned)sqlite3_column_int(rows, 3),
					   .restart = (unsigned)sqlite3_column_int(rows, 4) },
				  .fault = sqlite3_column_int64(rows, 5),
			  },
			  err);
	return rc;
}

static enum status injection_insert(struct change_scope *scope, const struct fault_injection *injection,
				    struct error *err)
{
	AUTO(statement)
	sqlite3_stmt *insert = connection_statement(scope->connection, FAULT_INJECTION_INSERT);

	bind_int(insert, ":job", injection->key.job);
	bind_int(insert, ":attempt", injection->key.attempt);
	bind_int(insert, ":stage", injection->stage);
	bind_int(insert, ":role", injection->key.role);
	bind_int(insert, ":index", injection->key.index);
	bind_int(insert, ":restart", injection->key.restart);
	bind_int(insert, ":fault", injection->fault);
	bind_int(insert, ":kind", injection->kind);
	bind_int(insert, ":exit_code", injection->exit_code);
	bind_int(insert, ":until", injection->until_us);
	bind_text(insert, ":line", injection->line);
	bind_int(insert, ":bytes_per_s", injection->bytes_per_s);
	return statement_run(insert, err);
}

enum status fault_injections_stand(struct change_scope *scope, const struct fault_injection *injections,
				   size_t count, bool *ret_stand, struct error *err)
{
	bool stand = true;

	for (size_t i = 0; stand && i < count; i++) {
		AUTO(statement) sqlite3_stmt *rule = connection_statement(scope->connection, FAULT_THERE);
		enum status rc;

		bind_int(rule, ":id", injections[i].fault);
		rc = statement_step(rule, &stand, err);
		if (rc)
			return rc;
	}
	*ret_stand = stand;
	return STATUS_OK;
}

enum status fault_injections_add(struct change_scope *scope, const struct fault_injection *injections,
				 size_t count, struct error *err)
{
	enum status rc = STATUS_OK;

	for (size_t i = 0; !rc && i < count; i++) {
		rc = injection_insert(scope, &injections[i], err);
		if (!rc)
			rc = rule_count(scope, injections[i].fault, 0, err);
	}
	return rc;
}

/* Reads the columns of FAULT_INJECTION_COLUMNS, in their order. */
static void injection_add(sqlite3_stmt *row, struct fault_injection_list *list)
{
	struct fault_injection *grown = memory_realloc(list->injections, (list->count + 1) * sizeof(*grown));

	list->injections = grown;
	grown[list->count] = (struct fault_injection){
		.key = { .job = sqlite3_column_int64(row, 0),
			 .attempt = (unsigned)sqlite3_column_int(row, 1),
			 .role = (enum role)sqlite3_column_int(row, 3),
			 .index = (unsigned)sqlite3_column_int(row, 4),
			 .restart = (unsigned)sqlite3_column_int(row, 5) },
		.stage = sqlite3_column_int(row, 2),
		.fault = sqlite3_column_int64(row, 6),
		.kind = sqlite3_column_int(row, 7),
		.exit_code = sqlite3_column_int(row, 8),
		.until_us = sqlite3_column_int64(row, 9),
		.line = column_copy(row, 10),
		.bytes_per_s = sqlite3_column_int64(row, 11),
	};
	list->count++;
}

static enum status injections_read(struct store *store, enum statement_id which, int64_t job,
				   struct fault_injection_list *ret_list, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	struct fault_injection_list list AUTO_FAULT_INJECTION_LIST = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, which);

	if (which == FAULT_INJECTIONS_OF_JOB)
		bind_int(rows, ":job", job);
	while (statement_next(rows, &rc, err))
		injection_add(rows, &list);
	if (rc)
		return rc;
	*ret_list = list;
	list = (struct fault_injection_list){ 0 };
	return STATUS_OK;
}

enum status fault_injections_of_job(struct store *store, int64_t job, struct fault_injection_list *ret_list,
				    struct error *err)
{
	return injections_read(store, FAULT_INJECTIONS_OF_JOB, job, ret_list, err);
}

enum status fault_injections_open(struct store *store, struct fault_injection_list *ret_list,
				  struct error *err)
{
	return injections_read(store, FAULT_INJECTIONS_OPEN, 0, ret_list, err);
}
