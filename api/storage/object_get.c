/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/object_get.c: GET /storage/v1/b/{bucket}/o/{object}. */
#include <string.h>

#include "api/storage/bucket_parts.h"
#include "api/storage/handlers.h"
#include "api/storage/storage.h"

static enum status resource_get(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	const struct conditions conditions = conditions_read(call);
	struct object object AUTO_OBJECT = { 0 };
	bool unchanged = false;
	enum status rc = object_get(context->objects, call_param(call, "bucket"), call_param(call, "object"),
				    generation_read(call, "generation"), &object, err);

	if (!rc)
		rc = conditions_answer(call, &conditions, &object, &unchanged, err);
	return rc || unchanged ? rc : object_answer(call, &object, err);
}

enum status objects_get(struct call *call, struct error *err)
{
	const char *alt = call_query(call, "alt");
	enum status rc = caller_admit(call, err);

	if (!rc)
		rc = soft_deleted_refuse(call, err);
	if (rc)
		return rc;
	if (alt && strcmp(alt, "media") == 0)
		return objects_media_get(call, err);
	if (alt && *alt && strcmp(alt, "json") != 0)
		return error_parameter(err, "invalidParameter", "alt",
				       "Invalid value '%.64s' for parameter alt.", alt);
	return resource_get(call, err);
}

enum status objects_insert_refuse(struct call *call, struct error *err)
{
	enum status rc = caller_admit(call, err);

	if (rc)
		return rc;
	return error_parameter(err, "wrongUrlForUpload", NULL,
			       "Upload requests must include an uploadType URL parameter and a URL path "
			       "beginning with /upload/");
}
