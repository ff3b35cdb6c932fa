/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/sessions.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/seeded_random.h"
#include "store/objects/uploads.h"

/* The columns of SESSION_GET, in its order. */
enum {
	COLUMN_BUCKET,
	COLUMN_NAME,
	COLUMN_CONTENT_TYPE,
	COLUMN_METADATA,
	COLUMN_CONDITIONS, /* four of them */
	COLUMN_CRC32C = COLUMN_CONDITIONS + 4,
	COLUMN_MD5,
	COLUMN_TOTAL,
	COLUMN_CREATED,
	COLUMN_BLOB,
	COLUMN_ANSWER,
};

struct session_row {
	struct upload_target wanted;
	int64_t total_bytes, created_us, blob;
	char *answer; /* NULL: the session goes on */
};

static void session_row_deinit(struct session_row *row)
{
	upload_target_deinit(&row->wanted);
	free(row->answer);
}
#define AUTO_SESSION_ROW __attribute__((cleanup(session_row_deinit)))

void session_deinit(struct session *session)
{
	free(session->bucket);
	free(session->name);
	object_deinit(&session->object);
	*session = (struct session){ 0 };
}

/* ---- rows ---- */

static enum status session_not_found(struct error *err)
{
	error_set(err, STATUS_NOT_FOUND, NULL, "No such upload session, or it has expired.");
	error_add_reason(err, "NoSuchUpload", NULL, NULL);
	return STATUS_NOT_FOUND;
}

static void row_copy(sqlite3_stmt *get, struct session_row *row)
{
	struct upload_target *wanted = &row->wanted;

	wanted->bucket = column_copy(get, COLUMN_BUCKET);
	wanted->name = column_copy(get, COLUMN_NAME);
	wanted->content_type = column_copy(get, COLUMN_CONTENT_TYPE);
	wanted->metadata = column_copy(get, COLUMN_METADATA);
	wanted->conditions.generation_match = sqlite3_column_int64(get, COLUMN_CONDITIONS);
	wanted->conditions.generation_not_match = sqlite3_column_int64(get, COLUMN_CONDITIONS + 1);
	wanted->conditions.metageneration_match = sqlite3_column_int64(get, COLUMN_CONDITIONS + 2);
	wanted->conditions.metageneration_not_match = sqlite3_column_int64(get, COLUMN_CONDITIONS + 3);
	wanted->expects_crc32c = sqlite3_column_type(get, COLUMN_CRC32C) != SQLITE_NULL;
	wanted->crc32c = (uint32_t)sqlite3_column_int64(get, COLUMN_CRC32C);
	wanted->expects_md5 = sqlite3_column_bytes(get, COLUMN_MD5) == sizeof(wanted->md5);
	if (wanted->expects_md5)
		memcpy(wanted->md5, sqlite3_column_blob(get, COLUMN_MD5), sizeof(wanted->md5));
	row->total_bytes = sqlite3_column_int64(get, COLUMN_TOTAL);
	row->created_us = sqlite3_column_int64(get, COLUMN_CREATED);
	row->blob = sqlite3_column_int64(get, COLUMN_BLOB);
	row->answer = column_copy(get, COLUMN_ANSWER);
}

static enum status row_get(struct connection *connection, const char *id, struct session_row *row,
			   struct error *err)
{
	AUTO(statement) sqlite3_stmt *get = connection_statement(connection, SESSION_GET);
	bool found = false;
	enum status rc;

	bind_text(get, ":id", id);
	rc = statement_step(get, &found, err);
	if (rc)
		return rc;
	if (!found)
		return session_not_found(err);
	row_copy(get, row);
	return STATUS_OK;
}

/* Reads the row of a session. NOT_FOUND, too, for one that has expired. */
static enum status row_read(struct objects *objects, const char *id, struct session_row *row,
			    struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = objects_read(objects, &reader, err);

	if (!rc)
		rc = row_get(reader.connection, id, row, err);
	if (!rc && row->created_us + SESSION_LIFETIME_US < clock_wall_us(objects->clock))
		rc = session_not_found(err);
	return rc;
}

/* ---- the calls ---- */

struct session_change {
	const char *id;
	const struct upload_target *wanted; /* for a session that begins: the object to be made */
	int64_t total_bytes, blob;
};

static enum status session_begin_run(struct connection *connection, int64_t now_ns, void *arg,
				     struct error *err)
{
	const struct session_change *change = arg;
	const struct upload_target *wanted = change->wanted;
	AUTO(statement) sqlite3_stmt *insert = connection_statement(connection, SESSION_INSERT);

	bind_text(insert, ":id", change->id);
	bind_text(insert, ":bucket", wanted->bucket);
	bind_text(insert, ":name", wanted->name);
	bind_text(insert, ":content_type", wanted->content_type);
	bind_text(insert, ":metadata", wanted->metadata);
	bind_int(insert, ":generation_match", wanted->conditions.generation_match);
	bind_int(insert, ":generation_not_match", wanted->conditions.generation_not_match);
	bind_int(insert, ":metageneration_match", wanted->conditions.metageneration_match);
	bind_int(insert, ":metageneration_not_match", wanted->conditions.metageneration_not_match);
	if (wanted->expects_crc32c)
		bind_int(insert, ":crc32c", wanted->crc32c);
	if (wanted->expects_md5)
		sqlite3_bind_blob(insert, sqlite3_bind_parameter_index(insert, ":md5"), wanted->md5,
				  sizeof(wanted->md5), SQLITE_STATIC);
	bind_int(insert, ":total", change->total_bytes);
	bind_int(insert, ":now", now_ns / 1000);
	bind_int(insert, ":blob", change->blob);
	return statement_run(insert, err);
}

void session_id_make(char *ret_id)
{
	unsigned char random[(SESSION_ID_SIZE - 1) / 2];

	seeded_random_draw(RANDOM_UPLOAD, random, sizeof(random));
	sodium_bin2hex(ret_id, SESSION_ID_SIZE, random, sizeof(random));
}

enum status session_begin(struct objects *objects, const struct object_target *target, int64_t total_bytes,
			  char ret_id[SESSION_ID_SIZE], struct error *err)
{
	struct upload_target wanted __attribute__((cleanup(upload_target_deinit))) = { 0 };
	struct session_change change = { .id = ret_id, .wanted = &wanted, .total_bytes = total_bytes };
	enum status rc = upload_target_check(objects, target, err);

	if (!rc)
		rc = objects_expire(objects, err);
	if (!rc)
		upload_target_copy(target, &wanted);
	if (rc)
		return rc;
	change.blob = blob_number_make(&objects->files);
	session_id_make(ret_id);
	return objects_change(objects, session_begin_run, &change, err);
}

enum status session_row_answer(struct connection *connection, const char *id, const struct object *object,
			       struct error *err)
{
	struct session_row row AUTO_SESSION_ROW = { 0 };
	char md5[33];
	enum status rc = row_get(connection, id, &row, err);

	if (rc == STATUS_NOT_FOUND || (!rc && row.answer))
		return error_set(err, STATUS_ABORTED, NULL, "The upload session has ended.");
	if (rc)
		return rc;
	sodium_bin2hex(md5, sizeof(md5), object->md5, sizeof(object->md5));
	AUTO(json)
	json_t *answer = json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "generation", (json_int_t)object->generation,
		"metageneration", (json_int_t)object->metageneration, "size", (json_int_t)object->size_bytes,
		"created", (json_int_t)object->created_us, "updated", (json_int_t)object->updated_us,
		"crc32c", (json_int_t)object->crc32c, "md5", md5);
	AUTO(string) char *text = json_dump_compact(answer);
	AUTO(statement) sqlite3_stmt *update = connection_statement(connection, SESSION_ANSWER);

	bind_text(update, ":id", id);
	bind_text(update, ":answer", text);
	return statement_run(update, err);
}

/* Reads the stored answer of a finished session: the object as it was then. */
static enum status answer_read(struct session_row *row, struct object *ret_object, struct error *err)
{
	AUTO(json) json_t *answer = NULL;
	struct object object AUTO_OBJECT = { 0 };
	enum status rc = json_parse_own(row->answer, &answer, err);
	const char *md5;

	if (!rc)
		rc = json_parse_own(row->wanted.metadata, &object.metadata, err);
	if (rc)
		return rc;
	object.bucket = TAKE(row->wanted.bucket);
	object.name = TAKE(row->wanted.name);
	object.content_type = TAKE(row->wanted.content_type);
	object.generation = json_int_at(answer, "generation", 0);
	object.metageneration = json_int_at(answer, "metageneration", 0);
	object.size_bytes = json_int_at(answer, "size", 0);
	object.created_us = json_int_at(answer, "created", 0);
	object.updated_us = json_int_at(answer, "updated", 0);
	object.crc32c = (uint32_t)json_int_at(answer, "crc32c", 0);
	md5 = json_text_at(answer, "md5");
	object.has_md5 = md5 && sodium_hex2bin(object.md5, sizeof(object.md5), md5, strlen(md5), NULL, NULL,
					       NULL) == 0;
	*ret_object = object;
	object = (struct object){ 0 };
	return STATUS_OK;
}

enum status session_get(struct objects *objects, const char *id, struct session *ret_session,
			struct error *err)
{
	struct session session AUTO_SESSION = { 0 };
	struct session_row row AUTO_SESSION_ROW = { 0 };
	enum status rc = row_read(objects, id, &row, err);

	if (rc)
		return rc;
	session.bucket = memory_strdup(row.wanted.bucket);
	session.name = memory_strdup(row.wanted.name);
	session.total_bytes = row.total_bytes;
	session.finished = row.answer;
	if (row.answer) {
		rc = answer_read(&row, &session.object, err);
		session.received_bytes = session.object.size_bytes;
	} else {
		rc = blob_upload_size(&objects->files, row.blob, &session.received_bytes, err);
	}
	if (rc)
		return rc;
	*ret_session = session;
	session = (struct session){ 0 };
	return STATUS_OK;
}

/* Opens the writer to continue at @position. A writer that was at rest rests again after a failure, because no caller
 * would close it. Call with the session held. */
static enum status blob_writer_open_at(struct blob_writer *writer, int64_t position, struct error *err)
{
	const bool rested = writer->fd < 0;
	enum status rc = blob_writer_open(writer, err);

	if (rc || position <= blob_writer_end(writer))
		return rc;
	rc = error_set(err, STATUS_OUT_OF_RANGE, NULL, "Only %lld bytes of this upload have arrived.",
		       (long long)blob_writer_end(writer));
	if (rested)
		blob_writer_rest(writer, NULL);
	return rc;
}

/* Prepares the writer for an upload that continues at its position. Call with the session held. */
static enum status blob_writer_take(struct upload *upload, struct error *err)
{
	struct session_row row AUTO_SESSION_ROW = { 0 };
	struct live_session *session = upload->session;
	enum status rc = row_read(upload->objects, session->id, &row, err);

	if (!rc && row.answer)
		rc = error_set(err, STATUS_ABORTED, NULL, "The upload session has ended.");
	if (rc)
		return rc;
	if (!session->is_known)
		blob_writer_init(&session->writer, &upload->objects->files, row.blob);
	session->is_known = true;
	session->created_us = row.created_us;
	rc = blob_writer_open_at(&session->writer, upload->position, err);
	if (rc)
		return rc;
	upload->turn = ++session->turn;
	upload->wanted = row.wanted;
	row.wanted = (struct upload_target){ 0 };
	return STATUS_OK;
}

enum status session_resume(struct objects *objects, const char *id, int64_t offset,
			   struct upload **ret_upload, struct error *err)
{
	AUTO(upload) struct upload *upload = NULL;
	struct live_session *session;
	enum status rc = objects_use(objects, err);

	if (rc)
		return rc;
	if (strlen(id) >= SESSION_ID_SIZE)
		return session_not_found(err);
	upload = memory_calloc(1, sizeof(*upload));
	session = live_session_enter(&objects->sessions, id);
	upload->objects = objects;
	upload->position = offset;
	upload->session = session;
	upload->turn = UINT64_MAX; /* never a session's turn, so this upload may not write yet */
	pthread_mutex_lock(&session->lock);
	rc = blob_writer_take(upload, err);
	pthread_mutex_unlock(&session->lock);
	if (rc == STATUS_NOT_FOUND || rc == STATUS_ABORTED)
		live_session_end(&objects->sessions, session);
	if (rc)
		return rc;
	*ret_upload = TAKE(upload);
	return STATUS_OK;
}

static enum status session_delete_run(struct connection *connection, int64_t now_ns, void *arg,
				      struct error *err)
{
	(void)now_ns;
	const struct session_change *change = arg;
	struct session_row row AUTO_SESSION_ROW = { 0 };
	enum status rc = row_get(connection, change->id, &row, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *delete = connection_statement(connection, SESSION_DELETE);

	bind_text(delete, ":id", change->id);
	rc = statement_run(delete, err);
	return rc ? rc : post_commit_add(connection, row.wanted.bucket, NULL, row.blob, err);
}

enum status session_delete(struct objects *objects, const char *id, struct error *err)
{
	struct session_change change = { .id = id };
	struct live_session *session;
	enum status rc = objects_change(objects, session_delete_run, &change, err);

	if (rc || strlen(id) >= SESSION_ID_SIZE)
		return rc;
	session = live_session_enter(&objects->sessions, id);
	live_session_end(&objects->sessions, session);
	live_session_leave(&objects->sessions, session);
	return STATUS_OK;
}
