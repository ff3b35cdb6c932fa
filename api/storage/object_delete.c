/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/object_delete.c: DELETE /storage/v1/b/{bucket}/o/{object}. */
#include "api/storage/handlers.h"
#include "api/storage/parts.h"
#include "api/storage/storage.h"

enum status objects_delete(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	const struct conditions conditions = conditions_read(call);
	enum status rc = caller_admit(call, err);

	if (!rc)
		rc = object_delete(context->objects, call_param(call, "bucket"), call_param(call, "object"),
				   generation_read(call, "generation"), &conditions, err);
	if (!rc)
		call->http_status = 204;
	return rc;
}
