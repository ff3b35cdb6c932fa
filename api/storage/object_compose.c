/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/object_compose.c: POST …/o/{object}/compose.
 * Source: https://cloud.google.com/storage/docs/json_api/v1/objects/compose (read 2026-11-22) */
#include <string.h>

#include "api/storage/handlers.h"
#include "api/storage/messages.h"
#include "api/storage/parts.h"
#include "api/storage/resource.h"
#include "api/storage/storage.h"
#include "daemon/base/json.h"

enum { SOURCES_MAX = 32 };

struct sources {
	struct compose_source each[SOURCES_MAX];
	size_t count;
};

static enum status source_read(const json_t *given, struct compose_source *ret_source, struct error *err)
{
	const json_t *preconditions = json_object_get(given, "objectPreconditions");

	*ret_source = (struct compose_source){
		.name = json_text_at(given, "name"),
		.generation = json_int_at(given, "generation", 0),
		.generation_match = condition_of(preconditions, "ifGenerationMatch"),
	};
	if (ret_source->name)
		return STATUS_OK;
	return error_parameter(err, "required", NULL, "Source object names must be non-empty.");
}

static enum status sources_read(const json_t *request, struct sources *ret_sources, struct error *err)
{
	const json_t *given = json_object_get(request, "sourceObjects");
	const size_t count = json_array_size(given);

	ret_sources->count = 0;
	if (count == 0)
		return error_parameter(err, "required", NULL,
				       "You must provide at least one source component.");
	if (count > SOURCES_MAX)
		return error_parameter(
			err, "invalid", NULL,
			"The number of source components provided (%zu) exceeds the maximum (%d)", count,
			SOURCES_MAX);
	for (size_t i = 0; i < count; i++) {
		enum status rc = source_read(json_array_get(given, i), &ret_sources->each[i], err);

		if (rc)
			return rc;
		ret_sources->count++;
	}
	return STATUS_OK;
}

/* Only the objects that were joined are deleted afterwards, not new ones with the same names. */
static enum status sources_pin(const struct call *call, struct sources *sources, struct error *err)
{
	const struct storage_context *context = call->context;

	for (size_t i = 0; i < sources->count; i++) {
		struct compose_source *source = &sources->each[i];
		struct object object AUTO_OBJECT = { 0 };
		enum status rc = object_get(context->objects, call_param(call, "bucket"), source->name,
					    source->generation, &object, err);

		if (rc)
			return rc;
		source->generation = object.generation;
	}
	return STATUS_OK;
}

static enum status sources_delete(const struct call *call, const struct sources *sources, struct error *err)
{
	const struct storage_context *context = call->context;
	const struct conditions none = CONDITIONS_NONE;

	for (size_t i = 0; i < sources->count; i++) {
		const struct compose_source *source = &sources->each[i];
		enum status rc = object_delete(context->objects, call_param(call, "bucket"), source->name,
					       source->generation, &none, err);

		if (rc && rc != STATUS_NOT_FOUND)
			return rc;
		error_deinit(err);
	}
	return STATUS_OK;
}

static enum status compose_run(struct call *call, const json_t *request, struct object *ret_object,
			       struct error *err)
{
	const struct storage_context *context = call->context;
	const bool deletes = json_true_at(request, "deleteSourceObjects");
	struct object_form form AUTO_OBJECT_FORM = { 0 };
	struct object_target target = {
		.bucket = call_param(call, "bucket"),
		.name = call_param(call, "object"),
		.conditions = conditions_read(call),
	};
	struct sources sources;
	enum status rc = sources_read(request, &sources, err);

	if (!rc)
		rc = object_form_read(json_object_get(request, "destination"), &form, err);
	if (!rc && deletes)
		rc = sources_pin(call, &sources, err);
	if (rc)
		return rc;
	object_form_metadata(&form, &target);
	rc = object_compose(context->objects, sources.each, sources.count, &target, ret_object, err);
	return rc || !deletes ? rc : sources_delete(call, &sources, err);
}

enum status objects_compose(struct call *call, struct error *err)
{
	AUTO(json) json_t *given = NULL;
	AUTO(json) json_t *request = NULL;
	struct object object AUTO_OBJECT = { 0 };
	enum status rc = caller_admit(call, err);

	if (!rc)
		rc = resource_parse(call->raw, call->raw_bytes, &given, err);
	if (!rc)
		rc = resource_merge(&storage_compose_request, NULL, given, &request, err);
	if (!rc)
		rc = compose_run(call, request, &object, err);
	return rc ? rc : object_answer(call, &object, err);
}
