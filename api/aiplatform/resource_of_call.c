/* SPDX-License-Identifier: Apache-2.0 */
/* Which resource a call is about. */
#include "api/aiplatform/aiplatform.h"
#include "api/training/forms.h"

struct resource resource_of_call(const struct call *call, enum job_kind kind, const char *param)
{
	return (struct resource){
		.kind = kind,
		.project = training_project(call),
		.location = call_param(call, "location"),
		.id = param ? call_param(call, param) : NULL,
	};
}

/* Choice: any name that a region could have, as the service gets new ones every year. */
enum status resource_parent_check(const struct call *call, struct error *err)
{
	const char *location = call_param(call, "location");
	enum status rc = training_project_check(call, "parent", err);

	if (!rc && !is_cloud_name(location))
		return error_set(err, STATUS_INVALID_ARGUMENT, "parent",
				 "'%.100s' is not the name of a location.", location);
	return rc;
}
