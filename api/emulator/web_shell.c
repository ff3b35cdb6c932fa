/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/web_shell.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/emulator/web_files.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/plan.h"
#include "store/jobs/jobs.h"

enum {
	MAC_BYTES = 16,
	TOKEN_SIZE = 96,
	READ_WAIT_MS = 500,
	LOOK_US = 1000000, /* how often an open shell checks whether its job still runs */
	INPUT_BYTES_MAX = 1 << 20,
	SIDE_MAX = 1000, /* columns and rows */
};

/* The page loads only its own parts from this daemon, and is not sent as a referrer, because its address is its key.
 * Source: https://www.w3.org/TR/CSP3/ */
static const struct {
	const char *name, *value;
} page_headers[] = {
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
	  "form-action 'none'; frame-ancestors 'none'" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cache-Control", "no-store" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
};

/* ---- addresses ---- */

/* Writes the token of a replica's shell: "12-worker-0-", and the hash of that in hexadecimal digits. */
static void token_write(const unsigned char *key, int64_t job, enum role role, unsigned index,
			char token[TOKEN_SIZE])
{
	static const char purpose[] = "web shell ";
	unsigned char mac[MAC_BYTES];
	crypto_generichash_state state;
	int length = snprintf(token, TOKEN_SIZE - 2 * MAC_BYTES - 1, "%" PRId64 "-%s-%u-", job,
			      role_name(role), index);

	crypto_generichash_init(&state, key, WEB_SHELL_KEY_BYTES, sizeof(mac));
	crypto_generichash_update(&state, (const unsigned char *)purpose, strlen(purpose));
	crypto_generichash_update(&state, (const unsigned char *)token, (size_t)length);
	crypto_generichash_final(&state, mac, sizeof(mac));
	sodium_bin2hex(token + length, 2 * sizeof(mac) + 1, mac, sizeof(mac));
}

char *web_shell_uri(const unsigned char *key, const char *host, int64_t job, enum role role, unsigned index)
{
	char token[TOKEN_SIZE];
	struct text uri AUTO_TEXT = { 0 };

	token_write(key, job, role, index, token);
	text_printf(&uri, "http://%s/_trainyard/shell/%s/", host, token);
	return text_take(&uri);
}

/* Parses a token, which may be forged. It names neither an attempt nor a restart; both are 0. */
static bool token_parse(const char *token, struct replica_key *ret_replica)
{
	char role[16];
	char rest;

	*ret_replica = (struct replica_key){ 0 };
	return sscanf(token, "%18" SCNd64 "-%15[a-z]-%9u-%c", &ret_replica->job, role, &ret_replica->index,
		      &rest) == 4 &&
	       ret_replica->job > 0 && role_parse(role, &ret_replica->role);
}

/* Parses and verifies a token: it must be exactly the text that token_write() makes. */
static bool token_read(const unsigned char *key, const char *token, struct replica_key *ret_replica)
{
	char expected[TOKEN_SIZE];

	if (!token_parse(token, ret_replica))
		return false;
	token_write(key, ret_replica->job, ret_replica->role, ret_replica->index, expected);
	return strlen(token) == strlen(expected) && sodium_memcmp(token, expected, strlen(expected)) == 0;
}

static bool job_offers_shell(const struct job *job)
{
	return job->state == JOB_RUNNING && job->web_access;
}

/* The answer for a shell that does not exist and for one that the client may not use is the same. */
static enum status refuse(struct error *err)
{
	return error_set(
		err, STATUS_NOT_FOUND, NULL,
		"There is no interactive shell at this address: a shell exists while its job is RUNNING, if "
		"the job has enableWebAccess.");
}

static enum status replica_find(const struct call *call, struct replica_key *ret_replica, struct error *err)
{
	const struct web_shell_context *context = call->context;
	AUTO(job) struct job *job = NULL;

	if (!token_read(context->key, call_param(call, "token"), ret_replica))
		return refuse(err);
	enum status rc = job_get_by_id(context->store, ret_replica->job, &job, err);

	if (rc == STATUS_NOT_FOUND)
		return refuse(err);
	if (rc)
		return rc;
	if (!job_offers_shell(job))
		return refuse(err);
	ret_replica->attempt = job->attempt;
	return STATUS_OK;
}

static void page_headers_add(struct call *call)
{
	for (size_t i = 0; i < sizeof(page_headers) / sizeof(page_headers[0]); i++)
		call_header_add(call, page_headers[i].name, page_headers[i].value);
}

/* ---- the page ---- */

static enum status slash_add(struct call *call, struct error *err)
{
	struct replica_key replica;
	struct text location AUTO_TEXT = { 0 };
	enum status rc = replica_find(call, &replica, err);

	if (rc)
		return rc;
	text_printf(&location, "/_trainyard/shell/%s/", call_param(call, "token"));
	call_header_add(call, "Location", location.data);
	call->http_status = 308;
	page_headers_add(call);
	return STATUS_OK;
}

static const char *file_type(const char *name)
{
	const char *suffix = strrchr(name, '.');

	if (strcmp(suffix, ".js") == 0)
		return "text/javascript; charset=UTF-8";
	return strcmp(suffix, ".css") == 0 ? "text/css; charset=UTF-8" : "text/html; charset=UTF-8";
}

/* Serves the file with the name at the end of the row's path, or page.html if the path ends with a slash. */
static enum status file_get(struct call *call, struct error *err)
{
	const char *name = strrchr(call->route->path, '/') + 1;
	const struct embedded_file *file = web_shell_files;
	struct replica_key replica;
	enum status rc = replica_find(call, &replica, err);

	if (rc)
		return rc;
	if (!*name)
		name = "page.html";
	while (file->name && strcmp(file->name, name) != 0)
		file++;
	if (!file->name)
		return error_set(err, STATUS_INTERNAL, NULL, "the program was built without its file %s",
				 name);
	call->content_type = file_type(name);
	text_append(&call->answer, file->data, file->bytes);
	page_headers_add(call);
	return STATUS_OK;
}

/* ---- output ---- */

struct output {
	const struct call *call;
	const struct web_shell_context *context;
	struct replica_key replica;
	struct shell_reader reader; /* session: NULL: none yet */
	int64_t looked_us;
};

static void output_free(struct output *output)
{
	if (output->reader.session)
		shell_reader_leave(&output->reader);
	free(output);
}

DEFINE_AUTO(output, struct output *, output_free)

static void output_close(void *arg)
{
	output_free(arg);
}

static bool job_runs(struct output *output)
{
	const int64_t now_us = clock_mono_us(output->context->clock);
	AUTO(job) struct job *job = NULL;

	if (now_us - output->looked_us < LOOK_US)
		return true;
	output->looked_us = now_us;
	return !job_get_by_id(output->context->store, output->replica.job, &job, NULL) &&
	       job->attempt == output->replica.attempt && job_offers_shell(job);
}

static ssize_t output_read(void *arg, char *buffer, size_t size)
{
	struct output *output = arg;
	ssize_t got;

	if (call_closing(output->call) || !job_runs(output))
		return STREAM_END;
	got = shell_reader_read(&output->reader, buffer, size, READ_WAIT_MS);
	if (got < 0)
		return STREAM_END;
	return got ? got : STREAM_QUIET;
}

enum status web_shell_open(const struct web_shell_context *context, const struct replica_key *replica,
			   enum shell_kind kind, struct shell_terminal **ret_terminal, struct error *err)
{
	AUTO(json) json_t *bash = json_pack("[s]", "/bin/bash");
	AUTO(json) json_t *sh = json_pack("[s]", "/bin/sh");
	enum status rc;

	rc = context->open(context->arg, replica, bash, kind, ret_terminal, err);
	if (rc == STATUS_FAILED_PRECONDITION)
		rc = context->open(context->arg, replica, sh, kind, ret_terminal, err);
	return rc;
}

/* Reads the size of the terminal; a number that is not given is 0. */
static enum status size_read(const struct call *call, unsigned *ret_columns, unsigned *ret_rows,
			     struct error *err)
{
	const int64_t columns = json_int_at(call->query, "columns", 0);
	const int64_t rows = json_int_at(call->query, "rows", 0);

	if (columns < 0 || columns > SIDE_MAX || rows < 0 || rows > SIDE_MAX || !columns != !rows)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "Columns and rows of a terminal are numbers from 1 to %d.", SIDE_MAX);
	*ret_columns = (unsigned)columns;
	*ret_rows = (unsigned)rows;
	return STATUS_OK;
}

static enum status output_open(struct call *call, struct output *output, struct error *err)
{
	const struct web_shell_context *context = call->context;
	const char *id = call_query(call, "session");
	struct shell_terminal *terminal = NULL;
	unsigned columns, rows;
	enum status rc = size_read(call, &columns, &rows, err);

	if (rc)
		return rc;
	AUTO(session_owner) struct shell_session *session = NULL;

	rc = shell_session_begin(context->sessions, &output->replica, id ? id : "", 0, &session, err);
	if (!rc)
		rc = web_shell_open(context, &output->replica, SHELL_TERMINAL, &terminal, err);
	if (rc)
		return rc;
	if (columns)
		terminal->ops->resize(terminal, columns, rows);
	shell_session_start(session, terminal);
	output->reader.session = TAKE(session);
	return STATUS_OK;
}

static enum status output_get(struct call *call, struct error *err)
{
	AUTO(output) struct output *output = memory_calloc(1, sizeof(*output));
	enum status rc;

	call->content_type = "application/octet-stream";
	output->call = call;
	output->context = call->context;
	output->looked_us = clock_mono_us(output->context->clock);
	rc = replica_find(call, &output->replica, err);
	if (!rc)
		page_headers_add(call);
	if (rc || strcmp(call->method, "HEAD") == 0)
		return rc;
	rc = output_open(call, output, err);
	if (rc)
		return rc;
	call->stream = (struct answer_stream){ output_read, output_close, TAKE(output), -1 };
	return STATUS_OK;
}

/* ---- input ---- */

static enum status session_find(struct call *call, struct shell_session **ret_session, struct error *err)
{
	const struct web_shell_context *context = call->context;
	const char *id = call_query(call, "session");
	struct replica_key replica;
	enum status rc = replica_find(call, &replica, err);

	if (rc)
		return rc;
	*ret_session = shell_session_hold(context->sessions, &replica, id ? id : "");
	if (!*ret_session)
		return error_set(err, STATUS_NOT_FOUND, NULL, "No terminal session with this id is open.");
	return STATUS_OK;
}

static enum status input_post(struct call *call, struct error *err)
{
	AUTO(session_hold) struct shell_session *session = NULL;
	enum status rc;

	if (call->raw_bytes > INPUT_BYTES_MAX)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "At most %d bytes can be typed with one request.", INPUT_BYTES_MAX);
	rc = session_find(call, &session, err);
	if (rc)
		return rc;
	if (!shell_session_type(session, INPUT_NEXT, call->raw, call->raw_bytes))
		return error_set(err, STATUS_ABORTED, NULL,
				 "The terminal session has ended, or its program takes no input.");
	page_headers_add(call);
	return STATUS_OK;
}

static enum status resize_post(struct call *call, struct error *err)
{
	AUTO(session_hold) struct shell_session *session = NULL;
	unsigned columns, rows;
	enum status rc = size_read(call, &columns, &rows, err);

	if (!rc && !columns)
		rc = error_set(err, STATUS_INVALID_ARGUMENT, NULL, "Columns and rows are required.");
	if (!rc)
		rc = session_find(call, &session, err);
	if (rc)
		return rc;
	shell_session_resize(session, columns, rows);
	page_headers_add(call);
	return STATUS_OK;
}

static const struct field input_fields[] = {
	{ .name = "session", .type = FIELD_STRING, .help = "the id of the terminal session" },
	{ .name = NULL },
};
static const struct field sized_fields[] = {
	{ .name = "session", .type = FIELD_STRING, .help = "the id of the terminal session" },
	{ .name = "columns", .type = FIELD_INT32, .help = "how many characters a line holds" },
	{ .name = "rows", .type = FIELD_INT32, .help = "how many lines there are" },
	{ .name = NULL },
};
static const struct message input_query = { .full_name = "trainyard.ShellInput", .fields = input_fields };
static const struct message sized_query = { .full_name = "trainyard.ShellOutput", .fields = sized_fields };

#define AT "/_trainyard/shell/{token}"

/* Open, also for any content type: a browser has nothing but the address, which only a client that may read the job
 * learns; no other page knows it. */
const struct route web_shell_routes[] = {
	{ "GET", AT, slash_add, NULL, NULL, NULL, NULL, .open = true },
	{ "GET", AT "/", file_get, NULL, NULL, NULL, NULL, .open = true },
	{ "GET", AT "/grid.js", file_get, NULL, NULL, NULL, NULL, .open = true },
	{ "GET", AT "/page.css", file_get, NULL, NULL, NULL, NULL, .open = true },
	{ "GET", AT "/page.js", file_get, NULL, NULL, NULL, NULL, .open = true },
	{ "GET", AT "/screen.js", file_get, NULL, NULL, NULL, NULL, .open = true },
	{ "GET", AT "/terminal.css", file_get, NULL, NULL, NULL, NULL, .open = true },
	{ "GET", AT "/terminal.js", file_get, NULL, NULL, NULL, NULL, .open = true },
	{ "GET", AT "/output", output_get, &sized_query, NULL, NULL, NULL, .open = true },
	{ "POST", AT "/input", input_post, &input_query, &raw_body, NULL, NULL, .open = true,
	  .page_types = PAGE_TYPES_ALL },
	{ "POST", AT "/resize", resize_post, &sized_query, NULL, NULL, NULL, .open = true,
	  .page_types = PAGE_TYPES_ALL },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
