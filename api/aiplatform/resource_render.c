/* SPDX-License-Identifier: Apache-2.0 */
/* Writes CustomJob and HyperparameterTuningJob for clients, and the parts that training pipelines have in common
 * with them. */
#include <string.h>

#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/messages.h"
#include "api/aiplatform/rules_parts.h"
#include "api/message/message_write.h"
#include "api/training/job_name.h"
#include "api/training/job_times.h"
#include "api/training/shells_render.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"

void member_resource(struct writer *answer, const char *name, const struct call *call, const char *project,
		     const char *location, const char *collection, const char *id)
{
	struct text *text = member_begin(answer, name);

	text_putc(text, '"');
	resource_name_write(call->context, project, location, collection, id, text);
	text_putc(text, '"');
}

void member_job(struct writer *answer, const char *name, const struct call *call, const struct job *job)
{
	member_resource(answer, name, call, job->project, job->location, resource_collection(job->kind),
			job->job_id);
}

static void error_render(const struct job *job, struct writer *answer)
{
	struct writer error;

	if ((job->state != JOB_FAILED && job->state != JOB_CANCELLED) || !job->error_message)
		return;
	error = member_message(answer, "error");
	if (job->error_code)
		member_int(&error, "code", job->error_code);
	member_text(&error, "message", job->error_message);
	message_close(&error);
}

/* Times have as many digits as in the service's answers. Source: transcripts of real jobs */
void members_progress(const struct job *job, struct writer *answer)
{
	const int64_t start_us = second_shown(job->running_us, job->created_us);
	const int64_t end_us = second_shown(job->ended_us, start_us ? start_us : job->created_us);
	const int64_t last_us = end_us ? end_us : start_us;

	member_time(answer, "createTime", job->created_us, TIME_MICROSECONDS);
	member_time(answer, "startTime", start_us, TIME_SECONDS);
	member_time(answer, "endTime", end_us, TIME_SECONDS);
	member_time(answer, "updateTime", job->updated_us > last_us ? job->updated_us : last_us,
		    TIME_MICROSECONDS);
	error_render(job, answer);
}

static void tail_render(const struct job *job, struct writer *answer)
{
	member_text(answer, "state", resource_state_name(job));
	members_progress(job, answer);
	member_json(answer, "labels", job->labels);
}

/* ---- CustomJob ---- */

/* Parses the plan only of a running job that asked for shells, because parsing is slow. */
static void job_shells_render(const struct call *call, const struct job *job, struct writer *answer)
{
	AUTO(plan) struct plan *plan = NULL;

	if (job->state == JOB_RUNNING && shells_reported(call, job) &&
	    !plan_from_text(job->plan, &plan, NULL))
		shells_render(call, job->id, plan, answer);
}

/* Sets the arguments of a trial's pools: the client's arguments, then the trial's flags. */
static void pools_fill(json_t *spec, const struct plan *plan)
{
	json_t *pool;
	size_t i;

	json_array_foreach(json_object_get(spec, "workerPoolSpecs"), i, pool) {
		json_t *program = json_object_get(pool, "containerSpec");

		if (!program)
			program = json_object_get(pool, "pythonPackageSpec");
		if (i < ROLE_COUNT && !pool_is_skipped(pool) && program && plan->pools[i].args)
			json_object_set(program, "args", plan->pools[i].args);
	}
}

/* Writes a trial's job, which no client has sent: the answer combines the tuning job's input and the trial's plan.
 * Choice: it has the tuning job's encryption key, and no labels. */
static void trial_given_render(const struct call *call, const struct job *job, struct writer *answer)
{
	const struct training_context *context = call->context;
	AUTO(job) struct job *tuning = NULL;
	AUTO(plan) struct plan *plan = NULL;
	AUTO(json) json_t *input = NULL;
	json_t *spec, *output;
	struct error err AUTO_ERROR = { 0 };
	enum status rc = job_get_by_id(context->store, job->parent, &tuning, &err);

	if (!rc)
		rc = json_parse_own(tuning->input, &input, &err);
	if (!rc)
		rc = plan_from_text(job->plan, &plan, &err);
	if (rc) {
		log_event(LOG_ERROR, "tuning-job-unread", "job=%s error=\"%s\"", job->job_id,
			  err.text ? err.text : "");
		return;
	}
	spec = json_object_get(input, "trialJobSpec");
	output = json_object_get(spec, "baseOutputDirectory");
	pools_fill(spec, plan);
	if (output && plan->job_dir)
		json_object_set_new(output, "outputUriPrefix", json_string(plan->job_dir));
	member_text(answer, "displayName", job->display_name);
	member_value(answer, "jobSpec", spec);
	member_value(answer, "encryptionSpec", json_object_get(input, "encryptionSpec"));
}

void custom_job_render(struct call *call, const struct job *job, struct text *text)
{
	struct writer answer = message_open(text, &aiplatform_custom_job);

	member_job(&answer, "name", call, job);
	if (job->parent)
		trial_given_render(call, job, &answer);
	else
		members_json(&answer, job->input);
	tail_render(job, &answer);
	job_shells_render(call, job, &answer);
	message_close(&answer);
}

/* ---- HyperparameterTuningJob ---- */

static void tuning_render(struct call *call, const struct job *job, bool with_trials, struct text *text)
{
	struct writer answer = message_open(text, &aiplatform_tuning_job);

	member_job(&answer, "name", call, job);
	members_json(&answer, job->input);
	if (with_trials)
		tuning_trials_render(call, job, &answer);
	tail_render(job, &answer);
	message_close(&answer);
}

void tuning_job_render(struct call *call, const struct job *job, struct text *text)
{
	tuning_render(call, job, false, text);
}

void tuning_job_render_whole(struct call *call, const struct job *job, struct text *text)
{
	tuning_render(call, job, true, text);
}
