/* SPDX-License-Identifier: Apache-2.0 */
/* api/http/call.c: functions with which a handler reads its request and adds headers to its
 * answer. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/exchange.h"
#include "api/http/stream.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"

const struct message raw_body = { .full_name = "google.api.HttpBody", .fields = NULL };

const char *call_param(const struct call *call, const char *name)
{
	const size_t length = strlen(name);

	for (size_t i = 0; i < call->param_count; i++) {
		const char *own = call->params[i].name;

		if (strncmp(own, name, length) == 0 && strchr("}=", own[length])) /* or its NUL */
			return call->params[i].value;
	}
	return NULL;
}

const char *call_query(const struct call *call, const char *name)
{
	return json_text_at(call->query, name);
}

const char *call_header(const struct call *call, const char *name)
{
	const char *value = head_find(&call->exchange->head, name);

	return value ? value : "";
}

void call_headers_each(const struct call *call, void (*seen)(void *arg, const char *name, const char *value),
		       void *arg)
{
	const struct head *head = &call->exchange->head;

	if (head->each)
		head->each(head->find_arg, seen, arg);
}

bool call_closing(const struct call *call)
{
	return atomic_load(call->exchange->rules->closing);
}

bool call_client_gone(const struct call *call)
{
	return client_gone(call->exchange->client_fd);
}

/* Whether the header determines where an answer ends. */
static bool is_framing(const char *name)
{
	static const char *const framing[] = { "Connection", "Content-Length", "Transfer-Encoding" };

	for (size_t i = 0; i < sizeof(framing) / sizeof(framing[0]); i++)
		if (strcasecmp(framing[i], name) == 0)
			return true;
	return false;
}

/* Source: RFC 9110 section 5.5 */
static bool value_valid(const char *value)
{
	for (const unsigned char *c = (const unsigned char *)value; *c; c++)
		if ((*c < ' ' && *c != '\t') || *c == 0x7f)
			return false;
	return *value != '\0';
}

static bool headers_reserve(struct exchange *exchange)
{
	const size_t size = exchange->header_size ? 2 * exchange->header_size : ANSWER_HEADERS_MAX / 16;

	if (exchange->header_count < exchange->header_size)
		return true;
	if (size > ANSWER_HEADERS_MAX)
		return false;
	exchange->headers = memory_resize(exchange->headers, size, sizeof(*exchange->headers));
	exchange->header_size = size;
	return true;
}

bool call_header_add(struct call *call, const char *name, const char *value)
{
	struct exchange *exchange = call->exchange;

	if (!header_name_valid(name) || is_framing(name) || !value_valid(value) || !headers_reserve(exchange))
		return false;
	exchange->headers[exchange->header_count++] =
		(struct answer_header){ .name = memory_strdup(name), .value = memory_strdup(value) };
	return true;
}

void headers_clear(struct exchange *exchange)
{
	for (size_t i = 0; i < exchange->header_count; i++) {
		free(exchange->headers[i].name);
		free(exchange->headers[i].value);
	}
	free(exchange->headers);
	exchange->headers = NULL;
	exchange->header_count = exchange->header_size = 0;
}

const char *headers_find(const struct exchange *exchange, const char *name)
{
	for (size_t i = 0; i < exchange->header_count; i++)
		if (strcasecmp(exchange->headers[i].name, name) == 0)
			return exchange->headers[i].value;
	return NULL;
}
