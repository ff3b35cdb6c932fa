/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/message_write.h"
#include "api/ml/builtin.h"
#include "api/ml/job_units.h"
#include "api/ml/messages.h"
#include "api/ml/ml.h"
#include "api/ml/trials_render.h"
#include "api/training/job_times.h"
#include "api/training/shells_render.h"
#include "daemon/base/json.h"
#include "scheduler/plan/plan.h"
#include "store/jobs/jobs.h"

/* Returns the output of a built-in algorithm's job with its modelPath, which only a job that succeeded has. NULL:
 * the stored text is complete as it is. The caller frees. */
static char *output_with_model(const struct job *job)
{
	AUTO(json) json_t *output = NULL;
	AUTO(json) json_t *input = NULL;

	if (job->state != JOB_SUCCEEDED || !(job->traits & JOB_TRAIT_BUILT_IN) ||
	    json_parse_own(job->output, &output, NULL) || json_parse_own(job->input, &input, NULL))
		return NULL;
	builtin_output_finish(output, json_text_at(input, "jobDir"));
	return json_dump_compact(output);
}

/* Parses the plan only of a running job that asked for shells, because parsing is slow. The shells of a tuning job
 * are in its trials. */
static void job_shells_render(struct call *call, const struct job *job, struct writer *output)
{
	AUTO(plan) struct plan *plan = NULL;

	if (job->state == JOB_RUNNING && shells_reported(call, job) && !(job->traits & JOB_TRAIT_SEARCH) &&
	    !plan_from_text(job->plan, &plan, NULL))
		shells_render(call, job->id, plan, output);
}

static void output_render(struct call *call, const struct job *job, const struct trials_reported *trials,
			  struct writer *answer)
{
	const struct ml_context *context = call->context;
	const bool reported = trials && trials->output.length;
	const double units =
		reported ? trials->ml_units : job_ml_units(job, clock_wall_us(context->training.clock));
	AUTO(string) char *with_model = output_with_model(job);
	struct writer output = member_message(answer, "trainingOutput");

	if (units > 0)
		member_double(&output, "consumedMLUnits", units);
	members_json(&output, with_model ? with_model : job->output);
	if (reported)
		members_json(&output, trials->output.data);
	job_shells_render(call, job, &output);
	message_close(&output);
}

/* Copies the stored documents, which are canonical JSON already, without parsing them. */
static void one_render(struct call *call, const struct job *job, const struct trials_reported *trials,
		       struct writer *answer)
{
	const int64_t created_us = second_shown(job->created_us, 0);
	const int64_t start_us = second_shown(job->started_us, created_us);
	char etag[16];

	member_text(answer, "jobId", job->job_id);
	member_json(answer, "trainingInput", job->input);
	member_time(answer, "createTime", created_us, TIME_SECONDS);
	member_time(answer, "startTime", start_us, TIME_SECONDS);
	member_time(answer, "endTime", second_shown(job->ended_us, start_us ? start_us : created_us),
		    TIME_SECONDS);
	member_text(answer, "state", job_state_name(job->state));
	if (job->error_message && *job->error_message)
		member_text(answer, "errorMessage", job->error_message);
	output_render(call, job, trials, answer);
	member_json(answer, "labels", job->labels);
	job_etag(job, etag);
	member_text(answer, "etag", etag);
	if (job->position > 0)
		member_int(answer, "jobPosition", job->position);
	message_close(answer);
}

void jobs_render(struct call *call, const struct job *jobs, size_t count, struct writer *page)
{
	struct writer list = member_list(page, "jobs");
	struct trials_reported *trials = trials_render(call, jobs, count);

	for (size_t i = 0; i < count; i++) {
		struct writer job = element_message(&list);

		one_render(call, &jobs[i], trials ? &trials[i] : NULL, &job);
	}
	trials_reported_free(trials, count);
	message_close(&list);
}

void job_render(struct call *call, const struct job *job)
{
	struct writer answer = message_open(&call->answer, &ml_job);
	struct trials_reported *trials = trials_render(call, job, 1);

	one_render(call, job, trials, &answer);
	trials_reported_free(trials, 1);
}
