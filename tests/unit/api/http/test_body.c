/* SPDX-License-Identifier: Apache-2.0 */
/* Tests api/http/body.c through a listener: where a body ends, its maximum size, and its coding. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "api/http/library_head.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "tests/unit/api/http/http_testing.h"

enum { BODY_LIMIT = 1000 };

static enum status echo(struct call *call, struct error *err)
{
	(void)err;
	json_write(&call->answer, call->body ? call->body : call->query);
	return STATUS_OK;
}

static const struct field thing_fields[] = {
	{ .name = "text", .type = FIELD_STRING },
	{ .name = "pageSize", .type = FIELD_INT32 },
	{ .name = NULL },
};
static const struct message thing = { .full_name = "Thing", .fields = thing_fields };

static const struct route routes[] = {
	{ "GET", "/v1/nothing", nothing, NULL, NULL, NULL, NULL },
	{ "POST", "/v1/things", echo, NULL, &thing, "thing", NULL },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
static const struct family families[] = { { .name = "test", .routes = routes }, { .name = NULL } };

static int listener_setup(void **state)
{
	(void)state;
	return listener_begin(
		(struct listener_options){ .families = families, .body_limit_bytes = BODY_LIMIT });
}

TEST(a_body_is_read_as_the_rows_message)
{
	(void)state_;
	answers("POST /v1/things HTTP/1.1\r\n" HOST JSON "Content-Length: 14\r\n\r\n{\"text\":\"abc\"}", OK_,
		"\"abc\"");
	answers("POST /v1/things HTTP/1.1\r\n" HOST "Content-Length: 14\r\n\r\n{\"text\":\"abc\"}", OK_,
		"\"abc\"");
	answers("POST /v1/things HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", OK_, "\r\n\r\n{}\n");
	answers("POST /v1/things HTTP/1.1\r\n" HOST "\r\n", OK_, "\r\n\r\n{}\n");
	answers("POST /v1/things HTTP/1.1\r\n" HOST JSON "Transfer-Encoding: chunked\r\n\r\n"
		"7\r\n{\"text\"\r\n7\r\n:\"abc\"}\r\n0\r\nTrailer: x\r\n\r\n",
		OK_, "\"abc\"");
	/* libmicrohttpd 1.0 refuses chunk extensions with its own answer. */
	answers("POST /v1/things HTTP/1.1\r\n" HOST JSON "Transfer-Encoding: chunked\r\n\r\n"
		"e;x=y\r\n{\"text\":\"abc\"}\r\n0\r\n\r\n",
		library_is_strict() ? "HTTP/1.1 400 " : OK_, library_is_strict() ? "chunked" : "\"abc\"");
	answers("POST /v1/things HTTP/1.1\r\n" HOST JSON "Content-Length: 9\r\n\r\n{\"what\":1",
		"HTTP/1.1 400 ", "Invalid JSON payload received");
	answers("POST /v1/things HTTP/1.1\r\n" HOST JSON "Content-Length: 10\r\n\r\n{\"what\":1}",
		"HTTP/1.1 400 ", "Unknown name \\\"what\\\" at 'thing'");
	answers("POST /v1/things HTTP/1.1\r\n" HOST "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
		"HTTP/1.1 415 ", "application/json");
	answers("POST /v1/things HTTP/1.1\r\n" HOST JSON
		"Content-Encoding: br\r\nContent-Length: 2\r\n\r\n{}",
		"HTTP/1.1 415 ", "gzip");
}

/* Bytes after an ambiguous head must never be parsed as a request. */
TEST(smuggled_requests_are_not_answered)
{
	static const struct {
		const char *request, *status; /* 501; with libmicrohttpd 1.0: 400 */
	} cases[] = {
		{ "POST /v1/things HTTP/1.1\r\n" HOST "Content-Length: 0\r\nContent-Length: 50\r\n\r\n",
		  "HTTP/1.1 400 " },
		{ "POST /v1/things HTTP/1.1\r\n" HOST "Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
		  "HTTP/1.1 400 " },
		{ "POST /v1/things HTTP/1.1\r\n" HOST
		  "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		  "HTTP/1.1 400 " },
		{ "POST /v1/things HTTP/1.1\r\n" HOST
		  "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		  "HTTP/1.1 400 " },
		{ "POST /v1/things HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		  "HTTP/1.1 501 " },
		{ "POST /v1/things HTTP/1.1\r\n" HOST "Transfer-Encoding: identity\r\n\r\n",
		  "HTTP/1.1 501 " },
		{ "POST /v1/things HTTP/1.1\r\n" HOST "Content-Length : 50\r\n\r\n", "HTTP/1.1 400 " },
		/* Fails with: is_folded() that returns false; holds_control() likewise. */
		{ "POST /v1/things HTTP/1.1\r\n" HOST JSON
		  "Content-Length: 2\r\nTransfer-Encoding:\r\n chunked\r\n\r\n{}",
		  "HTTP/1.1 400 " },
		{ "POST /v1/things HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\nX: a\r\n\tb\r\n\r\n{}",
		  "HTTP/1.1 400 " },
		{ "POST /v1/things HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\nX: a\rY: b\r\n\r\n{}",
		  "HTTP/1.1 400 " },
		/* Fails with: library_head_read() that does not compare where lines lie. */
		{ "POST /v1/things HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n: x\r\n\r\n{}",
		  "HTTP/1.1 400 " },
		{ "POST /v1/things HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\nX: a\nY: b\r\n\r\n{}",
		  "HTTP/1.1 400 " },
		{ "POST /v1/things HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\n{}", "HTTP/1.1 400 " },
		{ "GET /v1/nothing HTTP/1.1\r\n\r\n", "HTTP/1.1 400 " },
		{ "GET /v1/nothing HTTP/1.1\r\n" HOST HOST "\r\n", "HTTP/1.1 400 " },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct text request AUTO_TEXT = { 0 };
		const char *status = library_is_strict() ? "HTTP/1.1 400 " : cases[i].status;

		text_printf(&request, "%sGET /v1/hello/smuggled HTTP/1.1\r\n" HOST "\r\n", cases[i].request);
		AUTO(string) char *seen = exchange_raw(request.data);

		if (strncmp(seen, status, strlen(status)) != 0 || count_of(seen, "\nDate: ") != 1 ||
		    strstr(seen, "smuggled"))
			fail_msg("%s\nwas answered\n%s", request.data, seen);
		assert_non_null(strstr(seen, "Connection: close\r\n"));
	}
}

TEST(a_body_too_large_is_swallowed_and_then_refused)
{
	enum { SENT = 3 << 20 };
	const char *next = "GET /v1/nothing HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n";
	AUTO(string) char *body = calloc(1, SENT + 1);
	struct text seen AUTO_TEXT = { 0 };
	int client = client_open();
	char head[256];

	(void)state_;
	memset(body, 'x', SENT);
	client_send(client, head,
		    (size_t)snprintf(head, sizeof(head),
				     "POST /v1/things HTTP/1.1\r\n" HOST JSON "Content-Length: %d\r\n\r\n",
				     SENT));
	client_send(client, body, SENT);
	client_send(client, next, strlen(next));
	while (client_receive(client, &seen))
		;
	close(client);
	assert_non_null(strstr(seen.data, "HTTP/1.1 413 "));
	assert_non_null(strstr(seen.data, "exceeds the limit: 1000 bytes"));
	assert_non_null(strstr(seen.data, "HTTP/1.1 200 ")); /* the connection stays open */
}

TEST(a_body_exactly_at_the_limit_is_taken)
{
	struct text request AUTO_TEXT = { 0 };

	(void)state_;
	for (int over = 0; over <= 1; over++) {
		text_clear(&request);
		text_printf(&request, "POST /v1/things HTTP/1.1\r\n" HOST JSON "Content-Length: %d\r\n\r\n{}",
			    BODY_LIMIT + over);
		for (int i = 2; i < BODY_LIMIT + over; i++)
			text_putc(&request, ' ');
		answers(request.data, over ? "HTTP/1.1 413 " : OK_, "{");
	}
}

/* A gzip stream of {"text":"..."} with @length equal bytes. */
static size_t gzip_make(size_t length, unsigned char *out, size_t size)
{
	struct text plain_text AUTO_TEXT = { 0 };
	z_stream stream = { 0 };
	size_t made;

	text_puts(&plain_text, "{\"text\":\"");
	for (size_t i = 0; i < length; i++)
		text_putc(&plain_text, 'a');
	text_puts(&plain_text, "\"}");
	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
	stream.next_in = (unsigned char *)plain_text.data;
	stream.avail_in = (uInt)plain_text.length;
	stream.next_out = out;
	stream.avail_out = (uInt)size;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	made = size - stream.avail_out;
	deflateEnd(&stream);
	return made;
}

static void gzip_answers(const unsigned char *body, size_t length, const char *status)
{
	struct text seen AUTO_TEXT = { 0 };
	int client = client_open();
	char head[256];

	client_send(
		client, head,
		(size_t)snprintf(head, sizeof(head),
				 "POST /v1/things HTTP/1.1\r\n" HOST JSON
				 "Content-Encoding: gzip\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n",
				 length));
	client_send(client, (const char *)body, length);
	while (client_receive(client, &seen))
		;
	close(client);
	if (strncmp(seen.data, status, strlen(status)) != 0)
		fail_msg("%s", seen.data);
}

TEST(a_gzip_body_is_unpacked_within_the_limit)
{
	unsigned char body[4096];
	size_t length = gzip_make(500, body, sizeof(body));

	(void)state_;
	gzip_answers(body, length, OK_);
	gzip_answers(body, length - 1, "HTTP/1.1 400 ");
	gzip_answers((const unsigned char *)"not gzip", 8, "HTTP/1.1 400 ");
	body[length] = 'x';
	gzip_answers(body, length + 1, "HTTP/1.1 400 ");
	length = gzip_make(300000, body, sizeof(body));
	assert_true(length < BODY_LIMIT);
	gzip_answers(body, length, "HTTP/1.1 413 ");
}

TEST(a_client_that_asks_first_is_told_to_go_on_or_is_refused)
{
	struct text seen AUTO_TEXT = { 0 };
	int client = client_open();
	const char *head =
		"POST /v1/things HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 14\r\n\r\n";

	(void)state_;
	client_send(client, head, strlen(head));
	while (!strstr(seen.data ? seen.data : "", "HTTP/1.1 100 "))
		assert_true(client_receive(client, &seen));
	client_send(client, "{\"text\":\"abc\"}", 14);
	while (!strstr(seen.data, "\"abc\""))
		assert_true(client_receive(client, &seen));
	close(client);
	answers("POST /v1/things HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 5000\r\n\r\n",
		"HTTP/1.1 413 ", "limit");
	answers("POST /v1/x HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
		"HTTP/1.1 404 ", "NOT_FOUND");
}

TEST(a_request_that_comes_byte_by_byte_is_read)
{
	const char *request = "POST /v1/things HTTP/1.1\r\n" HOST
			      "Connection: close\r\nContent-Length: 14\r\n\r\n{\"text\":\"abc\"}";
	struct text seen AUTO_TEXT = { 0 };
	int client = client_open();

	(void)state_;
	for (const char *c = request; *c; c++)
		client_send(client, c, 1);
	while (client_receive(client, &seen))
		;
	close(client);
	assert_non_null(strstr(seen.data, "\"abc\""));
}

TEST(a_client_that_leaves_in_the_middle_does_no_harm)
{
	static const char *const starts[] = {
		"",
		"GET",
		"GET /v1/nothing HTTP/1.1\r\nHost: l",
		"POST /v1/things HTTP/1.1\r\n" HOST "Content-Length: 10\r\n\r\n{",
		"POST /v1/things HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(starts); i++) {
		int client = client_open();

		client_send(client, starts[i], strlen(starts[i]));
		close(client);
	}
	answers("GET /v1/nothing HTTP/1.1\r\n" HOST "\r\n", OK_, "{}");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LISTENER(a_body_is_read_as_the_rows_message),
		WITH_LISTENER(smuggled_requests_are_not_answered),
		WITH_LISTENER(a_body_too_large_is_swallowed_and_then_refused),
		WITH_LISTENER(a_body_exactly_at_the_limit_is_taken),
		WITH_LISTENER(a_gzip_body_is_unpacked_within_the_limit),
		WITH_LISTENER(a_client_that_asks_first_is_told_to_go_on_or_is_refused),
		WITH_LISTENER(a_request_that_comes_byte_by_byte_is_read),
		WITH_LISTENER(a_client_that_leaves_in_the_middle_does_no_harm),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
