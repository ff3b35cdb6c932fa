/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of hyperparameter tuning jobs: those of every resource, but that getting one tells of its trials. */
#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/messages.h"
#include "api/aiplatform/to_plan.h"

#define METHODS(RENDER)                                                                                      \
	{                                                                                                    \
		.kind = KIND_TUNING, .param = "hyperparameterTuningJob", .message = &aiplatform_tuning_job,  \
		.spec = "trialJobSpec", .check = tuning_job_rules_check, .to_plan = tuning_job_to_plan,      \
		.render = (RENDER),                                                                          \
	}

const struct resource_methods tuning_job_methods = METHODS(tuning_job_render);
static const struct resource_methods get_methods = METHODS(tuning_job_render_whole);

enum status tuning_job_create_handle(struct call *call, struct error *err)
{
	return resource_create_answer(call, &tuning_job_methods, err);
}

enum status tuning_job_get_handle(struct call *call, struct error *err)
{
	return resource_get_answer(call, &get_methods, err);
}

enum status tuning_job_list_handle(struct call *call, struct error *err)
{
	return resource_list_answer(call, &tuning_job_methods, err);
}

enum status tuning_job_delete_handle(struct call *call, struct error *err)
{
	return resource_delete_answer(call, &tuning_job_methods, err);
}

enum status tuning_job_cancel_handle(struct call *call, struct error *err)
{
	return resource_cancel_answer(call, &tuning_job_methods, err);
}

enum status tuning_job_plan_handle(struct call *call, struct error *err)
{
	return resource_plan_answer(call, &tuning_job_methods, err);
}

enum status tuning_job_report_handle(struct call *call, struct error *err)
{
	return resource_report_answer(call, &tuning_job_methods, err);
}
