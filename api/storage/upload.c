/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/upload.c: chooses the handler for a POST to /upload/… by its uploadType. */
#include "api/storage/upload.h"

#include <string.h>

enum { WAY_COUNT = 3 };

static const struct way {
	const char *type;
	call_handler begin, run;
} ways[WAY_COUNT] = {
	{ "media", upload_media_begin, upload_media },
	{ "multipart", upload_multipart_begin, upload_multipart },
	{ "resumable", resource_intake_begin, upload_session_start },
};

static const struct way *way_find(const struct call *call)
{
	const char *type = call_query(call, "uploadType");

	for (size_t i = 0; type && i < WAY_COUNT; i++)
		if (strcmp(ways[i].type, type) == 0)
			return &ways[i];
	return NULL;
}

static bool goes_on(const struct call *call)
{
	return call_query(call, "upload_id") != NULL;
}

enum status objects_insert_begin(struct call *call, struct error *err)
{
	const struct way *way = way_find(call);
	enum status rc;

	if (goes_on(call))
		return objects_resume_begin(call, err);
	rc = caller_admit(call, err);
	if (rc)
		return rc;
	if (!way)
		return error_parameter(
			err, "badRequest", "uploadType",
			"Upload requests must include an uploadType URL parameter and a URL path "
			"beginning with /upload/");
	rc = bucket_name_check(call_param(call, "bucket"), err);
	return rc ? rc : way->begin(call, err);
}

enum status objects_insert(struct call *call, struct error *err)
{
	return goes_on(call) ? objects_resume(call, err) : way_find(call)->run(call, err);
}
