/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/best_trial.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/text.h"
#include "store/jobs/models.h"

/* Directory of the best trial's model; nothing when there is none. */
static enum status best_uri_make(const struct call *call, const struct trained_model *model, struct text *uri,
				 struct error *err)
{
	const struct training_context *context = call->context;
	AUTO(job) struct job *job = NULL;
	AUTO(job) struct job *best = NULL;
	AUTO(plan) struct plan *plan = NULL;
	enum status rc = job_get_by_id(context->store, model->job, &job, err);

	if (!rc)
		rc = best_trial_find(call, job, &best, err);
	if (!rc && best)
		rc = plan_from_text(best->plan, &plan, err);
	if (!rc && plan)
		text_printf(uri, "%smodel/", plan->job_dir);
	return rc;
}

static void artifact_uri_render(const struct call *call, const struct trained_model *model, struct text *text)
{
	struct error err AUTO_ERROR = { 0 };
	struct text uri AUTO_TEXT = { 0 };

	if (model->artifact_uri)
		text_puts(&uri, model->artifact_uri);
	else if (best_uri_make(call, model, &uri, &err))
		log_event(LOG_ERROR, "best-trial-unread", "model=%s error=\"%s\"", model->model_id,
			  err.text ? err.text : "");
	if (!uri.length)
		return;
	text_puts(text, ",\"artifactUri\":");
	text_json(text, uri.data, uri.length);
}

/* What the client gave, without what the store knows better. */
static void given_render(const struct trained_model *model, struct text *text)
{
	AUTO(json) json_t *given = NULL;
	struct text members AUTO_TEXT = { 0 };

	if (json_parse_own(model->input, &given, NULL)) {
		text->failed = true;
		return;
	}
	json_object_del(given, "versionAliases");
	json_object_del(given, "artifactUri");
	json_write(&members, given);
	if (members.length <= strlen("{}"))
		return;
	text_putc(text, ',');
	text_append(text, members.data + 1, members.length - 2);
}

static void time_render(struct text *text, const char *name, int64_t wall_us)
{
	text_printf(text, ",\"%s\":\"", name);
	text_time_micros(text, wall_us);
	text_putc(text, '"');
}

/* Nothing changes a version after its upload. */
void model_render(struct call *call, const struct trained_model *model, struct text *text)
{
	text_puts(text, "{\"name\":\"");
	resource_path_write(call, model->project, model->location, "models", model->model_id, text);
	text_putc(text, '"');
	given_render(model, text);
	text_puts(text, ",\"trainingPipeline\":\"");
	resource_path_write(call, model->project, model->location, "trainingPipelines", model->pipeline_id,
			    text);
	text_putc(text, '"');
	artifact_uri_render(call, model, text);
	time_render(text, "createTime", model->first_us);
	time_render(text, "updateTime", model->created_us);
	text_printf(text, ",\"versionId\":\"%u\"", model->version);
	if (strcmp(model->aliases, "[]") != 0)
		text_printf(text, ",\"versionAliases\":%s", model->aliases);
	time_render(text, "versionCreateTime", model->created_us);
	time_render(text, "versionUpdateTime", model->created_us);
	text_puts(text, ",\"modelSourceInfo\":{\"sourceType\":\"CUSTOM\"}}");
}
