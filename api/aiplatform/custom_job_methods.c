/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of custom jobs that are those of every resource. */
#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/messages.h"
#include "api/aiplatform/to_plan.h"

const struct resource_methods custom_job_methods = {
	.kind = KIND_CUSTOM,
	.param = "customJob",
	.message = &aiplatform_custom_job,
	.spec = "jobSpec",
	.check = custom_job_rules_check,
	.to_plan = custom_job_to_plan,
	.render = custom_job_render,
};

enum status custom_job_create_handle(struct call *call, struct error *err)
{
	return resource_create_answer(call, &custom_job_methods, err);
}

enum status custom_job_get_handle(struct call *call, struct error *err)
{
	return resource_get_answer(call, &custom_job_methods, err);
}

enum status custom_job_list_handle(struct call *call, struct error *err)
{
	return resource_list_answer(call, &custom_job_methods, err);
}

enum status custom_job_delete_handle(struct call *call, struct error *err)
{
	return resource_delete_answer(call, &custom_job_methods, err);
}

enum status custom_job_cancel_handle(struct call *call, struct error *err)
{
	return resource_cancel_answer(call, &custom_job_methods, err);
}

enum status custom_job_plan_handle(struct call *call, struct error *err)
{
	return resource_plan_answer(call, &custom_job_methods, err);
}

enum status custom_job_report_handle(struct call *call, struct error *err)
{
	return resource_report_answer(call, &custom_job_methods, err);
}
