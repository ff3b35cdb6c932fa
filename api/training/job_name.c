/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/job_name.h"

#include <string.h>

#include "api/training/context.h"
#include "store/jobs/resources.h"

void resource_name_write(const struct training_context *context, const char *project, const char *location,
			 const char *collection, const char *id, struct text *text)
{
	const bool known = context->project_id && strcmp(project, context->project_id) == 0;

	text_printf(text, "projects/%s/locations/%s/%s/%s", known ? context->project_number : project,
		    location, collection, id);
}

void job_name_write(const struct training_context *context, const struct job *job, struct text *text)
{
	if (job->kind == KIND_TRAINING)
		text_printf(text, "projects/%s/jobs/%s", job->project, job->job_id);
	else
		resource_name_write(context, job->project, job->location, resource_collection(job->kind),
				    job->job_id, text);
}

const char *job_state_reported(const struct job *job)
{
	return job->kind == KIND_TRAINING ? job_state_name(job->state) : resource_state_name(job);
}
