/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/leases.h"

#include <stdlib.h>

#include "daemon/base/memory.h"
#include "store/jobs/lease_rows.h"
#include "store/store_parts.h"

void lease_deinit(struct lease *lease)
{
	free(lease->device);
	free(lease->node);
}

void leases_free(struct lease *leases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		lease_deinit(&leases[i]);
	free(leases);
}

static enum status lease_insert(struct change_scope *scope, int64_t job, const struct lease *lease,
				struct error *err)
{
	AUTO(statement) sqlite3_stmt *insert = connection_statement(scope->connection, LEASE_INSERT);
	enum status rc;

	bind_int(insert, ":job", job);
	bind_int(insert, ":role", lease->role);
	bind_int(insert, ":replica", lease->replica);
	bind_text(insert, ":device", lease->device);
	bind_int(insert, ":shared", lease->shared);
	bind_text(insert, ":node", lease->node ? lease->node : "");
	rc = statement_run(insert, err);
	if (rc)
		error_wrap(err, "lease GPU %s to job %lld", lease->device, (long long)job);
	return rc;
}

enum status leases_drop(struct change_scope *scope, int64_t job, struct error *err)
{
	AUTO(statement) sqlite3_stmt *drop = connection_statement(scope->connection, LEASE_PURGE);

	bind_int(drop, ":id", job);
	return statement_run(drop, err);
}

enum status leases_add(struct change_scope *scope, int64_t job, const struct lease *leases, size_t count,
		       struct error *err)
{
	enum status rc = STATUS_OK;

	for (size_t i = 0; i < count && !rc; i++)
		rc = lease_insert(scope, job, &leases[i], err);
	return rc;
}

struct lease_rows {
	struct lease *leases;
	size_t count, size;
};

static void lease_rows_deinit(struct lease_rows *rows)
{
	leases_free(rows->leases, rows->count);
}

static void lease_append(struct lease_rows *rows, sqlite3_stmt *row)
{
	if (rows->count == rows->size) {
		rows->size = rows->size ? rows->size * 2 : 16;
		rows->leases = memory_resize(rows->leases, rows->size, sizeof(*rows->leases));
	}
	rows->leases[rows->count++] = (struct lease){
		.job = sqlite3_column_int64(row, 0),
		.role = (unsigned)sqlite3_column_int(row, 1),
		.replica = (unsigned)sqlite3_column_int(row, 2),
		.device = column_copy(row, 3),
		.shared = sqlite3_column_int(row, 4) != 0,
		.node = sqlite3_column_bytes(row, 5) ? column_copy(row, 5) : NULL,
	};
}

enum status lease_list(struct store *store, struct lease **ret_leases, size_t *ret_count, struct error *err)
{
	__attribute__((cleanup(lease_rows_deinit))) struct lease_rows rows = { 0 };
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *list = connection_statement(reader.connection, LEASES);

	while (statement_next(list, &rc, err))
		lease_append(&rows, list);
	if (rc)
		return rc;
	*ret_leases = TAKE(rows.leases);
	*ret_count = rows.count;
	rows.count = 0;
	return STATUS_OK;
}
