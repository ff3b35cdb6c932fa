/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/ml/builtin.h"
#include "api/ml/job_units.h"
#include "api/ml/ml.h"
#include "api/ml/trials_render.h"
#include "api/training/job_times.h"
#include "api/training/shells_render.h"
#include "daemon/base/json.h"
#include "scheduler/plan/plan.h"
#include "store/jobs/jobs.h"

static void name_render(struct text *text, const char *name)
{
	text_puts(text, ",\"");
	text_puts(text, name);
	text_puts(text, "\":");
}

/* Of characters that need no escape. */
static void word_render(struct text *text, const char *name, const char *word)
{
	name_render(text, name);
	text_putc(text, '"');
	text_puts(text, word);
	text_putc(text, '"');
}

static void time_render(struct text *text, const char *name, int64_t wall_us)
{
	if (!wall_us)
		return;
	name_render(text, name);
	text_putc(text, '"');
	text_time_seconds(text, wall_us);
	text_putc(text, '"');
}

static void json_render(struct text *text, const char *name, const char *json)
{
	if (!json)
		return;
	name_render(text, name);
	text_puts(text, json);
}

static void comma_render(struct text *text)
{
	if (text->length && text->data[text->length - 1] != '{')
		text_putc(text, ',');
}

/* Appends the members of an object's text, without its braces. */
static void members_render(struct text *text, const char *object)
{
	size_t length = strlen(object);

	if (length <= 2)
		return;
	comma_render(text);
	text_append(text, object + 1, length - 2);
}

/* A quoted name and a colon are found in canonical text only where it is a member's name: within a string its
 * quotes would be escaped. */
static bool has_member(const char *json, const char *member)
{
	return json && strstr(json, member);
}

/* A built-in algorithm's output with its model, which is there only when the job went well; NULL where the stored
 * text will do. */
static char *output_with_model(const struct job *job)
{
	AUTO(json) json_t *output = NULL;
	AUTO(json) json_t *input = NULL;

	if (job->state != JOB_SUCCEEDED || !has_member(job->output, "\"builtInAlgorithmOutput\":") ||
	    json_parse_own(job->output, &output, NULL) || json_parse_own(job->input, &input, NULL) ||
	    !builtin_output_finish(output, json_text_at(input, "jobDir")))
		return NULL;
	return json_dump_compact(output);
}

/* Only a job that asked for shells has its plan parsed, and only while it runs. A tuning job's are its trials'. */
static void job_shells_render(struct call *call, const struct job *job)
{
	AUTO(plan) struct plan *plan = NULL;

	if (job->state == JOB_RUNNING && shells_told(call, job) && !plan_from_text(job->plan, &plan, NULL) &&
	    !plan_tunes(plan))
		shells_render(call, job->id, plan, &call->answer);
}

static void output_render(struct call *call, const struct job *job, const struct trials_told *trials)
{
	const struct ml_context *context = call->context;
	const bool told = trials && trials->members.length && !trials->members.failed;
	const double units =
		told ? trials->ml_units : job_ml_units(job, clock_wall_us(context->training.clock));
	AUTO(string) char *with_model = output_with_model(job);

	text_puts(&call->answer, ",\"trainingOutput\":{");
	if (units > 0)
		text_printf(&call->answer, "\"consumedMLUnits\":%.15g", units);
	members_render(&call->answer, with_model ? with_model : job->output);
	if (told) {
		comma_render(&call->answer);
		text_append(&call->answer, trials->members.data, trials->members.length);
	}
	job_shells_render(call, job);
	text_putc(&call->answer, '}');
}

static void times_render(struct text *text, const struct job *job)
{
	const int64_t created_us = second_shown(job->created_us, 0);
	const int64_t start_us = second_shown(job->started_us, created_us);

	time_render(text, "createTime", created_us);
	time_render(text, "startTime", start_us);
	time_render(text, "endTime", second_shown(job->ended_us, start_us ? start_us : created_us));
}

/* The stored documents are canonical text already and are copied, not parsed. */
static void one_render(struct call *call, const struct job *job, const struct trials_told *trials)
{
	struct text *text = &call->answer;
	char etag[16];

	text_puts(text, "{\"jobId\":");
	text_json(text, job->job_id, strlen(job->job_id));
	json_render(text, "trainingInput", job->input);
	times_render(text, job);
	word_render(text, "state", job_state_name(job->state));
	if (job->error_message && *job->error_message) {
		text_puts(text, ",\"errorMessage\":");
		text_json(text, job->error_message, strlen(job->error_message));
	}
	output_render(call, job, trials);
	json_render(text, "labels", job->labels);
	job_etag(job, etag);
	word_render(text, "etag", etag);
	if (job->position > 0)
		text_printf(text, ",\"jobPosition\":\"%" PRId64 "\"", job->position);
	text_putc(text, '}');
}

void jobs_render(struct call *call, const struct job *jobs, size_t count)
{
	struct trials_told *trials = trials_render(call, jobs, count);

	for (size_t i = 0; i < count; i++) {
		if (i)
			text_putc(&call->answer, ',');
		one_render(call, &jobs[i], trials ? &trials[i] : NULL);
	}
	trials_told_free(trials, count);
}

void job_render(struct call *call, const struct job *job)
{
	jobs_render(call, job, 1);
}
