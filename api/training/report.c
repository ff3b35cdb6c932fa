/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/report.h"

#include "api/training/context.h"
#include "api/training/fault_deviations.h"
#include "api/training/job_name.h"
#include "api/training/preflight.h"
#include "api/training/program.h"
#include "api/training/start_estimate.h"
#include "daemon/base/json.h"
#include "scheduler/plan/placement.h"
#include "store/jobs/jobs.h"
#include "store/jobs/trials.h"

/* Choice: how many trials are shown with their replicas. */
enum { TRIALS_REPORTED_MAX = 100 };

static enum status assignment_read(const struct job *job, struct assignment **ret_assignment,
				   struct error *err)
{
	return job->assignment ? assignment_from_text(job->assignment, ret_assignment, err) : STATUS_OK;
}

static char *job_name(const struct training_context *context, const struct job *job)
{
	struct text name AUTO_TEXT = { 0 };

	job_name_write(context, job, &name);
	return text_take(&name);
}

/* The report of one trial: its state and its replicas. */
static enum status trial_json(const struct training_context *context, const struct stored_trial *trial,
			      json_t **ret_object, struct error *err)
{
	AUTO(job) struct job *run = NULL;
	AUTO(plan) struct plan *plan = NULL;
	AUTO(assignment) struct assignment *assignment = NULL;
	AUTO(json) json_t *replicas = NULL;
	struct programs programs AUTO_PROGRAMS = { NULL, NULL };
	AUTO(string) char *name = NULL;
	enum status rc = job_get_by_id(context->store, trial->run, &run, err);

	if (!rc)
		rc = plan_from_text(run->plan, &plan, err);
	if (!rc)
		rc = assignment_read(run, &assignment, err);
	if (!rc)
		rc = programs_make(plan, &programs, err);
	if (rc)
		return rc;
	name = run->kind == KIND_TRAINING ? NULL : job_name(context, run);
	replicas = replicas_json(plan, assignment, context->main_node);
	*ret_object = json_pack("{s:i, s:s*, s:s, s:I, s:O, s:O}", "trialId", (int)trial->number, "customJob",
				name, "state", job_state_reported(run), "attempt", (json_int_t)run->attempt,
				"commandLines", programs.command_lines, "replicas", replicas);
	return STATUS_OK;
}

/* A tuning job has no replicas of its own: those of its trials are shown, newest first, up to a limit. */
static enum status trials_add(const struct training_context *context, const struct job *job, json_t *report,
			      struct error *err)
{
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	AUTO(json) json_t *trials = json_array();
	enum status rc = trial_list_read(context->store, job->id, &list, err);

	for (size_t i = list.count; !rc && i > 0 && json_array_size(trials) < TRIALS_REPORTED_MAX; i--) {
		json_t *object = NULL;

		rc = trial_json(context, &list.trials[i - 1], &object, err);
		if (!rc)
			json_array_append_new(trials, object);
	}
	if (rc)
		return rc;
	json_object_set(report, "trials", trials);
	json_object_set_new(report, "trialCount", json_integer((json_int_t)list.count));
	return STATUS_OK;
}

static enum status replicas_add(const struct training_context *context, const struct plan *plan,
				const struct assignment *assignment, json_t *report, struct error *err)
{
	struct programs programs AUTO_PROGRAMS = { NULL, NULL };
	enum status rc = programs_make(plan, &programs, err);

	if (rc)
		return rc;
	json_object_set(report, "commandLines", programs.command_lines);
	json_object_set(report, "environments", programs.environments);
	json_object_set_new(report, "replicas", replicas_json(plan, assignment, context->main_node));
	if (assignment && assignment->placed)
		json_object_set_new(report, "placement", json_string(assignment->placed));
	return STATUS_OK;
}

static enum status deviations_add(const struct training_context *context, const struct job *job,
				  json_t *deviations, json_t *report, struct error *err)
{
	json_object_set(report, "differences", deviations);
	return fault_deviations_add(context->store, job->id, deviations, err);
}

/* {"name", "console", "state", "attempt"} */
static json_t *head_make(const struct call *call, const struct job *job)
{
	const struct training_context *context = call->context;
	AUTO(string) char *name = job_name(context, job);
	struct text page AUTO_TEXT = { 0 };

	if (context->console_path && *call->host && !job->parent) {
		text_printf(&page, "%s://%s%sjobs/", call_scheme(call), call->host, context->console_path);
		text_percent(&page, job->project, URL_UNRESERVED);
		text_printf(&page, "/%s", job->job_id);
	}
	return json_pack("{s:s, s:s*, s:s, s:I}", "name", name, "console", page.data, "state",
			 job_state_reported(job), "attempt", (json_int_t)job->attempt);
}

/* Adds the reason for which a queued job waits, by its plan. A job that this machine can never run is about to fail,
 * and the text says that. */
static enum status start_add(const struct training_context *context, const struct job *job,
			     const struct plan *plan, json_t *report, struct error *err)
{
	struct start_estimate start_estimate AUTO_START_ESTIMATE = { 0 };
	enum status rc;

	if (job->state != JOB_QUEUED || job->outcome != JOB_STATE_UNSPECIFIED)
		return STATUS_OK;
	rc = start_estimate_make(context, plan, job, &start_estimate, err);
	if (rc == STATUS_FAILED_PRECONDITION) {
		error_deinit(err);
		return STATUS_OK;
	}
	if (!rc)
		json_object_set_new(report, "start", start_estimate_json(&start_estimate));
	return rc;
}

enum status report_make(const struct call *call, const struct job *job, const struct plan *plan,
			pool_field_namer namer, json_t **ret_report, struct error *err)
{
	const struct training_context *context = call->context;
	AUTO(assignment) struct assignment *assignment = NULL;
	AUTO(json) json_t *input = NULL;
	AUTO(json) json_t *deviations = NULL;
	AUTO(json) json_t *report = head_make(call, job);
	enum status rc = json_parse_own(job->input, &input, err);

	if (!rc)
		rc = assignment_read(job, &assignment, err);
	if (!rc)
		rc = start_add(context, job, plan, report, err);
	if (rc)
		return rc;
	deviations = deviations_json(plan, assignment, input, namer);
	preflight_report(context, plan, job->state == JOB_QUEUED, deviations);
	rc = deviations_add(context, job, deviations, report, err);
	if (!rc)
		rc = plan_tunes(plan) ? trials_add(context, job, report, err)
				      : replicas_add(context, plan, assignment, report, err);
	if (!rc)
		*ret_report = TAKE(report);
	return rc;
}
