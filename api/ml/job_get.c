/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/ml.h"
#include "store/jobs/jobs.h"

enum status job_get_handle(struct call *call, struct error *err)
{
	const struct ml_context *context = call->context;
	AUTO(job) struct job *job = NULL;
	enum status rc = training_count(call, QUOTA_READ, err);

	if (!rc)
		rc = job_get(context->training.store, training_project(call), call_param(call, "job"), &job,
			     err);
	if (rc)
		return rc;
	job_render(call, job);
	return STATUS_OK;
}
