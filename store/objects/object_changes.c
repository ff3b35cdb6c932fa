/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "store/objects/object_rows.h"
#include "store/objects/uploads.h"

/* A change of one object; strings are borrowed. */
struct object_change {
	struct objects *objects;
	const char *bucket, *name;
	int64_t generation;
	const struct conditions *conditions;
	const char *content_type, *metadata;
	const struct object_target *target; /* for a copy: the object to be made */
	bool replaces_metadata;
	struct object made; /* output of the change: the object after it */
};

enum status object_get(struct objects *objects, const char *bucket, const char *name, int64_t generation,
		       struct object *ret_object, struct error *err)
{
	struct object_row row AUTO_OBJECT_ROW = { 0 };
	struct reader reader AUTO_READER = { 0 };
	enum status rc = objects_read(objects, &reader, err);

	if (!rc)
		rc = object_row_get(reader.connection, bucket, name, generation, &row, err);
	if (rc)
		return rc;
	*ret_object = row.object;
	row.object = (struct object){ 0 };
	return STATUS_OK;
}

void object_view_deinit(struct object_view *view)
{
	object_deinit(&view->object);
}

enum status object_view_get(struct objects *objects, const char *bucket, const char *name,
			struct object_view *ret_view, struct error *err)
{
	struct object_view view AUTO_OBJECT_VIEW = { 0 };
	struct reader reader AUTO_READER = { 0 };
	enum status rc = objects_read(objects, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, OBJECT_VIEW);

	bind_text(rows, ":bucket", bucket);
	bind_text(rows, ":name", name);
	while (statement_next(rows, &rc, err))
		rc = object_view_add(&view, rows, bucket, name, err);
	if (rc)
		return rc;
	*ret_view = view;
	view = (struct object_view){ 0 };
	return STATUS_OK;
}

/* Reads the object to change, and checks the conditions. */
static enum status subject_get(struct connection *connection, const struct object_change *change,
			       struct object_row *ret_row, struct error *err)
{
	enum status rc =
		object_row_get(connection, change->bucket, change->name, change->generation, ret_row, err);

	return rc ? rc
		  : conditions_demand(change->conditions, ret_row->object.generation,
				      ret_row->object.metageneration, err);
}

/* The result of a change is the caller's only if it was committed. */
static enum status object_change_commit(struct objects *objects, group_run run, struct object_change *change,
					struct object *ret_object, struct error *err)
{
	enum status rc = objects_change(objects, run, change, err);

	if (rc) {
		object_deinit(&change->made);
		return rc;
	}
	*ret_object = change->made;
	return STATUS_OK;
}

static enum status object_update_run(struct connection *connection, int64_t now_ns, void *arg,
				     struct error *err)
{
	struct object_change *change = arg;
	struct object_row before AUTO_OBJECT_ROW = { 0 };
	struct object_row after AUTO_OBJECT_ROW = { 0 };
	enum status rc = subject_get(connection, change, &before, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *update = connection_statement(connection, OBJECT_UPDATE);

	bind_int(update, ":bucket", before.bucket);
	bind_text(update, ":name", change->name);
	bind_text(update, ":content_type", change->content_type);
	bind_text(update, ":metadata", change->metadata);
	bind_int(update, ":now", now_ns / 1000);
	rc = statement_run(update, err);
	if (!rc)
		rc = object_row_get(connection, change->bucket, change->name, 0, &after, err);
	if (rc)
		return rc;
	change->made = after.object;
	after.object = (struct object){ 0 };
	return STATUS_OK;
}

enum status object_update(struct objects *objects, const char *bucket, const char *name, int64_t generation,
			  const struct conditions *conditions, const char *content_type,
			  const json_t *metadata, struct object *ret_object, struct error *err)
{
	AUTO(string) char *text = metadata ? json_dump_compact(metadata) : memory_strdup("{}");
	struct object_change change = {
		.bucket = bucket,
		.name = name,
		.generation = generation,
		.conditions = conditions,
		.content_type = content_type,
		.metadata = text,
	};

	return object_change_commit(objects, object_update_run, &change, ret_object, err);
}

static enum status object_delete_run(struct connection *connection, int64_t now_ns, void *arg,
				     struct error *err)
{
	(void)now_ns;
	const struct object_change *change = arg;
	struct object_row row AUTO_OBJECT_ROW = { 0 };
	enum status rc = subject_get(connection, change, &row, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *delete = connection_statement(connection, OBJECT_DELETE);

	bind_int(delete, ":bucket", row.bucket);
	bind_text(delete, ":name", change->name);
	rc = statement_run(delete, err);
	return rc ? rc : post_commit_add(connection, change->bucket, change->name, row.blob, err);
}

enum status object_delete(struct objects *objects, const char *bucket, const char *name, int64_t generation,
			  const struct conditions *conditions, struct error *err)
{
	struct object_change change = {
		.bucket = bucket, .name = name, .generation = generation, .conditions = conditions
	};

	return objects_change(objects, object_delete_run, &change, err);
}

static enum status object_copy_run(struct connection *connection, int64_t now_ns, void *arg,
				   struct error *err)
{
	struct object_change *change = arg;
	const struct object_target *target = change->target;
	struct object_row source AUTO_OBJECT_ROW = { 0 };
	enum status rc = subject_get(connection, change, &source, err);

	if (rc)
		return rc;
	AUTO(string)
	char *metadata = change->metadata ? memory_strdup(change->metadata)
					  : json_dump_compact(source.object.metadata);
	const struct object_draft draft = {
		.bucket = target->bucket,
		.name = target->name,
		.conditions = &target->conditions,
		.content_type = change->replaces_metadata ? target->content_type : source.object.content_type,
		.metadata = metadata,
		.size_bytes = source.object.size_bytes,
		.crc32c = source.object.crc32c,
		.md5 = source.object.has_md5 ? source.object.md5 : NULL,
		.component_count = source.object.component_count,
		.blob = source.blob,
	};

	return object_put(connection, now_ns, &draft, &change->made, err);
}

/* Checks that the source exists, before a bucket is made for the copy. */
static enum status source_look(struct objects *objects, const struct object_change *change, struct error *err)
{
	struct object_row source AUTO_OBJECT_ROW = { 0 };
	struct reader reader AUTO_READER = { 0 };
	enum status rc = objects_read(objects, &reader, err);

	return rc ? rc : subject_get(reader.connection, change, &source, err);
}

enum status object_copy(struct objects *objects, const char *bucket, const char *name, int64_t generation,
			const struct conditions *source_conditions, const struct object_target *target,
			bool replaces_metadata, struct object *ret_object, struct error *err)
{
	AUTO(string) char *metadata = NULL;
	struct object_change change = {
		.objects = objects,
		.bucket = bucket,
		.name = name,
		.generation = generation,
		.conditions = source_conditions,
		.target = target,
		.replaces_metadata = replaces_metadata,
	};
	enum status rc = object_name_check(target->name, err);

	if (!rc)
		rc = source_look(objects, &change, err);
	if (!rc)
		rc = upload_target_check(objects, target, err);
	if (rc)
		return rc;
	if (replaces_metadata) {
		metadata = target->metadata ? json_dump_compact(target->metadata) : memory_strdup("{}");
		change.metadata = metadata;
	}
	return object_change_commit(objects, object_copy_run, &change, ret_object, err);
}
