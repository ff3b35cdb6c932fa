/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/context.h"
#include "api/training/location_render.h"
#include "api/training/regions.h"

enum status location_get_handle(struct call *call, struct error *err)
{
	const char *name = call_param(call, "location");
	const struct region *region = region_find(name);
	enum status rc = training_project_check(call, "name", err);

	if (rc)
		return rc;
	if (!region)
		return error_set(err, STATUS_NOT_FOUND, "name",
				 "The location projects/%s/locations/%.100s could not be found.",
				 call_param(call, "project"), name);
	location_render(&call->answer, call_param(call, "project"), region);
	return STATUS_OK;
}
