/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/assemblies.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "store/objects/assembly_rows.h"
#include "store/objects/sessions.h"

/* As ASSEMBLY_GET and ASSEMBLIES_FROM have them. */
enum {
	COLUMN_ID,
	COLUMN_NAME,
	COLUMN_CREATED,
	COLUMN_STORAGE_CLASS,
	COLUMN_CONTENT_TYPE,
	COLUMN_METADATA,
};

/* Identifiers are hexadecimal: greater than all of them. */
static const char beyond_ids[] = "g";

void assembly_deinit(struct assembly *assembly)
{
	free(assembly->name);
	free(assembly->storage_class);
	*assembly = (struct assembly){ .name = NULL };
}

void assembly_row_deinit(struct assembly_row *row)
{
	assembly_deinit(&row->assembly);
	free(row->content_type);
	free(row->metadata);
	*row = (struct assembly_row){ .bucket = 0 };
}

void assembly_page_deinit(struct assembly_page *page)
{
	for (size_t i = 0; i < page->count; i++)
		assembly_deinit(&page->assemblies[i]);
	for (size_t i = 0; i < page->prefix_count; i++)
		free(page->prefixes[i]);
	free(page->assemblies);
	free(page->prefixes);
	free(page->next);
	free(page->next_id);
	*page = (struct assembly_page){ .count = 0 };
}

/* ---- rows ---- */

static enum status assembly_not_found(struct error *err)
{
	error_set(err, STATUS_NOT_FOUND, NULL, "The requested upload was not found.");
	if (err)
		error_add_reason(err, "NoSuchUpload", NULL, NULL);
	return STATUS_NOT_FOUND;
}

static enum status assembly_copy(sqlite3_stmt *get, struct assembly *assembly, struct error *err)
{
	snprintf(assembly->id, sizeof(assembly->id), "%s", column_text(get, COLUMN_ID));
	assembly->name = column_copy(get, COLUMN_NAME);
	assembly->storage_class = column_copy(get, COLUMN_STORAGE_CLASS);
	assembly->created_us = sqlite3_column_int64(get, COLUMN_CREATED);
	return assembly->name ? STATUS_OK : error_no_memory(err);
}

static enum status row_copy(sqlite3_stmt *get, struct assembly_row *row, struct error *err)
{
	enum status rc = assembly_copy(get, &row->assembly, err);

	row->content_type = column_copy(get, COLUMN_CONTENT_TYPE);
	row->metadata = column_copy(get, COLUMN_METADATA);
	if (!rc && !row->metadata)
		rc = error_no_memory(err);
	return rc;
}

enum status assembly_row_get(struct connection *connection, const struct assembly_key *key, int64_t now_us,
			     struct assembly_row *ret_row, struct error *err)
{
	struct assembly_row row AUTO_ASSEMBLY_ROW = { .bucket = 0 };
	bool found = false;
	enum status rc = bucket_find(connection, key->bucket, &row.bucket, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *get = connection_statement(connection, ASSEMBLY_GET);

	bind_text(get, ":id", key->id);
	bind_int(get, ":bucket", row.bucket);
	rc = statement_step(get, &found, err);
	if (!rc && found)
		rc = row_copy(get, &row, err);
	if (rc)
		return rc;
	if (!found || strcmp(row.assembly.name, key->name) != 0 ||
	    row.assembly.created_us + SESSION_LIFETIME_US < now_us)
		return assembly_not_found(err);
	*ret_row = row;
	row = (struct assembly_row){ .bucket = 0 };
	return STATUS_OK;
}

enum status assembly_row_read(struct objects *objects, const struct assembly_key *key,
			      struct assembly_row *ret_row, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = objects_read(objects, &reader, err);

	return rc ? rc
		  : assembly_row_get(reader.connection, key, clock_wall_us(objects->clock), ret_row, err);
}

/* ---- one of them ---- */

struct assembly_change {
	struct objects *objects;
	const char *id;
	const struct wish *wish;        /* of a beginning */
	const struct assembly_key *key; /* of an end */
};

static enum status assembly_begin_run(struct connection *connection, int64_t now_ns, void *arg,
				      struct error *err)
{
	const struct assembly_change *change = arg;
	const struct wish *wish = change->wish;
	int64_t bucket;
	enum status rc = bucket_find(connection, wish->bucket, &bucket, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *insert = connection_statement(connection, ASSEMBLY_INSERT);

	bind_text(insert, ":id", change->id);
	bind_int(insert, ":bucket", bucket);
	bind_text(insert, ":name", wish->name);
	bind_text(insert, ":content_type", wish->content_type);
	bind_text(insert, ":metadata", wish->metadata);
	bind_int(insert, ":now", now_ns / 1000);
	return statement_run(insert, err);
}

enum status assembly_begin(struct objects *objects, const struct object_target *target,
			   char ret_id[SESSION_ID_SIZE], struct error *err)
{
	struct wish wish __attribute__((cleanup(wish_deinit))) = { 0 };
	struct object_target free_target = *target;
	struct assembly_change change = { .id = ret_id, .wish = &wish };
	enum status rc;

	free_target.conditions = (struct conditions)CONDITIONS_NONE;
	rc = wish_check(objects, &free_target, err);
	if (!rc)
		rc = sessions_expire(objects, err);
	if (!rc)
		rc = wish_copy(&free_target, &wish, err);
	if (rc)
		return rc;
	session_id_make(ret_id);
	return objects_change(objects, assembly_begin_run, &change, err);
}

enum status assembly_get(struct objects *objects, const struct assembly_key *key,
			 struct assembly *ret_assembly, struct error *err)
{
	struct assembly_row row AUTO_ASSEMBLY_ROW = { .bucket = 0 };
	enum status rc = assembly_row_read(objects, key, &row, err);

	if (rc)
		return rc;
	*ret_assembly = row.assembly;
	row.assembly = (struct assembly){ .name = NULL };
	return STATUS_OK;
}

static enum status parts_drop(struct connection *connection, const char *id, const char *bucket,
			      struct error *err)
{
	AUTO(statement) sqlite3_stmt *drop = connection_statement(connection, PARTS_DELETE);
	bool row = true;
	enum status rc = STATUS_OK;

	bind_text(drop, ":assembly", id);
	for (;;) {
		rc = statement_step(drop, &row, err);
		if (!rc && row)
			rc = post_commit_add(connection, bucket, NULL, sqlite3_column_int64(drop, 0), err);
		if (rc || !row)
			return rc;
	}
}

enum status assembly_drop(struct connection *connection, const char *id, const char *bucket,
			  struct error *err)
{
	enum status rc = parts_drop(connection, id, bucket, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *drop = connection_statement(connection, ASSEMBLY_DELETE);

	bind_text(drop, ":id", id);
	return statement_run(drop, err);
}

static enum status assembly_delete_run(struct connection *connection, int64_t now_ns, void *arg,
				       struct error *err)
{
	const struct assembly_change *change = arg;
	struct assembly_row row AUTO_ASSEMBLY_ROW = { .bucket = 0 };
	enum status rc = assembly_row_get(connection, change->key, now_ns / 1000, &row, err);

	return rc ? rc : assembly_drop(connection, change->key->id, change->key->bucket, err);
}

enum status assembly_delete(struct objects *objects, const struct assembly_key *key, struct error *err)
{
	struct assembly_change change = { .key = key };

	return objects_change(objects, assembly_delete_run, &change, err);
}

/* ---- many of them ---- */

/* The first that @choose gives, with its bucket's name; *ret_found false: there is none. */
static enum status first_drop(struct connection *connection, sqlite3_stmt *choose, bool *ret_found,
			      struct error *err)
{
	AUTO(string) char *id = NULL;
	AUTO(string) char *bucket = NULL;
	enum status rc = statement_step(choose, ret_found, err);

	if (rc || !*ret_found)
		return rc;
	id = column_copy(choose, 0);
	bucket = column_copy(choose, 1);
	sqlite3_reset(choose);
	return id && bucket ? assembly_drop(connection, id, bucket, err) : error_no_memory(err);
}

static enum status all_drop(struct connection *connection, sqlite3_stmt *choose, struct error *err)
{
	bool found = true;
	enum status rc = STATUS_OK;

	while (!rc && found)
		rc = first_drop(connection, choose, &found, err);
	return rc;
}

enum status assemblies_expire(struct connection *connection, int64_t before_us, struct error *err)
{
	AUTO(statement) sqlite3_stmt *choose = connection_statement(connection, ASSEMBLY_OLD);

	bind_int(choose, ":before", before_us);
	return all_drop(connection, choose, err);
}

enum status assemblies_of_bucket_drop(struct connection *connection, int64_t bucket, struct error *err)
{
	AUTO(statement) sqlite3_stmt *choose = connection_statement(connection, ASSEMBLY_OF_BUCKET);

	bind_int(choose, ":bucket", bucket);
	return all_drop(connection, choose, err);
}

/* ---- lists ---- */

struct listing {
	const struct assembly_query *query;
	struct assembly_page page;
	size_t room; /* in both of the page's arrays */
	char *below; /* names that begin so are in a prefix that was told; NULL: none */
};

static void listing_deinit(struct listing *listing)
{
	assembly_page_deinit(&listing->page);
	free(listing->below);
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* How much of a name is a prefix to tell; 0: it has none. */
static size_t prefix_length(const struct assembly_query *query, const char *name)
{
	const char *delimiter = query->delimiter;
	const size_t passed = query->prefix ? strlen(query->prefix) : 0;
	const char *at;

	if (!delimiter || !*delimiter || strlen(name) < passed)
		return 0;
	at = strstr(name + passed, delimiter);
	return at ? (size_t)(at - name) + strlen(delimiter) : 0;
}

static enum status listing_begin(const struct assembly_query *query, struct listing *listing,
				 struct error *err)
{
	const char *after = query->after;

	*listing = (struct listing){ .query = query, .room = query->most };
	listing->page.assemblies = calloc(query->most, sizeof(*listing->page.assemblies));
	listing->page.prefixes = calloc(query->most, sizeof(*listing->page.prefixes));
	if (!listing->page.assemblies || !listing->page.prefixes)
		return error_no_memory(err);
	if (!after || !*after || prefix_length(query, after) != strlen(after))
		return STATUS_OK;
	listing->below = strdup(after);
	return listing->below ? STATUS_OK : error_no_memory(err);
}

/* The page is full: what it ended with is where the next one begins. */
static enum status listing_end(struct listing *listing, struct error *err)
{
	struct assembly_page *page = &listing->page;
	const struct assembly *last = page->count ? &page->assemblies[page->count - 1] : NULL;
	const char *prefix = page->prefix_count ? page->prefixes[page->prefix_count - 1] : NULL;
	const char *name = last ? last->name : "";
	const bool at_prefix = prefix && strcmp(prefix, name) > 0;

	page->next = strdup(at_prefix ? prefix : name);
	page->next_id = strdup(at_prefix || !last ? "" : last->id);
	return page->next && page->next_id ? STATUS_OK : error_no_memory(err);
}

static enum status row_take(struct listing *listing, sqlite3_stmt *rows, struct error *err)
{
	struct assembly_page *page = &listing->page;
	const char *name = column_text(rows, COLUMN_NAME);
	const size_t length = prefix_length(listing->query, name);

	if (length == 0) {
		struct assembly *assembly = &page->assemblies[page->count++];

		return assembly_copy(rows, assembly, err);
	}
	free(listing->below);
	page->prefixes[page->prefix_count++] = strndup(name, length);
	listing->below = strndup(name, length);
	return listing->below && page->prefixes[page->prefix_count - 1] ? STATUS_OK : error_no_memory(err);
}

static enum status listing_fill(struct listing *listing, sqlite3_stmt *rows, struct error *err)
{
	const char *prefix = listing->query->prefix ? listing->query->prefix : "";
	bool row = false;
	enum status rc;

	for (;;) {
		rc = statement_step(rows, &row, err);
		if (rc || !row || !begins(column_text(rows, COLUMN_NAME), prefix))
			return rc;
		if (listing->below && begins(column_text(rows, COLUMN_NAME), listing->below))
			continue;
		if (listing->page.count + listing->page.prefix_count == listing->room)
			return listing_end(listing, err);
		rc = row_take(listing, rows, err);
		if (rc)
			return rc;
	}
}

enum status assembly_list(struct objects *objects, const struct assembly_query *query,
			  struct assembly_page *ret_page, struct error *err)
{
	struct listing listing __attribute__((cleanup(listing_deinit))) = { .room = 0 };
	struct reader reader AUTO_READER = { 0 };
	const char *prefix = query->prefix ? query->prefix : "";
	const bool goes_on = query->after && strcmp(query->after, prefix) >= 0;
	const bool has_id = query->after_id && *query->after_id;
	int64_t bucket;
	enum status rc = listing_begin(query, &listing, err);

	if (!rc)
		rc = objects_read(objects, &reader, err);
	if (!rc)
		rc = bucket_find(reader.connection, query->bucket, &bucket, err);
	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, ASSEMBLIES_FROM);

	bind_int(rows, ":bucket", bucket);
	bind_text(rows, ":name", goes_on ? query->after : prefix);
	bind_text(rows, ":id", !goes_on ? "" : has_id ? query->after_id : beyond_ids);
	bind_int(rows, ":since", clock_wall_us(objects->clock) - SESSION_LIFETIME_US);
	rc = listing_fill(&listing, rows, err);
	if (rc)
		return rc;
	*ret_page = listing.page;
	listing.page = (struct assembly_page){ .count = 0 };
	return STATUS_OK;
}
