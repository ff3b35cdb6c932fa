/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/row_page.h: reads one page of a list in which the newest row is first: jobs, resources, operations.
 *
 * A page consists of the ids of its rows. If the filter needs only columns of an index, SQLite finds the ids in the
 * index; the caller then reads the rows with these ids, so rows outside the page are not read. Thread: any; a page
 * belongs to one thread at a time. */
#include "store/connection.h"
#include "store/filter/filter_interval.h"
#include "store/filter/filter_sql.h"
#include "store/page_token.h"

struct store;

enum { ROW_PAGE_MAX = 1000, ROW_PAGE_BOUND_MAX = 3 };

/* A row of the page. */
struct row_mark {
	int64_t id, created_us;
};

struct row_page {
	/* A table with the columns id and created_us, and a condition: "job WHERE kind = 0 AND project = :project".
	 * Contains no text of clients. */
	const char *from;
	/* The values of its parameters; borrowed. Ends with a NULL name. */
	struct {
		const char *name, *value;
	} bound[ROW_PAGE_BOUND_MAX];
	/* A further condition, and the interval in which matching rows can have been created; both may be empty. */
	struct filter_sql filter;
	struct filter_interval created;
	unsigned size; /* 1 to ROW_PAGE_MAX; other values are changed to fit */

	/* Set by row_page_begin() and row_page_read(). */
	struct text bound_to; /* the text that tokens of this page are bound to */
	bool continues;         /* a token was given: the page begins after the row that it names */
	struct page_mark mark;  /* that row: numbers[0] is its created_us, numbers[1] its id */
	struct row_mark *rows;
	size_t count;
	bool more; /* the list has rows after this page */
};

void row_page_deinit(struct row_page *page);
#define AUTO_ROW_PAGE __attribute__((cleanup(row_page_deinit)))

/* Prepares a page with its first members set. @filter: the text of the filter, to which tokens are bound, or NULL;
 * @token: NULL or "" for the first page. INVALID_ARGUMENT: field page_token. */
enum status row_page_begin(struct row_page *page, const struct page_key *key, const char *filter,
			   const char *token, struct error *err);
/* Sets rows, count and more. */
enum status row_page_read(struct connection *connection, struct row_page *page, struct error *err);
/* Returns the token of the page after this one; NULL: this is the last page. The caller frees. */
void row_page_token(const struct row_page *page, const struct page_key *key, char **ret_token);

/* The items that row_page_walk() makes of the page's rows: an array. */
struct row_items {
	size_t size; /* bytes of one item */
	/* Makes an item from the row with this number; @ret_item is zeroed. */
	enum status (*read)(struct connection *connection, int64_t id, void *ret_item, struct error *err);
	/* Adds what all items of the page need; NULL: nothing. */
	enum status (*finish)(struct connection *connection, void *made, size_t count, struct error *err);
	void *made; /* the array, which the caller frees even after a failure; NULL: none */
	size_t count;
};
/* After row_page_begin(): reads the page, makes an item of each row, and makes the token of the next page, all in one
 * snapshot of the database. */
enum status row_page_walk(struct store *store, struct row_page *page, struct row_items *items,
			  char **ret_token, struct error *err);
