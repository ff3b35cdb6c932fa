/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/best_trial.h"
#include "daemon/base/log.h"
#include "daemon/base/text.h"
#include "store/jobs/pipelines.h"

/* Appends the members of an object's text, each with a comma before it. */
static void members_render(struct text *text, const char *object)
{
	size_t length = strlen(object);

	if (length <= strlen("{}"))
		return;
	text_putc(text, ',');
	text_append(text, object + 1, length - 2);
}

/* As it was given; with its name in front once it is there. */
static void model_to_upload_render(const struct call *call, const struct pipeline *pipeline,
				   struct text *text)
{
	if (!pipeline->model_input)
		return;
	text_puts(text, ",\"modelToUpload\":");
	if (!pipeline->model_version) {
		text_puts(text, pipeline->model_input);
		return;
	}
	text_puts(text, "{\"name\":\"");
	resource_path_write(call, pipeline->project, pipeline->location, "models", pipeline->model_id, text);
	text_putc(text, '"');
	members_render(text, pipeline->model_input);
	text_printf(text, ",\"versionId\":\"%u\"}", pipeline->model_version);
}

static void best_trial_render(struct call *call, const struct job *job, struct text *text)
{
	AUTO(job) struct job *best = NULL;
	struct error err AUTO_ERROR = { 0 };

	if (best_trial_find(call, job, &best, &err))
		log_event(LOG_ERROR, "best-trial-unread", "job=%s error=\"%s\"", job->job_id,
			  err.text ? err.text : "");
	if (!best)
		return;
	text_puts(text, ",\"bestTrialBackingCustomJob\":\"");
	resource_path_render(call, best, KIND_CUSTOM, best->job_id, text);
	text_putc(text, '"');
}

/* Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.trainingPipelines and what the
 * public Python client reads of it. Choice: the best trial once all are over. */
static void metadata_render(struct call *call, const struct job *job, struct text *text)
{
	text_printf(text, ",\"trainingTaskMetadata\":{\"%s\":\"",
		    job->kind == KIND_TUNING ? "backingHyperparameterTuningJob" : "backingCustomJob");
	resource_path_render(call, job, job->kind, job->job_id, text);
	text_putc(text, '"');
	if (job->kind == KIND_TUNING && job->state == JOB_SUCCEEDED)
		best_trial_render(call, job, text);
	text_putc(text, '}');
}

void pipeline_render(struct call *call, const struct pipeline *pipeline, struct text *text)
{
	text_puts(text, "{\"name\":\"");
	resource_path_write(call, pipeline->project, pipeline->location, "trainingPipelines",
			    pipeline->pipeline_id, text);
	text_putc(text, '"');
	members_render(text, pipeline->input);
	metadata_render(call, pipeline->job, text);
	model_to_upload_render(call, pipeline, text);
	text_printf(text, ",\"state\":\"%s\"", pipeline_state_name(pipeline));
	resource_progress_render(pipeline->job, text);
	if (pipeline->labels)
		text_printf(text, ",\"labels\":%s", pipeline->labels);
	text_putc(text, '}');
}
