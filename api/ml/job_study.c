/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/ml.h"
#include "api/training/job_name.h"
#include "api/training/study_answer.h"
#include "store/jobs/jobs.h"

enum status job_study_handle(struct call *call, struct error *err)
{
	const struct training_context *context = call->context;
	AUTO(job) struct job *job = NULL;
	struct text name AUTO_TEXT = { 0 };
	enum status rc = job_get(context->store, training_project(call), call_param(call, "job"), &job, err);

	if (rc)
		return rc;
	job_name_write(context, job, &name);
	return study_answer(call, job, name.data, err);
}
