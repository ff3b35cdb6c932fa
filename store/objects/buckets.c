/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "store/objects/assembly_rows.h"
#include "store/objects/bucket_rows.h"
#include "store/objects/object_rows.h"
#include "store/objects/objects_parts.h"

void bucket_page_deinit(struct bucket_page *page)
{
	for (size_t i = 0; i < page->count; i++)
		bucket_deinit(&page->buckets[i]);
	free(page->buckets);
	free(page->next);
	*page = (struct bucket_page){ 0 };
}

enum status bucket_get(struct objects *objects, const char *name, struct bucket *ret_bucket,
		       struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	int64_t id;
	enum status rc = objects_read(objects, &reader, err);

	return rc ? rc : bucket_load(reader.connection, name, &id, ret_bucket, err);
}

/* A change of one bucket; strings are borrowed. */
struct bucket_change {
	const char *project, *name;
	const char *metadata; /* JSON */
	const struct conditions *conditions;
	struct bucket made; /* output of the change: the bucket after it */
};

/* Choice: the sentences that the service returns; its page of status codes still quotes an older one ("You already own
 * this bucket. Please select another name."). The error's reason is "conflict" in both cases.
 * Source: https://cloud.google.com/storage/docs/json_api/v1/status-codes (read 2026-11-22) */
static enum status bucket_taken(const struct bucket *owner, const char *project, struct error *err)
{
	if (strcmp(owner->project, project) == 0)
		return error_set(
			err, STATUS_ALREADY_EXISTS, NULL,
			"Your previous request to create the named bucket succeeded and you already own "
			"it.");
	return error_set(
		err, STATUS_ALREADY_EXISTS, NULL,
		"The requested bucket name is not available. The bucket namespace is shared by all users "
		"of the system. Please select a different name and try again.");
}

static enum status bucket_insert_run(struct connection *connection, int64_t now_ns, void *arg,
				     struct error *err)
{
	struct bucket_change *change = arg;
	struct bucket owner AUTO_BUCKET = { 0 };
	int64_t id;
	enum status rc = bucket_look(connection, change->name, &id, &owner, err);

	if (rc)
		return rc;
	if (id != BUCKET_ABSENT)
		return bucket_taken(&owner, change->project, err);
	AUTO(statement) sqlite3_stmt *insert = connection_statement(connection, BUCKET_INSERT);

	bind_text(insert, ":name", change->name);
	bind_text(insert, ":project", change->project);
	bind_text(insert, ":metadata", change->metadata);
	bind_int(insert, ":now", now_ns / 1000);
	rc = statement_run(insert, err);
	if (!rc)
		rc = post_commit_add(connection, change->name, NULL, 0, err);
	return rc ? rc : bucket_load(connection, change->name, &id, &change->made, err);
}

/* The result of a change is the caller's only if it was committed. @ret_bucket may be NULL. */
static enum status bucket_change_commit(struct objects *objects, group_run run, struct bucket_change *change,
					struct bucket *ret_bucket, struct error *err)
{
	enum status rc = objects_change(objects, run, change, err);

	if (rc || !ret_bucket) {
		bucket_deinit(&change->made);
		return rc;
	}
	*ret_bucket = change->made;
	return STATUS_OK;
}

enum status bucket_insert(struct objects *objects, const char *project, const char *name,
			  const json_t *metadata, struct bucket *ret_bucket, struct error *err)
{
	AUTO(string) char *text = metadata ? json_dump_compact(metadata) : memory_strdup("{}");
	struct bucket_change change = { .project = project, .name = name, .metadata = text };

	if (!bucket_name_valid(name))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "Invalid bucket name: '%s'", name);
	return bucket_change_commit(objects, bucket_insert_run, &change, ret_bucket, err);
}

static enum status bucket_update_run(struct connection *connection, int64_t now_ns, void *arg,
				     struct error *err)
{
	struct bucket_change *change = arg;
	struct bucket before AUTO_BUCKET = { 0 };
	int64_t id;
	enum status rc = bucket_load(connection, change->name, &id, &before, err);

	if (!rc)
		rc = conditions_demand(change->conditions, 0, before.metageneration, err);
	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *update = connection_statement(connection, BUCKET_UPDATE);

	bind_int(update, ":id", id);
	bind_text(update, ":metadata", change->metadata);
	bind_int(update, ":now", now_ns / 1000);
	rc = statement_run(update, err);
	return rc ? rc : bucket_load(connection, change->name, &id, &change->made, err);
}

/* Buckets have no generation to compare with. */
static struct conditions of_metageneration(const struct conditions *conditions)
{
	struct conditions some = *conditions;

	some.generation_match = some.generation_not_match = -1;
	return some;
}

enum status bucket_update(struct objects *objects, const char *name, const struct conditions *conditions,
			  const json_t *metadata, struct bucket *ret_bucket, struct error *err)
{
	const struct conditions some = of_metageneration(conditions);
	AUTO(string) char *text = json_dump_compact(metadata);
	struct bucket_change change = { .name = name, .metadata = text, .conditions = &some };

	return bucket_change_commit(objects, bucket_update_run, &change, ret_bucket, err);
}

static enum status bucket_be_empty(struct connection *connection, int64_t id, struct error *err)
{
	AUTO(statement) sqlite3_stmt *holds = connection_statement(connection, BUCKET_HOLDS);
	bool row = false;
	enum status rc;

	bind_int(holds, ":bucket", id);
	rc = statement_step(holds, &row, err);
	if (!rc && row)
		return error_set(err, STATUS_ABORTED, NULL, "The bucket you tried to delete is not empty.");
	return rc;
}

static enum status bucket_delete_run(struct connection *connection, int64_t now_ns, void *arg,
				     struct error *err)
{
	(void)now_ns;
	const struct bucket_change *change = arg;
	struct bucket before AUTO_BUCKET = { 0 };
	int64_t id;
	enum status rc = bucket_load(connection, change->name, &id, &before, err);

	if (!rc)
		rc = conditions_demand(change->conditions, 0, before.metageneration, err);
	if (!rc)
		rc = bucket_be_empty(connection, id, err);
	if (!rc)
		rc = assemblies_of_bucket_drop(connection, id, err);
	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *delete = connection_statement(connection, BUCKET_DELETE);

	bind_int(delete, ":id", id);
	rc = statement_run(delete, err);
	return rc ? rc : post_commit_add(connection, change->name, NULL, 0, err);
}

enum status bucket_delete(struct objects *objects, const char *name, const struct conditions *conditions,
			  struct error *err)
{
	const struct conditions some = of_metageneration(conditions);
	struct bucket_change change = { .name = name, .conditions = &some };

	return objects_change(objects, bucket_delete_run, &change, err);
}

static enum status bucket_id_get(struct objects *objects, const char *name, int64_t *ret_id,
				 struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = objects_read(objects, &reader, err);

	return rc ? rc : bucket_look(reader.connection, name, ret_id, NULL, err);
}

enum status bucket_ensure(struct objects *objects, const char *name, struct error *err)
{
	int64_t id;
	enum status rc = bucket_id_get(objects, name, &id, err);

	if (rc || id != BUCKET_ABSENT)
		return rc;
	if (!objects->auto_project)
		return bucket_not_found(err);
	rc = bucket_insert(objects, objects->auto_project, name, NULL, NULL, err);
	if (rc != STATUS_ALREADY_EXISTS) /* else another request has made it meanwhile */
		return rc;
	if (err)
		error_deinit(err);
	return STATUS_OK;
}

static enum status page_fill(sqlite3_stmt *rows, const char *prefix, unsigned most, struct bucket_page *page,
			     struct error *err)
{
	for (;;) {
		bool row = false;
		enum status rc = statement_step(rows, &row, err);

		if (rc || !row || strncmp(bucket_row_name(rows), prefix, strlen(prefix)) != 0)
			return rc;
		if (page->count == most) {
			page->next = memory_strdup(page->buckets[most - 1].name);
			return STATUS_OK;
		}
		rc = bucket_row_copy(rows, &page->buckets[page->count], err);
		if (rc)
			return rc;
		page->count++;
	}
}

/* The first name that the page may have, in the order of bytes. */
static char *list_start(const char *prefix, const char *after)
{
	struct text from AUTO_TEXT = { 0 };

	if (after && strcmp(after, prefix) >= 0)
		text_printf(&from, "%s\x01", after); /* no byte of a name is less than 1 */
	else
		text_puts(&from, prefix);
	return text_take(&from);
}

enum status bucket_list(struct objects *objects, const char *project, const char *prefix, const char *after,
			unsigned most, struct bucket_page *ret_page, struct error *err)
{
	struct bucket_page page __attribute__((cleanup(bucket_page_deinit))) = { 0 };
	struct reader reader AUTO_READER = { 0 };
	AUTO(string) char *from = NULL;
	enum status rc = objects_read(objects, &reader, err);

	if (rc)
		return rc;
	prefix = prefix ? prefix : "";
	from = list_start(prefix, after);
	most = most ? most : 1;
	page.buckets = memory_calloc(most, sizeof(*page.buckets));
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, BUCKETS_FROM);

	bind_text(rows, ":project", project);
	bind_text(rows, ":from", from);
	rc = page_fill(rows, prefix, most, &page, err);
	if (rc)
		return rc;
	*ret_page = page;
	page = (struct bucket_page){ 0 };
	return STATUS_OK;
}
