/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "tests/unit/api/http/http_testing.h"

enum { BODY_LIMIT = 1000, SWALLOWED_MAX = 1 << 30 };

/* Receives bodies; each test sets how it behaves. */
static struct sink {
	bool begin_fails, takes_nothing, handler_fails;
	size_t fails_at; /* take() fails at this byte; 0: it does not fail */
	struct text seen;
	char coding[16], name[16];
	atomic_size_t bytes;
	atomic_uint begins, takes, handled, closes;
	unsigned closes_when_handled;
} sink;

static enum status sink_take(void *arg, const char *data, size_t length, struct error *err)
{
	assert_ptr_equal(arg, &sink);
	assert_int_equal(sink.closes, sink.begins - 1);
	assert_true(length > 0);
	atomic_fetch_add(&sink.takes, 1);
	atomic_fetch_add(&sink.bytes, length);
	if (sink.fails_at && sink.bytes >= sink.fails_at)
		return error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL, "The disk is full.");
	if (sink.seen.length < BODY_LIMIT)
		text_append(&sink.seen, data, length);
	return STATUS_OK;
}

static void sink_close(void *arg)
{
	assert_ptr_equal(arg, &sink);
	atomic_fetch_add(&sink.closes, 1);
}

static enum status sink_begin(struct call *call, struct error *err)
{
	const char *name = call_query(call, "text");

	atomic_fetch_add(&sink.begins, 1);
	snprintf(sink.name, sizeof(sink.name), "%s", name ? name : "-");
	snprintf(sink.coding, sizeof(sink.coding), "%s", call_header(call, "content-encoding"));
	if (sink.takes_nothing)
		return STATUS_OK;
	call->intake = (struct intake){ sink_take, sink_close, &sink };
	if (sink.begin_fails)
		return error_set(err, STATUS_NOT_FOUND, NULL, "There is no such bucket.");
	return STATUS_OK;
}

static enum status sink_handle(struct call *call, struct error *err)
{
	const char *name = call_query(call, "text");

	assert_true(sink.takes_nothing || call->intake.arg == &sink);
	sink.closes_when_handled = sink.closes;
	atomic_fetch_add(&sink.handled, 1);
	if (sink.handler_fails)
		return error_set(err, STATUS_ABORTED, NULL, "Somebody was faster.");
	text_printf(&call->answer, "{\"bytes\":%zu,\"name\":\"%s\",\"object\":\"%s\"}", (size_t)sink.bytes,
		    name ? name : "-", call_param(call, "object"));
	return STATUS_OK;
}

static enum status head_handle(struct call *call, struct error *err)
{
	(void)err;
	assert_true(call_header_add(call, "X-Row", call->route->method));
	return STATUS_OK;
}

static enum status render_handle(struct call *call, struct error *err)
{
	return error_set(err, *call_param(call, "status") == 'i' ? STATUS_INTERNAL : STATUS_NOT_FOUND, NULL,
			 "the cause");
}

static enum status peer_handle(struct call *call, struct error *err)
{
	(void)err;
	text_printf(&call->answer, "{\"peer\":\"%08x\"}", call->peer);
	return STATUS_OK;
}

static const struct field thing_fields[] = {
	{ .name = "text", .type = FIELD_STRING },
	{ .name = "alt", .type = FIELD_STRING },
	{ .name = NULL },
};
static const struct message thing = { .full_name = "Thing", .fields = thing_fields };

static const char *xml_render(const struct call *call, const struct error *err, unsigned http_status,
			      struct text *body)
{
	text_printf(body, "<Error><Code>%u</Code><Message>%s</Message><Row>%s</Row></Error>", http_status,
		    err->text, call->route->path);
	return "application/xml; charset=UTF-8";
}

static const struct route routes[] = {
	{ "PUT", "/o/{object=**}", sink_handle, &thing, NULL, NULL, NULL, sink_begin },
	{ "HEAD", "/o/{object=**}", head_handle, NULL, NULL, NULL, NULL, NULL },
	{ "GET", "/o/{object=**}", head_handle, &thing, NULL, NULL, NULL, NULL },
	{ "GET", "/peer", peer_handle, NULL, NULL, NULL, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
static const struct route plain_routes[] = {
	{ "GET", "/{bucket}/error/{status}", render_handle, NULL, NULL, NULL, NULL, NULL },
	{ "POST", "/{bucket}/json", render_handle, NULL, &thing, "", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
static const struct family families[] = {
	{ .name = "plain",
	  .routes = plain_routes,
	  .last_resort = true,
	  .lenient_query = true,
	  .error_render = xml_render },
	{ .name = "test", .routes = routes },
	{ .name = NULL },
};

static int setup_with(struct listener_options options)
{
	options.families = families;
	options.body_limit_bytes = BODY_LIMIT;
	text_deinit(&sink.seen);
	sink = (struct sink){ 0 };
	return listener_begin(options);
}

static int listener_setup(void **state)
{
	(void)state;
	return setup_with((struct listener_options){ 0 });
}

static void count_await(const atomic_uint *count, unsigned least)
{
	for (int i = 0; i < ANSWER_WAIT_MS && *count < least; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	assert_int_equal(*count, least);
}

/* A complete PUT of @bytes bytes; the caller frees it. */
static char *put_of(size_t bytes, const char *head)
{
	struct text request = { 0 };

	text_printf(&request, "PUT /o/x HTTP/1.1\r\n" HOST "%sContent-Length: %zu\r\n\r\n", head, bytes);
	for (size_t i = 0; i < bytes; i++)
		text_putc(&request, (char)('a' + i % 26));
	return text_take(&request);
}

TEST(a_body_goes_to_its_intake_as_it_comes_and_past_the_listeners_limit)
{
	enum { BYTES = 1 << 20 };
	AUTO(string) char *request = put_of(BYTES, "");

	(void)state_;
	answers(request, OK_, "\"bytes\": 1048576");
	assert_int_equal(sink.bytes, BYTES);
	assert_true(sink.takes > 1);
	assert_memory_equal(sink.seen.data, "abcdefghijklmnopqrstuvwxyzabc", 29);
	assert_int_equal(sink.begins, 1);
	assert_int_equal(sink.handled, 1);
	assert_int_equal(sink.closes_when_handled, 0);
	assert_int_equal(sink.closes, 1);
}

TEST(a_chunked_body_an_empty_one_and_a_path_with_everything_in_it_are_taken)
{
	(void)state_;
	answers("PUT /o/a/..//b%2Fc:cancel?text=n&alt=media&uploadType=media HTTP/1.1\r\n" HOST
		"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
		OK_, "\"bytes\": 5,\n  \"name\": \"n\",\n  \"object\": \"a/..//b/c:cancel\"\n");
	assert_string_equal(sink.name, "n"); /* begin() has seen this name */
	answers("PUT /o/x HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", OK_, "\"bytes\": 5");
	assert_int_equal(sink.closes, 2);
}

TEST(a_coded_body_is_taken_as_it_is)
{
	(void)state_;
	answers("PUT /o/x HTTP/1.1\r\n" HOST "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnone", OK_,
		"\"bytes\": 4");
	assert_string_equal(sink.coding, "gzip");
	answers("PUT /o/x HTTP/1.1\r\n" HOST "Content-Encoding: br\r\nContent-Length: 4\r\n\r\nnone", OK_,
		"\"bytes\": 8");
	assert_string_equal(sink.coding, "br");
}

TEST(an_intake_that_fails_in_the_middle_is_closed_and_the_rest_swallowed)
{
	AUTO(string) char *request = put_of(1 << 20, "");

	(void)state_;
	sink.fails_at = 1000;
	answers(request, "HTTP/1.1 429 ", "The disk is full.");
	assert_int_equal(sink.takes, 1);
	assert_int_equal(sink.handled, 0);
	assert_int_equal(sink.closes, 1);
}

TEST(a_connection_is_cut_that_sends_far_more_than_anybody_takes)
{
	static const char head[] = "PUT /o/x HTTP/1.1\r\n" HOST "Content-Length: 107374182400\r\n\r\n";
	static char piece[1 << 20];
	int client = client_open();
	size_t sent = 0;

	(void)state_;
	sink.fails_at = 1;
	client_send(client, head, strlen(head));
	while (send(client, piece, sizeof(piece), MSG_NOSIGNAL) > 0 && sent <= 2 * (size_t)SWALLOWED_MAX)
		sent += sizeof(piece);
	assert_true(sent < 2 * (size_t)SWALLOWED_MAX);
	count_await(&sink.closes, 1);
	close(client);
}

TEST(a_begin_that_fails_is_answered_after_the_body_or_at_once_when_asked)
{
	AUTO(string) char *request = put_of(100000, "");

	(void)state_;
	sink.begin_fails = true;
	answers(request, "HTTP/1.1 404 ", "There is no such bucket.");
	answers("PUT /o/x HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
		"HTTP/1.1 404 ", "There is no such bucket.");
	answers("PUT /o/x HTTP/1.1\r\n" HOST "Content-Length: 1073741824\r\n\r\n", "HTTP/1.1 404 ",
		"There is no such bucket.");
	assert_int_equal(sink.takes, 0);
	assert_int_equal(sink.handled, 0);
	assert_int_equal(sink.closes, 3); /* begin() had set an intake before it failed, which is closed */
	answers("PUT /o/x?nonsense=1 HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
		"HTTP/1.1 400 ", "Cannot bind query parameter");
	answers("PUT /o/x?alt=media&$alt=proto HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n",
		"HTTP/1.1 400 ", "alt=json only");
	assert_int_equal(sink.begins, 3);
}

TEST(a_client_that_asks_first_is_told_to_go_on)
{
	const char *head = "PUT /o/x HTTP/1.1\r\n" HOST
			   "Connection: close\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
	struct text seen AUTO_TEXT = { 0 };
	int client = client_open();

	(void)state_;
	client_send(client, head, strlen(head));
	assert_true(client_receive(client, &seen));
	assert_int_equal(strncmp(seen.data, "HTTP/1.1 100 ", 13), 0);
	client_send(client, "abcde", 5);
	while (client_receive(client, &seen))
		;
	assert_non_null(strstr(seen.data, "\"bytes\": 5"));
	close(client);
}

TEST(a_row_that_takes_nothing_swallows_its_body)
{
	AUTO(string) char *request = put_of(100000, "");

	(void)state_;
	sink.takes_nothing = true;
	answers(request, OK_, "\"bytes\": 0");
	assert_int_equal(sink.handled, 1);
	assert_int_equal(sink.closes, 0);
}

TEST(a_handler_that_fails_has_its_intake_closed_once)
{
	(void)state_;
	sink.handler_fails = true;
	answers("PUT /o/x HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc", "HTTP/1.1 409 ",
		"Somebody was faster.");
	assert_int_equal(sink.closes, 1);
}

TEST(a_client_that_leaves_in_the_middle_has_its_intake_closed_once)
{
	static const char part[] = "PUT /o/x HTTP/1.1\r\n" HOST "Content-Length: 100\r\n\r\nabc";
	int client = client_open();

	(void)state_;
	client_send(client, part, strlen(part));
	count_await(&sink.takes, 1);
	close(client);
	count_await(&sink.closes, 1);
	listener_close(listener, 2000);
	listener = NULL;
	assert_int_equal(sink.closes, 1);
	assert_int_equal(sink.handled, 0);
}

TEST(a_listener_that_closes_closes_intakes)
{
	static const char part[] = "PUT /o/x HTTP/1.1\r\n" HOST "Content-Length: 100\r\n\r\nabc";
	int client = client_open();

	(void)state_;
	client_send(client, part, strlen(part));
	count_await(&sink.takes, 1);
	listener_close(listener, 1);
	listener = NULL;
	assert_int_equal(sink.closes, 1);
	assert_int_equal(sink.handled, 0);
	close(client);
}

TEST(a_head_row_goes_before_a_get_row)
{
	(void)state_;
	answers("HEAD /o/a/b HTTP/1.1\r\n" HOST "\r\n", OK_, "X-Row: HEAD\r\n");
	answers("GET /o/a/b HTTP/1.1\r\n" HOST "\r\n", OK_, "X-Row: GET\r\n");
	answers("DELETE /o/a/b HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 405 ", "Allow: PUT, HEAD, GET\r\n");
}

TEST(a_nul_in_a_path_is_refused_and_an_empty_rest_not_found)
{
	(void)state_;
	answers("GET /o/a%00b HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 400 ", "cannot be read");
	answers("GET /o/ HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 404 ", "Method not found: GET /o/.");
	answers("GET /x/../y HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 400 ", "dot segment");
}

TEST(a_family_says_its_errors_in_its_own_form)
{
	(void)state_;
	answers("GET /b/error/n?what=ever HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 404 ",
		"\r\n\r\n<Error><Code>404</Code><Message>the cause</Message><Row>/{bucket}/error/{status}</Row>");
	answers("GET /b/error/n HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 404 ",
		"Content-Type: application/xml; charset=UTF-8\r\n");
	answers("GET /b/error/i HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 500 ",
		"<Message>Internal error encountered.</Message>");
	answers("POST /b/json HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n{", "HTTP/1.1 400 ", "<Error>");
	answers("POST /b/json HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 2000\r\n\r\n",
		"HTTP/1.1 413 ", "<Code>413</Code>");
	answers("GET /b/nothing HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 404 ", "\"error\": {");
	answers("PUT /b/error/n HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 405 ", "\"error\": {");
}

TEST(the_client_is_known_by_its_address)
{
	(void)state_;
	answers("GET /peer HTTP/1.1\r\n" HOST "\r\n", OK_, "\"peer\": \"7f000001\"");
}

TEST(a_refused_network_gets_no_answer_but_that)
{
	(void)state_;
	listener_close(listener, 1000);
	assert_int_equal(setup_with((struct listener_options){ .address = "127.0.0.1",
							       .refused_network = "127.0.0.0/8" }),
			 0);
	answers("GET /peer HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 403 ",
		"Programs inside jobs may not call this address; serve --route NAME=self offers the API to them as NAME.");
	answers("PUT /o/x HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc", "HTTP/1.1 403 ",
		"\"PERMISSION_DENIED\"");
	answers("GET /no/where/at/all HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 403 ", "\"PERMISSION_DENIED\"");
	assert_int_equal(sink.begins, 0);
	listener_close(listener, 1000);
	assert_int_equal(setup_with((struct listener_options){ .address = "127.0.0.1",
							       .refused_network = "10.213.0.0/16" }),
			 0);
	answers("GET /peer HTTP/1.1\r\n" HOST "\r\n", OK_, "7f000001");
}

TEST(any_host_and_any_site_may_be_let_in)
{
	static const char strange[] =
		"GET /peer HTTP/1.1\r\nHost: storage.googleapis.com\r\nOrigin: https://example.com\r\n"
		"Sec-Fetch-Site: cross-site\r\n\r\n";

	(void)state_;
	answers(strange, "HTTP/1.1 403 ", "PERMISSION_DENIED");
	listener_close(listener, 1000);
	assert_int_equal(setup_with((struct listener_options){ .address = "127.0.0.1", .any_host = true }),
			 0);
	answers(strange, OK_, "7f000001");
	answers("GET http://storage.googleapis.com/peer HTTP/1.1\r\n" HOST "\r\n", OK_, "7f000001");
}

TEST(a_listener_keeps_to_its_device)
{
	struct listener_options nowhere = { .address = "127.0.0.1",
					    .families = families,
					    .device = "trainyard-none" };
	struct listener *none = NULL;
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	listener_close(listener, 1000);
	assert_int_equal(setup_with((struct listener_options){ .address = "0.0.0.0", .device = "lo" }), 0);
	assert_int_not_equal(listener_port(listener), 0);
	answers("GET /peer HTTP/1.1\r\n" HOST "\r\n", OK_, "7f000001");
	assert_int_equal(listener_open(&nowhere, &none, &err), STATUS_UNAVAILABLE);
	assert_non_null(strstr(err.text, "of device trainyard-none: No such device"));
}

TEST(a_network_that_is_none_is_told)
{
	const struct listener_options options = { .address = "127.0.0.1",
						  .families = families,
						  .refused_network = "10.0.0.1/8" };
	struct listener *none = NULL;
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	assert_int_equal(listener_open(&options, &none, &err), STATUS_INVALID_ARGUMENT);
	assert_non_null(strstr(err.text, "10.0.0.1/8"));
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LISTENER(a_body_goes_to_its_intake_as_it_comes_and_past_the_listeners_limit),
		WITH_LISTENER(a_chunked_body_an_empty_one_and_a_path_with_everything_in_it_are_taken),
		WITH_LISTENER(a_coded_body_is_taken_as_it_is),
		WITH_LISTENER(an_intake_that_fails_in_the_middle_is_closed_and_the_rest_swallowed),
		WITH_LISTENER(a_connection_is_cut_that_sends_far_more_than_anybody_takes),
		WITH_LISTENER(a_begin_that_fails_is_answered_after_the_body_or_at_once_when_asked),
		WITH_LISTENER(a_client_that_asks_first_is_told_to_go_on),
		WITH_LISTENER(a_row_that_takes_nothing_swallows_its_body),
		WITH_LISTENER(a_handler_that_fails_has_its_intake_closed_once),
		WITH_LISTENER(a_client_that_leaves_in_the_middle_has_its_intake_closed_once),
		WITH_LISTENER(a_listener_that_closes_closes_intakes),
		WITH_LISTENER(a_head_row_goes_before_a_get_row),
		WITH_LISTENER(a_nul_in_a_path_is_refused_and_an_empty_rest_not_found),
		WITH_LISTENER(a_family_says_its_errors_in_its_own_form),
		WITH_LISTENER(the_client_is_known_by_its_address),
		WITH_LISTENER(a_refused_network_gets_no_answer_but_that),
		WITH_LISTENER(any_host_and_any_site_may_be_let_in),
		WITH_LISTENER(a_listener_keeps_to_its_device),
		WITH_LISTENER(a_network_that_is_none_is_told),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
