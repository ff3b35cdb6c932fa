/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/row_page.h: the rows of one page of a list that begins with the newest: jobs, resources, operations.
 *
 * They are found by the indexes alone where the filter allows; the caller then reads those rows, so that no row outside the
 * page is read whole. Thread: any; one page is one thread's. */
#include "store/connection.h"
#include "store/filter/filter_interval.h"
#include "store/filter/filter_sql.h"
#include "store/page_token.h"

struct store;

enum { ROW_PAGE_MAX = 1000, ROW_PAGE_BOUND_MAX = 3 };

struct row_mark {
	int64_t id, created_us;
};

struct row_page {
	/* A table with the columns id and created_us, and a condition: "job WHERE kind = 0 AND project = :project".
	 * Our own text. */
	const char *from;
	/* What it names; borrowed. A NULL name ends them. */
	struct {
		const char *name, *value;
	} bound[ROW_PAGE_BOUND_MAX];
	/* What else must hold, and when such rows can have been created; both may say nothing. */
	struct filter_sql filter;
	struct filter_interval created;
	unsigned size; /* 1 to ROW_PAGE_MAX; others are brought there */

	/* row_page_begin()'s and row_page_read()'s. */
	struct text bound_to; /* what tokens of this page are bound to */
	bool continues;
	struct page_mark mark; /* numbers: created_us, id */
	struct row_mark *rows;
	size_t count;
	bool more;
};

void row_page_deinit(struct row_page *page);
#define AUTO_ROW_PAGE __attribute__((cleanup(row_page_deinit)))

/* Prepares a page; its first members are filled. @filter: the filter's text, to which tokens are bound, or NULL;
 * @token: NULL or "" for the first page. INVALID_ARGUMENT: field page_token. */
enum status row_page_begin(struct row_page *page, const struct page_key *key, const char *filter,
			   const char *token, struct error *err);
/* Fills rows, count and more. */
enum status row_page_read(struct connection *connection, struct row_page *page, struct error *err);
/* The token of the page behind one that was read; NULL when there is none. The caller frees. */
void row_page_token(const struct row_page *page, const struct page_key *key, char **ret_token);

/* What is made of a page: an array. */
struct row_items {
	size_t size; /* of one */
	/* Makes one of the row with this number; @ret_item is zeroed. */
	enum status (*read)(struct connection *connection, int64_t id, void *ret_item, struct error *err);
	void *made; /* the caller's, even when not all of them could be made; NULL: none */
	size_t count;
};
/* All of the above on a page that was begun: each of its rows is read, in one view of the database. */
enum status row_page_walk(struct store *store, struct row_page *page, struct row_items *items,
			  char **ret_token, struct error *err);
