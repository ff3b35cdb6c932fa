/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/job_shell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/emulator/fields.h"
#include "api/emulator/jobs.h"
#include "api/emulator/shell_session.h"
#include "api/emulator/web_shell.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/plan.h"
#include "store/jobs/summaries.h"

enum { READ_WAIT_MS = 500, LOOK_US = 1000000, SIDE_MAX = 1000, INPUT_BYTES_MAX = 1 << 20 };

/* ---- messages ---- */

static const struct field shell_fields[] = {
	FIELD("session", STRING, FIELD_REQUIRED,
	      "The id of the session: 1 to 64 letters, digits, dashes and underscores, chosen at random."),
	FIELD("replica", STRING, 0, "Which replica: worker-1, workerpool0-0. Empty: the first."),
	FIELD("trial", INT32, 0, "Which trial of a tuning job."),
	FIELD("command", STRING, FIELD_REPEATED, "The program and its arguments. Empty: bash, or sh."),
	FIELD("terminal", BOOL, 0, "On a terminal; else through pipes."),
	FIELD("columns", INT32, 0, "How many characters a line of the terminal holds."),
	FIELD("rows", INT32, 0, "How many lines it has."),
	FIELD("keepSeconds", INT32, 0,
	      "How long the program goes on when the connection is lost, 0 to 300; only on a terminal. 0: it ends."),
	{ .name = NULL },
};
const struct message job_shell_message = { "trainyard.ShellRequest", shell_fields,
					   "A program to run beside a replica's own.", .is_own = true };

static const struct field output_fields[] = { { .name = NULL } };
const struct message job_shell_output = { "trainyard.ShellFrames", output_fields,
					  "The program's output, in frames of bytes.", .is_own = true };

static const struct field output_query_fields[] = {
	FIELD("offset", INT64, 0, "How many bytes of the output are known: it goes on behind them."),
	{ .name = NULL },
};
const struct message shell_output_query = { "trainyard.ShellOutputRequest", output_query_fields,
					    "Where the output of a session goes on.", .is_own = true };

static const struct field input_fields[] = {
	FIELD("offset", INT64, 0,
	      "How many bytes of input came before these: those that are known already are not typed again."),
	FIELD("end", BOOL, 0, "No input follows this request's."),
	{ .name = NULL },
};
const struct message shell_input_query = { "trainyard.ShellInputRequest", input_fields, "Input of a session.",
					   .is_own = true };

static const struct field resize_fields[] = {
	FIELD("columns", INT32, FIELD_REQUIRED, "How many characters a line of the terminal holds."),
	FIELD("rows", INT32, FIELD_REQUIRED, "How many lines it has."),
	{ .name = NULL },
};
const struct message shell_resize_query = { "trainyard.ShellResizeRequest", resize_fields,
					    "The size of a session's terminal.", .is_own = true };

/* ---- finding the replica ---- */

/* True if @name names the replica. Worker 1 may be called "worker-1", "worker 1" or "worker-replica-1". */
static bool replica_is(const struct plan *plan, enum role role, unsigned index, const char *name)
{
	char task[REPLICA_NAME_MAX], sentence[REPLICA_NAME_MAX], plain[REPLICA_NAME_MAX];

	replica_task_name(plan, role, index, task);
	replica_sentence_name(plan, role, index, sentence);
	snprintf(plain, sizeof(plain), "%s-%u", dialect_of(plan)->pools[role], index);
	return strcmp(name, task) == 0 || strcmp(name, sentence) == 0 || strcmp(name, plain) == 0;
}

/* Finds the replica with this name; NULL or "": the job's first one. */
static enum status replica_find(const struct plan *plan, const char *name, struct replica_key *replica,
				struct error *err)
{
	struct text names AUTO_TEXT = { 0 };

	for (int role = 0; role < ROLE_COUNT; role++)
		for (unsigned index = 0; index < plan->pools[role].count; index++) {
			char task[REPLICA_NAME_MAX];

			if (!name || !*name || replica_is(plan, (enum role)role, index, name)) {
				replica->role = (enum role)role;
				replica->index = index;
				return STATUS_OK;
			}
			replica_task_name(plan, (enum role)role, index, task);
			text_printf(&names, "%s%s", names.length ? ", " : "", task);
		}
	return error_set(err, STATUS_NOT_FOUND, NULL, "the job has no replica %s; it has %s", name,
			 names.data ? names.data : "none");
}

static enum status place_find(const struct call *call, struct replica_key *ret_replica, struct error *err)
{
	const struct jobs_context *context = call->context;
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	AUTO(job) struct job *job = NULL;
	AUTO(plan) struct plan *plan = NULL;
	const int64_t trial = json_int_at(call->body, "trial", 0);
	enum status rc = jobs_find(call, &list, err);

	if (!rc)
		rc = job_get_by_id(context->store, list.jobs[0].id, &job, err);
	if (!rc)
		rc = plan_from_text(job->plan, &plan, err);
	if (!rc && (trial || plan_tunes(plan))) {
		rc = jobs_trial_find(context->store, trial, &job, err);
		plan_free(TAKE(plan));
		if (!rc)
			rc = plan_from_text(job->plan, &plan, err);
	}
	if (rc)
		return rc;
	if (job->state != JOB_RUNNING)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "%s is %s: a shell can be opened only while the job is RUNNING",
				 call_param(call, "job"), job_state_name(job->state));
	*ret_replica = (struct replica_key){ .job = job->id, .attempt = job->attempt };
	return replica_find(plan, json_text_at(call->body, "replica"), ret_replica, err);
}

/* ---- output ---- */

struct output {
	const struct call *call;
	const struct jobs_context *context;
	struct replica_key replica;
	struct shell_reader reader; /* session: NULL: none yet */
	enum shell_kind kind;
	int64_t looked_us;
	struct text pending; /* a frame of ours; goes out before the program's output */
	size_t sent;
	bool over;
};

static void output_free(struct output *output)
{
	if (output->reader.session)
		shell_reader_leave(&output->reader);
	text_deinit(&output->pending);
	free(output);
}

DEFINE_AUTO(output, struct output *, output_free)

static void output_close(void *arg)
{
	output_free(arg);
}

static void header_write(char header[SHELL_FRAME_HEADER_BYTES], enum shell_frame frame, size_t length)
{
	memset(header, 0, SHELL_FRAME_HEADER_BYTES);
	header[0] = (char)frame;
	for (int i = 0; i < 4; i++)
		header[4 + i] = (char)(length >> (24 - 8 * i) & 0xff);
}

static void frame_put(struct output *output, enum shell_frame frame, const char *data)
{
	char header[SHELL_FRAME_HEADER_BYTES];

	header_write(header, frame, strlen(data));
	text_append(&output->pending, header, sizeof(header));
	text_puts(&output->pending, data);
}

/* Whether the session's attempt still runs. */
static bool job_runs(struct output *output)
{
	const int64_t now_us = clock_mono_us(output->context->shells->clock);
	AUTO(job) struct job *job = NULL;

	if (now_us - output->looked_us < LOOK_US)
		return true;
	output->looked_us = now_us;
	return !job_get_by_id(output->context->store, output->replica.job, &job, NULL) &&
	       job->attempt == output->replica.attempt && !job_state_is_final(job->state);
}

static ssize_t pending_send(struct output *output, char *buffer, size_t size)
{
	const size_t left = output->pending.length - output->sent, piece = left < size ? left : size;

	memcpy(buffer, output->pending.data + output->sent, piece);
	output->sent += piece;
	if (output->sent == output->pending.length) {
		text_clear(&output->pending);
		output->sent = 0;
	}
	return (ssize_t)piece;
}

static ssize_t output_end(struct output *output, char *buffer, size_t size)
{
	const int code = shell_session_exit_code(output->reader.session);
	char digits[16];

	output->over = true;
	if (code < 0)
		return STREAM_END;
	snprintf(digits, sizeof(digits), "%d", code);
	frame_put(output, SHELL_FRAME_EXIT, digits);
	return pending_send(output, buffer, size);
}

/* Reads output for the client. On a terminal it adds the frames' heads; without one the engine has made the frames. */
static ssize_t output_read(void *arg, char *buffer, size_t size)
{
	struct output *output = arg;
	const size_t before = output->kind == SHELL_TERMINAL ? SHELL_FRAME_HEADER_BYTES : 0;
	ssize_t got;

	if (output->pending.length)
		return pending_send(output, buffer, size);
	if (output->over || size <= before || call_closing(output->call))
		return STREAM_END;
	if (!job_runs(output)) {
		shell_session_stop(output->reader.session);
		return STREAM_END;
	}
	got = shell_reader_read(&output->reader, buffer + before, size - before, READ_WAIT_MS);
	if (got < 0)
		return output_end(output, buffer, size);
	if (!got)
		return STREAM_QUIET;
	if (before)
		header_write(buffer, SHELL_FRAME_OUT, (size_t)got);
	return got + (ssize_t)before;
}

static enum status side_check(const json_t *object, const char *name, unsigned *ret_side, struct error *err)
{
	const int64_t side = json_int_at(object, name, 0);

	if (side < 0 || side > SIDE_MAX)
		return error_set(err, STATUS_INVALID_ARGUMENT, name,
				 "Columns and rows of a terminal are numbers from 1 to %d.", SIDE_MAX);
	*ret_side = (unsigned)side;
	return STATUS_OK;
}

static enum status program_run(const struct call *call, struct output *output,
			       struct shell_terminal **ret_terminal, struct error *err)
{
	const struct web_shell_context *shells = output->context->shells;
	const json_t *command = json_object_get(call->body, "command");

	return json_array_size(command)
		       ? shells->open(shells->arg, &output->replica, command, output->kind, ret_terminal, err)
		       : web_shell_open(shells, &output->replica, output->kind, ret_terminal, err);
}

static enum status keep_check(const struct call *call, const struct output *output, unsigned *ret_keep_s,
			      struct error *err)
{
	const int64_t keep_s = json_int_at(call->body, "keepSeconds", 0);

	if (keep_s < 0 || keep_s > SESSION_KEEP_MAX_S || (keep_s && output->kind != SHELL_TERMINAL))
		return error_set(err, STATUS_INVALID_ARGUMENT, "keepSeconds",
				 "A program on a terminal goes on for 0 to %d seconds without a connection.",
				 SESSION_KEEP_MAX_S);
	*ret_keep_s = (unsigned)keep_s;
	return STATUS_OK;
}

static enum status output_open(const struct call *call, struct output *output, struct error *err)
{
	const char *id = json_text_at(call->body, "session");
	AUTO(session_owner) struct shell_session *session = NULL;
	struct shell_terminal *terminal = NULL;
	unsigned columns = 0, rows = 0, keep_s = 0;
	enum status rc = side_check(call->body, "columns", &columns, err);

	if (!rc)
		rc = side_check(call->body, "rows", &rows, err);
	if (!rc)
		rc = keep_check(call, output, &keep_s, err);
	if (!rc)
		rc = shell_session_begin(output->context->shells->sessions, &output->replica, id ? id : "",
					 keep_s, &session, err);
	if (!rc)
		rc = program_run(call, output, &terminal, err);
	if (rc)
		return rc;
	if (columns && rows && output->kind == SHELL_TERMINAL)
		terminal->ops->resize(terminal, columns, rows);
	shell_session_start(session, terminal);
	output->reader.session = TAKE(session);
	frame_put(output, SHELL_FRAME_OPEN, "");
	return STATUS_OK;
}

static struct output *output_new(const struct call *call, enum shell_kind kind)
{
	const struct jobs_context *context = call->context;
	struct output *output = memory_calloc(1, sizeof(*output));

	*output = (struct output){ .call = call,
				   .context = context,
				   .kind = kind,
				   .looked_us = clock_mono_us(context->shells->clock) };
	return output;
}

static void output_begin(struct call *call, struct output *output)
{
	call->content_type = "application/octet-stream";
	call->stream = (struct answer_stream){ output_read, output_close, output, -1 };
}

enum status job_shell_open(struct call *call, struct error *err)
{
	AUTO(output)
	struct output *output =
		output_new(call, json_true_at(call->body, "terminal") ? SHELL_TERMINAL : SHELL_PIPES);
	enum status rc;

	rc = place_find(call, &output->replica, err);
	if (!rc)
		rc = output_open(call, output, err);
	if (rc)
		return rc;
	output_begin(call, TAKE(output));
	return STATUS_OK;
}

/* The first frame says from which byte on the output is sent: later than the requested offset if bytes between them are
 * no longer kept. */
enum status shell_output(struct call *call, struct error *err)
{
	const struct jobs_context *context = call->context;
	const int64_t offset = json_int_at(call->query, "offset", 0);
	AUTO(output) struct output *output = output_new(call, SHELL_TERMINAL);
	char at[24];

	if (offset < 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, "offset", "An offset is a number of bytes.");
	if (!shell_session_resume(context->shells->sessions, call_param(call, "session"), (uint64_t)offset,
				  &output->reader))
		return error_set(err, STATUS_NOT_FOUND, NULL,
				 "No shell with this id is open that goes on without a connection.");
	output->replica = *shell_session_replica(output->reader.session);
	snprintf(at, sizeof(at), "%" PRIu64, output->reader.at);
	frame_put(output, SHELL_FRAME_OPEN, at);
	output_begin(call, TAKE(output));
	return STATUS_OK;
}

/* ---- input ---- */

static enum status session_find(const struct call *call, struct shell_session **ret_session,
				struct error *err)
{
	const struct jobs_context *context = call->context;

	*ret_session = shell_session_find(context->shells->sessions, call_param(call, "session"));
	return *ret_session ? STATUS_OK
			    : error_set(err, STATUS_NOT_FOUND, NULL, "No shell with this id is open.");
}

enum status shell_input(struct call *call, struct error *err)
{
	AUTO(session_hold) struct shell_session *session = NULL;
	enum status rc;

	if (call->raw_bytes > INPUT_BYTES_MAX)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "At most %d bytes can be typed with one request.", INPUT_BYTES_MAX);
	rc = session_find(call, &session, err);
	if (rc)
		return rc;
	if (!shell_session_type(session, json_int_at(call->query, "offset", INPUT_NEXT), call->raw,
				call->raw_bytes))
		return error_set(err, STATUS_ABORTED, NULL,
				 "The program has ended or takes no input, or input before this is missing.");
	if (json_true_at(call->query, "end"))
		shell_session_end_input(session);
	return STATUS_OK;
}

enum status shell_resize(struct call *call, struct error *err)
{
	AUTO(session_hold) struct shell_session *session = NULL;
	unsigned columns = 0, rows = 0;
	enum status rc = side_check(call->query, "columns", &columns, err);

	if (!rc)
		rc = side_check(call->query, "rows", &rows, err);
	if (!rc && (!columns || !rows))
		rc = error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			       "Columns and rows of a terminal are numbers from 1 to %d.", SIDE_MAX);
	if (!rc)
		rc = session_find(call, &session, err);
	if (!rc)
		shell_session_resize(session, columns, rows);
	return rc;
}

enum status shell_end(struct call *call, struct error *err)
{
	AUTO(session_hold) struct shell_session *session = NULL;
	enum status rc = session_find(call, &session, err);

	if (!rc)
		shell_session_stop(session);
	return rc;
}
