/* SPDX-License-Identifier: Apache-2.0 */
/* store/jobs/job_page.c: one page of a project's jobs, newest first. */
#include "store/jobs/job_filter.h"
#include "store/jobs/job_page.h"
#include "store/jobs/job_rows.h"
#include "store/row_page.h"
#include "store/store_parts.h"

static enum status item_read(struct connection *connection, int64_t id, void *ret_item, struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(connection, JOB_ROW);
	bool row = false;
	enum status rc;

	bind_int(statement, ":id", id);
	rc = statement_step(statement, &row, err);
	if (rc || !row)
		return rc ? rc : error_set(err, STATUS_INTERNAL, NULL, "a job of the page is missing");
	job_row_read(statement, ret_item);
	return STATUS_OK;
}

static enum status items_place(struct connection *connection, void *made, size_t count, struct error *err)
{
	struct job_list list = { .jobs = made, .count = count };

	return job_positions_fill(connection, &list, err);
}

enum status job_page_read(struct store *store, struct row_page *page, struct job_list *ret_list,
			  struct error *err)
{
	struct job_list list AUTO_JOB_LIST = { 0 };
	struct row_items items = { .size = sizeof(*list.jobs), .read = item_read, .finish = items_place };
	enum status rc = row_page_walk(store, page, &items, &list.next_page_token, err);

	list.jobs = items.made;
	list.count = items.count;
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
