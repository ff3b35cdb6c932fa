/* SPDX-License-Identifier: Apache-2.0 */
#include "api/grpc/rpc.h"

#include <jansson.h>
#include <string.h>

#include "api/grpc/failure.h"
#include "api/message/message_binary.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"

enum { NAME_BYTES_MAX = 1024 };

void rpc_request_deinit(struct rpc_request *request)
{
	text_deinit(&request->target);
	text_deinit(&request->body);
}

void rpc_outcome_deinit(struct rpc_outcome *outcome)
{
	text_deinit(&outcome->message);
	text_deinit(&outcome->details);
}

void rpc_outcome_fail(struct rpc_outcome *outcome, unsigned code, const char *text)
{
	outcome->code = code;
	text_clear(&outcome->message);
	text_clear(&outcome->details);
	text_puts(&outcome->message, text);
}

static bool is_dots(const char *segment, size_t length)
{
	return length <= 2 && memcmp(segment, "..", length) == 0;
}

/* Segments are never empty, nor dots. */
static bool pattern_fits(const char *pattern, const char *end, const char *name)
{
	while (pattern < end) {
		const char *slash = memchr(pattern, '/', (size_t)(end - pattern));
		const size_t length = (size_t)((slash ? slash : end) - pattern);
		const size_t segment = strcspn(name, "/");
		const bool is_many = length == 2 && memcmp(pattern, "**", 2) == 0;
		const bool is_any = is_many || (length == 1 && *pattern == '*');

		if (is_dots(name, segment) ||
		    (!is_any && (length != segment || memcmp(pattern, name, length) != 0)))
			return false;
		if (is_many && name[segment] && pattern_fits(pattern, end, name + segment + 1))
			return true;
		if (!slash || !name[segment])
			return !slash && !name[segment];
		pattern = slash + 1;
		name += segment + 1;
	}
	return false;
}

/* Where the path ends with the name, a colon in the name's last segment would begin a verb. */
static bool name_fits(const char *pattern, const char *end, const char *name)
{
	const char *colon = strrchr(name, ':');

	return strlen(name) <= NAME_BYTES_MAX && pattern_fits(pattern, end, name) &&
	       (end[1] == '/' || !colon || strchr(colon, '/'));
}

/* "/v1/{parent=projects/...}/things": each field leaves @fields for its place. Fields are named as in JSON. False: one
 * does not fit. */
static bool target_write(const char *template, json_t *fields, struct text *target)
{
	while (*template) {
		const size_t plain = strcspn(template, "{");
		char name[64];
		const char *pattern, *end, *value;

		text_append(target, template, plain);
		template += plain;
		if (!*template)
			break;
		pattern = strchr(++template, '=');
		end = strchr(pattern, '}');
		snprintf(name, sizeof(name), "%.*s", (int)(pattern - template), template);
		value = json_text_at(fields, name);
		if (!value || !name_fits(pattern + 1, end, value))
			return false;
		text_percent(target, value, URL_UNRESERVED "/:@"); /* slashes part the segments of a name */
		json_object_del(fields, name);
		template = end + 1;
	}
	return true;
}

/* Numbers and truths as JSON has them. */
static void query_write(const json_t *fields, struct text *target)
{
	const char *name;
	json_t *value;
	char before = '?';

	json_object_foreach((json_t *)fields, name, value) {
		struct text scalar AUTO_TEXT = { 0 };

		if (json_is_string(value))
			text_puts(&scalar, json_string_value(value));
		else
			json_write(&scalar, value);
		text_putc(target, before);
		text_puts(target, name);
		text_putc(target, '=');
		text_percent(target, scalar.data ? scalar.data : "", URL_UNRESERVED);
		target->failed |= scalar.failed;
		before = '&';
	}
}

enum status rpc_request_make(const struct rpc *rpc, const void *data, size_t length,
			     struct rpc_request *ret_request, struct error *err)
{
	struct rpc_request request AUTO_RPC_REQUEST = { 0 };
	AUTO(json) json_t *fields = NULL;
	AUTO(json) json_t *body = NULL;
	enum status rc = message_from_binary(rpc->request, data, length, "", &fields, err);

	if (rc)
		return rc;
	if (!target_write(rpc->target, fields, &request.target))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "Invalid resource field value in the request.");
	if (rpc->body && strcmp(rpc->body, "*") == 0) {
		body = json_incref(fields);
	} else if (rpc->body) {
		body = json_incref(json_object_get(fields, rpc->body));
		json_object_del(fields, rpc->body);
	}
	if (!rpc->body || strcmp(rpc->body, "*") != 0)
		query_write(fields, &request.target);
	if (body)
		json_write(&request.body, body);
	else if (rpc->body)
		text_puts(&request.body, "{}");
	if (request.target.failed || request.body.failed)
		return error_no_memory(err);
	*ret_request = request;
	request = (struct rpc_request){ 0 };
	return STATUS_OK;
}

void rpc_refusal_read(unsigned http_status, const char *json, size_t length, struct rpc_outcome *outcome)
{
	AUTO(json) json_t *answer = memory_json_read(json, length, 0, NULL);

	failure_read(http_status, json_object_get(answer, "error"), outcome);
}

void rpc_answer_read(const struct rpc *rpc, const struct message *const *any, unsigned http_status,
		     const char *json, size_t length, struct text *bytes, struct rpc_outcome *outcome)
{
	AUTO(json) json_t *answer = http_status == 200 ? memory_json_read(json, length, 0, NULL) : NULL;
	struct error err AUTO_ERROR = { 0 };

	if (http_status != 200) {
		rpc_refusal_read(http_status, json, length, outcome);
	} else if (!answer) {
		rpc_outcome_fail(outcome, GRPC_INTERNAL, "The answer is no JSON.");
	} else if (message_to_binary(rpc->response, answer, any, bytes, &err)) {
		text_clear(bytes);
		rpc_outcome_fail(outcome, GRPC_INTERNAL,
				 err.text ? err.text : "The answer has no binary form.");
	}
}
