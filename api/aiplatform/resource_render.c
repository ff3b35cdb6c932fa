/* SPDX-License-Identifier: Apache-2.0 */
/* What every resource that is made of a job shows. */
#include <string.h>

#include "api/aiplatform/aiplatform.h"
#include "api/training/job_name.h"
#include "api/training/job_times.h"
#include "daemon/base/text.h"

void resource_path_write(const struct call *call, const char *project, const char *location,
			 const char *collection, const char *id, struct text *text)
{
	resource_name_write(call->context, project, location, collection, id, text);
}

void resource_path_render(const struct call *call, const struct job *job, enum job_kind kind,
			  const char *job_id, struct text *text)
{
	resource_path_write(call, job->project, job->location, resource_collection(kind), job_id, text);
}

void resource_name_render(const struct call *call, const struct job *job, struct text *text)
{
	text_puts(text, "{\"name\":\"");
	resource_path_render(call, job, job->kind, job->job_id, text);
	text_putc(text, '"');
}

/* Canonical text already: it is copied, not parsed. */
void resource_given_render(const struct job *job, struct text *text)
{
	size_t length = strlen(job->input);

	if (length <= strlen("{}"))
		return;
	text_putc(text, ',');
	text_append(text, job->input + 1, length - 2);
}

enum precision { PRECISION_SECONDS, PRECISION_MICROSECONDS };

static void time_render(struct text *text, const char *name, int64_t wall_us, enum precision precision)
{
	if (!wall_us)
		return;
	text_printf(text, ",\"%s\":\"", name);
	if (precision == PRECISION_SECONDS)
		text_time_seconds(text, wall_us);
	else
		text_time_micros(text, wall_us);
	text_putc(text, '"');
}

static void error_render(const struct job *job, struct text *text)
{
	if ((job->state != JOB_FAILED && job->state != JOB_CANCELLED) || !job->error_message)
		return;
	text_puts(text, ",\"error\":{");
	if (job->error_code)
		text_printf(text, "\"code\":%d,", job->error_code);
	text_puts(text, "\"message\":");
	text_json(text, job->error_message, strlen(job->error_message));
	text_putc(text, '}');
}

void resource_state_render(const struct job *job, struct text *text)
{
	text_printf(text, ",\"state\":\"%s\"", resource_state_name(job));
	resource_progress_render(job, text);
}

/* Digits as the service gives them. Source: transcripts of real jobs */
void resource_progress_render(const struct job *job, struct text *text)
{
	const int64_t start_us = second_shown(job->running_us, job->created_us);
	const int64_t end_us = second_shown(job->ended_us, start_us ? start_us : job->created_us);
	const int64_t last_us = end_us ? end_us : start_us;

	time_render(text, "createTime", job->created_us, PRECISION_MICROSECONDS);
	time_render(text, "startTime", start_us, PRECISION_SECONDS);
	time_render(text, "endTime", end_us, PRECISION_SECONDS);
	time_render(text, "updateTime", job->updated_us > last_us ? job->updated_us : last_us,
		    PRECISION_MICROSECONDS);
	error_render(job, text);
}

void resource_labels_render(const struct job *job, struct text *text)
{
	if (job->labels)
		text_printf(text, ",\"labels\":%s", job->labels);
}
