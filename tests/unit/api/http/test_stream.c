/* SPDX-License-Identifier: Apache-2.0 */
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "daemon/base/log.h"
#include "tests/unit/api/http/http_testing.h"

enum { IDLE_S = 1, QUIET_MS = 100, LARGE_BYTES = 48 << 20 };

/* What the answer's stream does; each test sets it. */
static struct source {
	const char *pieces[4]; /* returned one after the other, then @last */
	ssize_t last;
	int64_t length;
	unsigned quiet_before; /* how often it returns nothing before its first piece */
	bool ends_when_closing;
	bool fails; /* the handler fails after it has set the stream */
	const struct call *call;
	atomic_uint given, quiets, reads, closes;
} source;

static void pause_shortly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = QUIET_MS * 1000000L }, NULL);
}

static ssize_t source_quiet(void)
{
	if (source.ends_when_closing && call_closing(source.call))
		return STREAM_END;
	pause_shortly();
	atomic_fetch_add(&source.quiets, 1);
	return STREAM_QUIET;
}

static ssize_t source_read(void *arg, char *buffer, size_t size)
{
	const char *piece;

	assert_ptr_equal(arg, &source);
	atomic_fetch_add(&source.reads, 1);
	if (source.quiets < source.quiet_before)
		return source_quiet();
	piece = source.given < COUNT_OF(source.pieces) ? source.pieces[source.given] : NULL;
	if (!piece)
		return source.last == STREAM_QUIET ? source_quiet() : source.last;
	source.given++;
	assert_true(strlen(piece) <= size);
	memcpy(buffer, piece, strlen(piece));
	return (ssize_t)strlen(piece);
}

static ssize_t zeros_read(void *arg, char *buffer, size_t size)
{
	(void)arg;
	atomic_fetch_add(&source.reads, 1);
	memset(buffer, 0, size);
	return (ssize_t)size;
}

static void source_close(void *arg)
{
	assert_ptr_equal(arg, &source);
	atomic_fetch_add(&source.closes, 1);
}

static enum status stream_get(struct call *call, struct error *err)
{
	source.call = call;
	call->stream = (struct answer_stream){ source_read, source_close, &source, source.length };
	if (!source.fails)
		return STATUS_OK;
	call_header_add(call, "X-Left-Over", "1");
	return error_set(err, STATUS_NOT_FOUND, NULL, "After all, it is not there.");
}

static enum status zeros_get(struct call *call, struct error *err)
{
	(void)err;
	call->stream = (struct answer_stream){ zeros_read, source_close, &source, source.length };
	return STATUS_OK;
}

static enum status range_get(struct call *call, struct error *err)
{
	(void)err;
	call->http_status = 206;
	assert_true(call_header_add(call, "Content-Range", "bytes 0-2/10"));
	assert_true(call_header_add(call, "Content-Type", "image/png"));
	text_puts(&call->answer, call_header(call, "range"));
	text_puts(&call->answer, call_header(call, "X-Nothing"));
	text_puts(&call->answer, call_header(call, "HOST"));
	return STATUS_OK;
}

static enum status bad_headers_get(struct call *call, struct error *err)
{
	static const struct {
		const char *name, *value;
	} cases[] = {
		{ "X-Split", "a\r\nSet-Cookie: b" },
		{ "X-Split", "a\nb" },
		{ "X-Split", "a\rb" },
		{ "X-Split", "a\x01" },
		{ "X-Split", "a\x7f" },
		{ "X-Split", "" },
		{ "X-Split: a\r\nX-Other", "b" },
		{ "X Split", "a" },
		{ "", "a" },
		{ "content-length", "3" },
		{ "Transfer-Encoding", "gzip" },
		{ "Connection", "keep-alive" },
	};

	(void)err;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		if (call_header_add(call, cases[i].name, cases[i].value))
			text_printf(&call->answer, "\"case %zu was taken\"", i);
	for (int i = 0; i < 256; i++)
		assert_true(call_header_add(call, "X-Many", "a\tb"));
	assert_false(call_header_add(call, "X-Many", "257"));
	return STATUS_OK;
}

static enum status raw_post(struct call *call, struct error *err)
{
	(void)err;
	call->content_type = "text/plain";
	text_printf(&call->answer, "%zu:", call->raw_bytes);
	text_append(&call->answer, call->raw, call->raw_bytes);
	return STATUS_OK;
}

static const struct route routes[] = {
	{ "GET", "/stream", stream_get, NULL, NULL, NULL, NULL },
	{ "GET", "/zeros", zeros_get, NULL, NULL, NULL, NULL },
	{ "GET", "/range", range_get, NULL, NULL, NULL, NULL },
	{ "GET", "/bad-headers", bad_headers_get, NULL, NULL, NULL, NULL },
	{ "POST", "/raw", raw_post, NULL, &raw_body, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
static const struct family families[] = { { .name = "test", .routes = routes }, { .name = NULL } };

static int listener_setup(void **state)
{
	(void)state;
	source = (struct source){ .length = -1 };
	return listener_begin((struct listener_options){
		.families = families, .body_limit_bytes = 1000, .idle_timeout_s = IDLE_S });
}

#define GET(path) "GET " path " HTTP/1.1\r\n" HOST "\r\n"

static void closes_await(unsigned count)
{
	for (int i = 0; i < ANSWER_WAIT_MS / 10 && source.closes < count; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	assert_int_equal(source.closes, count);
}

TEST(a_stream_of_unknown_length_is_sent_in_chunks)
{
	(void)state_;
	source.pieces[0] = "one";
	source.pieces[1] = "\n";
	answers(GET("/stream"), OK_, "3\r\none\r\n1\r\n\n\r\n0\r\n\r\n");
	closes_await(1);
	source.given = 0;
	answers(GET("/stream"), OK_, "Content-Type: application/octet-stream\r\n");
	closes_await(2);
	assert_int_equal(source.reads, 6);
}

TEST(a_stream_of_known_length_says_it)
{
	AUTO(string) char *seen = NULL;

	(void)state_;
	source.pieces[0] = "one";
	source.pieces[1] = "two";
	source.length = 6;
	seen = exchange_raw(GET("/stream"));
	assert_non_null(strstr(seen, "Content-Length: 6\r\n"));
	assert_string_equal(strstr(seen, "\r\n\r\n"), "\r\n\r\nonetwo");
	assert_null(strstr(seen, "chunked"));
	closes_await(1);
	assert_int_equal(source.reads, 2);
}

TEST(an_empty_stream_is_closed_unread)
{
	(void)state_;
	source.length = 0;
	answers(GET("/stream"), OK_, "Content-Length: 0\r\n");
	closes_await(1);
	assert_int_equal(source.reads, 0);
}

TEST(the_connection_serves_on_after_a_stream)
{
	AUTO(string) char *seen = NULL;

	(void)state_;
	source.pieces[0] = "one";
	seen = exchange_raw(GET("/stream") GET("/range"));
	assert_int_equal(count_of(seen, "HTTP/1.1 "), 2);
	assert_non_null(strstr(seen, "0\r\n\r\nHTTP/1.1 206 "));
}

TEST(an_old_client_gets_a_stream_up_to_the_end_of_its_connection)
{
	AUTO(string) char *seen = NULL;

	(void)state_;
	source.pieces[0] = "one";
	source.pieces[1] = "two";
	seen = exchange_raw("GET /stream HTTP/1.0\r\n\r\n");
	assert_string_equal(strstr(seen, "\r\n\r\n"), "\r\n\r\nonetwo");
	closes_await(1);
}

TEST(a_stream_that_is_cut_does_not_look_whole)
{
	(void)state_;
	for (int known = 0; known <= 1; known++) {
		for (int cut = 0; cut <= known; cut++) {
			AUTO(string) char *seen = NULL;

			source = (struct source){ .pieces = { "one" },
						  .last = cut     ? STREAM_CUT
							  : known ? STREAM_END
								  : STREAM_CUT,
						  .length = known ? 6 : -1 };
			seen = exchange_raw(GET("/stream") GET("/range"));
			assert_non_null(strstr(seen, "one"));
			assert_null(strstr(seen, "\r\n0\r\n"));
			assert_int_equal(count_of(seen, "HTTP/1.1 "), 1);
			closes_await(1);
		}
	}
}

TEST(a_handler_that_fails_after_all_has_its_stream_closed)
{
	AUTO(string) char *seen = NULL;

	(void)state_;
	source.fails = true;
	source.pieces[0] = "one";
	seen = exchange_raw(GET("/stream"));
	assert_non_null(strstr(seen, "HTTP/1.1 404 "));
	assert_non_null(strstr(seen, "After all"));
	assert_null(strstr(seen, "X-Left-Over"));
	assert_int_equal(source.closes, 1);
	assert_int_equal(source.reads, 0);
}

TEST(head_of_a_stream_reads_nothing)
{
	(void)state_;
	for (int known = 0; known <= 1; known++) {
		AUTO(string) char *seen = NULL;

		source = (struct source){ .pieces = { "one" }, .length = known ? 3 : -1 };
		seen = exchange_raw("HEAD /stream HTTP/1.1\r\n" HOST "\r\n");
		assert_non_null(strstr(seen, OK_));
		assert_int_equal(strstr(seen, "Content-Length: 3\r\n") != NULL, known);
		assert_int_equal(count_of(seen, "Content-Length"), known);
		assert_string_equal(strstr(seen, "\r\n\r\n"), "\r\n\r\n");
		closes_await(1);
		assert_int_equal(source.reads, 0);
	}
}

TEST(status_and_headers_are_the_handlers)
{
	AUTO(string)
	char *seen = exchange_raw("GET /range HTTP/1.1\r\n" HOST "RANGE: bytes=0-2\r\n\r\n");

	(void)state_;
	assert_non_null(strstr(seen, "HTTP/1.1 206 Partial Content\r\n"));
	assert_non_null(strstr(seen, "Content-Range: bytes 0-2/10\r\n"));
	assert_non_null(strstr(seen, "Content-Type: image/png\r\n"));
	assert_int_equal(count_of(seen, "\r\nContent-Type: "), 1);
	assert_non_null(strstr(seen, "\r\n\r\nbytes=0-2localhost"));
}

TEST(no_header_can_be_smuggled_into_an_answer)
{
	AUTO(string) char *seen = exchange_raw(GET("/bad-headers"));

	(void)state_;
	assert_null(strstr(seen, "was taken"));
	assert_null(strstr(seen, "Set-Cookie"));
	assert_null(strstr(seen, "X-Split"));
	assert_int_equal(count_of(seen, "X-Many: a\tb\r\n"), 256);
}

TEST(a_raw_body_is_taken_as_it_is)
{
	(void)state_;
	answers("POST /raw HTTP/1.1\r\n" HOST "Content-Type: image/png\r\nContent-Length: 4\r\n\r\n{\"\r\n",
		OK_, "\r\n\r\n4:{\"\r\n");
	answers("POST /raw HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", OK_, "\r\n\r\n0:");
	answers("POST /raw HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 1001\r\n\r\n",
		"HTTP/1.1 413 ", "limit");
	answers("POST /raw HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", OK_,
		"\r\n\r\n2:ab");
}

TEST(a_quiet_stream_outlives_the_idle_timeout)
{
	struct text seen AUTO_TEXT = { 0 };
	int client = client_open();

	(void)state_;
	/* libmicrohttpd 1.0 has one idle timeout for all connections of a thread: README */
	if (MHD_get_version()[0] != '0')
		skip();
	source.quiet_before = 2 * IDLE_S * 1000 / QUIET_MS;
	source.pieces[0] = "late";
	client_send(client, GET("/stream"), strlen(GET("/stream")));
	while (!strstr(seen.data ? seen.data : "", "0\r\n\r\n") && client_receive(client, &seen))
		;
	assert_non_null(strstr(seen.data, "4\r\nlate\r\n0\r\n\r\n"));
	close(client);
}

TEST(the_head_of_a_quiet_stream_is_not_held_back)
{
	struct text seen AUTO_TEXT = { 0 };
	int client = client_open();

	(void)state_;
	source.last = STREAM_QUIET;
	client_send(client, GET("/stream"), strlen(GET("/stream")));
	assert_true(client_receive(client, &seen));
	assert_non_null(strstr(seen.data, OK_));
	close(client);
	closes_await(1);
}

TEST(a_client_that_leaves_a_quiet_stream_is_noticed)
{
	(void)state_;
	for (int half = 0; half <= 1; half++) {
		struct text seen AUTO_TEXT = { 0 };
		int client = client_open();

		source = (struct source){ .pieces = { "one" }, .last = STREAM_QUIET, .length = -1 };
		client_send(client, GET("/stream"), strlen(GET("/stream")));
		while (!strstr(seen.data ? seen.data : "", "one") && client_receive(client, &seen))
			;
		/* A further request in the buffer does not hide that the client has closed. */
		client_send(client, GET("/range"), strlen(GET("/range")));
		if (half)
			shutdown(client, SHUT_WR);
		else
			close(client);
		closes_await(1);
		if (half)
			close(client);
	}
}

TEST(a_client_that_takes_nothing_is_cut_off)
{
	int client = client_open();

	(void)state_;
	client_send(client, GET("/zeros"), strlen(GET("/zeros")));
	closes_await(1);
	close(client);
}

TEST(a_large_stream_arrives_whole)
{
	struct text head AUTO_TEXT = { 0 };
	int client = client_open();
	size_t seen = 0;
	const char *body;

	(void)state_;
	source.length = LARGE_BYTES;
	client_send(client, GET("/zeros"), strlen(GET("/zeros")));
	while (!head.data || !memmem(head.data, head.length, "\r\n\r\n", 4))
		assert_true(client_receive(client, &head));
	body = (char *)memmem(head.data, head.length, "\r\n\r\n", 4) + 4;
	seen = head.length - (size_t)(body - head.data);
	while (seen < LARGE_BYTES) {
		text_clear(&head);
		assert_true(client_receive(client, &head));
		seen += head.length;
	}
	assert_int_equal(seen, LARGE_BYTES);
	client_send(client, GET("/range"), strlen(GET("/range")));
	text_clear(&head);
	assert_true(client_receive(client, &head));
	assert_memory_equal(head.data, "HTTP/1.1 206 ", 13);
	close(client);
	closes_await(1);
}

static void listener_closes_within(unsigned wait_ms, const char *end)
{
	struct text seen AUTO_TEXT = { 0 };
	int client = client_open();
	int64_t begun_us;

	source.pieces[0] = "one";
	source.last = STREAM_QUIET;
	client_send(client, GET("/stream"), strlen(GET("/stream")));
	while (!strstr(seen.data ? seen.data : "", "one"))
		assert_true(client_receive(client, &seen));
	begun_us = clock_mono_us(&system_clock);
	listener_close(listener, wait_ms);
	listener = NULL; /* the teardown must not close it again */
	assert_true(clock_mono_us(&system_clock) - begun_us < INT64_C(1000) * ANSWER_WAIT_MS);
	while (client_receive(client, &seen))
		;
	assert_true(seen.length > strlen(end));
	assert_string_equal(seen.data + seen.length - strlen(end), end);
	assert_int_equal(source.closes, 1);
	close(client);
}

TEST(a_stream_ends_when_the_listener_closes)
{
	(void)state_;
	source.ends_when_closing = true;
	listener_closes_within(60000, "3\r\none\r\n0\r\n\r\n");
}

TEST(a_stream_that_does_not_end_is_cut_after_the_wait)
{
	(void)state_;
	listener_closes_within(300, "3\r\none\r\n");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LISTENER(a_stream_of_unknown_length_is_sent_in_chunks),
		WITH_LISTENER(a_stream_of_known_length_says_it),
		WITH_LISTENER(an_empty_stream_is_closed_unread),
		WITH_LISTENER(the_connection_serves_on_after_a_stream),
		WITH_LISTENER(an_old_client_gets_a_stream_up_to_the_end_of_its_connection),
		WITH_LISTENER(a_stream_that_is_cut_does_not_look_whole),
		WITH_LISTENER(a_handler_that_fails_after_all_has_its_stream_closed),
		WITH_LISTENER(head_of_a_stream_reads_nothing),
		WITH_LISTENER(status_and_headers_are_the_handlers),
		WITH_LISTENER(no_header_can_be_smuggled_into_an_answer),
		WITH_LISTENER(a_raw_body_is_taken_as_it_is),
		WITH_LISTENER(a_quiet_stream_outlives_the_idle_timeout),
		WITH_LISTENER(the_head_of_a_quiet_stream_is_not_held_back),
		WITH_LISTENER(a_client_that_leaves_a_quiet_stream_is_noticed),
		WITH_LISTENER(a_client_that_takes_nothing_is_cut_off),
		WITH_LISTENER(a_large_stream_arrives_whole),
		WITH_LISTENER(a_stream_ends_when_the_listener_closes),
		WITH_LISTENER(a_stream_that_does_not_end_is_cut_after_the_wait),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
