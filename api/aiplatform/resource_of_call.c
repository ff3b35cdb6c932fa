/* SPDX-License-Identifier: Apache-2.0 */
/* Which resource a call is about. */
#include "api/aiplatform/aiplatform.h"
#include "api/training/forms.h"
#include "api/training/regions.h"
#include "daemon/base/text.h"

struct resource resource_of_call(const struct call *call, enum job_kind kind, const char *param)
{
	return (struct resource){
		.kind = kind,
		.project = training_project(call),
		.location = call_param(call, "location"),
		.id = param ? call_param(call, param) : NULL,
	};
}

/* The sentence is what an address of one region says of the others. Choice: here one address serves all of them, so that
 * only those are refused that no region has, and all are told that will do.
 * Source: https://github.com/kubeflow/pipelines/pull/6011 (read 2026-11-22) */
static enum status location_refuse(struct error *err)
{
	struct text known AUTO_TEXT = { 0 };

	for (const struct region *region = regions; region->name; region++)
		text_printf(&known, "%s`%s`", known.length ? ", " : "", region->name);
	if (known.failed)
		return error_no_memory(err);
	return error_add_listed(
		err, "parent",
		"The provided location ID doesn't match the endpoint. The valid location IDs are %s.",
		known.data);
}

enum status resource_parent_check(const struct call *call, struct error *err)
{
	const struct aiplatform_context *context = call->context;
	const char *location = call_param(call, "location");
	enum status rc = training_project_check(call, "parent", err);

	if (rc || region_find(location) || (context->settings.lenient && is_cloud_name(location)))
		return rc;
	return location_refuse(err);
}
