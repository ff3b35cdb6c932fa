/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/uploads.h"

#include <endian.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "store/objects/sessions.h"

void upload_target_deinit(struct upload_target *wanted)
{
	free(wanted->bucket);
	free(wanted->name);
	free(wanted->content_type);
	free(wanted->metadata);
	*wanted = (struct upload_target){ 0 };
}

void upload_target_copy(const struct object_target *target, struct upload_target *ret_wanted)
{
	struct upload_target wanted = {
		.bucket = memory_strdup(target->bucket),
		.name = memory_strdup(target->name),
		.conditions = target->conditions,
		.content_type = target->content_type ? memory_strdup(target->content_type) : NULL,
		.metadata = target->metadata ? json_dump_compact(target->metadata) : memory_strdup("{}"),
		.expects_crc32c = target->expects_crc32c,
		.expects_md5 = target->expects_md5,
		.crc32c = target->crc32c,
	};

	memcpy(wanted.md5, target->md5, sizeof(wanted.md5));
	*ret_wanted = wanted;
}

enum status target_look(struct objects *objects, const struct object_target *target, struct error *err)
{
	struct object_row row AUTO_OBJECT_ROW = { 0 };
	struct reader reader AUTO_READER = { 0 };
	enum status rc = objects_read(objects, &reader, err);

	if (!rc)
		rc = object_row_find(reader.connection, target->bucket, target->name, &row, err);
	return rc ? rc
		  : conditions_demand(&target->conditions, row.object.generation, row.object.metageneration,
				      err);
}

enum status upload_target_check(struct objects *objects, const struct object_target *target,
				struct error *err)
{
	struct error cause AUTO_ERROR = { 0 };
	enum status rc = object_name_check(target->name, err);

	if (rc)
		return rc;
	rc = target_look(objects, target, &cause);
	if (rc != STATUS_NOT_FOUND)
		return rc ? error_move(err, &cause) : rc;
	/* The bucket will be made on the first write; until then no object exists, and the conditions are checked
	 * against that. */
	rc = objects->auto_project ? conditions_demand(&target->conditions, 0, 0, err) : STATUS_OK;
	return rc ? rc : bucket_ensure(objects, target->bucket, err);
}

enum status upload_begin(struct objects *objects, const struct object_target *target,
			 struct upload **ret_upload, struct error *err)
{
	enum status rc = upload_target_check(objects, target, err);

	if (rc)
		return rc;
	AUTO(upload) struct upload *upload = memory_calloc(1, sizeof(*upload));

	upload->objects = objects;
	blob_writer_init(&upload->own, &objects->files, blob_number_make(&objects->files));
	upload_target_copy(target, &upload->wanted);
	rc = blob_writer_open(&upload->own, err);
	if (rc)
		return rc;
	*ret_upload = TAKE(upload);
	return STATUS_OK;
}

/* Returns the session's writer, locked against callers that take the session over. Release with sink_let_go(). */
static struct blob_writer *sink_hold(struct upload *upload)
{
	if (!upload->session)
		return &upload->own;
	pthread_mutex_lock(&upload->session->lock);
	return &upload->session->writer;
}

static void sink_let_go(struct upload *upload)
{
	if (upload->session)
		pthread_mutex_unlock(&upload->session->lock);
}

static bool has_turn(const struct upload *upload)
{
	return !upload->session || upload->session->turn == upload->turn;
}

/* Checks that the upload can continue. Call with the writer held. */
static enum status upload_check(const struct upload *upload, struct error *err)
{
	const struct error *failure = &upload->failure;

	if (failure->status) {
		error_set(err, failure->status, NULL, "%s", failure->text ? failure->text : "");
		if (failure->reason)
			error_add_reason(err, failure->reason, NULL, NULL);
		return failure->status;
	}
	if (upload->finished)
		return error_set(err, STATUS_INTERNAL, NULL, "the upload is finished already");
	if (!has_turn(upload))
		return error_set(err, STATUS_ABORTED, NULL,
				 "The upload session was taken over by another request, or cancelled.");
	return STATUS_OK;
}

/* Remembers a failure, so that nothing can follow it. */
static enum status upload_fail(struct upload *upload, struct error *failure, struct error *err)
{
	error_move(&upload->failure, failure);
	return upload_check(upload, err);
}

/* Writes @data, without those of its bytes that the session has already. */
static enum status bytes_write(struct upload *upload, struct blob_writer *writer, const char *data,
			       size_t length, struct error *err)
{
	int64_t known = blob_writer_end(writer) - upload->position;
	size_t passed = known <= 0 ? 0 : known < (int64_t)length ? (size_t)known : length;
	enum status rc = blob_writer_write(writer, data + passed, length - passed, err);

	if (!rc)
		upload->position += (int64_t)length;
	return rc;
}

enum status upload_write(struct upload *upload, const char *data, size_t length, struct error *err)
{
	struct error failure AUTO_ERROR = { 0 };
	struct blob_writer *writer = sink_hold(upload);
	enum status rc = upload_check(upload, err);

	if (!rc && length > 0 && bytes_write(upload, writer, data, length, &failure))
		rc = upload_fail(upload, &failure, err);
	sink_let_go(upload);
	return rc;
}

void upload_expect_crc32c(struct upload *upload, uint32_t crc32c)
{
	upload->wanted.expects_crc32c = true;
	upload->wanted.crc32c = crc32c;
}

void upload_expect_md5(struct upload *upload, const unsigned char md5[16])
{
	upload->wanted.expects_md5 = true;
	memcpy(upload->wanted.md5, md5, sizeof(upload->wanted.md5));
}

/* "Provided MD5 hash "x" doesn't match calculated MD5 hash "y".": both in base64, as in the metadata. */
static enum status checksum_differs(const char *what, const void *provided, const void *calculated,
				    size_t size, struct error *err)
{
	char texts[2][32];

	sodium_bin2base64(texts[0], sizeof(texts[0]), provided, size, sodium_base64_VARIANT_ORIGINAL);
	sodium_bin2base64(texts[1], sizeof(texts[1]), calculated, size, sodium_base64_VARIANT_ORIGINAL);
	error_set(err, STATUS_INVALID_ARGUMENT, NULL, "Provided %s \"%s\" doesn't match calculated %s \"%s\".", what,
		  texts[0], what, texts[1]);
	error_add_reason(err, "BadDigest", NULL, NULL);
	return STATUS_INVALID_ARGUMENT;
}

enum status crc32c_check(const struct upload_target *wanted, uint32_t crc32c, struct error *err)
{
	const uint32_t provided = htobe32(wanted->crc32c), calculated = htobe32(crc32c);

	if (!wanted->expects_crc32c || wanted->crc32c == crc32c)
		return STATUS_OK;
	return checksum_differs("CRC32C", &provided, &calculated, sizeof(provided), err);
}

static enum status checksums_check(const struct upload_target *wanted, const struct checksums *sums,
				   struct error *err)
{
	if (wanted->expects_md5 && memcmp(wanted->md5, sums->md5, sizeof(wanted->md5)) != 0)
		return checksum_differs("MD5 hash", wanted->md5, sums->md5, sizeof(wanted->md5), err);
	return crc32c_check(wanted, sums->crc32c, err);
}

enum status upload_sums(struct upload *upload, struct checksums *ret_sums, struct error *err)
{
	enum status rc = upload_check(upload, err);

	if (!rc)
		rc = blob_writer_finish(&upload->own, ret_sums, err);
	return rc ? rc : checksums_check(&upload->wanted, ret_sums, err);
}

struct upload_change {
	struct upload *upload;
	const struct blob_writer *writer;
	const struct checksums *sums;
	struct object object;
};

static enum status upload_finish_run(struct connection *connection, int64_t now_ns, void *arg,
				     struct error *err)
{
	struct upload_change *change = arg;
	const struct upload_target *wanted = &change->upload->wanted;
	const struct object_draft draft = {
		.bucket = wanted->bucket,
		.name = wanted->name,
		.conditions = &wanted->conditions,
		.content_type = wanted->content_type,
		.metadata = wanted->metadata,
		.size_bytes = change->writer->written,
		.crc32c = change->sums->crc32c,
		.md5 = change->sums->md5,
		.blob = change->writer->blob,
	};
	enum status rc = object_put(connection, now_ns, &draft, &change->object, err);

	if (rc || !change->upload->session)
		return rc;
	return session_row_answer(connection, change->upload->session->id, &change->object, err);
}

static enum status upload_commit(struct upload *upload, struct blob_writer *writer, struct object *ret_object,
				 struct error *err)
{
	struct checksums sums;
	struct upload_change change = { .upload = upload, .writer = writer, .sums = &sums };
	enum status rc = blob_writer_finish(writer, &sums, err);

	if (!rc)
		rc = checksums_check(&upload->wanted, &sums, err);
	if (!rc)
		rc = objects_change(upload->objects, upload_finish_run, &change, err);
	if (rc) {
		object_deinit(&change.object);
		return rc;
	}
	blob_move_to_place(&upload->objects->files, writer->blob);
	*ret_object = change.object;
	return STATUS_OK;
}

/* Whether a session that failed so can never become an object: its bytes are wrong, its conditions do not hold, or its
 * bucket is gone. */
static bool is_final(enum status status)
{
	return status == STATUS_INVALID_ARGUMENT || status == STATUS_FAILED_PRECONDITION ||
	       status == STATUS_NOT_FOUND;
}

enum status upload_finish(struct upload *upload, struct object *ret_object, struct error *err)
{
	struct error failure AUTO_ERROR = { 0 };
	struct blob_writer *writer = sink_hold(upload);
	enum status rc = upload_check(upload, err);

	if (!rc && upload_commit(upload, writer, ret_object, &failure))
		rc = upload_fail(upload, &failure, err);
	else if (!rc)
		upload->finished = true;
	if (upload->session && upload->finished)
		upload->session->has_object = true;
	sink_let_go(upload);
	if (!upload->session)
		return rc;
	if (upload->finished)
		live_session_end(&upload->objects->sessions, upload->session);
	else if (is_final(rc))
		session_delete(upload->objects, upload->session->id, NULL);
	return rc;
}

static void session_upload_end(struct upload *upload)
{
	struct blob_writer *writer = sink_hold(upload);

	if (has_turn(upload))
		blob_writer_rest(writer, NULL);
	sink_let_go(upload);
	live_session_leave(&upload->objects->sessions, upload->session);
}

void upload_free(struct upload *upload)
{
	if (!upload)
		return;
	if (upload->session)
		session_upload_end(upload);
	else if (!upload->finished && upload->own.files)
		blob_writer_discard(&upload->own);
	upload_target_deinit(&upload->wanted);
	error_deinit(&upload->failure);
	free(upload);
}

enum status session_park(struct upload *upload, int64_t *ret_received_bytes, struct error *err)
{
	struct blob_writer *writer = sink_hold(upload);
	enum status rc = has_turn(upload) ? blob_writer_rest(writer, err) : upload_check(upload, err);

	if (!rc)
		*ret_received_bytes = writer->written;
	sink_let_go(upload);
	upload_free(upload);
	return rc;
}
