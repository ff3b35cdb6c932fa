/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/object_copy.c: POST …/o/{object}/copyTo/…, /rewriteTo/… and /moveTo/….
 * Source: https://cloud.google.com/storage/docs/json_api/v1/objects/rewrite (read 2026-11-22) */
#include <string.h>

#include "api/message/message_write.h"
#include "api/storage/handlers.h"
#include "api/storage/messages.h"
#include "api/storage/parts.h"
#include "api/storage/resource.h"
#include "api/storage/storage.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"

/* Whether the form has only a storage class: all other metadata then come from the source. */
static bool is_class_only(const struct object_form *form)
{
	return json_object_get(form->metadata, "storageClass") && json_object_size(form->metadata) == 1 &&
	       !form->content_type;
}

static void class_only_fill(struct object_form *form, const struct object *source)
{
	json_t *storage_class = json_object_get(form->metadata, "storageClass");
	AUTO(json) json_t *metadata = json_copy(source->metadata);

	json_object_set(metadata, "storageClass", storage_class);
	json_decref(form->metadata);
	form->metadata = TAKE(metadata);
	form->content_type = source->content_type ? memory_strdup(source->content_type) : NULL;
}

/* If the body has no metadata, the source's are copied; otherwise the body's are complete. */
static enum status copy_make(const struct call *call, const struct object *source, int64_t generation,
			     const struct object_target *target, bool replaces_metadata,
			     struct object *ret_copy, struct error *err)
{
	const struct storage_context *context = call->context;
	const struct conditions source_conditions = source_conditions_read(call);
	enum status rc = bucket_name_check(target->bucket, err);

	if (rc)
		return rc;
	return object_copy(context->objects, source->bucket, source->name, generation, &source_conditions,
			   target, replaces_metadata, ret_copy, err);
}

static enum status copy_run(const struct call *call, struct object *ret_copy, struct error *err)
{
	const struct storage_context *context = call->context;
	struct object_form form AUTO_OBJECT_FORM = { 0 };
	struct object source AUTO_OBJECT = { 0 };
	struct object_target target = {
		.bucket = call_param(call, "destinationBucket"),
		.name = call_param(call, "destinationObject"),
		.conditions = conditions_read(call),
	};
	/* 0: the live generation. If the source is then replaced meanwhile, the new content is copied. */
	int64_t generation = generation_read(call, "sourceGeneration");
	enum status rc = caller_admit(call, err);

	if (!rc)
		rc = object_form_parse(call->raw, call->raw_bytes, &form, err);
	if (!rc)
		rc = object_get(context->objects, call_param(call, "sourceBucket"),
				call_param(call, "sourceObject"), generation, &source, err);
	if (!rc && is_class_only(&form)) {
		class_only_fill(&form, &source);
		generation = source.generation;
	}
	if (rc)
		return rc;
	object_form_metadata(&form, &target);
	return copy_make(call, &source, generation, &target,
			 form.content_type || json_object_size(form.metadata), ret_copy, err);
}

enum status objects_copy(struct call *call, struct error *err)
{
	struct object copy AUTO_OBJECT = { 0 };
	enum status rc = copy_run(call, &copy, err);

	return rc ? rc : object_answer(call, &copy, err);
}

enum status objects_rewrite(struct call *call, struct error *err)
{
	struct object copy AUTO_OBJECT = { 0 };
	struct writer answer;
	enum status rc = copy_run(call, &copy, err);

	if (rc)
		return rc;
	answer = message_open(&call->answer, &storage_rewrite_response);
	member_text(&answer, "kind", "storage#rewriteResponse");
	member_int(&answer, "totalBytesRewritten", copy.size_bytes);
	member_int(&answer, "objectSize", copy.size_bytes);
	member_bool(&answer, "done", true);
	object_write(member_begin(&answer, "resource"), call, &copy);
	message_close(&answer);
	return STATUS_OK;
}

/* Deletes the source after the copy was made. A source that was replaced or deleted meanwhile is left alone. */
static enum status source_delete(const struct call *call, const struct object *source, struct error *err)
{
	const struct storage_context *context = call->context;
	const struct conditions none = CONDITIONS_NONE;
	enum status rc =
		object_delete(context->objects, source->bucket, source->name, source->generation, &none, err);

	if (rc != STATUS_NOT_FOUND)
		return rc;
	error_deinit(err);
	return STATUS_OK;
}

enum status objects_move(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	const struct object_target target = {
		.bucket = call_param(call, "bucket"),
		.name = call_param(call, "destinationObject"),
		.conditions = conditions_read(call),
	};
	struct object source AUTO_OBJECT = { 0 };
	struct object moved AUTO_OBJECT = { 0 };
	enum status rc = caller_admit(call, err);

	if (!rc && strcmp(call_param(call, "sourceObject"), target.name) == 0)
		return error_parameter(err, "invalid", NULL,
				       "The source and destination objects must have different names.");
	if (!rc)
		rc = object_get(context->objects, target.bucket, call_param(call, "sourceObject"),
				generation_read(call, "sourceGeneration"), &source, err);
	if (!rc)
		rc = copy_make(call, &source, source.generation, &target, false, &moved, err);
	if (!rc)
		rc = source_delete(call, &source, err);
	return rc ? rc : object_answer(call, &moved, err);
}
