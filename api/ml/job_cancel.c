/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/ml.h"
#include "store/jobs/jobs.h"

/* A finished job stays unchanged, and the call succeeds: clients rely on that. */
enum status job_cancel_handle(struct call *call, struct error *err)
{
	const struct ml_context *context = call->context;
	enum status rc = training_count(call, QUOTA_READ, err);

	if (rc)
		return rc;
	return job_cancel(context->training.store, training_project(call), call_param(call, "job"),
			  "The job was cancelled by the user.", err);
}
