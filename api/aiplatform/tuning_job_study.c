/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/aiplatform.h"
#include "api/training/study_answer.h"
#include "daemon/base/text.h"

enum status tuning_job_study_handle(struct call *call, struct error *err)
{
	const struct training_context *context = call->context;
	const struct resource resource = resource_of_call(call, KIND_TUNING, tuning_job_methods.param);
	AUTO(job) struct job *job = NULL;
	struct text name AUTO_TEXT = { 0 };
	enum status rc = resource_get(context->store, &resource, &job, err);

	if (rc)
		return rc;
	resource_path_render(call, job, job->kind, job->job_id, &name);
	return name.failed ? error_no_memory(err) : study_answer(call, job, name.data, err);
}
