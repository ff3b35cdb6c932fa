/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/aiplatform.h"
#include "daemon/base/text.h"

static void head_render(const struct call *call, const struct job *job, struct text *text)
{
	resource_name_render(call, job, text);
	resource_given_render(job, text);
}

static void tail_render(const struct job *job, struct text *text)
{
	resource_state_render(job, text);
	resource_labels_render(job, text);
	text_putc(text, '}');
}

void tuning_job_render(struct call *call, const struct job *job, struct text *text)
{
	head_render(call, job, text);
	tail_render(job, text);
}

void tuning_job_render_whole(struct call *call, const struct job *job, struct text *text)
{
	head_render(call, job, text);
	tuning_trials_render(call, job, text);
	tail_render(job, text);
}
