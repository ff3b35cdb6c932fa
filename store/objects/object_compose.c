/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "daemon/base/crc32c.h"
#include "store/objects/uploads.h"

enum { SOURCES_MAX = 32 };

/* The state of joining. */
struct composition {
	struct objects *objects;
	const struct upload_target *wanted;
	int64_t blob, size_bytes;
	uint32_t crc32c;
	unsigned component_count;
	struct object object;
};

/* Source: https://cloud.google.com/storage/docs/composite-objects and the service's answer that is quoted in
 * https://github.com/fsouza/fake-gcs-server/pull/1254 */
static enum status count_check(size_t count, struct error *err)
{
	if (count == 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "You must provide at least one source component.");
	if (count > SOURCES_MAX)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "The number of source components provided (%zu) exceeds the maximum (%d)",
				 count, SOURCES_MAX);
	return STATUS_OK;
}

static enum status source_append(struct composition *composition, const struct compose_source *source, int fd,
				 struct error *err)
{
	AUTO(object_reader) struct object_reader *reader = NULL;
	const struct conditions conditions = { source->generation_match, -1, -1, -1 };
	const struct object *object;
	enum status rc = object_open(composition->objects, composition->wanted->bucket, source->name,
				     source->generation, &reader, err);

	if (rc)
		return rc;
	object = object_reader_object(reader);
	rc = conditions_demand(&conditions, object->generation, object->metageneration, err);
	if (!rc)
		rc = object_reader_append(reader, fd, composition->size_bytes, err);
	if (rc)
		return rc;
	composition->crc32c =
		crc32c_concat(composition->crc32c, object->crc32c, (uint64_t)object->size_bytes);
	composition->size_bytes += object->size_bytes;
	composition->component_count += object->component_count ? object->component_count : 1;
	return STATUS_OK;
}

static enum status sources_append(struct composition *composition, const struct compose_source *sources,
				  size_t count, struct error *err)
{
	int fd;
	enum status rc = blob_upload_open(&composition->objects->files, composition->blob, &fd, err);

	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < count; i++)
		rc = source_append(composition, &sources[i], fd, err);
	close(fd);
	return rc;
}

static enum status object_compose_run(struct connection *connection, int64_t now_ns, void *arg,
				      struct error *err)
{
	struct composition *composition = arg;
	const struct upload_target *wanted = composition->wanted;
	const struct object_draft draft = {
		.bucket = wanted->bucket,
		.name = wanted->name,
		.conditions = &wanted->conditions,
		.content_type = wanted->content_type,
		.metadata = wanted->metadata,
		.size_bytes = composition->size_bytes,
		.crc32c = composition->crc32c,
		.component_count = composition->component_count,
		.blob = composition->blob,
	};

	return object_put(connection, now_ns, &draft, &composition->object, err);
}

enum status object_compose(struct objects *objects, const struct compose_source *sources, size_t count,
			   const struct object_target *target, struct object *ret_object, struct error *err)
{
	struct upload_target wanted __attribute__((cleanup(upload_target_deinit))) = { 0 };
	struct composition composition = { .objects = objects, .wanted = &wanted };
	enum status rc = count_check(count, err);

	if (!rc)
		rc = object_name_check(target->name, err);
	if (!rc)
		rc = target_look(objects, target, err); /* a missing bucket is not made, because the sources must be in it */
	if (!rc)
		upload_target_copy(target, &wanted);
	if (rc)
		return rc;
	composition.blob = blob_number_make(&objects->files);
	rc = sources_append(&composition, sources, count, err);
	if (!rc)
		rc = crc32c_check(&wanted, composition.crc32c, err);
	if (!rc)
		rc = objects_change(objects, object_compose_run, &composition, err);
	if (rc) {
		object_deinit(&composition.object);
		blob_remove(&objects->files, composition.blob);
		return rc;
	}
	blob_move_to_place(&objects->files, composition.blob);
	*ret_object = composition.object;
	return STATUS_OK;
}
