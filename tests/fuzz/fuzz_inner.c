/* SPDX-License-Identifier: Apache-2.0 */
/* A request by another way than a socket: "METHOD TARGET", lines of headers, an empty line, the body. One of its rows
 * takes the body for a request inside it, as a batch does.
 *
 * What must hold beside not crashing: there is an answer with headers that are lines and errors that are JSON; a request
 * inside another has its caller's rights, and no batch in it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/exchange.h"
#include "api/http/http.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* The parts of a request in a text; parsing changes the text. */
struct request {
	char *method, *target, *head, *body;
	size_t body_bytes;
};

static bool request_cut(char *text, size_t length, struct request *ret_request)
{
	char *line_end = strchr(text, '\n'), *space = strchr(text, ' '), *head_end;

	if (!line_end || !space || space > line_end || space == text)
		return false;
	*space = *line_end = '\0';
	*ret_request = (struct request){ .method = text, .target = space + 1, .head = line_end + 1 };
	head_end = strstr(ret_request->head, "\n\n");
	if (!head_end)
		return true;
	*head_end = '\0';
	ret_request->body = head_end + 2;
	ret_request->body_bytes = length - (size_t)(ret_request->body - text);
	return true;
}

static void answer_check(const char *method, const struct inner_answer *answer)
{
	require(answer->http_status >= 200 && answer->http_status < 600);
	for (const char *line = answer->headers.length ? answer->headers.data : ""; *line;) {
		const char *end = strstr(line, "\r\n"), *colon = strstr(line, ": ");

		require(end && colon && colon > line && colon < end);
		require(!memchr(line, '\n', (size_t)(end - line)));
		line = end + 2;
	}
	if (answer->http_status >= 400 && strcmp(method, "HEAD") != 0) {
		AUTO(json) json_t *error = json_loadb(answer->body.data, answer->body.length, 0, NULL);

		require(json_is_object(json_object_get(error, "error")));
	}
}

static enum status echo(struct call *call, struct error *err)
{
	static const char *const names[] = { "Authorization", "Content-Type", "X-Own" };

	(void)err;
	text_putc(&call->answer, '[');
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = call_header(call, names[i]);

		text_puts(&call->answer, i ? "," : "");
		text_json(&call->answer, value ? value : "", value ? strlen(value) : 0);
	}
	text_putc(&call->answer, ']');
	return STATUS_OK;
}

/* Fails with: head_inherit() without HEADER_AUTHORIZATION. */
static void rights_check(const char *rights, const char *head, const struct inner_answer *answer)
{
	AUTO(json) json_t *echoed = json_loadb(answer->body.data, answer->body.length, 0, NULL);

	/* JSON replaces bytes that are not UTF-8. */
	if (answer->http_status == 200 && json_is_array(echoed) && !strcasestr(head, "Authorization") &&
	    utf8_valid(rights, strlen(rights)))
		require(strcmp(json_string_value(json_array_get(echoed, 0)), rights) == 0);
}

static enum status enclosed(struct call *call, struct error *err)
{
	const char *rights = call_header(call, "Authorization");
	struct inner_answer answer = { 0 };
	struct request request;
	enum status rc;

	AUTO(string) char *text = strndup(call->raw ? call->raw : "", call->raw_bytes);
	if (!text || !request_cut(text, strlen(text), &request))
		return STATUS_OK;
	rc = call_inner(call, request.method, request.target, request.head, request.body, request.body_bytes,
			&answer, err);
	require(rc == STATUS_OK || (rc == STATUS_INVALID_ARGUMENT && call->exchange->inner));
	if (!rc) {
		answer_check(request.method, &answer);
		rights_check(rights ? rights : "", request.head, &answer);
	}
	inner_answer_deinit(&answer);
	return rc;
}

static const struct route routes[] = {
	{ .method = "GET", .path = "/echo/{name}", .handler = echo },
	{ .method = "POST", .path = "/batch", .handler = enclosed, .body = &raw_body },
	{ .method = NULL },
};
static const struct family families[] = { { .name = "fuzz", .routes = routes }, { .name = NULL } };

static struct inner_endpoint *inner_endpoint_get(void)
{
	static struct inner_endpoint *endpoint; /* kept while the fuzzer runs */

	if (endpoint)
		return endpoint;
	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	require(inner_endpoint_open(&(struct listener_options){ .families = families,
								.address = "127.0.0.1",
								.body_limit_bytes = 1 << 20 },
				    &endpoint, NULL) == STATUS_OK);
	return endpoint;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(string) char *text = malloc(size + 1);
	struct inner_answer answer = { 0 };
	struct request request;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (!request_cut(text, size, &request))
		return 0;
	require(inner_endpoint_call(inner_endpoint_get(),
				    &(struct inner_endpoint_request){ .method = request.method,
								      .target = request.target,
								      .head_text = request.head,
								      .body = request.body,
								      .body_bytes = request.body_bytes },
				    &answer, NULL) == STATUS_OK);
	answer_check(request.method, &answer);
	inner_answer_deinit(&answer);
	return 0;
}
