/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/job_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/emulator/fields.h"
#include "api/emulator/jobs.h"
#include "api/emulator/line_stream.h"
#include "api/message/message_write.h"
#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "store/job_changes.h"
#include "store/job_progress.h"
#include "store/jobs/summaries.h"
#include "store/row_page.h"
#include "store/store.h"

enum { LOOK_US = 500000, PROGRESS_US = 1000000, PAGE_SIZE = 250, INSTANCE_LENGTH = 8 };

static const struct field query_fields[] = {
	FIELD("project", STRING, 0, "Only jobs of the project with this id."),
	FIELD("filter", STRING, 0, "Which jobs, as in the list."),
	FIELD("position", STRING, 0,
	      "Goes on behind this position, which an earlier answer to the same request gave. Empty: begins "
	      "with all jobs."),
	{ .name = NULL },
};
const struct message job_watch_query = { "trainyard.WatchJobsRequest", query_fields,
					 "Which jobs, and from where on.", .is_own = true };

static const struct field line_fields[] = {
	FIELD("all", BOOL, 0, "All jobs follow: forget those of earlier answers."),
	FIELD("uid", STRING, 0, "Names the job in this stream."),
	{ .name = "job",
	  .type = FIELD_MESSAGE,
	  .message = &listed_job_message,
	  .help = "The job as it is now; it may come again unchanged." },
	{ .name = "progress",
	  .type = FIELD_MESSAGE,
	  .message = &job_progress_message,
	  .help = "What the job does now, in place of what was told before; at most once a second for each." },
	FIELD("removed", BOOL, 0,
	      "The job is gone, or not one of those asked for; no earlier answer need have had it."),
	FIELD("position", STRING, 0,
	      "All changes up to here were sent: a later request may go on behind this position."),
	{ .name = NULL },
};
const struct message job_watch_line = { "trainyard.JobChange", line_fields, "A job that changed.",
					.is_own = true };

struct watch {
	const struct call *call;
	const struct jobs_context *context;
	struct job_changes *changes;
	char *project, *filter; /* project: NULL: all */
	bool begins;            /* all jobs are to be sent */
	char *token;            /* the token of the next page; NULL: the first page, or no more pages */
	uint64_t reached;       /* all changes up to this one were sent, or will be by the remaining pages */
	/* the client resumed at a position: all PREPARING and RUNNING jobs are to be sent again, with their progress */
	bool resumes;
	int64_t *started;       /* jobs that were sent as PREPARING or RUNNING: their progress is sent */
	size_t started_count;
	uint64_t progress_news; /* news of progress up to this number were sent */
	int64_t progress_us;    /* when progress was last sent (monotonic) */
};

static void watch_close(void *arg)
{
	struct watch *watch = arg;

	free(watch->project);
	free(watch->filter);
	free(watch->token);
	free(watch->started);
	free(watch);
}

/* ---- positions ---- */

static void position_render(const struct watch *watch, struct text *text)
{
	struct writer line = message_open(text, &job_watch_line);
	const struct store *store = watch->context->store;

	member_printf(&line, "position", "%s.%" PRIu64 ".%" PRIu64, store_instance(store), store_start(store),
		      watch->reached);
	message_close(&line);
	text_putc(text, '\n');
}

/* Reads a position. One from an earlier start of the daemon is ignored: the watch then begins with all jobs. */
static enum status position_read(struct watch *watch, const char *position, struct error *err)
{
	char instance[INSTANCE_LENGTH + 1], rest;
	uint64_t start, reached;

	watch->begins = true;
	if (!position || !*position)
		return STATUS_OK;
	if (sscanf(position, "%8[a-z0-9].%19" SCNu64 ".%19" SCNu64 "%c", instance, &start, &reached, &rest) !=
	    3)
		return error_set(err, STATUS_INVALID_ARGUMENT, "position",
				 "The position is not one that an answer of this call gave.");
	if (strcmp(instance, store_instance(watch->context->store)) != 0 ||
	    start != store_start(watch->context->store))
		return STATUS_OK;
	watch->begins = false;
	watch->resumes = true;
	watch->reached = reached;
	return STATUS_OK;
}

/* ---- lines ---- */

static void started_note(struct watch *watch, int64_t job, bool is_started)
{
	size_t i = 0;

	while (i < watch->started_count && watch->started[i] != job)
		i++;
	if (i < watch->started_count && !is_started) {
		watch->started[i] = watch->started[--watch->started_count];
	} else if (i == watch->started_count && is_started) {
		watch->started = memory_resize(watch->started, i + 1, sizeof(*watch->started));
		watch->started[watch->started_count++] = job;
	}
}

static void job_line_render(struct watch *watch, const struct job_summary *job, struct text *text)
{
	struct writer line = message_open(text, &job_watch_line), value;

	started_note(watch, job->id, job->state == JOB_PREPARING || job->state == JOB_RUNNING);
	member_printf(&line, "uid", "%" PRId64, job->id);
	value = member_message(&line, "job");
	listed_job_render(watch->context, job, &value);
	message_close(&value);
	message_close(&line);
	text_putc(text, '\n');
}

static void removal_render(struct watch *watch, int64_t uid, struct text *text)
{
	struct writer line = message_open(text, &job_watch_line);

	member_printf(&line, "uid", "%" PRId64, uid);
	started_note(watch, uid, false);
	member_bool(&line, "removed", true);
	message_close(&line);
	text_putc(text, '\n');
}

/* A page of all jobs. Jobs that change meanwhile are sent again after them. */
static enum status page_render(struct watch *watch, struct text *text, struct error *err)
{
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	const uint64_t last = job_changes_last(watch->changes);
	const uint64_t news = progress_last(store_progress(watch->context->store));
	enum status rc = summary_list_page(watch->context->store, watch->project, watch->filter, PAGE_SIZE,
					   watch->token, &list, err);

	if (rc)
		return rc;
	if (!watch->token) {
		struct writer line = message_open(text, &job_watch_line);

		member_bool(&line, "all", true);
		message_close(&line);
		text_putc(text, '\n');
		watch->reached = last;
		watch->progress_news = news;
	}
	for (size_t i = 0; i < list.count; i++)
		job_line_render(watch, &list.jobs[i], text);
	free(watch->token);
	watch->token = TAKE(list.next_page_token);
	watch->begins = watch->token != NULL;
	if (!watch->begins)
		position_render(watch, text);
	return STATUS_OK;
}

static bool is_among(const struct summary_list *list, int64_t id)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->jobs[i].id == id)
			return true;
	return false;
}

/* Writes the jobs that have changed, in their present state. */
static enum status changes_render(struct watch *watch, int64_t *jobs, size_t count, struct text *text,
				  struct error *err)
{
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	enum status rc = summary_list_some(watch->context->store, watch->project, watch->filter, jobs, &count,
					   &list, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < list.count; i++)
		job_line_render(watch, &list.jobs[i], text);
	for (size_t i = 0; i < count; i++)
		if (!is_among(&list, jobs[i]))
			removal_render(watch, jobs[i], text);
	if (text->length)
		position_render(watch, text);
	return STATUS_OK;
}

/* Writes the progress lines, which are in memory, so no query is needed. */
static void progress_lines_render(struct watch *watch, struct text *text)
{
	struct progress_board *board = store_progress(watch->context->store);
	const uint64_t last = progress_last(board);
	const int64_t now_us = clock_mono_us(&system_clock);

	if (last == watch->progress_news || now_us - watch->progress_us < PROGRESS_US)
		return;
	for (size_t i = 0; i < watch->started_count; i++) {
		struct job_progress progress;
		struct writer line;

		if (!progress_get(board, watch->started[i], &progress) ||
		    progress.news <= watch->progress_news)
			continue;
		line = message_open(text, &job_watch_line);
		member_printf(&line, "uid", "%" PRId64, watch->started[i]);
		job_progress_render(&progress, &line);
		message_close(&line);
		text_putc(text, '\n');
	}
	watch->progress_news = last;
	watch->progress_us = now_us;
}

/* The client has the jobs of an earlier answer: those that have started are sent again, with their progress. */
static enum status started_render(struct watch *watch, struct text *text, struct error *err)
{
	static const char started[] = "(state=PREPARING OR state=RUNNING)";
	const bool filtered = watch->filter && *watch->filter;
	AUTO(string)
	char *filter = filtered ? memory_printf("(%s) AND %s", watch->filter, started)
				: memory_strdup(started);
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	const uint64_t news = progress_last(store_progress(watch->context->store));
	enum status rc = summary_list_page(watch->context->store, watch->project, filter, ROW_PAGE_MAX, NULL,
					   &list, err);

	for (size_t i = 0; !rc && i < list.count; i++)
		job_line_render(watch, &list.jobs[i], text);
	if (text->length)
		position_render(watch, text);
	watch->progress_news = news;
	watch->resumes = false;
	return rc;
}

static enum status watch_more(void *arg, struct text *text, ssize_t *ret_over, struct error *err)
{
	struct watch *watch = arg;
	int64_t jobs[JOB_CHANGES_KEPT];
	uint64_t last = 0;
	size_t count = 0;

	if (call_closing(watch->call)) {
		*ret_over = STREAM_END;
		return STATUS_OK;
	}
	if (watch->begins)
		return page_render(watch, text, err);
	if (watch->resumes)
		return started_render(watch, text, err);
	progress_lines_render(watch, text);
	if (text->length)
		return STATUS_OK;
	if (!job_changes_read(watch->changes, watch->reached, jobs, &count, &last)) {
		watch->begins = true;
		return STATUS_OK;
	}
	if (!count) {
		if (!job_changes_await(watch->changes, watch->reached, LOOK_US))
			*ret_over = STREAM_QUIET;
		return STATUS_OK;
	}
	watch->reached = last;
	return changes_render(watch, jobs, count, text, err);
}

enum status job_watch_stream(struct call *call, struct error *err)
{
	const struct jobs_context *context = call->context;
	const char *project = jobs_project(call), *filter = call_query(call, "filter");
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	struct watch wanted = { .call = call,
				.context = context,
				.changes = store_job_changes(context->store) };
	struct watch *watch;
	enum status rc = position_read(&wanted, call_query(call, "position"), err);

	if (!rc) /* checks the filter */
		rc = summary_list_page(context->store, project, filter, 1, NULL, &list, err);
	if (rc)
		return rc;
	watch = memory_calloc(1, sizeof(*watch));
	*watch = wanted;
	watch->project = memory_strdup(project);
	watch->filter = memory_strdup(filter);
	line_stream_begin(call, &(struct line_source){ watch_more, watch_close, watch });
	return STATUS_OK;
}
