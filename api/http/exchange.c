/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/exchange.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/answer.h"
#include "api/http/large_body.h"
#include "api/http/ledger.h"
#include "api/http/request_guard.h"
#include "api/http/stream.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/work.h"

/* A client that sends this much past every limit is cut off rather than listened to. */
enum { SWALLOW_MAX_BYTES = 64 << 20, SWALLOW_REFUSED_MAX_BYTES = 1 << 30 };

/* Choice: how long a request may take after its client has shut down its side of the connection. */
enum { HALF_CLOSED_US = 10 * 1000000 };

struct exchange *exchange_new(const char *raw_target)
{
	struct exchange *exchange = memory_calloc(1, sizeof(*exchange));

	exchange->answer.may_fail = exchange->call.answer.may_fail = true;
	exchange_renew(exchange, raw_target);
	return exchange;
}

static void stream_close(struct exchange *exchange)
{
	const struct answer_stream stream = exchange->call.stream;

	exchange->call.stream = (struct answer_stream){ 0 };
	if (stream.read)
		stream.close(stream.arg);
}

static void intake_close(struct exchange *exchange)
{
	const struct intake intake = exchange->call.intake;

	exchange->call.intake = (struct intake){ 0 };
	if (intake.take)
		intake.close(intake.arg);
}

/* Frees the data of the request, before its answer is streamed: a stream may last for days. */
static void call_release(struct exchange *exchange)
{
	struct call *call = &exchange->call;

	json_decref(call->query);
	json_decref(call->body);
	call->query = call->body = NULL;
	call->raw = NULL;
	call->raw_bytes = 0;
	text_renew(&call->answer, ANSWER_ROOM_KEPT_BYTES);
	body_deinit(&exchange->body);
}

void exchange_clear(struct exchange *exchange)
{
	intake_close(exchange);
	stream_close(exchange);
	headers_clear(exchange);
	call_release(exchange);
	query_deinit(&exchange->form);
	query_deinit(&exchange->query);
	target_deinit(&exchange->target);
	error_deinit(&exchange->error);
	text_renew(&exchange->answer, ANSWER_ROOM_KEPT_BYTES);
	free(exchange->raw);
	*exchange = (struct exchange){ .answer = exchange->answer, .call.answer = exchange->call.answer };
}

void exchange_renew(struct exchange *exchange, const char *raw_target)
{
	exchange_clear(exchange);
	exchange->raw = memory_strdup(raw_target);
}

void exchange_free(struct exchange *exchange)
{
	if (!exchange)
		return;
	exchange_clear(exchange);
	text_deinit(&exchange->call.answer);
	text_deinit(&exchange->answer);
	free(exchange);
}

static const char *header(const struct exchange *exchange, enum header which)
{
	return exchange->head.values[which];
}

static const char *method_known(const char *method)
{
	static const char *const methods[] = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS" };

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strcmp(methods[i], method) == 0)
			return methods[i];
	return NULL;
}

/* A POST may stand for another method, as clients send it when a URL became too long.
 * Source: https://cloud.google.com/apis/docs/http (X-HTTP-Method-Override) */
static enum status method_choose(struct exchange *exchange, const char *method, struct error *err)
{
	const char *override = header(exchange, HEADER_METHOD_OVERRIDE);
	const char *type = header(exchange, HEADER_CONTENT_TYPE);

	if (override && strcmp(method, "POST") == 0) {
		method = override;
		exchange->query_in_body = strcmp(override, "GET") == 0 && type &&
					  media_type_is(type, "application/x-www-form-urlencoded");
	}
	exchange->method = method_known(method);
	if (!exchange->method)
		return error_set(err, STATUS_UNIMPLEMENTED, NULL, "The method %.32s is not implemented.",
				 method);
	return STATUS_OK;
}

static void call_init(struct exchange *exchange)
{
	const struct match *match = &exchange->match;
	struct call *call = &exchange->call;

	*call = (struct call){
		.context = match->family->context,
		.route = match->route,
		.method = exchange->method,
		.user_agent = header(exchange, HEADER_USER_AGENT) ? header(exchange, HEADER_USER_AGENT) : "",
		.host = header(exchange, HEADER_HOST) ? header(exchange, HEADER_HOST) : "",
		.secure = exchange->rules->secure,
		.peer = exchange->peer,
		.param_count = match->param_count,
		.exchange = exchange,
		.answer = call->answer,
	};
	memcpy(call->params, match->params, sizeof(call->params));
}

static const struct field no_fields[] = { { .name = NULL } };
static const struct message no_parameters = { .full_name = "google.protobuf.Empty", .fields = no_fields };

/* Reads the row's own parameters from @pairs. */
static enum status query_read(const struct route *route, const json_t *pairs, json_t **ret_query,
			      struct error *err)
{
	if (json_array_size(pairs))
		return message_read_query(route->query ? route->query : &no_parameters, pairs, ret_query,
					  err);
	*ret_query = json_object();
	return STATUS_OK;
}

/* Checks the mask of fields before the handler runs. Checked later, a create could store its job and yet answer 400. */
static enum status fields_check(const struct exchange *exchange, struct error *err)
{
	const struct route *route = exchange->match.route;
	const char *mask = exchange->parameters.fields;

	if (!mask)
		return STATUS_OK;
	return fields_mask_check(route->doc ? route->doc->response : route->response, mask,
				 exchange->match.family->fields_refuse, err);
}

static const struct message *own_query(const struct exchange *exchange)
{
	return exchange->match.kind == MATCH_ROUTE ? exchange->match.route->query : NULL;
}

/* Parses @query, a part of the query; *pairs gets all but system parameters. */
static enum status query_part_take(struct exchange *exchange, const struct query *query, json_t **pairs,
				   struct error *err)
{
	const struct family *family = exchange->match.family;
	const bool lenient = family && family->lenient_query;

	exchange->parameters.blank_is_absent = family && family->blank_is_absent;
	if (query->count && !*pairs)
		*pairs = json_array();
	return parameters_take(query, own_query(exchange), lenient ? UNKNOWN_DROPPED : UNKNOWN_KEPT,
			       &exchange->parameters, *pairs, err);
}

static bool is_streamed(const struct exchange *exchange)
{
	return exchange->match.route && exchange->match.route->begin;
}

static enum status refuse_inner(struct error *err)
{
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			 "A request with streamed content cannot be a part of a batch.");
}

/* Calls the row's begin(). Query, parameters and checks are complete by then, as they are for its handler; only the body is
 * missing. */
static enum status row_begin(struct exchange *exchange, struct error *err)
{
	AUTO(json) json_t *pairs = NULL;
	enum status rc;

	exchange->query_taken = true;
	if (exchange->inner)
		return refuse_inner(err);
	exchange->parameters.fields = header(exchange, HEADER_FIELD_MASK);
	rc = query_part_take(exchange, &exchange->query, &pairs, err);
	if (!rc)
		rc = fields_check(exchange, err);
	if (!rc)
		rc = query_read(exchange->match.route, pairs, &exchange->call.query, err);
	if (!rc && atomic_load(exchange->rules->closing))
		return error_set(err, STATUS_UNAVAILABLE, NULL, "trainyard is shutting down.");
	if (!rc)
		rc = request_guard_pass_gate(exchange, err);
	return rc ? rc : exchange->match.route->begin(&exchange->call, err);
}

static enum status row_find(struct exchange *exchange, struct error *err)
{
	enum status rc;

	exchange->match = router_match(exchange->rules->families, exchange->method, &exchange->target);
	if (exchange->match.kind == MATCH_ROUTE)
		call_init(exchange);
	rc = request_guard_caller(exchange, err);
	if (!rc && !is_streamed(exchange))
		rc = head_check_coding(&exchange->head, &exchange->refusal, err);
	if (!rc)
		rc = match_refuse(&exchange->match, exchange->method, &exchange->target, &exchange->refusal,
				  err);
	return rc ? rc : request_guard_type(exchange, err);
}

/* The target without the prefix under which browsers with a session reach the API (session.under). */
static const char *target_own(struct exchange *exchange)
{
	const char *under = exchange->rules->session.under;
	const size_t length = under ? strlen(under) : 0;

	exchange->by_browser =
		under && strncmp(exchange->raw, under, length) == 0 && exchange->raw[length] == '/';
	return exchange->raw + (exchange->by_browser ? length : 0);
}

/* Makes all checks of a request that need no body. */
static enum status begin_checked(struct exchange *exchange, const char *method, struct error *err)
{
	enum status rc;

	rc = target_parse(target_own(exchange), &exchange->target, err);
	if (rc)
		return rc;
	rc = query_parse(exchange->target.query, strlen(exchange->target.query), &exchange->query, err);
	if (!rc)
		rc = request_guard_origin(exchange, err);
	if (!rc)
		rc = method_choose(exchange, method, err);
	if (!rc)
		rc = row_find(exchange, err);
	if (!rc && is_streamed(exchange))
		rc = row_begin(exchange, err);
	return rc;
}

static size_t body_limit(const struct exchange *exchange)
{
	const struct exchange_rules *rules = exchange->rules;

	return exchange->call.anonymous ? rules->unknown_body_limit_bytes : rules->body_limit_bytes;
}

static bool is_taking(const struct exchange *exchange)
{
	return !exchange->failed && exchange->call.intake.take;
}

/* How much of a body is read, whether kept or dropped. The client reads no answer before it has sent its body. If the
 * body is refused after its first bytes were accepted, much more is read, because a closed connection would lose the
 * answer. */
static unsigned long long receive_limit(const struct exchange *exchange)
{
	if (is_taking(exchange))
		return ULLONG_MAX;
	if (exchange->drops_rest)
		return SWALLOW_REFUSED_MAX_BYTES;
	return (is_streamed(exchange) ? 0 : body_limit(exchange)) + SWALLOW_MAX_BYTES;
}

bool exchange_begin(struct exchange *exchange, const struct exchange_rules *rules, const char *method,
		    const char *version, const struct head *head)
{
	unsigned long long declared;
	bool of_use; /* the body will be used */

	exchange->begun = true;
	exchange->head_only = strcmp(method, "HEAD") == 0;
	exchange->head = *head;
	exchange->rules = rules;
	exchange->known = !rules->caller.check;
	exchange->body.hold.pool = rules->bodies;
	exchange->method = "GET";
	exchange->begun_us = clock_mono_us(rules->clock);
	exchange->failed = head_check_framing(
		head, version, rules->secure ? FRAMING_CODING_WINS : FRAMING_STRICT, &exchange->error);
	if (exchange->failed)
		return true;
	exchange->failed = begin_checked(exchange, method, &exchange->error);
	declared = head_declared_bytes(&exchange->head);
	if (is_streamed(exchange))
		of_use = is_taking(exchange);
	else
		of_use = !exchange->failed && declared <= body_limit(exchange);
	exchange->body.too_large = !is_streamed(exchange) && declared > body_limit(exchange);
	return declared > receive_limit(exchange) || (head->values[HEADER_EXPECT] && !of_use) ||
	       head_says_identity(head);
}

static void fail_first(struct exchange *exchange, enum status rc)
{
	if (!exchange->failed)
		exchange->failed = rc;
}

bool exchange_receive(struct exchange *exchange, const char *data, size_t length)
{
	const struct intake *intake = &exchange->call.intake;

	if (is_taking(exchange)) {
		fail_first(exchange, intake->take(intake->arg, data, length, &exchange->error));
		exchange->drops_rest = exchange->failed;
		if (exchange->failed)
			intake_close(exchange);
		return true;
	}
	body_receive(&exchange->body, data, length,
		     exchange->failed || is_streamed(exchange) ? 0 : body_limit(exchange));
	return exchange->body.received_bytes <= receive_limit(exchange);
}

static enum status body_read(struct exchange *exchange, json_t **ret_body, struct error *err)
{
	const struct route *route = exchange->match.route;
	const struct text *bytes = &exchange->body.bytes;
	AUTO(json) json_t *value = NULL;
	enum status rc;

	if (!route->body || route->body == &raw_body)
		return STATUS_OK;
	rc = request_guard_body(exchange, err);
	if (!rc)
		rc = message_parse_body(bytes->data ? bytes->data : "", bytes->length, &value, err);
	if (!rc)
		rc = message_read(route->body, value, route->body_root ? route->body_root : "", ret_body,
				  err);
	return rc;
}

/* Sets the parameters, the query and the body of the call, for a row without begin(). */
static enum status call_read(struct exchange *exchange, const json_t *pairs, struct error *err)
{
	const struct route *route = exchange->match.route;
	struct call *call = &exchange->call;
	enum status rc;

	if (route->body == &raw_body) {
		call->raw = exchange->body.bytes.data ? exchange->body.bytes.data : "";
		call->raw_bytes = exchange->body.bytes.length;
	}
	rc = fields_check(exchange, err);
	if (!rc)
		rc = query_read(route, pairs, &call->query, err);
	if (!rc)
		rc = body_read(exchange, &call->body, err);
	return rc;
}

/* Whether the client no longer waits for the answer. One that has only shut down its sending side may still read, so it
 * counts as gone only after HALF_CLOSED_US. */
static bool is_abandoned(void *arg)
{
	const struct exchange *exchange = arg;

	if (atomic_load(exchange->rules->cutting) || client_lost(exchange->client_fd))
		return true;
	return clock_mono_us(&system_clock) - exchange->waited_since_us > HALF_CLOSED_US &&
	       client_gone(exchange->client_fd);
}

static enum status handler_run(struct exchange *exchange, struct error *err)
{
	const struct match *match = &exchange->match;
	enum status rc;

	exchange->waited_since_us = clock_mono_us(&system_clock);
	rc = match->route->handler(&exchange->call, err);
	/* The client would not read an answer. */
	exchange->cut = exchange->cut || (rc && work_is_abandoned());
	exchange->stopped = exchange->stopped || exchange->cut;
	if (rc && match->family->error_word)
		match->family->error_word(err);
	return rc;
}

/* Ends a request that did not get its turn, because its client is gone or the listener closes. */
static void turn_give_up(struct exchange *exchange)
{
	exchange->cut = exchange->cut || work_is_abandoned();
	exchange->stopped = true;
}

static enum status gate_pass_read(struct exchange *exchange, const json_t *pairs, struct error *err)
{
	enum status rc = request_guard_pass_gate(exchange, err);
	bool again;
	const enum status resumed = large_body_resume(exchange, &again, rc ? NULL : err);

	if (!rc && resumed) {
		turn_give_up(exchange);
		return resumed;
	}
	return again && !rc ? call_read(exchange, pairs, err) : rc;
}

static enum status call_run(struct exchange *exchange, const json_t *pairs, struct error *err)
{
	const bool streamed = is_streamed(exchange);
	enum status rc = streamed ? STATUS_OK : call_read(exchange, pairs, err);

	if (!rc && !streamed)
		rc = gate_pass_read(exchange, pairs, err);
	if (!rc)
		rc = handler_run(exchange, err);
	intake_close(exchange);
	if (!rc && exchange->inner && exchange->call.stream.read)
		rc = refuse_inner(err);
	if (!rc)
		rc = answer_success(exchange, err);
	call_release(exchange);
	return rc;
}

static enum status call_run_alone(struct exchange *exchange, const json_t *pairs, struct error *err)
{
	const struct work work = { is_abandoned, exchange, exchange->rules->owner };
	enum status rc;

	exchange->waited_since_us = clock_mono_us(&system_clock);
	work_begin(&work);
	rc = large_body_enter(exchange, err);
	if (rc)
		turn_give_up(exchange);
	else
		rc = call_run(exchange, pairs, err);
	large_body_leave(exchange);
	work_end();
	return rc;
}

/* Completes the body. If the body is a form that continues the query, it is parsed as such. */
static enum status body_take(struct exchange *exchange, struct error *err)
{
	enum status rc = body_finish(&exchange->body, head_says_gzip(&exchange->head), body_limit(exchange),
				     &exchange->refusal, err);

	if (!rc && exchange->query_in_body && exchange->body.bytes.length)
		rc = query_parse(exchange->body.bytes.data, exchange->body.bytes.length, &exchange->form,
				 err);
	return rc;
}

/* Returns where to store an error; NULL if there is one already, because the answer reports the first error. */
static struct error *error_of(struct exchange *exchange)
{
	return exchange->failed ? NULL : &exchange->error;
}

static void request_log(const struct exchange *exchange)
{
	log_event(LOG_DEBUG, "request", "method=%s route=%s status=%u us=%" PRId64, exchange->method,
		  exchange->match.route ? exchange->match.route->path : "-", exchange->http_status,
		  clock_mono_us(exchange->rules->clock) - exchange->begun_us);
}

/* Discards the prepared success answer, and answers the error instead. */
static void refuse(struct exchange *exchange)
{
	if (!exchange->error.status)
		exchange->error.status = exchange->failed;
	intake_close(exchange);
	stream_close(exchange);
	headers_clear(exchange);
	answer_refusal(exchange);
}

static void error_log(const struct exchange *exchange)
{
	const enum status status = exchange->error.status;

	if (exchange->stopped || (!error_is_internal(status) && status != STATUS_UNAVAILABLE))
		return;
	log_event(LOG_ERROR, "request-failed", "method=%s route=%s status=%s error=\"%s\"", exchange->method,
		  exchange->match.route ? exchange->match.route->path : "-", status_name(status),
		  exchange->error.text ? exchange->error.text : "");
}

/* Reads the query and the body as far as possible, even if the request is refused. */
static void request_take(struct exchange *exchange, json_t **pairs)
{
	exchange->parameters.fields = header(exchange, HEADER_FIELD_MASK);
	if (!exchange->failed)
		fail_first(exchange, body_take(exchange, &exchange->error));
	fail_first(exchange, query_part_take(exchange, &exchange->query, pairs, error_of(exchange)));
	fail_first(exchange, query_part_take(exchange, &exchange->form, pairs, error_of(exchange)));
}

void exchange_end(struct exchange *exchange)
{
	AUTO(json) json_t *pairs = NULL;

	if (!exchange->query_taken)
		request_take(exchange, &pairs);
	if (!exchange->failed)
		fail_first(exchange, call_run_alone(exchange, pairs, &exchange->error));
	if (exchange->failed) {
		refuse(exchange);
		error_log(exchange);
	}
	request_log(exchange);
	ledger_add(exchange->rules->ledger, exchange);
}

void exchange_end_stopping(struct exchange *exchange)
{
	exchange->refusal = REFUSAL_BY_STATUS;
	exchange->failed =
		error_set(&exchange->error, STATUS_UNAVAILABLE, NULL, "trainyard is shutting down.");
	refuse(exchange);
	ledger_add(exchange->rules->ledger, exchange);
}
