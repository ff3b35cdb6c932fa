/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/download.c: downloads of an object's bytes by the JSON API. */
#include "api/storage/media_answer.h"
#include "api/storage/storage.h"

enum status objects_media_get(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	const struct conditions conditions = conditions_read(call);
	AUTO(object_reader) struct object_reader *reader = NULL;
	bool unchanged = false;
	enum status rc = caller_admit(call, err);

	if (!rc)
		rc = object_open(context->objects, call_param(call, "bucket"), call_param(call, "object"),
				 generation_read(call, "generation"), &reader, err);
	if (!rc)
		rc = conditions_answer(call, &conditions, object_reader_object(reader), &unchanged, err);
	if (rc || unchanged)
		return rc;
	return media_answer(call, MEDIA_JSON, TAKE(reader), err);
}
