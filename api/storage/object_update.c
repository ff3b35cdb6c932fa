/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/object_update.c: PATCH and PUT /storage/v1/b/{bucket}/o/{object}. */
#include "api/storage/bucket_parts.h"
#include "api/storage/handlers.h"
#include "api/storage/messages.h"
#include "api/storage/resource.h"
#include "api/storage/storage.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"
#include "daemon/base/timestamp.h"

/* Makes the resource that a patch is applied to. Members that it lacks cannot be removed by the patch. */
static json_t *base_make(const struct object *object)
{
	AUTO(json) json_t *base = json_copy(object->metadata);

	if (object->content_type)
		json_object_set_new(base, "contentType", json_string(object->content_type));
	return TAKE(base);
}

/* Keeps the members that a patch cannot change: the storage class (which needs a rewrite), names and checksums. */
static enum status constants_keep(const struct object *object, json_t *metadata, struct error *err)
{
	json_t *storage_class = json_object_get(object->metadata, "storageClass");
	static const char *const constants[] = { "name", "crc32c", "md5Hash", "storageClass" };

	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		json_object_del(metadata, constants[i]);
	if (storage_class)
		json_object_set(metadata, "storageClass", storage_class);
	return metadata_size_check(metadata, err);
}

/* "2026-02-01T00:00:00.5": a time without its zone. */
static void moment_write(struct text *text, int64_t wall_ns)
{
	text_time_nanos(text, wall_ns);
	text->length--; /* the Z */
	while (text->data[text->length - 1] == '0')
		text->length--;
	if (text->data[text->length - 1] == '.')
		text->length--;
	text->data[text->length] = '\0';
}

static enum status custom_time_refuse(int64_t before_ns, int64_t after_ns, struct error *err)
{
	struct text before AUTO_TEXT = { 0 };
	struct text after AUTO_TEXT = { 0 };

	moment_write(&before, before_ns);
	moment_write(&after, after_ns);
	return error_parameter(
		err, "invalid", NULL,
		"Custom time cannot be decreased. Previously: %s+00:00. Attempting to set: %s+00:00.",
		before.data, after.data);
}

/* Once customTime is set, it cannot be removed or set to an earlier time; an update that does not name it keeps it.
 * Source: https://cloud.google.com/storage/docs/metadata#custom-time (read 2026-11-25); the words:
 * https://github.com/floci-io/floci-gcp, GcsCustomTime.java */
static enum status custom_time_keep(const struct object *object, const json_t *given, json_t *metadata,
				    struct error *err)
{
	static const char name[] = "customTime";
	json_t *stored = json_object_get(object->metadata, name);
	const char *after = json_text_at(metadata, name);
	int64_t before_ns, after_ns;

	if (!stored)
		return STATUS_OK;
	if (json_is_null(json_object_get(given, name)))
		return error_parameter(err, "invalid", NULL, "Custom time cannot be removed.");
	if (!after)
		json_object_set(metadata, name, stored);
	if (after && time_parse(json_string_value(stored), &before_ns) && time_parse(after, &after_ns) &&
	    after_ns < before_ns)
		return custom_time_refuse(before_ns, after_ns, err);
	return STATUS_OK;
}

static enum status metadata_make(const struct object *object, enum change change, const json_t *given,
				 json_t **ret_metadata, struct error *err)
{
	AUTO(json) json_t *base = change == CHANGE_MERGES ? base_make(object) : json_object();
	AUTO(json) json_t *metadata = NULL;
	enum status rc;

	rc = resource_merge(&storage_object, base, given, &metadata, err);
	if (!rc)
		rc = custom_time_keep(object, given, metadata, err);
	if (!rc)
		rc = constants_keep(object, metadata, err);
	if (!rc)
		*ret_metadata = TAKE(metadata);
	return rc;
}

static enum status metadata_put(struct call *call, const struct object *object, json_t *metadata,
				bool *ret_again, struct error *err)
{
	const struct storage_context *context = call->context;
	const struct conditions seen = {
		.generation_match = object->generation,
		.generation_not_match = -1,
		.metageneration_match = object->metageneration,
		.metageneration_not_match = -1,
	};
	AUTO(string) char *content_type = resource_take(metadata, "contentType");
	struct object changed AUTO_OBJECT = { 0 };
	enum status rc = object_update(context->objects, object->bucket, object->name, 0, &seen, content_type,
				       metadata, &changed, err);

	*ret_again = rc == STATUS_FAILED_PRECONDITION;
	return rc ? rc : object_answer(call, &changed, err);
}

/* A change_try. */
static enum status object_change(struct call *call, enum change change, const json_t *given, bool *ret_again,
				 struct error *err)
{
	const struct storage_context *context = call->context;
	const struct conditions asked = conditions_read(call);
	struct object object AUTO_OBJECT = { 0 };
	AUTO(json) json_t *metadata = NULL;
	enum status rc = object_get(context->objects, call_param(call, "bucket"), call_param(call, "object"),
				    generation_read(call, "generation"), &object, err);

	if (!rc && conditions_check(&asked, object.generation, object.metageneration) != CONDITIONS_HOLD)
		rc = error_conditions(err);
	if (!rc)
		rc = metadata_make(&object, change, given, &metadata, err);
	return rc ? rc : metadata_put(call, &object, metadata, ret_again, err);
}

enum status objects_patch(struct call *call, struct error *err)
{
	return resource_change(call, object_change, CHANGE_MERGES, err);
}

enum status objects_update(struct call *call, struct error *err)
{
	return resource_change(call, object_change, CHANGE_REPLACES, err);
}
