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

const struct route *rpc_route_find(const struct family *families, const char *path)
{
	for (const struct family *family = families; family->name; family++)
		for (const struct route *route = family->routes; route->method; route++)
			if (route->rpc && strcmp(route->rpc->path, path) == 0)
				return route;
	return NULL;
}

void *rpc_context_find(const struct family *families, const struct route *route)
{
	for (; families->name; families++)
		for (const struct route *row = families->routes; row->method; row++)
			if (row == route)
				return families->context;
	return NULL;
}

static bool is_dots(const char *segment, size_t length)
{
	return length <= 2 && memcmp(segment, "..", length) == 0;
}

/* True if the resource name @name matches the pattern from @pattern to @end: "*" and "{field}" match one segment,
 * "**" one or more. The segments "", "." and ".." never match. */
static bool pattern_fits(const char *pattern, const char *end, const char *name)
{
	while (pattern < end) {
		const char *slash = memchr(pattern, '/', (size_t)(end - pattern));
		const size_t length = (size_t)((slash ? slash : end) - pattern);
		const size_t segment = strcspn(name, "/");
		const bool is_many = length == 2 && memcmp(pattern, "**", 2) == 0;
		const bool is_any = is_many || *pattern == '{' || (length == 1 && *pattern == '*');

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

/* Moves the resource name from @fields into the path. False: it does not match the path's pattern. */
static bool target_write(const struct route *route, json_t *fields, struct text *target)
{
	const char *name = strchr(route->path + 1, '/') + 1;
	const char *last = strrchr(route->path, '}'), *tail = last ? last + 1 : "";
	const char *pattern = route->rpc->pattern ? route->rpc->pattern : name;
	const char *end = route->rpc->pattern ? pattern + strlen(pattern) : tail;
	const char *field = route->doc ? route->doc->resource : route->rpc->resource;
	const char *value = last ? json_text_at(fields, field) : NULL;
	const char *colon = value ? strrchr(value, ':') : NULL;

	if (!last) {
		text_puts(target, route->path);
		return true;
	}
	/* A name at the end of the path must not have a colon in its last segment, which would be read as the start
	 * of a verb. */
	if (!value || strlen(value) > NAME_BYTES_MAX || !pattern_fits(pattern, end, value) ||
	    (*tail != '/' && colon && !strchr(colon, '/')))
		return false;
	text_append(target, route->path, (size_t)(name - route->path));
	text_percent(target, value, URL_UNRESERVED "/:@"); /* slashes separate the name's segments */
	text_puts(target, tail);
	json_object_del(fields, field);
	return true;
}

/* Removes from @fields the field that is the request's body, and returns its value. */
static json_t *body_take(const struct route *route, json_t *fields)
{
	const struct field *field = route->rpc->request->fields;
	json_t *body;

	while (field->message != route->body)
		field++;
	body = json_incref(json_object_get(fields, field->name));
	json_object_del(fields, field->name);
	return body ? body : json_object();
}

/* Appends @fields as a query string, numbers and booleans in their JSON form. */
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
		before = '&';
	}
}

enum status rpc_request_make(const struct route *route, const void *data, size_t length,
			     struct rpc_request *ret_request, struct error *err)
{
	struct rpc_request request AUTO_RPC_REQUEST = { .body.may_fail = true };
	AUTO(json) json_t *fields = NULL;
	AUTO(json) json_t *body = NULL;
	enum status rc = message_from_binary(route->rpc->request, data, length, "", &fields, err);

	if (rc)
		return rc;
	if (!target_write(route, fields, &request.target))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "Invalid resource field value in the request.");
	if (route->body)
		body = *route->body_root ? body_take(route, fields) : json_incref(fields);
	if (body)
		json_write(&request.body, body);
	if (body != fields)
		query_write(fields, &request.target);
	if (request.body.failed)
		return error_no_memory(err);
	*ret_request = request;
	request = (struct rpc_request){ 0 };
	return STATUS_OK;
}

void rpc_refusal_read(unsigned http_status, const char *json, size_t length, struct rpc_outcome *outcome)
{
	AUTO(json) json_t *answer = json_loadb(json, length, 0, NULL);

	failure_read(http_status, json_object_get(answer, "error"), outcome);
}

void rpc_error_read(const struct error *err, struct rpc_outcome *outcome)
{
	rpc_outcome_fail(outcome, (unsigned)err->status, err->text ? err->text : "");
}

void rpc_answer_read(const struct route *route, const struct message *const *any, unsigned http_status,
		     const char *json, size_t length, struct text *bytes, struct rpc_outcome *outcome)
{
	struct error err AUTO_ERROR = { 0 };

	if (http_status != 200) {
		rpc_refusal_read(http_status, json, length, outcome);
	} else if (message_to_binary(route->doc ? route->doc->response : route->rpc->response, json, any,
				     bytes, &err)) {
		text_clear(bytes);
		rpc_outcome_fail(outcome, GRPC_INTERNAL,
				 err.text ? err.text : "The answer has no binary form.");
	}
}
