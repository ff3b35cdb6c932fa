/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/assemblies.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "store/objects/assembly_rows.h"
#include "store/objects/bucket_rows.h"
#include "store/objects/sessions.h"
#include "store/objects/uploads.h"

/* Sorts after every identifier, because identifiers are hexadecimal. */
static const char beyond_ids[] = "g";

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

/* ---- changes of one assembly ---- */

struct assembly_change {
	struct objects *objects;
	const char *id;
	const struct upload_target *wanted; /* for an assembly that begins */
	const struct assembly_key *key; /* for an assembly that ends */
};

static enum status assembly_begin_run(struct connection *connection, int64_t now_ns, void *arg,
				      struct error *err)
{
	const struct assembly_change *change = arg;
	const struct upload_target *wanted = change->wanted;
	int64_t bucket;
	enum status rc = bucket_find(connection, wanted->bucket, &bucket, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *insert = connection_statement(connection, ASSEMBLY_INSERT);

	bind_text(insert, ":id", change->id);
	bind_int(insert, ":bucket", bucket);
	bind_text(insert, ":name", wanted->name);
	bind_text(insert, ":content_type", wanted->content_type);
	bind_text(insert, ":metadata", wanted->metadata);
	bind_int(insert, ":now", now_ns / 1000);
	return statement_run(insert, err);
}

enum status assembly_begin(struct objects *objects, const struct object_target *target,
			   char ret_id[SESSION_ID_SIZE], struct error *err)
{
	struct upload_target wanted __attribute__((cleanup(upload_target_deinit))) = { 0 };
	struct object_target free_target = *target;
	struct assembly_change change = { .id = ret_id, .wanted = &wanted };
	enum status rc;

	free_target.conditions = (struct conditions)CONDITIONS_NONE;
	rc = upload_target_check(objects, &free_target, err);
	if (!rc)
		rc = objects_expire(objects, err);
	if (!rc)
		upload_target_copy(&free_target, &wanted);
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

/* ---- lists ---- */

struct listing {
	const struct assembly_query *query;
	struct assembly_page page;
	size_t room; /* of both arrays of the page */
	char *below; /* the prefix that was listed last, which covers all names that begin with it; NULL: none */
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

/* The length of the part of a name that is listed as a prefix; 0: the name is an item. */
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

static void listing_begin(const struct assembly_query *query, struct listing *listing)
{
	const char *after = query->after;

	*listing = (struct listing){ .query = query, .room = query->most };
	listing->page.assemblies = memory_calloc(query->most, sizeof(*listing->page.assemblies));
	listing->page.prefixes = memory_calloc(query->most, sizeof(*listing->page.prefixes));
	if (!after || !*after || prefix_length(query, after) != strlen(after))
		return;
	listing->below = memory_strdup(after);
}

/* Call when the page is full: the next page begins after its last item or prefix. */
static void listing_end(struct listing *listing)
{
	struct assembly_page *page = &listing->page;
	const struct assembly *last = page->count ? &page->assemblies[page->count - 1] : NULL;
	const char *prefix = page->prefix_count ? page->prefixes[page->prefix_count - 1] : NULL;
	const char *name = last ? last->name : "";
	const bool at_prefix = prefix && strcmp(prefix, name) > 0;

	page->next = memory_strdup(at_prefix ? prefix : name);
	page->next_id = memory_strdup(at_prefix || !last ? "" : last->id);
}

static void row_take(struct listing *listing, sqlite3_stmt *rows)
{
	struct assembly_page *page = &listing->page;
	const char *name = assembly_row_name(rows);
	const size_t length = prefix_length(listing->query, name);

	if (length == 0) {
		struct assembly *assembly = &page->assemblies[page->count++];

		assembly_row_copy(rows, assembly);
		return;
	}
	free(listing->below);
	page->prefixes[page->prefix_count++] = memory_strndup(name, length);
	listing->below = memory_strndup(name, length);
}

static enum status listing_fill(struct listing *listing, sqlite3_stmt *rows, struct error *err)
{
	const char *prefix = listing->query->prefix ? listing->query->prefix : "";
	bool row = false;
	enum status rc;

	for (;;) {
		rc = statement_step(rows, &row, err);
		if (rc || !row || !begins(assembly_row_name(rows), prefix))
			return rc;
		if (listing->below && begins(assembly_row_name(rows), listing->below))
			continue;
		if (listing->page.count + listing->page.prefix_count == listing->room) {
			listing_end(listing);
			return STATUS_OK;
		}
		row_take(listing, rows);
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
	enum status rc = objects_read(objects, &reader, err);

	if (!rc)
		rc = bucket_find(reader.connection, query->bucket, &bucket, err);
	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, ASSEMBLIES_FROM);

	listing_begin(query, &listing);
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
