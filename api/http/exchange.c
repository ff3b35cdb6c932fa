/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/exchange.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/pretty.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"

/* A client that sends this much past every limit is cut off rather than listened to. */
enum { SWALLOW_MAX_BYTES = 64 << 20 };

static const char json_media_type[] = "application/json; charset=UTF-8";

struct exchange *exchange_new(const char *raw_target)
{
	struct exchange *exchange = calloc(1, sizeof(*exchange));

	if (!exchange)
		return NULL;
	exchange->raw = strdup(raw_target);
	if (!exchange->raw) {
		free(exchange);
		return NULL;
	}
	return exchange;
}

static void stream_close(struct exchange *exchange)
{
	const struct answer_stream stream = exchange->call.stream;

	exchange->call.stream = (struct answer_stream){ 0 };
	if (stream.read)
		stream.close(stream.arg);
}

void exchange_free(struct exchange *exchange)
{
	if (!exchange)
		return;
	stream_close(exchange);
	headers_clear(exchange);
	body_deinit(&exchange->body);
	query_deinit(&exchange->form);
	query_deinit(&exchange->query);
	target_deinit(&exchange->target);
	error_deinit(&exchange->error);
	text_deinit(&exchange->answer);
	free(exchange->raw);
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

/* All that can be said before the body came. */
static enum status begin_checked(struct exchange *exchange, const char *method, struct error *err)
{
	const char *host = header(exchange, HEADER_HOST);
	enum status rc;

	rc = target_parse(exchange->raw, &exchange->target, err);
	if (rc)
		return rc;
	rc = query_parse(exchange->target.query, strlen(exchange->target.query), &exchange->query, err);
	if (rc)
		return rc;
	rc = guard_check(&exchange->rules->guard, host, header(exchange, HEADER_ORIGIN),
			 header(exchange, HEADER_SEC_FETCH_SITE), err);
	if (!rc && exchange->target.authority)
		rc = guard_check(&exchange->rules->guard, exchange->target.authority, NULL, NULL, err);
	if (!rc)
		rc = method_choose(exchange, method, err);
	if (!rc)
		rc = head_check_coding(&exchange->head, &exchange->refusal, err);
	if (rc)
		return rc;
	exchange->match = router_match(exchange->rules->families, exchange->method, &exchange->target);
	return match_refuse(&exchange->match, exchange->method, &exchange->target, &exchange->refusal, err);
}

static unsigned long long declared_bytes(const struct exchange *exchange)
{
	const char *length = header(exchange, HEADER_CONTENT_LENGTH);

	return length ? strtoull(length, NULL, 10) : 0;
}

bool exchange_begin(struct exchange *exchange, const struct exchange_rules *rules, const char *method,
		    const char *version, const struct head *head)
{
	unsigned long long declared;

	exchange->begun = true;
	exchange->head_only = strcmp(method, "HEAD") == 0;
	exchange->head = *head;
	exchange->rules = rules;
	exchange->method = "GET";
	exchange->begun_us = clock_mono_us(rules->clock);
	exchange->failed = head_check_framing(head, version, &exchange->error);
	if (exchange->failed)
		return true;
	exchange->failed = begin_checked(exchange, method, &exchange->error);
	declared = declared_bytes(exchange);
	exchange->body.too_large = declared > rules->body_limit_bytes;
	if (declared > rules->body_limit_bytes + SWALLOW_MAX_BYTES)
		return true;
	return head->values[HEADER_EXPECT] && (exchange->failed || exchange->body.too_large);
}

bool exchange_receive(struct exchange *exchange, const char *data, size_t length)
{
	const size_t limit = exchange->rules->body_limit_bytes;

	body_receive(&exchange->body, data, length, exchange->failed ? 0 : limit);
	return exchange->body.received_bytes <= limit + SWALLOW_MAX_BYTES;
}

static const struct field no_fields[] = { { .name = NULL } };
static const struct message no_parameters = { .full_name = "google.protobuf.Empty", .fields = no_fields };

/* The query of a call: the row's own parameters out of @pairs. */
static enum status query_read(const struct route *route, const json_t *pairs, json_t **ret_query,
			      struct error *err)
{
	if (json_array_size(pairs))
		return message_read_query(route->query ? route->query : &no_parameters, pairs, ret_query,
					  err);
	*ret_query = json_object();
	return *ret_query ? STATUS_OK : error_no_memory(err);
}

static enum status body_type_check(const struct exchange *exchange, enum refusal *ret_refusal,
				   struct error *err)
{
	const char *type = header(exchange, HEADER_CONTENT_TYPE);

	if (!type || !*type || exchange->body.bytes.length == 0 || media_type_is(type, "application/json"))
		return STATUS_OK;
	*ret_refusal = REFUSAL_MEDIA_TYPE;
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			 "Unsupported Content-Type \"%.64s\": send the body as application/json in UTF-8.",
			 type);
}

static enum status body_read(struct exchange *exchange, json_t **ret_body, struct error *err)
{
	const struct route *route = exchange->match.route;
	const struct text *bytes = &exchange->body.bytes;
	AUTO(json) json_t *value = NULL;
	enum status rc;

	if (!route->body || route->body == &raw_body)
		return STATUS_OK;
	rc = body_type_check(exchange, &exchange->refusal, err);
	if (!rc)
		rc = message_parse_body(bytes->data ? bytes->data : "", bytes->length, &value, err);
	if (!rc)
		rc = message_read(route->body, value, route->body_root ? route->body_root : "", ret_body,
				  err);
	return rc;
}

/* A mask is judged before the handler runs: afterwards the job would be there, and the answer a 400. */
static enum status fields_check(const char *mask, struct error *err)
{
	AUTO(json) json_t *nothing = mask ? json_object() : NULL;

	return nothing ? fields_mask_apply(nothing, mask, err) : STATUS_OK;
}

static enum status fields_apply(const char *mask, struct text *answer, struct error *err)
{
	AUTO(json) json_t *value = NULL;
	enum status rc;

	if (!mask)
		return STATUS_OK;
	rc = json_parse_own(answer->data, &value, err);
	if (!rc)
		rc = fields_mask_apply(value, mask, err);
	if (rc)
		return rc;
	text_clear(answer);
	json_write(answer, value);
	return STATUS_OK;
}

static void answer_json(struct exchange *exchange, const struct text *compact)
{
	exchange->content_type = json_media_type;
	if (exchange->parameters.compact)
		text_append(&exchange->answer, compact->data, compact->length);
	else
		pretty_write(&exchange->answer, compact->data, compact->length);
	exchange->answer.failed |= compact->failed;
}

static enum status answer_made(struct exchange *exchange, struct error *err)
{
	struct text *answer = &exchange->call.answer;
	enum status rc;

	if (exchange->call.content_type || headers_find(exchange, "Content-Type")) {
		exchange->content_type = exchange->call.content_type;
		exchange->answer = *answer;
		*answer = (struct text){ 0 };
	} else {
		if (answer->length == 0)
			text_puts(answer, "{}");
		rc = answer->failed ? STATUS_OK : fields_apply(exchange->parameters.fields, answer, err);
		if (rc)
			return rc;
		answer_json(exchange, answer);
	}
	return exchange->answer.failed ? error_no_memory(err) : STATUS_OK;
}

static enum status answer_success(struct exchange *exchange, struct error *err)
{
	const struct call *call = &exchange->call;

	exchange->http_status = call->http_status ? call->http_status : error_http_status(STATUS_OK);
	if (!call->stream.read)
		return answer_made(exchange, err);
	exchange->content_type = call->content_type ? call->content_type : "application/octet-stream";
	return STATUS_OK;
}

static void error_log(const struct exchange *exchange)
{
	const enum status status = exchange->error.status;

	if (!error_is_internal(status) && status != STATUS_UNAVAILABLE)
		return;
	log_event(LOG_ERROR, "request-failed", "method=%s route=%s status=%s error=\"%s\"", exchange->method,
		  exchange->match.route ? exchange->match.route->path : "-", status_name(status),
		  exchange->error.text ? exchange->error.text : "");
}

static void answer_error(struct exchange *exchange)
{
	struct text compact AUTO_TEXT = { 0 };

	if (!exchange->error.status)
		exchange->error.status = exchange->failed;
	stream_close(exchange);
	headers_clear(exchange);
	text_deinit(&exchange->answer);
	error_body_write(&compact, &exchange->error, exchange->refusal, exchange->parameters.form);
	answer_json(exchange, &compact);
	exchange->http_status =
		exchange->refusal ? (unsigned)exchange->refusal : error_http_status(exchange->error.status);
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
		.param_count = match->param_count,
		.exchange = exchange,
	};
	memcpy(call->params, match->params, sizeof(call->params));
	if (match->route->body == &raw_body) {
		call->raw = exchange->body.bytes.data ? exchange->body.bytes.data : "";
		call->raw_bytes = exchange->body.bytes.length;
	}
}

/* A stream may go on for days: what came in does not stay that long. */
static void call_release(struct exchange *exchange)
{
	struct call *call = &exchange->call;

	json_decref(call->query);
	json_decref(call->body);
	call->query = call->body = NULL;
	call->raw = NULL;
	call->raw_bytes = 0;
	text_deinit(&call->answer);
	body_deinit(&exchange->body);
}

static enum status call_run(struct exchange *exchange, const json_t *pairs, struct error *err)
{
	const struct route *route = exchange->match.route;
	struct call *call = &exchange->call;
	enum status rc;

	call_init(exchange);
	rc = fields_check(exchange->parameters.fields, err);
	if (!rc)
		rc = query_read(route, pairs, &call->query, err);
	if (!rc)
		rc = body_read(exchange, &call->body, err);
	if (!rc)
		rc = route->handler(call, err);
	if (!rc)
		rc = answer_success(exchange, err);
	call_release(exchange);
	return rc;
}

static enum status call_run_alone(struct exchange *exchange, const json_t *pairs, struct error *err)
{
	enum status rc;

	if (exchange->body.bytes.length < LARGE_BODY_BYTES)
		return call_run(exchange, pairs, err);
	pthread_mutex_lock(exchange->rules->large_bodies);
	rc = call_run(exchange, pairs, err);
	pthread_mutex_unlock(exchange->rules->large_bodies);
	return rc;
}

/* The query may go on in the body. */
static enum status body_take(struct exchange *exchange, struct error *err)
{
	enum status rc = body_finish(&exchange->body, head_says_gzip(&exchange->head),
				     exchange->rules->body_limit_bytes, &exchange->refusal, err);

	if (!rc && exchange->query_in_body && exchange->body.bytes.length)
		rc = query_parse(exchange->body.bytes.data, exchange->body.bytes.length, &exchange->form,
				 err);
	return rc;
}

static void fail_first(struct exchange *exchange, enum status rc)
{
	if (!exchange->failed)
		exchange->failed = rc;
}

/* Later errors do not replace the first. */
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

void exchange_end(struct exchange *exchange)
{
	AUTO(json) json_t *pairs = NULL;

	exchange->parameters.fields = header(exchange, HEADER_FIELD_MASK);
	if (!exchange->failed)
		fail_first(exchange, body_take(exchange, &exchange->error));
	if (exchange->query.count || exchange->form.count)
		pairs = json_array();
	fail_first(exchange,
		   parameters_take(&exchange->query, &exchange->parameters, pairs, error_of(exchange)));
	fail_first(exchange,
		   parameters_take(&exchange->form, &exchange->parameters, pairs, error_of(exchange)));
	if (!exchange->failed)
		fail_first(exchange, call_run_alone(exchange, pairs, &exchange->error));
	if (exchange->failed) {
		answer_error(exchange);
		error_log(exchange);
	}
	request_log(exchange);
}

void exchange_end_stopping(struct exchange *exchange)
{
	exchange->refusal = REFUSAL_BY_STATUS;
	exchange->failed =
		error_set(&exchange->error, STATUS_UNAVAILABLE, NULL, "trainyard is shutting down.");
	answer_error(exchange);
}
