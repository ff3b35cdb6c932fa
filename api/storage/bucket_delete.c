/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/bucket_delete.c: DELETE /storage/v1/b/{bucket}. */
#include "api/storage/bucket_parts.h"
#include "api/storage/handlers.h"
#include "api/storage/storage.h"

enum status buckets_delete(struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	const struct conditions conditions = bucket_conditions_read(call);
	enum status rc = caller_admit(call, err);

	if (!rc)
		rc = bucket_delete(context->objects, call_param(call, "bucket"), &conditions, err);
	if (!rc)
		call->http_status = 204;
	return rc;
}
