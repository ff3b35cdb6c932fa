/* SPDX-License-Identifier: Apache-2.0 */
/* Tests api/http/exchange.c through a listener: the answer to one request. */
#include <string.h>

#include "api/http/exchange.h"
#include "api/http/library_head.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "tests/unit/api/http/http_testing.h"

static enum status plain(struct call *call, struct error *err)
{
	(void)err;
	call->content_type = "text/plain";
	text_puts(&call->answer, "as it is");
	return STATUS_OK;
}

static enum status echo(struct call *call, struct error *err)
{
	(void)err;
	json_write(&call->answer, call->body ? call->body : call->query);
	return STATUS_OK;
}

static enum status broken(struct call *call, struct error *err)
{
	(void)call;
	return error_set(err, STATUS_INTERNAL, NULL, "the disk is full");
}

static enum status gone(struct call *call, struct error *err)
{
	(void)err;
	call->http_status = 204;
	return STATUS_OK;
}

static enum status unmet(struct call *call, struct error *err)
{
	(void)call;
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "It was changed.");
}

static unsigned own_status(const struct call *call, const struct error *err)
{
	assert_string_equal(call->route->path, "/own/unmet");
	return err->status == STATUS_FAILED_PRECONDITION ? 412 : 500;
}

/* Answers whether the call holds the turn for large bodies. */
static enum status turn(struct call *call, struct error *err)
{
	pthread_mutex_t *turns = call->exchange->rules->large_bodies;
	const bool free = pthread_mutex_trylock(turns) == 0;

	(void)err;
	if (free)
		pthread_mutex_unlock(turns);
	text_puts(&call->answer, free ? "{\"turn\":false}" : "{\"turn\":true}");
	return STATUS_OK;
}

static const struct field thing_fields[] = {
	{ .name = "text", .type = FIELD_STRING },
	{ .name = "pageSize", .type = FIELD_INT32 },
	{ .name = NULL },
};
static const struct message thing = { .full_name = "Thing", .fields = thing_fields };

static const struct route routes[] = {
	{ "GET", "/v1/hello/{name}", hello, NULL, NULL, NULL, NULL },
	{ "GET", "/v1/nothing", nothing, NULL, NULL, NULL, NULL },
	{ "GET", "/v1/plain", plain, NULL, NULL, NULL, NULL },
	{ "GET", "/v1/things", echo, &thing, NULL, NULL, NULL },
	{ "POST", "/v1/things", echo, NULL, &thing, "thing", NULL },
	{ "PATCH", "/v1/things", echo, NULL, &thing, "thing", NULL },
	{ "GET", "/v1/broken", broken, NULL, NULL, NULL, NULL },
	{ "DELETE", "/v1/gone", gone, NULL, NULL, NULL, NULL },
	{ "GET", "/v1/unmet", unmet, NULL, NULL, NULL, NULL },
	{ "POST", "/v1/turn", turn, NULL, &thing, "thing", NULL },
	{ "POST", "/v1/raw", turn, NULL, &raw_body, NULL, NULL },
	{ "POST", "/v1/open", turn, NULL, &raw_body, NULL, NULL, .open = true },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
static const struct route own_routes[] = {
	{ "GET", "/own/unmet", unmet, NULL, NULL, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
static const struct family families[] = { { .name = "test", .routes = routes },
					  { .name = "own", .routes = own_routes, .error_status = own_status },
					  { .name = NULL } };

static int listener_setup(void **state)
{
	(void)state;
	return listener_begin((struct listener_options){ .families = families });
}

TEST(a_request_is_answered_as_the_service_does)
{
	(void)state_;
	answers("GET /v1/hello/w%6Frld HTTP/1.1\r\n" HOST "\r\n", OK_,
		"\r\n\r\n{\n  \"hello\": \"world\"\n}\n");
	answers("GET /v1/hello/x HTTP/1.1\r\n" HOST "\r\n", OK_,
		"Content-Type: application/json; charset=UTF-8\r\n");
	answers("GET /v1/hello/x HTTP/1.1\r\n" HOST "\r\n", OK_, "X-Content-Type-Options: nosniff\r\n");
	answers("GET /v1/hello/x?prettyPrint=false HTTP/1.1\r\n" HOST "\r\n", OK_,
		"\r\n\r\n{\"hello\":\"x\"}");
	answers("GET /v1/nothing HTTP/1.1\r\n" HOST "\r\n", OK_, "\r\n\r\n{}\n");
	answers("GET /v1/plain HTTP/1.1\r\n" HOST "\r\n", OK_, "\r\n\r\nas it is");
	answers("GET http://localhost/v1/nothing HTTP/1.1\r\n" HOST "\r\n", OK_, "\r\n\r\n{}\n");
	answers("GET /v1/nothing HTTP/1.0\r\n\r\n", "HTTP/1.", "\r\n\r\n{}\n");
}

TEST(the_systems_parameters_are_taken_by_every_method)
{
	(void)state_;
	answers("GET /v1/nothing?alt=json&key=k&quotaUser=q&$alt=json;enum-encoding=int&%24key=1&uploadType=x"
		"&upload_protocol=y&access_token=t&oauth_token=t&trace=z HTTP/1.1\r\n" HOST "\r\n",
		OK_, "{}\n");
	answers("GET /v1/hello/x?fields=nothing HTTP/1.1\r\n" HOST "\r\n", OK_, "\r\n\r\n{}\n");
	answers("GET /v1/hello/x HTTP/1.1\r\n" HOST "X-Goog-FieldMask: nothing\r\n\r\n", OK_, "\r\n\r\n{}\n");
	answers("GET /v1/hello/x?fields=a( HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 400 ", "INVALID_ARGUMENT");
	answers("GET /v1/nothing?alt=proto HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 400 ", "alt=json only");
	answers("GET /v1/nothing?alt=media HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 400 ", "alt=json only");
	answers("GET /v1/nothing?callback=f HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 400 ", "callback");
	answers("GET /v1/x?$.xgafv=1&prettyPrint=0 HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 404 ",
		"\"reason\":\"notFound\"");
	answers("GET /v1/nothing?.xgafv=1 HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 400 ",
		"Cannot bind query parameter");
}

TEST(a_query_is_read_as_the_rows_message)
{
	(void)state_;
	answers("GET /v1/things?text=a+b&page_size=3 HTTP/1.1\r\n" HOST "\r\n", OK_,
		"{\n  \"text\": \"a b\",\n  \"pageSize\": 3\n}\n");
	answers("GET /v1/things?nonsense=1 HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 400 ",
		"Cannot bind query parameter");
	answers("GET /v1/nothing?text=1 HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 400 ",
		"Cannot bind query parameter");
}

TEST(a_method_may_be_overridden)
{
	(void)state_;
	answers("POST /v1/things HTTP/1.1\r\n" HOST "X-HTTP-Method-Override: GET\r\n"
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 14\r\n\r\ntext=a+b&alt=x",
		"HTTP/1.1 400 ", "alt=json only");
	answers("POST /v1/things?page_size=3 HTTP/1.1\r\n" HOST "X-HTTP-Method-Override: GET\r\n"
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 8\r\n\r\ntext=a+b",
		OK_, "{\n  \"text\": \"a b\",\n  \"pageSize\": 3\n}\n");
	answers("POST /v1/things HTTP/1.1\r\n" HOST JSON
		"X-HTTP-Method-Override: PATCH\r\nContent-Length: 12\r\n\r\n"
		"{\"text\":\"x\"}",
		OK_, "\"x\"");
	answers("POST /v1/things HTTP/1.1\r\n" HOST JSON
		"X-HTTP-Method-Override: DELETE\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 405 ", "UNIMPLEMENTED");
	answers("GET /v1/things HTTP/1.1\r\n" HOST "X-HTTP-Method-Override: DELETE\r\n\r\n", OK_, "{}\n");
}

TEST(what_is_not_there_is_refused_in_the_services_shape)
{
	(void)state_;
	answers("GET /nowhere HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 404 ", "\"status\": \"NOT_FOUND\"");
	answers("DELETE /v1/things HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 405 ",
		"Allow: GET, HEAD, POST, PATCH\r\n");
	answers("OPTIONS /v1/things HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 405 ",
		"Allow: GET, HEAD, POST, PATCH\r\n");
	answers("FO@O /v1/things HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 501 ", "UNIMPLEMENTED");
	answers("OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 400 ", "INVALID_ARGUMENT");
	answers("GET /v1/hello/a%00b HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 400 ", "INVALID_ARGUMENT");
	/* libmicrohttpd 1.0 refuses this with its own answer. */
	answers("GET /v1/hello/a b HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 400 ",
		library_is_strict() ? "whitespaces" : "INVALID_ARGUMENT");
	answers("GET /v1/hello%2Fx HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 404 ", "NOT_FOUND");
}

TEST(an_answer_without_content_has_none)
{
	AUTO(string)
	char *seen = exchange_raw("DELETE /v1/gone HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");

	(void)state_;
	assert_int_equal(strncmp(seen, "HTTP/1.1 204 ", 13), 0);
	assert_string_equal(strstr(seen, "\r\n\r\n"), "\r\n\r\n");
	assert_null(strstr(seen, "\r\nContent-Type"));
}

TEST(a_family_may_have_its_own_status_of_an_error)
{
	(void)state_;
	answers("GET /v1/unmet HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 400 ", "It was changed.");
	answers("GET /own/unmet HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 412 ", "It was changed.");
}

TEST(an_internal_error_keeps_its_cause_to_itself)
{
	AUTO(string) char *seen = exchange_raw("GET /v1/broken HTTP/1.1\r\n" HOST "\r\n");

	(void)state_;
	assert_non_null(strstr(seen, "HTTP/1.1 500 "));
	assert_non_null(strstr(seen, "Internal error encountered."));
	assert_null(strstr(seen, "disk"));
}

TEST(web_sites_and_strange_names_are_refused)
{
	(void)state_;
	answers("GET /v1/nothing HTTP/1.1\r\nHost: evil.com\r\n\r\n", "HTTP/1.1 403 ", "PERMISSION_DENIED");
	answers("GET http://evil.com/v1/nothing HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 403 ",
		"PERMISSION_DENIED");
	answers("GET /v1/nothing HTTP/1.1\r\n" HOST "Origin: https://evil.com\r\n\r\n", "HTTP/1.1 403 ",
		"PERMISSION_DENIED");
	answers("GET /v1/nothing HTTP/1.1\r\n" HOST "Sec-Fetch-Site: cross-site\r\n\r\n", "HTTP/1.1 403 ",
		"PERMISSION_DENIED");
}

TEST(pipelined_requests_are_answered_in_order)
{
	AUTO(string)
	char *seen = exchange_raw("GET /v1/hello/one HTTP/1.1\r\n" HOST "\r\n"
				  "POST /v1/things HTTP/1.1\r\n" HOST
				  "Content-Length: 14\r\n\r\n{\"text\":\"two\"}"
				  "GET /v1/x HTTP/1.1\r\n" HOST "\r\n"
				  "GET /v1/hello/four HTTP/1.1\r\n" HOST "\r\n");
	const char *one = strstr(seen, "\"one\""), *two = strstr(seen, "\"two\""),
		   *four = strstr(seen, "\"four\"");

	(void)state_;
	assert_int_equal(count_of(seen, "HTTP/1.1 200 "), 3);
	assert_int_equal(count_of(seen, "HTTP/1.1 404 "), 1);
	assert_true(one && two && four && one < two && two < four);
}

/* Appends the answer without its times. */
static void answers_append(struct text *seen, const char *request)
{
	AUTO(string) char *answers = exchange_raw(request);

	for (char *at = answers, *line; (line = strsep(&at, "\n"));) {
		if (strncmp(line, "Date: ", 6) == 0)
			continue;
		text_puts(seen, line);
		text_puts(seen, at ? "\n" : "");
	}
}

/* Fails with: the place of the next request kept the last one's refusal, or its answer. */
TEST(a_request_finds_nothing_of_the_one_before)
{
	struct text long_one AUTO_TEXT = { 0 };

	(void)state_;
	text_puts(&long_one, "GET /v1/hello/");
	for (int i = 0; i < 6000; i++)
		text_putc(&long_one, (char)('a' + i % 26));
	text_puts(&long_one, " HTTP/1.1\r\n" HOST "\r\n");

	const char *const requests[] = {
		"GET /v1/things?text=one&pageSize=3&prettyPrint=false HTTP/1.1\r\n" HOST "\r\n",
		"POST /v1/things HTTP/1.1\r\n" HOST JSON "Content-Length: 14\r\n\r\n{\"text\":\"abc\"}",
		"DELETE /v1/gone HTTP/1.1\r\n" HOST "\r\n",
		long_one.data,
		"GET /v1/nothing HTTP/1.1\r\n" HOST "\r\n",
		"GET /v1/hello/x?fields=hello HTTP/1.1\r\n" HOST "\r\n",
		"HEAD /v1/hello/x HTTP/1.1\r\n" HOST "\r\n",
		"GET /v1/plain HTTP/1.1\r\n" HOST "\r\n",
		"GET /v1/broken HTTP/1.1\r\n" HOST "\r\n",
		"GET /v1/nowhere HTTP/1.1\r\n" HOST "\r\n",
		"GET /v1/plain HTTP/1.1\r\n" HOST "\r\n",
		"POST /v1/hello/x HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n",
		"GET /own/unmet HTTP/1.1\r\n" HOST "\r\n",
		"GET /v1/hello/y HTTP/1.1\r\n" HOST "\r\n",
	};
	struct text alone AUTO_TEXT = { 0 };
	struct text together AUTO_TEXT = { 0 };
	struct text all AUTO_TEXT = { 0 };

	for (size_t i = 0; i < 2 * COUNT_OF(requests); i++) {
		const size_t last = 2 * COUNT_OF(requests) - 1;
		/* first in this order, then in the reverse order */
		const char *request = requests[i < COUNT_OF(requests) ? i : last - i];

		answers_append(&alone, request);
		text_puts(&all, request);
	}
	answers_append(&together, all.data);
	assert_string_equal(together.data, alone.data);
}

static void turn_is(const char *path, int bytes, const char *wanted)
{
	struct text request AUTO_TEXT = { 0 };

	text_printf(&request, "POST %s HTTP/1.1\r\n" HOST JSON "Content-Length: %d\r\n\r\n{}%*s", path, bytes,
		    bytes - 2, "");
	answers(request.data, OK_, wanted);
}

/* The tree of a body of 100 KiB may take 8 MiB. Fails with: LARGE_BODY_BYTES of 1 MiB; is_tree() that looks at no row. */
TEST(large_bodies_are_trees_in_turn)
{
	(void)state_;
	turn_is("/v1/turn", LARGE_BODY_BYTES - 1, "false");
	turn_is("/v1/turn", 100 << 10, "true");
	turn_is("/v1/raw", 100 << 10, "false");
	turn_is("/v1/open", 100 << 10, "false");
}

TEST(head_is_get_without_its_body)
{
	AUTO(string) char *seen = exchange_raw("HEAD /v1/hello/x HTTP/1.1\r\n" HOST "\r\n");
	const char *end = strstr(seen, "\r\n\r\n");

	(void)state_;
	assert_non_null(strstr(seen, "HTTP/1.1 200 "));
	assert_non_null(strstr(seen, "Content-Length: 19\r\n"));
	assert_string_equal(end, "\r\n\r\n");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LISTENER(a_request_is_answered_as_the_service_does),
		WITH_LISTENER(the_systems_parameters_are_taken_by_every_method),
		WITH_LISTENER(a_query_is_read_as_the_rows_message),
		WITH_LISTENER(a_method_may_be_overridden),
		WITH_LISTENER(what_is_not_there_is_refused_in_the_services_shape),
		WITH_LISTENER(an_answer_without_content_has_none),
		WITH_LISTENER(a_family_may_have_its_own_status_of_an_error),
		WITH_LISTENER(an_internal_error_keeps_its_cause_to_itself),
		WITH_LISTENER(web_sites_and_strange_names_are_refused),
		WITH_LISTENER(pipelined_requests_are_answered_in_order),
		WITH_LISTENER(a_request_finds_nothing_of_the_one_before),
		WITH_LISTENER(large_bodies_are_trees_in_turn),
		WITH_LISTENER(head_is_get_without_its_body),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
