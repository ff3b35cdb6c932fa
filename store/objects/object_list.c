/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "daemon/base/work.h"
#include "store/objects/bucket_rows.h"
#include "store/objects/glob.h"
#include "store/objects/object_rows.h"
#include "store/objects/objects_parts.h"

/* Choice: SEARCH_US. A search for names that match a pattern must not occupy a database connection for long: after this
 * time the page ends with the last name examined. It may then be empty; clients of the service know such pages, and ask
 * for the next one. */
enum { ROOM_FIRST = 64, COLUMN_NAME = 0, SEARCH_US = 500 * 1000 };

/* A page that grows. */
struct listing {
	const struct object_query *query;
	const char *prefix, *delimiter; /* never NULL */
	size_t prefix_length, delimiter_length;
	struct glob *glob; /* NULL: none */
	const struct clock *clock;
	int64_t until_us; /* the search for names that match a pattern goes on until then */
	struct object_page page;
	size_t room;
	char *from;       /* the least name that may come next */
	const char *last; /* the last item or prefix of the page; borrowed from the page */
	bool is_over;
};

void object_page_deinit(struct object_page *page)
{
	for (size_t i = 0; i < page->count; i++)
		object_deinit(&page->objects[i]);
	for (size_t i = 0; i < page->prefix_count; i++)
		free(page->prefixes[i]);
	free(page->objects);
	free(page->prefixes);
	free(page->next);
	*page = (struct object_page){ 0 };
}

static void listing_deinit(struct listing *listing)
{
	object_page_deinit(&listing->page);
	glob_free(listing->glob);
	free(listing->from);
}

/* Makes room for one more element in each array. */
static void room_make(struct listing *listing)
{
	struct object_page *page = &listing->page;

	if (page->count < listing->room && page->prefix_count < listing->room)
		return;
	listing->room = listing->room ? listing->room * 2 : ROOM_FIRST;
	page->objects = memory_resize(page->objects, listing->room, sizeof(*page->objects));
	page->prefixes = memory_resize(page->prefixes, listing->room, sizeof(*page->prefixes));
}

/* Replaces @prefix by the first string, in the order of bytes, after all strings that begin with it; by "" if there is
 * none. */
static void step_past(char *prefix)
{
	size_t length = strlen(prefix);

	while (length > 0 && (unsigned char)prefix[length - 1] == 0xff)
		prefix[--length] = '\0';
	if (length > 0)
		prefix[length - 1]++;
}

/* The length of the part of a name that is listed as a prefix: through the first delimiter after the query's prefix.
 * 0: the name is an item. */
static size_t directory_length(const struct listing *listing, const char *name)
{
	const char *found = *listing->delimiter && strlen(name) > listing->prefix_length
				    ? strstr(name + listing->prefix_length, listing->delimiter)
				    : NULL;

	return found ? (size_t)(found - name) + listing->delimiter_length : 0;
}

/* Sets listing->from, the first name that the page may have: the greatest of the query's lower bounds. */
static void from_find(struct listing *listing)
{
	const struct object_query *query = listing->query;
	const char *start =
		query->start && strcmp(query->start, listing->prefix) > 0 ? query->start : listing->prefix;
	AUTO(string) char *next = NULL;

	if (query->after) {
		/* The next possible name: no name has a byte less than 1. */
		next = memory_printf("%s\x01", query->after);
		if (strncmp(query->after, listing->prefix, listing->prefix_length) == 0 &&
		    directory_length(listing, query->after) == strlen(query->after)) {
			next[strlen(query->after)] = '\0';
			step_past(next);
		}
		if (strcmp(next, start) > 0)
			start = next;
	}
	listing->from = memory_strdup(start);
}

static bool is_full(const struct listing *listing)
{
	return listing->last && listing->page.count + listing->page.prefix_count >= listing->query->most;
}

/* The page is complete, and @last is the name or prefix to go on after. */
static void page_end(struct listing *listing, const char *last, size_t length)
{
	listing->is_over = true;
	listing->page.next = memory_strndup(last, length);
}

static enum status item_add(struct listing *listing, sqlite3_stmt *row, struct error *err)
{
	struct object *object;
	int64_t blob;
	enum status rc;

	room_make(listing);
	object = &listing->page.objects[listing->page.count];
	rc = object_row_copy(row, listing->query->bucket, object, &blob, err);
	if (rc)
		return rc;
	listing->page.count++;
	listing->last = object->name;
	return STATUS_OK;
}

static enum status prefix_add(struct listing *listing, sqlite3_stmt *row, size_t length, struct error *err)
{
	const char *name = column_text(row, COLUMN_NAME);
	struct object_page *page = &listing->page;
	char *prefix;
	enum status rc = STATUS_OK;

	if (listing->query->trailing_delimiter && !name[length])
		rc = item_add(listing, row, err);
	if (rc)
		return rc;
	room_make(listing);
	prefix = memory_strndup(name, length);
	page->prefixes[page->prefix_count++] = prefix;
	listing->last = prefix;
	return STATUS_OK;
}

/* Sets listing->from to the first name after all names that begin with this prefix. */
static void prefix_leave(struct listing *listing, const char *name, size_t length)
{
	free(listing->from);
	listing->from = memory_strndup(name, length);
	step_past(listing->from);
	listing->is_over = !*listing->from;
}

static bool row_is_outside(const struct listing *listing, const char *name)
{
	const char *end = listing->query->end;

	return strncmp(name, listing->prefix, listing->prefix_length) != 0 || (end && strcmp(name, end) >= 0);
}

/* Takes one row. Names are grouped first: the pattern is compared with the prefix that stands for the name. *ret_seek:
 * the next rows are somewhere else, at listing->from. Source: https://github.com/fsouza/fake-gcs-server/pull/2328
 * (observed at the service, 2026-08-24) */
static enum status row_take(struct listing *listing, sqlite3_stmt *row, bool *ret_seek, struct error *err)
{
	const char *name = column_text(row, COLUMN_NAME);
	const size_t directory = directory_length(listing, name);
	const size_t length = directory ? directory : strlen(name);
	enum status rc = STATUS_OK;
	bool fits;

	listing->is_over = row_is_outside(listing, name);
	if (listing->is_over)
		return STATUS_OK;
	fits = !listing->glob || glob_match(listing->glob, name, length);
	if (fits && is_full(listing)) {
		page_end(listing, listing->last, strlen(listing->last));
		return STATUS_OK;
	}
	if (fits)
		rc = directory ? prefix_add(listing, row, length, err) : item_add(listing, row, err);
	if (!rc && directory)
		prefix_leave(listing, name, length);
	*ret_seek = directory;
	if (!rc && listing->glob && !listing->is_over && clock_mono_us(listing->clock) >= listing->until_us)
		page_end(listing, name, length);
	return rc;
}

/* Takes rows from listing->from on, until the page is complete or the next ones are somewhere else. */
static enum status rows_take(struct listing *listing, struct connection *connection, int64_t bucket,
			     struct error *err)
{
	AUTO(statement) sqlite3_stmt *rows = connection_statement(connection, OBJECTS_FROM);
	AUTO(string) char *from = memory_strdup(listing->from); /* bound while listing->from moves on */
	bool seek = false;
	enum status rc = STATUS_OK;

	bind_int(rows, ":bucket", bucket);
	bind_text(rows, ":from", from);
	while (!rc && !seek && !listing->is_over) {
		bool row = false;

		rc = work_check(err);
		if (!rc)
			rc = statement_step(rows, &row, err);
		if (!rc && !row)
			listing->is_over = true;
		else if (!rc)
			rc = row_take(listing, rows, &seek, err);
	}
	return rc;
}

/* All names that match a pattern begin with its directory. So the directory, if it is longer, takes the place of the
 * query's prefix, and names are grouped by the first delimiter after it.
 * Source: https://github.com/floci-io/floci-gcp/pull/188 (observed at the service: with the delimiter '/', "a/"
 * followed by an asterisk gives the objects of a/) */
static void glob_begin(struct listing *listing)
{
	const char *directory = glob_directory(listing->glob);
	const size_t length = strlen(directory);

	if (strncmp(listing->prefix, directory,
		    length < listing->prefix_length ? length : listing->prefix_length) != 0)
		listing->is_over = true;
	else if (length > listing->prefix_length)
		listing->prefix = directory;
	listing->prefix_length = strlen(listing->prefix);
}

static enum status listing_prepare(struct listing *listing, const struct clock *clock,
				   const struct object_query *query, struct error *err)
{
	enum status rc = query->match_glob ? glob_new(query->match_glob, &listing->glob, err) : STATUS_OK;

	if (rc)
		return rc;
	listing->query = query;
	listing->clock = clock;
	listing->until_us = clock_mono_us(clock) + SEARCH_US;
	listing->prefix = query->prefix ? query->prefix : "";
	listing->prefix_length = strlen(listing->prefix);
	listing->delimiter = query->delimiter ? query->delimiter : "";
	listing->delimiter_length = strlen(listing->delimiter);
	if (listing->glob)
		glob_begin(listing);
	from_find(listing);
	return STATUS_OK;
}

enum status object_list(struct objects *objects, const struct object_query *query,
			struct object_page *ret_page, struct error *err)
{
	struct listing listing __attribute__((cleanup(listing_deinit))) = { 0 };
	struct reader reader AUTO_READER = { 0 };
	int64_t bucket;
	enum status rc = listing_prepare(&listing, objects->clock, query, err);

	if (!rc)
		rc = objects_read(objects, &reader, err);
	if (!rc)
		rc = bucket_find(reader.connection, query->bucket, &bucket, err);
	while (!rc && !listing.is_over)
		rc = rows_take(&listing, reader.connection, bucket, err);
	if (rc)
		return rc;
	*ret_page = listing.page;
	listing.page = (struct object_page){ 0 };
	return STATUS_OK;
}
