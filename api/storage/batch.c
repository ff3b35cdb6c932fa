/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/batch.c: many calls in one request, each a part of its body, answered one after the other.
 * Source: https://cloud.google.com/storage/docs/batch (read 2026-11-20) */
#include <string.h>

#include "api/storage/multipart.h"
#include "api/storage/parts.h"
#include "api/storage/storage.h"
#include "daemon/base/memory.h"
#include "daemon/base/work.h"

/* Choice: ANSWER_MAX_BYTES, because the answers to a hundred calls that list long names would fill the memory. Calls
 * after it is reached are answered 503, and clients send them again. */
enum { BATCH_MAX_CALLS = 100, ANSWER_MAX_BYTES = 16 << 20 };

struct batch {
	struct call *call;
	bool only_reads; /* first pass: nothing is carried out, so that a batch that is malformed somewhere has no effect */
	unsigned count;
	char *content_id;
	struct text part;
};

static void batch_deinit(struct batch *batch)
{
	free(batch->content_id);
	text_deinit(&batch->part);
}

/* Cannot occur at the beginning of a line of an answer: answers are JSON, and strings in JSON have no line ends. */
#define BOUNDARY "batch_trainyard_9dPzVTSeYWkXqN2s"

static const char *reason_phrase(unsigned http_status)
{
	static const struct {
		unsigned http_status;
		const char *phrase;
	} phrases[] = {
		{ 200, "OK" },
		{ 204, "No Content" },
		{ 304, "Not Modified" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 409, "Conflict" },
		{ 412, "Precondition Failed" },
		{ 429, "Too Many Requests" },
		{ 500, "Internal Server Error" },
		{ 501, "Not Implemented" },
		{ 503, "Service Unavailable" },
		{ 504, "Gateway Timeout" },
		{ 507, "Insufficient Storage" },
	};

	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++)
		if (phrases[i].http_status == http_status)
			return phrases[i].phrase;
	return http_status < 300 ? "OK" : "Error";
}

/* Writes the id of an answer: "<response-a+1>" for the call's "<a+1>". */
static void content_id_write(struct text *answer, const char *content_id)
{
	const bool bracketed = *content_id == '<';

	if (!*content_id)
		return;
	text_printf(answer, "Content-ID: %sresponse-%s\r\n", bracketed ? "<" : "", content_id + bracketed);
}

static void answer_write(struct batch *batch, const struct inner_answer *inner)
{
	struct text *answer = &batch->call->answer;

	text_puts(answer, "--" BOUNDARY "\r\nContent-Type: application/http\r\n");
	content_id_write(answer, batch->content_id);
	text_printf(answer, "\r\nHTTP/1.1 %u %s\r\n", inner->http_status, reason_phrase(inner->http_status));
	text_append(answer, inner->headers.data, inner->headers.length);
	text_printf(answer, "Content-Length: %zu\r\n\r\n", inner->body.length);
	text_append(answer, inner->body.data, inner->body.length);
	text_puts(answer, "\r\n");
}

/* Takes a line off @rest: its text, without its end. NULL: there is none. */
static char *line_part(char **rest)
{
	char *line = *rest, *end = strchr(line, '\n');

	if (!end)
		return NULL;
	*rest = end + 1;
	if (end > line && end[-1] == '\r')
		end--;
	*end = '\0';
	return line;
}

static enum status part_refuse(struct error *err)
{
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			 "Failed to parse batch request: a part is not an HTTP request.");
}

/* One part of the batch: a request line, headers, an empty line, and a body. The final part may be incomplete. */
struct inner_request {
	char *method, *target;
	struct text head;
	const char *body;
	size_t body_bytes;
};

static enum status request_parse(struct text *part, struct inner_request *ret_request, struct error *err)
{
	char *rest, *line, *end;

	text_puts(part, "\n"); /* so that each line ends with LF */
	if (part->failed)
		return error_no_memory(err);
	if (memchr(part->data, '\0', part->length))
		return part_refuse(err);
	rest = part->data + strspn(part->data, "\r\n");
	line = line_part(&rest);
	ret_request->method = line;
	ret_request->target = line ? strchr(line, ' ') : NULL;
	if (!ret_request->target)
		return part_refuse(err);
	*ret_request->target++ = '\0';
	end = strchr(ret_request->target, ' ');
	if (end)
		*end = '\0';
	while ((line = line_part(&rest)) && *line)
		text_printf(&ret_request->head, "%s\r\n", line);
	ret_request->body = rest;
	/* without the line end that was added */
	ret_request->body_bytes = strlen(rest) ? strlen(rest) - 1 : 0;
	return STATUS_OK;
}

/* Answers 503 for a part, which is not carried out, because the answer has reached its maximal length. */
static void part_put_off(struct batch *batch, struct inner_answer *inner)
{
	struct error refusal AUTO_ERROR = { 0 };

	error_set(&refusal, STATUS_UNAVAILABLE, NULL,
		  "The answer to the batch is too large already: send this call again.");
	inner->http_status = 503;
	text_puts(&inner->headers, "Content-Type: application/json; charset=UTF-8\r\n");
	storage_error_render(batch->call, &refusal, inner->http_status, &inner->body);
	answer_write(batch, inner);
}

/* Runs one part. Its error goes into its own answer; *err is about the batch itself. */
static enum status part_run(struct batch *batch, struct error *err)
{
	struct inner_request request = { .method = NULL };
	struct inner_answer inner = { .http_status = 0 };
	enum status rc = work_check(err);

	if (!rc)
		rc = request_parse(&batch->part, &request, err);

	if (!rc && !batch->only_reads && batch->call->answer.length > ANSWER_MAX_BYTES) {
		part_put_off(batch, &inner);
	} else if (!rc && !batch->only_reads) {
		rc = call_inner(batch->call, request.method, request.target,
				request.head.data ? request.head.data : "",
				request.body_bytes ? request.body : NULL, request.body_bytes, &inner, err);
		if (!rc)
			answer_write(batch, &inner);
	}
	inner_answer_deinit(&inner);
	text_deinit(&request.head);
	return rc;
}

static enum status on_begin(void *arg, const struct multipart *multipart, struct error *err)
{
	struct batch *batch = arg;

	if (++batch->count > BATCH_MAX_CALLS)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "The batch request contains more than %d calls, which is the limit.",
				 BATCH_MAX_CALLS);
	text_clear(&batch->part);
	free(batch->content_id);
	batch->content_id = memory_strdup(multipart_header(multipart, "Content-ID"));
	return STATUS_OK;
}

static enum status on_data(void *arg, const char *data, size_t length, struct error *err)
{
	struct batch *batch = arg;

	text_append(&batch->part, data, length);
	return batch->part.failed ? error_no_memory(err) : STATUS_OK;
}

static enum status on_end(void *arg, struct error *err)
{
	return part_run(arg, err);
}

static enum status parts_run(struct batch *batch, struct error *err)
{
	const struct multipart_sink sink = { on_begin, on_data, on_end, batch };
	const struct call *call = batch->call;
	AUTO(multipart) struct multipart *multipart = NULL;
	enum status rc = multipart_new(call_header(call, "Content-Type"), &sink, &multipart, err);

	if (!rc)
		rc = multipart_receive(multipart, call->raw, call->raw_bytes, err);
	return rc ? rc : multipart_finish(multipart, err);
}

enum status batch_run(struct call *call, struct error *err)
{
	struct batch batch = { .call = call, .part.may_fail = true, .only_reads = true };
	enum status rc = caller_admit(call, err);

	if (!rc)
		rc = parts_run(&batch, err);
	if (!rc && !batch.count)
		rc = error_set(err, STATUS_INVALID_ARGUMENT, NULL, "The batch request must contain a call.");
	batch.only_reads = false;
	batch.count = 0;
	if (!rc)
		rc = parts_run(&batch, err);
	batch_deinit(&batch);
	if (rc)
		return rc;
	call->content_type = "multipart/mixed; boundary=" BOUNDARY;
	text_puts(&call->answer, "--" BOUNDARY "--\r\n");
	return call->answer.failed ? error_no_memory(err) : STATUS_OK;
}
