/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/bucket_insert.c: POST /storage/v1/b. */
#include <ctype.h>
#include <string.h>

#include "api/storage/bucket_parts.h"
#include "api/storage/bucket_rules.h"
#include "api/storage/handlers.h"
#include "api/storage/messages.h"
#include "api/storage/resource.h"
#include "api/storage/storage.h"
#include "daemon/base/json.h"

/* Choice: METADATA_MAX_BYTES, so that a page of a thousand buckets stays small. */
enum { LABELS_MAX = 64, METADATA_MAX_BYTES = 64 << 10 };

enum status bucket_name_check(const char *name, struct error *err)
{
	if (bucket_name_valid(name))
		return STATUS_OK;
	return error_parameter(err, "invalid", NULL, "Invalid bucket name: '%.300s'", name);
}

enum status bucket_rules_check(json_t *metadata, struct error *err)
{
	if (json_object_size(json_object_get(metadata, "labels")) > LABELS_MAX)
		return error_parameter(err, "invalid", NULL, "A bucket can have at most %d labels.",
				       LABELS_MAX);
	if (json_dumpb(metadata, NULL, 0, JSON_COMPACT) > METADATA_MAX_BYTES)
		return error_parameter(err, "invalid", NULL,
				       "The metadata of a bucket are limited to %d bytes.",
				       METADATA_MAX_BYTES);
	return storage_class_read(metadata, err);
}

/* Locations are returned in capitals, however they were given. */
static enum status location_raise(json_t *metadata, struct error *err)
{
	AUTO(string) char *location = resource_take(metadata, "location");

	for (char *c = location; c && *c; c++) {
		if (!isalnum((unsigned char)*c) && *c != '-')
			return error_parameter(err, "invalid", NULL,
					       "The specified location constraint is not valid.");
		*c = (char)toupper((unsigned char)*c);
	}
	if (location)
		json_object_set_new(metadata, "location", json_string(location));
	return STATUS_OK;
}

static enum status bucket_make(struct call *call, const char *project, const char *name, json_t *metadata,
			       struct error *err)
{
	const struct storage_context *context = call->context;
	struct bucket bucket AUTO_BUCKET = { 0 };
	enum status rc = bucket_name_check(name, err);

	if (!rc)
		rc = location_raise(metadata, err);
	if (!rc)
		rc = bucket_rules_check(metadata, err);
	if (!rc)
		rc = bucket_insert(context->objects, project, name, metadata, &bucket, err);
	return rc ? rc : bucket_answer(call, &bucket, err);
}

enum status buckets_insert(struct call *call, struct error *err)
{
	AUTO(json) json_t *given = NULL;
	AUTO(json) json_t *metadata = NULL;
	AUTO(string) char *name = NULL;
	const char *project;
	enum status rc = caller_admit(call, err);

	if (!rc)
		rc = project_read(call, &project, err);
	if (!rc)
		rc = resource_parse(call->raw, call->raw_bytes, &given, err);
	if (!rc)
		rc = resource_merge(&storage_bucket, NULL, given, &metadata, err);
	if (rc)
		return rc;
	name = resource_take(metadata, "name");
	if (!name)
		return error_parameter(err, "required", NULL, "Required");
	return bucket_make(call, project, name, metadata, err);
}
