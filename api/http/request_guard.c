/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/request_guard.h"

#include <string.h>

static const char *header(const struct exchange *exchange, enum header which)
{
	return exchange->head.values[which];
}

enum status request_guard_origin(const struct exchange *exchange, struct error *err)
{
	const struct guard *guard = &exchange->rules->guard;
	enum status rc;

	if (exchange->inner)
		return STATUS_OK;
	rc = guard_peer_check(guard, exchange->peer, err);
	if (!rc)
		rc = guard_check(guard, header(exchange, HEADER_HOST), header(exchange, HEADER_ORIGIN),
				 header(exchange, HEADER_SEC_FETCH_SITE), err);
	if (!rc && exchange->target.authority)
		rc = guard_check(guard, exchange->target.authority, NULL, NULL, err);
	return rc;
}

static bool session_fits(const struct exchange *exchange)
{
	const struct session_rule *session = &exchange->rules->session;

	return exchange->by_browser && session->check &&
	       session->check(session->arg, head_find(&exchange->head, "Cookie"),
			      head_find(&exchange->head, "X-Trainyard-Session"));
}

enum status request_guard_caller(struct exchange *exchange, struct error *err)
{
	const struct caller_rule *caller = &exchange->rules->caller;
	const bool open = exchange->match.kind == MATCH_ROUTE && exchange->match.route->open;
	enum status rc;

	if (exchange->inner || !caller->check)
		return STATUS_OK;
	rc = session_fits(exchange)
		     ? STATUS_OK
		     : caller->check(caller->arg, header(exchange, HEADER_AUTHORIZATION),
				     head_find(&exchange->head, "X-Goog-Api-Key"), open ? NULL : err);
	exchange->known = rc == STATUS_OK;
	exchange->call.anonymous = !exchange->known;
	return open ? STATUS_OK : rc;
}

static enum status refuse_type(const char *type, struct error *err)
{
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			 "Unsupported Content-Type \"%.64s\": send the body as application/json in UTF-8.",
			 type);
}

static bool has_body(const struct exchange *exchange)
{
	return head_declared_bytes(&exchange->head) || header(exchange, HEADER_TRANSFER_ENCODING);
}

/* Whether the request has no body and is from one of Google's libraries. Its content type is then accepted: the HTTP
 * layer of a library may add the type of a form, and a web page cannot send X-Goog-Api-Client without a preflight.
 * Source: java.net.HttpURLConnection of OpenJDK 17 (observed) */
static bool is_librarys(const struct exchange *exchange)
{
	return !has_body(exchange) && head_find(&exchange->head, "X-Goog-Api-Client");
}

enum status request_guard_type(struct exchange *exchange, struct error *err)
{
	const char *type = header(exchange, HEADER_CONTENT_TYPE);
	const struct route *route = exchange->match.route;

	if (strcmp(exchange->method, "GET") == 0 || strcmp(exchange->method, "HEAD") == 0 ||
	    !guard_type_refused(&exchange->rules->guard, type, route->page_types) || is_librarys(exchange))
		return STATUS_OK;
	exchange->refusal = REFUSAL_MEDIA_TYPE;
	if (route->page_types == PAGE_TYPES_NONE)
		return refuse_type(type, err);
	return error_set(
		err, STATUS_INVALID_ARGUMENT, NULL,
		"Unsupported Content-Type \"%.64s\": a web page could send it without its user's consent. "
		"Name the object's own type, as with \"Content-Type: application/octet-stream\".",
		type);
}

enum status request_guard_body(struct exchange *exchange, struct error *err)
{
	const char *type = header(exchange, HEADER_CONTENT_TYPE);

	if (!type || !*type || exchange->body.bytes.length == 0 || media_type_is(type, "application/json"))
		return STATUS_OK;
	exchange->refusal = REFUSAL_MEDIA_TYPE;
	return refuse_type(type, err);
}

enum status request_guard_pass_gate(struct exchange *exchange, struct error *err)
{
	const struct call_gate *gate = exchange->rules->gate;
	enum status rc =
		gate ? gate->pass(gate->arg, &exchange->call, exchange->match.family, &exchange->cut, err)
		     : STATUS_OK;

	exchange->stopped = rc != STATUS_OK;
	return rc;
}
