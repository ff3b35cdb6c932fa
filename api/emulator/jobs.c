/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/jobs.h"

#include <string.h>

#include "api/emulator/fields.h"
#include "api/emulator/job_log.h"
#include "api/emulator/job_scalars.h"
#include "api/emulator/job_shell.h"
#include "api/emulator/job_text.h"
#include "api/emulator/job_timeline.h"
#include "api/emulator/job_watch.h"
#include "api/emulator/queue.h"
#include "api/emulator/requests.h"
#include "api/emulator/reset.h"
#include "api/emulator/state.h"
#include "api/message/discovery.h"
#include "api/message/message_write.h"
#include "api/training/context.h"
#include "api/training/job_name.h"
#include "store/job_progress.h"
#include "store/jobs/summaries.h"

enum { PAGE_DEFAULT = 100, PAGE_MAX = 1000 };

const struct discovery_api emulator_api = {
	.name = "trainyard",
	.version = "v1",
	.revision = "1",
	.title = "trainyard",
	.description = "What the emulator offers beside the emulated services.",
	.canonical_name = "Trainyard",
	.documentation_link = "https://cloud.google.com/vertex-ai/docs/training",
	.short_names = true,
};

/* ---- messages ---- */

static const struct enum_value family_values[] = {
	{ "FAMILY_UNSPECIFIED", 0, "Not specified." },
	{ "jobs", 1, "A job of AI Platform Training." },
	{ "customJobs", 2, "A custom job of Vertex AI." },
	{ "hyperparameterTuningJobs", 3, "A tuning job of Vertex AI." },
	{ "trainingPipelines", 4, "A training pipeline of Vertex AI with the job behind it." },
	{ .name = NULL },
};
static const struct enum_type family_type = { "trainyard.Job.Family", family_values, .is_own = true };

static const struct field pull_fields[] = {
	FIELD("image", STRING, 0, "The image, as the job names it."),
	FIELD("bytesDone", INT64, 0, "How many bytes of its layers are here."),
	FIELD("bytesTotal", INT64, 0,
	      "How many bytes all its layers have, as far as the registry has said; absent: not known yet."),
	{ .name = NULL },
};
static const struct message pull_message = { "trainyard.ImagePull", pull_fields,
					     "An image on its way to this machine.", .is_own = true };

static const struct field progress_fields[] = {
	FIELD("lastLine", STRING, 0, "The last line that its replicas have printed, at most 200 bytes of it."),
	{ .name = "imagePull",
	  .type = FIELD_MESSAGE,
	  .message = &pull_message,
	  .help = "The image that is being pulled for it; of several, the one with most left to pull." },
	{ .name = NULL },
};
const struct message job_progress_message = { "trainyard.JobProgress", progress_fields,
					      "What a job does now.", .is_own = true };

static const struct field job_fields[] = {
	FIELD("name", STRING, 0, "The name by which its own API knows it."),
	{ .name = "family", .type = FIELD_ENUM, .enum_type = &family_type, .help = "Which API it is of." },
	FIELD("project", STRING, 0, "The project's id."),
	FIELD("location", STRING, 0, "The location; absent for a job of AI Platform Training."),
	FIELD("id", STRING, 0, "The last part of the name."),
	FIELD("displayName", STRING, 0, "What the client calls it; absent for a job of AI Platform Training."),
	FIELD("job", STRING, 0, "Of a pipeline: the id of the job behind it, which the log has."),
	FIELD("state", STRING, 0,
	      "QUEUED, PREPARING, RUNNING, SUCCEEDED, FAILED, CANCELLING or CANCELLED, whatever the family."),
	FIELD("reason", STRING, 0, "Why it waits, or why it failed or was cancelled."),
	FIELD("createTime", TIMESTAMP, 0, "When it was accepted."),
	FIELD("startTime", TIMESTAMP, 0, "When it left the queue."),
	FIELD("endTime", TIMESTAMP, 0, "When it was over."),
	FIELD("replicaCount", INT32, 0, "How many replicas it has; of a tuning job, each trial."),
	FIELD("gpuCount", INT32, 0,
	      "How many GPUs all of its replicas ask for; of a tuning job, each trial's."),
	FIELD("labels", STRING, FIELD_MAP, "The client's own marks."),
	{ .name = "progress",
	  .type = FIELD_MESSAGE,
	  .message = &job_progress_message,
	  .help = "What it does now; of a job that is PREPARING or RUNNING." },
	{ .name = NULL },
};
const struct message listed_job_message = { "trainyard.Job", job_fields, "A job of any family.",
					    .is_own = true };

static const struct field list_fields[] = {
	FIELD("project", STRING, 0, "Only jobs of the project with this id."),
	FIELD("filter", STRING, 0,
	      "Which jobs: terms on family, project, location, id, displayName, state, createTime, startTime, "
	      "endTime and labels.KEY, such as state=RUNNING AND labels.team=red. Empty: all."),
	FIELD("pageToken", STRING, 0, "The nextPageToken of the previous page."),
	FIELD("pageSize", INT32, 0, "How many jobs at most; 100 unless given, never more than 1000."),
	{ .name = NULL },
};
static const struct message list_query = { "trainyard.ListJobsRequest", list_fields,
					   "Which page of which jobs.", .is_own = true };

static const struct field list_response_fields[] = {
	{ .name = "jobs",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_REPEATED,
	  .message = &listed_job_message,
	  .help = "The jobs, newest first." },
	FIELD("nextPageToken", STRING, 0, "Asks for the next page; absent on the last."),
	{ .name = NULL },
};
static const struct message list_response = { "trainyard.ListJobsResponse", list_response_fields,
					      "A page of jobs.", .is_own = true };

static const struct field get_fields[] = {
	FIELD("project", STRING, 0, "Only a job of the project with this id."),
	{ .name = NULL },
};
static const struct message get_query = { "trainyard.GetJobRequest", get_fields, "Which job.",
					  .is_own = true };

/* ---- answers ---- */

void job_progress_render(const struct job_progress *progress, struct writer *outer)
{
	struct writer answer = member_message(outer, "progress");

	if (progress->line[0])
		member_text(&answer, "lastLine", progress->line);
	if (progress->image[0]) {
		struct writer pull = member_message(&answer, "imagePull");

		member_text(&pull, "image", progress->image);
		member_int(&pull, "bytesDone", progress->pulled_bytes);
		if (progress->image_bytes)
			member_int(&pull, "bytesTotal", progress->image_bytes);
		message_close(&pull);
	}
	message_close(&answer);
}

void listed_job_render(const struct jobs_context *context, const struct job_summary *job,
		       struct writer *answer)
{
	struct text name AUTO_TEXT = { 0 };
	const char *id = job->pipeline_id ? job->pipeline_id : job->job_id;
	const char *family = summary_family(job);

	if (job->location)
		resource_name_write(context->training, job->project, job->location, family, id, &name);
	else
		text_printf(&name, "projects/%s/jobs/%s", job->project, id);
	member_text(answer, "name", name.data);
	member_text(answer, "family", family);
	member_text(answer, "project", job->project);
	member_text(answer, "location", job->location);
	member_text(answer, "id", id);
	member_text(answer, "displayName", job->display_name);
	member_text(answer, "job", job->pipeline_id ? job->job_id : NULL);
	member_text(answer, "state", job_state_name(job->state));
	member_text(answer, "reason", job->reason ? job->reason : job->waits_for);
	member_time(answer, "createTime", job->created_us, TIME_MICROSECONDS);
	member_time(answer, "startTime", job->started_us, TIME_MICROSECONDS);
	member_time(answer, "endTime", job->ended_us, TIME_MICROSECONDS);
	member_int(answer, "replicaCount", job->replica_count);
	if (job->gpu_count)
		member_int(answer, "gpuCount", job->gpu_count);
	member_json(answer, "labels", job->labels);
	if (job->progress)
		job_progress_render(job->progress, answer);
}

static enum status job_list(struct call *call, struct error *err)
{
	const struct jobs_context *context = call->context;
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	struct writer page, jobs;
	unsigned size = 0;
	enum status rc = page_size_read(call->query, PAGE_DEFAULT, PAGE_MAX, &size, err);

	if (!rc)
		rc = summary_list_page(context->store, jobs_project(call), call_query(call, "filter"), size,
				       call_query(call, "pageToken"), &list, err);
	if (rc)
		return rc;
	page = message_open(&call->answer, &list_response);
	jobs = member_list(&page, "jobs");
	for (size_t i = 0; i < list.count; i++) {
		struct writer job = element_message(&jobs);

		listed_job_render(context, &list.jobs[i], &job);
		message_close(&job);
	}
	message_close(&jobs);
	member_text(&page, "nextPageToken", list.next_page_token);
	message_close(&page);
	return STATUS_OK;
}

static enum status job_answer(struct call *call, struct error *err)
{
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	struct writer answer;
	enum status rc = jobs_find(call, &list, err);

	if (rc)
		return rc;
	answer = message_open(&call->answer, &listed_job_message);
	listed_job_render(call->context, &list.jobs[0], &answer);
	message_close(&answer);
	return STATUS_OK;
}

#define JOBS "/_trainyard/v1/jobs"

const struct route jobs_routes[] = {
	{ .method = "GET",
	  .path = JOBS,
	  .handler = job_list,
	  .query = &list_query,
	  .doc = METHOD_DOC_NAMED("jobs.list", NULL, list_response,
				  "Lists jobs of all families and locations, newest first, page by page.") },
	{ .method = "GET",
	  .path = JOBS ":watch",
	  .handler = job_watch_stream,
	  .query = &job_watch_query,
	  .doc = METHOD_DOC_NAMED(
		  "jobs.watch", NULL, job_watch_line,
		  "Lists jobs of all families and locations, one JSON object a line, and goes on "
		  "with each that changes.") },
	{ .method = "GET",
	  .path = JOBS "/{job}",
	  .handler = job_answer,
	  .query = &get_query,
	  .doc = METHOD_DOC_NAMED("jobs.get", NULL, listed_job_message,
				  "Tells of the one job that an id, a display name, the beginning of "
				  "either or @last means.") },
	{ .method = "GET",
	  .path = JOBS "/{job}:log",
	  .handler = job_log_stream,
	  .query = &job_log_query,
	  .doc = METHOD_DOC_NAMED("jobs.log", NULL, job_log_line,
				  "Reads a job's log, one JSON object a line, and goes on with new lines "
				  "until it has ended.") },
	{ .method = "GET",
	  .path = JOBS "/{job}:timeline",
	  .handler = job_timeline_answer,
	  .query = &job_timeline_query,
	  .doc = METHOD_DOC_NAMED("jobs.timeline", NULL, job_timeline_message,
				  "Tells what became of a job and its replicas, and when.") },
	{ .method = "GET",
	  .path = JOBS "/{job}:scalars",
	  .handler = job_scalars_answer,
	  .query = &job_scalars_query,
	  .doc = METHOD_DOC_NAMED("jobs.scalars", NULL, job_scalars_message,
				  "Reads the scalars that a job wrote for TensorBoard, as curves.") },
	{ .method = "POST",
	  .path = JOBS ":read",
	  .handler = job_read_answer,
	  .body = &job_text_message,
	  .body_root = "",
	  .doc = METHOD_DOC_NAMED("jobs.read", NULL, job_read_message,
				  "Reads YAML or JSON that describes a job, as gcloud takes it, and gives "
				  "the body that creates the job.") },
	{ .method = "POST",
	  .path = JOBS "/{job}:shell",
	  .handler = job_shell_open,
	  .query = &get_query,
	  .body = &job_shell_message,
	  .body_root = "",
	  .doc = METHOD_DOC_NAMED("jobs.shell", NULL, job_shell_output,
				  "Runs a program beside a replica's own, and gives what it prints.") },
	{ .method = "POST",
	  .path = "/_trainyard/v1/shells/{session}:input",
	  .handler = shell_input,
	  .query = &shell_input_query,
	  .body = &raw_body },
	{ .method = "POST",
	  .path = "/_trainyard/v1/shells/{session}:resize",
	  .handler = shell_resize,
	  .query = &shell_resize_query },
	{ .method = "POST", .path = "/_trainyard/v1/shells/{session}:end", .handler = shell_end },
	{ .method = "GET",
	  .path = "/_trainyard/v1/shells/{session}:output",
	  .handler = shell_output,
	  .query = &shell_output_query,
	  .doc = METHOD_DOC_NAMED("shells.output", NULL, job_shell_output,
				  "Gives the output of a shell from a byte on, after a lost connection.") },
	{ .method = "GET",
	  .path = "/_trainyard/v1/queue",
	  .handler = queue_answer,
	  .doc = METHOD_DOC_NAMED("queue.get", NULL, queue_answer_message,
				  "Tells which jobs wait for their turn, and for what.") },
	{ .method = "GET",
	  .path = "/_trainyard/v1/gpus",
	  .handler = gpu_list_answer,
	  .doc = METHOD_DOC_NAMED("gpus.list", NULL, gpu_list_message,
				  "Tells which GPUs there are, and which replicas hold them.") },
	{ .method = "POST",
	  .path = "/_trainyard/v1/reset",
	  .handler = reset_step,
	  .body = &reset_request_message,
	  .body_root = "",
	  .doc = METHOD_DOC_NAMED("state.reset", NULL, reset_answer_message,
				  "Stops all jobs and removes all state; to be repeated until it is done.") },
	{ .method = "GET",
	  .path = "/_trainyard/v1/status",
	  .handler = status_answer,
	  .doc = METHOD_DOC_NAMED("status.get", NULL, status_message, "Tells what serves, and since when.") },
	{ .method = "GET",
	  .path = "/_trainyard/v1/state:export",
	  .handler = state_export_stream,
	  .doc = METHOD_DOC_NAMED("state.export", NULL, state_archive_message,
				  "Reads all jobs, logs, objects and faults, as an archive (tar).") },
	{ .method = "POST",
	  .path = "/_trainyard/v1/state:import",
	  .handler = state_import_end_call,
	  .query = &state_import_query,
	  .begin = state_import_begin_call,
	  .doc = METHOD_DOC_NAMED("state.import", NULL, state_import_message,
				  "Puts an exported state in the place of all jobs, logs, objects and faults.") },
	{ .method = "GET",
	  .path = "/_trainyard/v1/requests",
	  .handler = requests_stream,
	  .query = &requests_query,
	  .doc = METHOD_DOC_NAMED(
		  "requests.list", NULL, request_line,
		  "Reads the last 1000 requests of clients without bodies, queries and tokens, one JSON "
		  "object a line, the oldest first, and goes on with new ones.") },
	{ .method = NULL },
};
