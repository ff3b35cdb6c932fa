/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/resources.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/jobs/job_page.h"
#include "store/jobs/job_rows.h"
#include "store/jobs/operation_rows.h"
#include "store/jobs/resource_filter.h"
#include "store/row_page.h"
#include "store/state_writer.h"
#include "store/store_parts.h"

static const struct {
	const char *collection, *type;
	const char *from; /* the same condition as in the index of the kind, so that SQLite uses it */
} kinds[] = {
	[KIND_CUSTOM] = { "customJobs", "CustomJob",
			  "job WHERE kind = 1 AND deleted = 0 AND project = :project"
			  " AND location = :location" },
	[KIND_TUNING] = { "hyperparameterTuningJobs", "HyperparameterTuningJob",
			  "job WHERE kind = 2 AND deleted = 0 AND project = :project"
			  " AND location = :location" },
};

const char *resource_collection(enum job_kind kind)
{
	return kinds[kind].collection;
}

const char *resource_type(enum job_kind kind)
{
	return kinds[kind].type;
}

void resource_id_draw(enum random_kind kind, char ret_id[RESOURCE_ID_SIZE])
{
	static const uint64_t least = UINT64_C(100000000000000000);
	uint64_t drawn;

	/* Ids are int64 in binary form. */
	do {
		seeded_random_draw(kind, &drawn, sizeof(drawn));
		drawn &= INT64_MAX;
	} while (drawn < least);
	snprintf(ret_id, RESOURCE_ID_SIZE, "%" PRIu64, drawn);
}

const char *resource_state_name(const struct job *job)
{
	bool waits = job->state == JOB_QUEUED && !(job->traits & JOB_TRAIT_FLEX_START);

	return resource_state_names[waits ? JOB_PREPARING : job->state];
}

static enum status fetch(struct connection *connection, const struct resource *resource, struct job **ret_job,
			 struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(connection, RESOURCE_BY_NAME);
	struct error cause AUTO_ERROR = { 0 };
	enum status rc;

	bind_text(statement, ":project", resource->project);
	bind_text(statement, ":location", resource->location);
	bind_text(statement, ":job_id", resource->id);
	bind_int(statement, ":kind", resource->kind);
	rc = job_row_fetch(statement, ret_job, &cause);
	if (rc == STATUS_NOT_FOUND)
		return error_set(err, rc, NULL,
				 "The %s \"projects/%.100s/locations/%.100s/%s/%.100s\" does not exist.",
				 resource_type(resource->kind), resource->project, resource->location,
				 resource_collection(resource->kind), resource->id);
	return rc ? error_move(err, &cause) : STATUS_OK;
}

enum status resource_get(struct store *store, const struct resource *resource, struct job **ret_job,
			 struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	return rc ? rc : fetch(reader.connection, resource, ret_job, err);
}

struct cancellation {
	const struct resource *resource;
	const char *message;
};

static enum status cancellation_run(struct change_scope *scope, void *arg, struct error *err)
{
	const struct cancellation *cancellation = arg;
	AUTO(job) struct job *job = NULL;
	enum status rc = fetch(scope->connection, cancellation->resource, &job, err);

	return rc ? rc : job_row_cancel(scope, job, cancellation->message, err);
}

enum status resource_cancel(struct store *store, const struct resource *resource, const char *message,
			    struct error *err)
{
	struct cancellation cancellation = { resource, message };

	return state_writer_change(store->state, cancellation_run, &cancellation, err);
}

static enum status deletable_check(const struct resource *resource, const struct job *job, struct error *err)
{
	if (job_state_is_final(job->state))
		return STATUS_OK;
	return error_set(
		err, STATUS_FAILED_PRECONDITION, NULL,
		"The %s \"projects/%.100s/locations/%.100s/%s/%.100s\" is in state %s and cannot be deleted. "
		"Cancel it, and wait for its end.",
		resource_type(resource->kind), resource->project, resource->location,
		resource_collection(resource->kind), resource->id, resource_state_name(job));
}

static enum status row_hide(struct change_scope *scope, int64_t id, struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(scope->connection, RESOURCE_DELETE);

	bind_int(statement, ":id", id);
	bind_int(statement, ":now", scope->now_ns / 1000);
	return statement_run(statement, err);
}

static enum status deletion_run(struct change_scope *scope, void *arg, struct error *err)
{
	struct deletion *deletion = arg;
	AUTO(job) struct job *job = NULL;
	enum status rc = fetch(scope->connection, deletion->what, &job, err);

	if (!rc)
		rc = deletable_check(deletion->what, job, err);
	if (!rc)
		rc = row_hide(scope, job->id, err);
	return rc ? rc
		  : operation_row_insert(scope, job->project, job->location, resource_collection(job->kind),
					 job->job_id, &deletion->operation, err);
}

enum status resource_delete(struct store *store, const struct resource *resource,
			    struct operation *ret_operation, struct error *err)
{
	return deletion_change(store, deletion_run, resource, ret_operation, err);
}

enum status resource_list_page(struct store *store, const struct resource *resource, const char *filter,
			       unsigned page_size, const char *page_token, struct job_list *ret_list,
			       struct error *err)
{
	struct row_page page AUTO_ROW_PAGE = {
		.from = kinds[resource->kind].from,
		.bound = { { ":project", resource->project }, { ":location", resource->location } },
		.size = page_size,
	};
	enum status rc = resource_filter_make(filter, &page.filter, &page.created, err);

	if (!rc)
		rc = row_page_begin(&page, &store->page_key, filter, page_token, err);
	return rc ? rc : job_page_read(store, &page, ret_list, err);
}
