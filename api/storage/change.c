/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/change.c: PATCH and PUT of metadata: read, modified, and written unless another change came first. */
#include "api/storage/bucket_parts.h"
#include "api/storage/resource.h"
#include "daemon/base/json.h"

/* How often a change is tried again because another request changed the resource between its reading and its writing. */
enum { TRIES_MAX = 32 };

enum status resource_change(struct call *call, change_try try_once, enum change change, struct error *err)
{
	AUTO(json) json_t *given = NULL;
	bool again = true;
	enum status rc = caller_admit(call, err);

	if (!rc)
		rc = resource_parse(call->raw, call->raw_bytes, &given, err);
	if (rc)
		return rc;
	for (unsigned tries = 0; again && tries < TRIES_MAX; tries++) {
		again = false;
		rc = try_once(call, change, given, &again, err);
	}
	return rc;
}
