/* SPDX-License-Identifier: Apache-2.0 */
/* store/jobs/job_page.c: one page of a project's jobs, newest first. */
#include <stdlib.h>

#include "daemon/base/memory.h"
#include "store/jobs/job_filter.h"
#include "store/jobs/job_page.h"
#include "store/jobs/job_rows.h"
#include "store/row_page.h"
#include "store/store_parts.h"

static enum status rows_read(struct connection *connection, const struct row_page *page,
			     struct job_list *list, struct error *err)
{
	list->jobs = memory_calloc(page->size, sizeof(*list->jobs));
	for (; list->count < page->count; list->count++) {
		AUTO(statement) sqlite3_stmt *statement = connection_statement(connection, JOB_ROW);
		bool row = false;
		enum status rc;

		bind_int(statement, ":id", page->rows[list->count].id);
		rc = statement_step(statement, &row, err);
		if (!rc && !row)
			rc = error_set(err, STATUS_INTERNAL, NULL,
				       "a job was deleted while its page was read: list again");
		if (rc)
			return rc;
		job_row_read(statement, &list->jobs[list->count]);
	}
	return job_positions_fill(connection, list, err);
}

static enum status page_fill(struct connection *connection, struct row_page *page, struct job_list *list,
			     struct error *err)
{
	enum status rc = connection_exec(connection, "BEGIN", err);

	if (rc)
		return rc;
	rc = row_page_read(connection, page, err);
	if (!rc)
		rc = rows_read(connection, page, list, err);
	connection_exec(connection, "COMMIT", NULL);
	return rc;
}

enum status job_page_read(struct store *store, struct row_page *page, struct job_list *ret_list,
			  struct error *err)
{
	struct job_list list AUTO_JOB_LIST = { 0 };
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (!rc)
		rc = page_fill(reader.connection, page, &list, err);
	if (!rc)
		row_page_token(page, &store->page_key, &list.next_page_token);
	if (rc)
		return rc;
	*ret_list = list;
	list = (struct job_list){ 0 };
	return STATUS_OK;
}

enum status job_list_page(struct store *store, const char *project, const char *filter, unsigned page_size,
			  const char *page_token, struct job_list *ret_list, struct error *err)
{
	struct row_page page AUTO_ROW_PAGE = {
		.from = "job WHERE kind = 0 AND parent IS NULL AND project = :project",
		.bound = { { ":project", project } },
		.size = page_size,
	};
	enum status rc = job_filter_make(filter, &page.filter, &page.created, err);

	if (!rc)
		rc = row_page_begin(&page, &store->page_key, filter, page_token, err);
	return rc ? rc : job_page_read(store, &page, ret_list, err);
}
