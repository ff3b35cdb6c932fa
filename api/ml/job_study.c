/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "api/ml/ml.h"
#include "api/training/study_answer.h"
#include "store/jobs.h"

enum status job_study_handle(struct call *call, struct error *err)
{
	const struct training_context *context = call->context;
	AUTO(job) struct job *job = NULL;
	AUTO(string) char *name = NULL;
	enum status rc = job_get(context->store, training_project(call), call_param(call, "job"), &job, err);

	if (rc)
		return rc;
	if (asprintf(&name, "projects/%s/jobs/%s", job->project, job->job_id) < 0) {
		name = NULL;
		return error_no_memory(err);
	}
	return study_answer(call, job, name, err);
}
