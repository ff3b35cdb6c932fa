/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/job_log.h"

#include <stdlib.h>
#include <string.h>

#include "api/emulator/fields.h"
#include "api/emulator/jobs.h"
#include "api/emulator/line_stream.h"
#include "api/message/message_write.h"
#include "daemon/base/memory.h"
#include "daemon/base/timestamp.h"
#include "store/jobs/summaries.h"
#include "store/logs/log_tail.h"

enum { LOOK_US = 500000 /* how often the state of the job is looked at while its log is quiet */ };

static const struct field query_fields[] = {
	FIELD("project", STRING, 0, "Only a job of the project with this id."),
	FIELD("follow", BOOL, 0, "Goes on with new lines until the job has ended."),
	FIELD("filter", STRING, 0, "Which lines: in the language of Cloud Logging. Empty: all."),
	FIELD("sinceTime", TIMESTAMP, 0, "Only lines of that time or later."),
	{ .name = "tail",
	  .type = FIELD_INT32,
	  .flags = FIELD_PRESENCE,
	  .help = "At most this number of the lines that are there, the last ones." },
	FIELD("cursors", BOOL, 0,
	      "Objects with a cursor come between the lines: a later request with that cursor gives all "
	      "lines behind it again. The last object has end."),
	FIELD("cursor", STRING, 0,
	      "Begins behind this cursor, which an earlier answer to the same request gave; tail has no "
	      "effect then."),
	FIELD("skip", INT32, 0, "How many lines behind the cursor to leave out."),
	{ .name = NULL },
};
const struct message job_log_query = { "trainyard.LogRequest", query_fields, "Which lines of the log.",
				       .is_own = true };

static const struct field line_fields[] = {
	FIELD("time", TIMESTAMP, 0, "When it was written."),
	FIELD("severity", STRING, 0, "DEFAULT, INFO, ERROR and the like."),
	FIELD("replica", STRING, 0, "What printed it: master-replica-0, workerpool0-0, or service."),
	FIELD("trial", STRING, 0, "The trial's number; absent in jobs without trials."),
	FIELD("message", STRING, 0, "The text; of a structured line its message, if it has one."),
	FIELD("fields", STRUCT, 0, "A structured line as it is; absent for others."),
	FIELD("cursor", STRING, 0, "In the place of a line: where the lines that follow begin."),
	FIELD("skip", INT32, 0, "With a cursor: how many lines behind it were left out; absent if 0."),
	FIELD("end", BOOL, 0, "In the place of a line: the job has ended, and no line follows."),
	{ .name = NULL },
};
const struct message job_log_line = { "trainyard.LogLine", line_fields, "A line of a job's log.",
				      .is_own = true };

struct log_stream {
	const struct call *call;
	struct store *store;
	int64_t job;
	struct log_tail *tail;
	bool follows, ended;        /* ended: the job has ended, and all of its lines are stored */
	/* marked: the cursor of this read is written; over: the end of the log is written */
	bool cursors, marked, over;
	int64_t skip, skipped;      /* lines to leave out; those that this read has left out */
	struct text *lines;         /* the lines of this read */
};

static void stream_close(void *arg)
{
	struct log_stream *stream = arg;

	log_tail_close(stream->tail);
	free(stream);
}

static void structured_render(const struct tail_line *line, struct writer *answer)
{
	AUTO(json) json_t *fields = json_loadb(line->payload, line->payload_length, 0, NULL);

	member_text(answer, "message", json_text_at(fields, "message"));
	member_json(answer, "fields", line->payload);
}

static void cursor_render(struct log_stream *stream)
{
	struct writer answer = message_open(stream->lines, &job_log_line);
	struct text cursor AUTO_TEXT = { 0 };

	log_tail_cursor(stream->tail, &cursor);
	member_text(&answer, "cursor", cursor.data);
	if (stream->skipped)
		member_int(&answer, "skip", stream->skipped);
	message_close(&answer);
	text_putc(stream->lines, '\n');
	stream->marked = true;
}

static void end_render(struct log_stream *stream)
{
	struct writer answer = message_open(stream->lines, &job_log_line);

	member_bool(&answer, "end", true);
	message_close(&answer);
	text_putc(stream->lines, '\n');
	stream->over = true;
}

static void line_render(void *arg, const struct tail_line *line)
{
	struct log_stream *stream = arg;
	struct text *text = stream->lines;
	struct writer answer;
	struct text *time;

	if (stream->skip) {
		stream->skip--;
		stream->skipped++;
		return;
	}
	if (stream->cursors && !stream->marked)
		cursor_render(stream);
	answer = message_open(text, &job_log_line);
	time = member_begin(&answer, "time");

	text_putc(time, '"');
	text_time_nanos(time, line->time_ns);
	text_putc(time, '"');
	member_text(&answer, "severity", log_severity_name(line->severity));
	member_text(&answer, "replica", line->task);
	member_text(&answer, "trial", line->trial);
	if (line->kind == LOG_TEXT)
		text_json(member_begin(&answer, "message"), line->payload, line->payload_length);
	else
		structured_render(line, &answer);
	message_close(&answer);
	text_putc(text, '\n');
}

/* Looks whether the job has ended; if so, waits until the lines written before its end are stored. */
static enum status end_look(struct log_stream *stream, struct error *err)
{
	AUTO(job) struct job *job = NULL;
	enum status rc = job_get_by_id(stream->store, stream->job, &job, err);

	if (!rc && job_state_is_final(job->state)) {
		rc = log_flush(stream->store, err);
		stream->ended = !rc;
	}
	return rc;
}

static enum status more_read(void *arg, struct text *text, ssize_t *ret_over, struct error *err)
{
	struct log_stream *stream = arg;
	unsigned count = 0;
	enum status rc;

	stream->lines = text;
	stream->marked = false;
	stream->skipped = 0;
	rc = log_tail_read(stream->tail, stream->ended, line_render, stream, &count, err);
	if (rc || count)
		return rc;
	if (stream->ended && stream->cursors && !stream->over) {
		end_render(stream);
		return STATUS_OK;
	}
	if (!stream->follows || stream->ended || call_closing(stream->call)) {
		*ret_over = STREAM_END;
		return STATUS_OK;
	}
	rc = end_look(stream, err);
	if (!rc && !stream->ended && !log_tail_wait(stream->tail, LOOK_US))
		*ret_over = STREAM_QUIET;
	return rc;
}

enum status job_log_stream(struct call *call, struct error *err)
{
	const struct jobs_context *context = call->context;
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	const char *since = call_query(call, "sinceTime");
	struct log_tail_spec spec = { .filter = call_query(call, "filter"),
				      .since_ns = INT64_MIN,
				      .last = json_int_at(call->query, "tail", -1),
				      .follows = json_true_at(call->query, "follow"),
				      .cursor = call_query(call, "cursor") };
	AUTO(log_tail) struct log_tail *tail = NULL;
	struct log_stream *stream;
	enum status rc = jobs_find(call, &list, err);

	if (rc)
		return rc;
	if (spec.last < -1)
		return error_set(err, STATUS_INVALID_ARGUMENT, "tail", "The value must not be negative.");
	if (spec.cursor && !*spec.cursor)
		spec.cursor = NULL;
	if (json_int_at(call->query, "skip", 0) < 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, "skip", "The value must not be negative.");
	if (since && !time_parse(since, &spec.since_ns))
		return error_set(err, STATUS_INVALID_ARGUMENT, "sinceTime", "A time is expected.");
	spec.job = list.jobs[0].id;
	rc = log_tail_open(context->store, &spec, &tail, err);
	if (rc)
		return rc;
	stream = memory_calloc(1, sizeof(*stream));
	*stream = (struct log_stream){ .call = call,
				       .store = context->store,
				       .job = spec.job,
				       .tail = TAKE(tail),
				       .cursors = json_true_at(call->query, "cursors"),
				       .skip = json_int_at(call->query, "skip", 0),
				       .follows = spec.follows };
	line_stream_begin(call, &(struct line_source){ more_read, stream_close, stream });
	return STATUS_OK;
}
