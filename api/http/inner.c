/* SPDX-License-Identifier: Apache-2.0 */
/* api/http/inner.c: a request inside another one's body, or through an inner endpoint, is handled like any other,
 * without a socket. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/request_guard.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"

enum { INNER_HEADERS_MAX = 64 };

/* The part's own headers, then those of the outer request.
 * Source: https://cloud.google.com/storage/docs/batch (read 2026-11-21): all of the outer request's headers but
 * Content- ones hold for every part; a part's own go before them. */
struct inner_head {
	const struct head *outer; /* NULL: there is none */
	char *memory;
	struct {
		const char *name, *value;
	} own[INNER_HEADERS_MAX];
	size_t own_count;
};

static bool name_is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcasecmp(name, *names) == 0)
			return true;
	return false;
}

/* Whether the header is about the connection or the length of a request: parts have none of their own. */
static bool is_framing(const char *name)
{
	static const char *const framing[] = { "Connection", "Content-Length", "Expect", "Transfer-Encoding",
					       NULL };

	return name_is_one_of(name, framing);
}

static bool is_inherited(const char *name)
{
	static const char *const own[] = { "X-HTTP-Method-Override", NULL };

	return strncasecmp(name, "Content-", strlen("Content-")) != 0 && !is_framing(name) &&
	       !name_is_one_of(name, own);
}

static const char *inner_find(void *arg, const char *name)
{
	const struct inner_head *inner = arg;

	for (size_t i = 0; i < inner->own_count; i++)
		if (strcasecmp(inner->own[i].name, name) == 0)
			return inner->own[i].value;
	return inner->outer && is_inherited(name) ? head_find(inner->outer, name) : NULL;
}

static void spaces_cut(char *value)
{
	size_t length = strlen(value);

	while (length && strchr(" \t\r", value[length - 1]))
		value[--length] = '\0';
}

/* False: @line is not a header, or one too many. */
static bool line_take(struct inner_head *inner, struct head *head, char *line)
{
	char *name = strsep(&line, ":");

	if (!line || inner->own_count == INNER_HEADERS_MAX)
		return false;
	line += strspn(line, " \t");
	spaces_cut(line);
	if (is_framing(name))
		return true;
	head_add(head, name, line);
	inner->own[inner->own_count].name = name;
	inner->own[inner->own_count++].value = line;
	return true;
}

static void head_inherit(const struct inner_head *inner, struct head *head)
{
	static const enum header inherited[] = { HEADER_AUTHORIZATION, HEADER_FIELD_MASK, HEADER_HOST,
						 HEADER_ORIGIN, HEADER_USER_AGENT };

	for (size_t i = 0; i < sizeof(inherited) / sizeof(inherited[0]); i++) {
		const enum header which = inherited[i];

		if (head->counts[which])
			continue;
		head->values[which] = inner->outer->values[which];
		head->counts[which] = head->values[which] != NULL;
	}
}

/* A line that is not a header makes the head malformed; the request then fails with the error for that. */
static void head_read(struct inner_head *inner, const char *text, struct head *ret_head)
{
	struct head head = { .find = inner_find, .find_arg = inner };
	char *rest = inner->memory = memory_strdup(text);

	while (rest) {
		char *line = strsep(&rest, "\n");

		spaces_cut(line);
		if (*line && !line_take(inner, &head, line))
			head.malformed = true;
	}
	if (inner->outer)
		head_inherit(inner, &head);
	*ret_head = head;
}

static void inner_head_deinit(struct inner_head *inner)
{
	free(inner->memory);
}

DEFINE_AUTO(exchange, struct exchange *, exchange_free)
DEFINE_AUTO(inner_head, struct inner_head *, inner_head_deinit)

void inner_answer_deinit(struct inner_answer *answer)
{
	text_deinit(&answer->headers);
	text_deinit(&answer->body);
	*answer = (struct inner_answer){ 0 };
}

static void header_write(struct text *text, const char *name, const char *value)
{
	text_puts(text, name);
	text_puts(text, ": ");
	text_puts(text, value);
	text_puts(text, "\r\n");
}

static enum status answer_take(struct exchange *exchange, struct inner_answer *answer, struct error *err)
{
	struct inner_answer taken = { .http_status = exchange->http_status };

	if (exchange->content_type && !headers_find(exchange, "Content-Type"))
		header_write(&taken.headers, "Content-Type", exchange->content_type);
	if (exchange->refusal == REFUSAL_METHOD_NOT_ALLOWED)
		header_write(&taken.headers, "Allow", exchange->match.allow);
	if (exchange->http_status == 401)
		header_write(&taken.headers, "WWW-Authenticate", ERROR_CHALLENGE);
	for (size_t i = 0; i < exchange->header_count; i++)
		header_write(&taken.headers, exchange->headers[i].name, exchange->headers[i].value);
	if (!exchange->head_only) {
		taken.body = exchange->answer;
		exchange->answer = (struct text){ 0 };
	}
	if (taken.body.failed) {
		inner_answer_deinit(&taken);
		return error_no_memory(err);
	}
	*answer = taken;
	return STATUS_OK;
}

/* A cut of a part cuts the outer request, as both use one connection. */
static enum status cut_outer(struct exchange *outer, struct error *err)
{
	outer->cut = true;
	return error_set(err, STATUS_UNAVAILABLE, NULL, "The answer to a part of this request was cut off.");
}

/* Handles the whole request, from the text of its head to the answer. */
static enum status exchange_run(struct exchange *exchange, const struct exchange_rules *rules,
				struct inner_head *headers, const char *method, const char *head_text,
				const char *body, size_t body_bytes, struct inner_answer *answer,
				struct error *err)
{
	struct head head;

	head_read(headers, head_text ? head_text : "", &head);
	exchange_begin(exchange, rules, method, "HTTP/1.1", &head);
	if (body && body_bytes)
		exchange_receive(exchange, body, body_bytes);
	exchange_end(exchange);
	if (exchange->cut && exchange->outer)
		return cut_outer(exchange->outer, err);
	return answer_take(exchange, answer, err);
}

enum status call_inner(struct call *outer, const char *method, const char *target, const char *head_text,
		       const char *body, size_t body_bytes, struct inner_answer *answer, struct error *err)
{
	struct inner_head headers = { .outer = &outer->exchange->head };
	AUTO(inner_head) struct inner_head *open_headers = &headers;

	if (outer->exchange->inner)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "A request inside a batch cannot be a batch itself.");
	AUTO(exchange) struct exchange *inner = exchange_new(target);
	inner->inner = true;
	inner->outer = outer->exchange;
	inner->peer = outer->peer;
	inner->client_fd = outer->exchange->client_fd;
	return exchange_run(inner, outer->exchange->rules, open_headers, method, head_text, body, body_bytes,
			    answer, err);
}

struct inner_endpoint {
	struct exchange_rules rules;
	pthread_mutex_t large_bodies;
	atomic_uint waiting;
	atomic_bool closing;
};

enum status inner_endpoint_open(const struct listener_options *options, struct inner_endpoint **ret_endpoint,
				struct error *err)
{
	struct inner_endpoint *endpoint = memory_calloc(1, sizeof(*endpoint));

	pthread_mutex_init(&endpoint->large_bodies, NULL);
	endpoint->rules = (struct exchange_rules){
		.families = options->families,
		.clock = options->clock ? options->clock : &system_clock,
		.gate = options->gate,
		.guard = { .address = options->address,
			   .hosts = options->hosts,
			   .any_host = options->any_host },
		.body_limit_bytes = options->body_limit_bytes,
		.large_bodies = &endpoint->large_bodies,
		.waiting = &endpoint->waiting,
		.waiting_max = (options->connection_limit ? options->connection_limit : CONNECTION_LIMIT) / 2,
		.caller = options->caller,
		.owner = options->owner,
		.ledger = options->ledger,
		.closing = &endpoint->closing,
		.cutting = &endpoint->closing,
		.compact = true,
	};
	if (options->refused_network &&
	    !guard_network_read(options->refused_network, &endpoint->rules.guard.refused)) {
		inner_endpoint_close(endpoint);
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "\"%s\" is not an IPv4 network",
				 options->refused_network);
	}
	*ret_endpoint = endpoint;
	return STATUS_OK;
}

unsigned inner_endpoint_waiting(const struct inner_endpoint *endpoint)
{
	return atomic_load(&endpoint->waiting);
}

void inner_endpoint_end(struct inner_endpoint *endpoint)
{
	atomic_store(&endpoint->closing, true);
}

void inner_endpoint_close(struct inner_endpoint *endpoint)
{
	if (!endpoint)
		return;
	pthread_mutex_destroy(&endpoint->large_bodies);
	free(endpoint);
}

static enum status request_guard_check(struct exchange *exchange, struct error *err)
{
	enum status rc = request_guard_origin(exchange, err);

	return rc ? rc : request_guard_caller(exchange, err);
}

enum status inner_endpoint_admit(struct inner_endpoint *endpoint,
				 const struct inner_endpoint_request *request, struct inner_answer *answer,
				 struct error *err)
{
	struct inner_head headers = { 0 };
	AUTO(inner_head) struct inner_head *open_headers = &headers;
	AUTO(exchange) struct exchange *exchange = exchange_new("");

	head_read(open_headers, request->head_text ? request->head_text : "", &exchange->head);
	exchange->rules = &endpoint->rules;
	exchange->method = request->method;
	exchange->peer = request->peer;
	exchange->begun_us = clock_mono_us(endpoint->rules.clock);
	exchange->failed = request_guard_check(exchange, &exchange->error);
	if (!exchange->failed)
		return STATUS_OK;
	exchange_end(exchange);
	return answer_take(exchange, answer, err);
}

enum status inner_endpoint_call(struct inner_endpoint *endpoint, const struct inner_endpoint_request *request,
				struct inner_answer *answer, struct error *err)
{
	struct inner_head headers = { 0 };
	AUTO(inner_head) struct inner_head *open_headers = &headers;
	AUTO(exchange) struct exchange *exchange = exchange_new(request->target);

	exchange->peer = request->peer;
	exchange->client_fd = request->client_fd;
	return exchange_run(exchange, &endpoint->rules, open_headers, request->method, request->head_text,
			    request->body, request->body_bytes, answer, err);
}
