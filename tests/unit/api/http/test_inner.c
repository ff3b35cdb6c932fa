/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/http/exchange.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/work.h"
#include "tests/unit/testing.h"

DEFINE_AUTO(exchange, struct exchange *, exchange_free)

#define TEST(name) static void name(void **state_)

static enum status echo(struct call *call, struct error *err)
{
	(void)err;
	text_printf(&call->answer,
		    "{\"name\":\"%s\",\"authorization\":\"%s\",\"own\":\"%s\",\"type\":\"%s\",\"peer\":%u}",
		    call_param(call, "name"), call_header(call, "Authorization"), call_header(call, "X-Own"),
		    call_header(call, "Content-Type"), call->peer);
	assert_true(call_header_add(call, "ETag", "\"7\""));
	return STATUS_OK;
}

static enum status body_echo(struct call *call, struct error *err)
{
	(void)err;
	json_write(&call->answer, call->body);
	return STATUS_OK;
}

static enum status turn_report(struct call *call, struct error *err)
{
	(void)err;
	text_puts(&call->answer, call->exchange->has_turn ? "{\"text\":\"turn\"}" : "{\"text\":\"no turn\"}");
	return STATUS_OK;
}

static enum status raw_echo(struct call *call, struct error *err)
{
	(void)err;
	call->http_status = 201;
	call->content_type = "text/plain";
	text_append(&call->answer, call->raw, call->raw_bytes);
	return STATUS_OK;
}

static struct inner_endpoint *closing_endpoint;

/* Ends the endpoint that the call came through, and works until the test releases it. */
static enum status work(struct call *call, struct error *err)
{
	enum status rc = STATUS_OK;

	(void)call;
	assert_int_equal(work_owner(), 7);
	inner_endpoint_end(closing_endpoint);
	while (!rc) {
		usleep(1000);
		rc = work_check(err);
	}
	return rc;
}

static ssize_t stream_read(void *arg, char *buffer, size_t size)
{
	(void)arg, (void)buffer, (void)size;
	return STREAM_END;
}

static unsigned stream_closes, begins;

static void stream_close(void *arg)
{
	(void)arg;
	stream_closes++;
}

static enum status stream(struct call *call, struct error *err)
{
	(void)err;
	call->stream = (struct answer_stream){ stream_read, stream_close, NULL, -1 };
	return STATUS_OK;
}

static enum status begin(struct call *call, struct error *err)
{
	(void)call, (void)err;
	begins++;
	return STATUS_OK;
}

/* Makes a further call itself. */
static enum status batch(struct call *call, struct error *err)
{
	struct inner_answer answer = { 0 };
	enum status rc = call_inner(call, "GET", "/echo/x", NULL, NULL, 0, &answer, err);

	if (!rc)
		text_append(&call->answer, answer.body.data, answer.body.length);
	inner_answer_deinit(&answer);
	return rc;
}

static const struct field thing_fields[] = { { .name = "text", .type = FIELD_STRING }, { .name = NULL } };
static const struct message thing = { .full_name = "Thing", .fields = thing_fields };

static const struct route routes[] = {
	{ "GET", "/echo/{name}", echo, NULL, NULL, NULL, NULL, NULL },
	{ "PATCH", "/body", body_echo, NULL, &thing, "", NULL, NULL },
	{ "PATCH", "/turn", turn_report, NULL, &thing, "", NULL, NULL },
	{ "GET", "/v1/work", work, NULL, NULL, NULL, NULL },
	{ "POST", "/raw", raw_echo, NULL, &raw_body, NULL, NULL, NULL },
	{ "GET", "/stream", stream, NULL, NULL, NULL, NULL, NULL },
	{ "PUT", "/begin", body_echo, NULL, NULL, NULL, NULL, begin },
	{ "POST", "/batch", batch, NULL, &raw_body, NULL, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
static const struct family families[] = { { .name = "test", .routes = routes }, { .name = NULL } };

static const char *outer_find(void *arg, const char *name)
{
	(void)arg;
	return strcasecmp(name, "X-Own") == 0 ? "outer" : NULL;
}

/* The state of an outer request while its handler runs. */
static struct {
	pthread_mutex_t large_bodies;
	atomic_bool closing, cutting;
	struct exchange_rules rules;
	struct exchange exchange;
} outer = { .large_bodies = PTHREAD_MUTEX_INITIALIZER };

static int outer_setup(void **state)
{
	(void)state;
	outer.rules = (struct exchange_rules){
		.families = families,
		.clock = &system_clock,
		.guard = { .address = "127.0.0.1" },
		.body_limit_bytes = 4 << 20,
		.large_bodies = &outer.large_bodies,
		.closing = &outer.closing,
		.cutting = &outer.cutting,
	};
	outer.exchange = (struct exchange){ .rules = &outer.rules };
	head_add(&outer.exchange.head, "Host", "localhost");
	head_add(&outer.exchange.head, "Authorization", "Bearer outer");
	head_add(&outer.exchange.head, "Content-Type", "multipart/mixed");
	head_add(&outer.exchange.head, "Content-Length", "100");
	head_add(&outer.exchange.head, "X-HTTP-Method-Override", "DELETE");
	outer.exchange.head.find = outer_find;
	outer.exchange.call = (struct call){ .exchange = &outer.exchange, .peer = 42 };
	stream_closes = begins = 0;
	return 0;
}

static void inner_is(const char *method, const char *target, const char *head, const char *body,
		     unsigned http_status, const char *headers, const char *part)
{
	struct inner_answer answer = { 0 };

	assert_int_equal(call_inner(&outer.exchange.call, method, target, head, body, body ? strlen(body) : 0,
				    &answer, NULL),
			 STATUS_OK);
	if (answer.http_status != http_status || !strstr(answer.headers.data, headers) ||
	    (part && (!answer.body.data || !strstr(answer.body.data, part))) || (!part && answer.body.length))
		fail_msg("%s %s was answered %u\n%s\n%s", method, target, answer.http_status,
			 answer.headers.data, answer.body.data);
	inner_answer_deinit(&answer);
	inner_answer_deinit(&answer);
}

TEST(a_part_is_answered_by_its_row_under_the_outer_requests_headers)
{
	(void)state_;
	inner_is(
		"GET", "/echo/n?prettyPrint=false", NULL, NULL, 200,
		"Content-Type: application/json; charset=UTF-8\r\nETag: \"7\"\r\n",
		"{\"name\":\"n\",\"authorization\":\"Bearer outer\",\"own\":\"outer\",\"type\":\"\",\"peer\":42}");
	inner_is(
		"GET", "https://storage.googleapis.com/echo/n?prettyPrint=false",
		"authorization:  Bearer own \r\nX-Own: mine\r\nContent-Type: a/b\r\nHost: www.example.com\r\n",
		NULL, 200, "",
		"{\"name\":\"n\",\"authorization\":\"Bearer own\",\"own\":\"mine\",\"type\":\"a/b\",\"peer\":42}");
	inner_is("HEAD", "/echo/n", NULL, NULL, 200, "ETag", NULL);
}

TEST(a_part_has_a_body_of_its_own)
{
	AUTO(string) char *large = calloc(1, (2 << 20) + 1);

	(void)state_;
	inner_is("PATCH", "/body?prettyPrint=false",
		 "Content-Type: application/json\nContent-Length: 99999\n", "{\"text\":\"t\"}", 200,
		 "application/json", "{\"text\":\"t\"}");
	inner_is("POST", "/raw", "Transfer-Encoding: gzip\r\nExpect: 100-continue", "raw", 201,
		 "Content-Type: text/plain\r\n", "raw");
	assert_non_null(large);
	memset(large, ' ', 2 << 20);
	memcpy(large, "{}", 2);
	pthread_mutex_lock(&outer.large_bodies);
	outer.exchange.has_turn = true;
	inner_is("PATCH", "/body", NULL, large, 200, "", "{}");
	outer.exchange.has_turn = false;
	pthread_mutex_unlock(&outer.large_bodies);
}

/* 64 KiB of body; the caller frees. */
static char *large_make(void)
{
	char *large = malloc(LARGE_BODY_BYTES + 1);

	assert_non_null(large);
	memset(large, ' ', LARGE_BODY_BYTES);
	memcpy(large, "{}", 2);
	large[LARGE_BODY_BYTES] = '\0';
	return large;
}

/* Fails with: large_body_enter() that gives the parts of a request no turn. */
TEST(a_large_part_has_a_turn_of_its_own)
{
	AUTO(string) char *large = large_make();

	(void)state_;
	inner_is("PATCH", "/turn?prettyPrint=false", NULL, "{}", 200, "", "{\"text\":\"no turn\"}");
	inner_is("PATCH", "/turn?prettyPrint=false", NULL, large, 200, "", "{\"text\":\"turn\"}");
	assert_int_equal(pthread_mutex_trylock(&outer.large_bodies), 0);
	pthread_mutex_unlock(&outer.large_bodies);
}

static void part_gets_no_answer(const char *body)
{
	struct inner_answer answer = { 0 };

	assert_int_equal(call_inner(&outer.exchange.call, "PATCH", "/turn", NULL, body, strlen(body), &answer,
				    NULL),
			 STATUS_UNAVAILABLE);
	assert_true(outer.exchange.cut);
	outer.exchange.cut = false;
}

/* Another call holds the turn all the time. Fails with: large_body_enter() that asks nothing while it waits. */
TEST(the_wait_for_a_turn_ends_with_the_client_and_with_the_listener)
{
	AUTO(string) char *large = large_make();
	struct head head = { 0 };
	int ends[2];

	(void)state_;
	pthread_mutex_lock(&outer.large_bodies);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	close(ends[1]);
	outer.exchange.client_fd = ends[0];
	part_gets_no_answer(large);
	close(ends[0]);
	outer.exchange.client_fd = 0;
	atomic_store(&outer.cutting, true);
	part_gets_no_answer(large);
	atomic_store(&outer.cutting, false);

	AUTO(exchange) struct exchange *exchange = exchange_new("/turn");
	head_add(&head, "Host", "localhost");
	exchange_begin(exchange, &outer.rules, "PATCH", "HTTP/1.1", &head);
	exchange_receive(exchange, large, LARGE_BODY_BYTES);
	atomic_store(&outer.closing, true);
	exchange_end(exchange);
	atomic_store(&outer.closing, false);
	assert_int_equal(exchange->http_status, 503);
	assert_false(exchange->cut);
	assert_true(exchange->stopped); /* the error is not one of this program, which would be logged */
	pthread_mutex_unlock(&outer.large_bodies);
}

TEST(what_is_wrong_with_a_part_is_its_answer)
{
	struct text many AUTO_TEXT = { 0 };

	(void)state_;
	inner_is("GET", "/nowhere", NULL, NULL, 404, "Content-Type: application/json", "Method not found");
	inner_is("DELETE", "/body", NULL, NULL, 405, "Allow: PATCH\r\n", "not allowed");
	inner_is("GET", "nonsense", NULL, NULL, 400, "", "Invalid request target");
	inner_is("GET", "", NULL, NULL, 400, "", "Invalid request target");
	inner_is("BREW", "/body", NULL, NULL, 501, "", "BREW");
	inner_is("GET", "/echo/n", "no header", NULL, 400, "", "name of a header");
	inner_is("GET", "/echo/n", "a b: c\r\n", NULL, 400, "", "name of a header");
	inner_is("GET", "/echo/n", "Host: a\r\nHost: b\r\n", NULL, 400, "", "more than once");
	inner_is("PATCH", "/body", NULL, "{", 400, "", "INVALID_ARGUMENT");
	for (int i = 0; i < 65; i++)
		text_printf(&many, "X-%d: y\r\n", i);
	inner_is("GET", "/echo/n", many.data, NULL, 400, "", "header");
}

TEST(streams_in_both_directions_and_batches_are_no_parts)
{
	struct inner_answer answer = { 0 };
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	inner_is("GET", "/stream", NULL, NULL, 400, "application/json", "cannot be a part of a batch");
	assert_int_equal(stream_closes, 1);
	inner_is("PUT", "/begin", NULL, "x", 400, "", "cannot be a part of a batch");
	assert_int_equal(begins, 0);
	inner_is("POST", "/batch", NULL, "x", 400, "", "cannot be a batch itself");
	outer.exchange.inner = true;
	assert_int_equal(call_inner(&outer.exchange.call, "GET", "/echo/n", NULL, NULL, 0, &answer, &err),
			 STATUS_INVALID_ARGUMENT);
	assert_null(answer.body.data);
}

static enum status caller_check(void *arg, const char *authorization, const char *api_key, struct error *err)
{
	(void)arg;
	if ((authorization && strcmp(authorization, "Bearer good") == 0) ||
	    (api_key && strcmp(api_key, "good") == 0))
		return STATUS_OK;
	return error_set(err, STATUS_UNAUTHENTICATED, NULL, "No credentials.");
}

/* Fails with: request_guard_check() without either of its rules. */
TEST(a_endpoint_tells_by_the_head_who_may_come_in)
{
	static const struct {
		const char *head;
		uint32_t peer;
		unsigned http_status; /* 0: the call is allowed */
		const char *told;
	} rows[] = {
		{ "Host: localhost\nAuthorization: Bearer good", 1, 0, NULL },
		{ "x-goog-api-key: good", 1, 0, NULL },
		{ "Host: localhost\nAuthorization: Bearer bad", 1, 401, "No credentials." },
		{ NULL, 1, 401, "No credentials." },
		{ "Host: evil.example\nAuthorization: Bearer good", 1, 403, "PERMISSION_DENIED" },
		{ "Host: localhost\nOrigin: http://evil.example", 1, 403, "PERMISSION_DENIED" },
		{ "Host: localhost\nAuthorization: Bearer good", 0x0ad50001, 403, "inside jobs" },
	};
	struct error err AUTO_ERROR = { 0 };
	struct inner_endpoint *endpoint = NULL;

	(void)state_;
	assert_int_equal(
		inner_endpoint_open(&(struct listener_options){ .families = families,
								.address = "127.0.0.1",
								.refused_network = "10.213.0.0/16",
								.caller = { .check = caller_check },
								.body_limit_bytes = 4096 },
				    &endpoint, &err),
		STATUS_OK);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct inner_endpoint_request request = { .method = "POST",
								.head_text = rows[i].head,
								.peer = rows[i].peer };
		struct inner_answer answer = { 0 };

		assert_int_equal(inner_endpoint_admit(endpoint, &request, &answer, &err), STATUS_OK);
		assert_int_equal(answer.http_status, rows[i].http_status);
		if (rows[i].told)
			assert_non_null(strstr(answer.body.data, rows[i].told));
		inner_answer_deinit(&answer);
	}
	inner_endpoint_close(endpoint);
}

/* Fails with: is_abandoned() without rules->cutting: the call goes on for ever; a door's rules without its owner. */
TEST(what_comes_by_a_endpoint_is_given_up_when_it_ends)
{
	const struct inner_endpoint_request request = { .method = "GET",
							.target = "/v1/work",
							.head_text = "Host: localhost\n" };
	struct error err AUTO_ERROR = { 0 };
	struct inner_answer answer = { 0 };

	(void)state_;
	assert_int_equal(inner_endpoint_open(&(struct listener_options){ .families = families,
									 .address = "127.0.0.1",
									 .owner = 7 },
					     &closing_endpoint, &err),
			 STATUS_OK);
	assert_int_equal(inner_endpoint_call(closing_endpoint, &request, &answer, &err), STATUS_OK);
	assert_int_equal(answer.http_status, 499);
	inner_answer_deinit(&answer);
	inner_endpoint_close(closing_endpoint);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_part_is_answered_by_its_row_under_the_outer_requests_headers,
				       outer_setup),
		cmocka_unit_test_setup(a_part_has_a_body_of_its_own, outer_setup),
		cmocka_unit_test_setup(a_large_part_has_a_turn_of_its_own, outer_setup),
		cmocka_unit_test_setup(the_wait_for_a_turn_ends_with_the_client_and_with_the_listener,
				       outer_setup),
		cmocka_unit_test(what_comes_by_a_endpoint_is_given_up_when_it_ends),
		cmocka_unit_test(a_endpoint_tells_by_the_head_who_may_come_in),
		cmocka_unit_test_setup(what_is_wrong_with_a_part_is_its_answer, outer_setup),
		cmocka_unit_test_setup(streams_in_both_directions_and_batches_are_no_parts, outer_setup),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
