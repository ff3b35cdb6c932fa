/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "api/ml/ml.h"
#include "store/jobs.h"

static void time_render(struct text *text, const char *name, int64_t wall_us)
{
	if (!wall_us)
		return;
	text_printf(text, ",\"%s\":\"", name);
	text_time_seconds(text, wall_us);
	text_putc(text, '"');
}

static void json_render(struct text *text, const char *name, const char *json)
{
	if (json)
		text_printf(text, ",\"%s\":%s", name, json);
}

/* The stored documents are canonical text already and are copied, not parsed. */
void job_render(struct text *text, const struct job *job)
{
	char etag[16];

	text_puts(text, "{\"jobId\":");
	text_json(text, job->job_id, strlen(job->job_id));
	json_render(text, "trainingInput", job->input);
	time_render(text, "createTime", job->created_us);
	time_render(text, "startTime", job->started_us);
	time_render(text, "endTime", job->ended_us);
	text_printf(text, ",\"state\":\"%s\"", job_state_name(job->state));
	if (job->error_message && *job->error_message) {
		text_puts(text, ",\"errorMessage\":");
		text_json(text, job->error_message, strlen(job->error_message));
	}
	json_render(text, "trainingOutput", job->output);
	json_render(text, "labels", job->labels);
	job_etag(job, etag);
	text_printf(text, ",\"etag\":\"%s\"", etag);
	if (job->position > 0)
		text_printf(text, ",\"jobPosition\":\"%" PRId64 "\"", job->position);
	text_putc(text, '}');
}
