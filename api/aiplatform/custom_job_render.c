/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/aiplatform.h"
#include "api/training/shells_render.h"
#include "daemon/base/text.h"

/* Only a job that asked for shells has its plan parsed, and only while it runs. */
static void job_shells_render(const struct call *call, const struct job *job, struct text *text)
{
	AUTO(plan) struct plan *plan = NULL;

	if (job->state == JOB_RUNNING && shells_told(call, job) && !plan_from_text(job->plan, &plan, NULL))
		shells_render(call, job->id, plan, text);
}

void custom_job_render(struct call *call, const struct job *job, struct text *text)
{
	resource_name_render(call, job, text);
	if (job->parent)
		trial_job_spec_render(call, job, text);
	else
		resource_given_render(job, text);
	resource_state_render(job, text);
	resource_labels_render(job, text);
	job_shells_render(call, job, text);
	text_putc(text, '}');
}
