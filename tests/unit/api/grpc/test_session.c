/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the session with nghttp2's own client, without a socket. */
#include "tests/unit/api/grpc/session_testing.h"

/* Fails with: a feed that begins only once its client has ended its side. */
static void a_feed_goes_on_while_there_is_something(void **state)
{
	struct bench *bench = *state;
	struct upload open = { "\0\0\0\0\2hi", 7, .endless = true }, ended = { "\0\0\0\0\0", 5 };

	assert_int_equal(session_wake_us(bench->session), INT64_MAX);
	bench->feed_gives = "abc";
	bench->feed_messages = 2;
	request_submit(bench, "POST", "/feed", "application/grpc", &open);
	exchange(bench);
	assert_string_equal(bench->replies[0].status, "200");
	assert_string_equal(bench->replies[0].code, "");
	assert_int_equal(bench->replies[0].body.length, 16);
	assert_int_equal(session_wake_us(bench->session), 77);
	request_submit(bench, "POST", "/feed", "application/grpc", &ended);
	exchange(bench);
	bench->feed_messages = 1;
	session_wake(bench->session);
	exchange(bench);
	assert_int_equal(bench->replies[0].body.length + bench->replies[1].body.length, 24);
	bench->feed_ends = true;
	session_wake(bench->session);
	exchange(bench);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(bench->replies[i].code, "11");
		assert_string_equal(bench->replies[i].message, "over");
	}
	assert_true(bench->replies[1].closed); /* the other stream's sending side is still open */
	assert_false(session_has_feeds(bench->session));
}

/* Fails with: request_look() that takes more of a body for the rest of the first message. */
static void a_feed_takes_one_request(void **state)
{
	struct bench *bench = *state;
	struct upload two = { "\0\0\0\0\0\0\0\0\0\0", 10 }, half = { "\0\0\0\0\5", 5 }, bad = { "\0\0\0\0\2no", 7 };

	request_submit(bench, "POST", "/feed", "application/grpc", &two);
	request_submit(bench, "POST", "/feed", "application/grpc", &half);
	request_submit(bench, "POST", "/feed", "application/grpc", &bad);
	exchange(bench);
	assert_string_equal(bench->replies[0].code, "13");
	assert_string_equal(bench->replies[1].code, "13");
	assert_string_equal(bench->replies[2].code, "3");
	assert_int_equal(bench->calls, 1);
}

/* Fails with: on_feed_read() that makes the next message before the last one was sent. */
static void a_feed_makes_no_more_than_its_client_takes(void **state)
{
	struct bench *bench = *state;
	static char large[1 << 20];
	const nghttp2_settings_entry window = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0 };
	struct upload open = { "\0\0\0\0\0", 5, .endless = true };

	memset(large, 'x', sizeof(large) - 1);
	bench->feed_gives = large;
	bench->feed_messages = 3;
	nghttp2_submit_settings(bench->client, 0, &window, 1);
	request_submit(bench, "POST", "/feed", "application/grpc", &open);
	exchange(bench);
	session_wake(bench->session);
	exchange(bench);
	assert_int_equal(bench->replies[0].body.length, 0);
	assert_int_equal(bench->feed_asked, 0);
	assert_int_equal(nghttp2_submit_window_update(bench->client, 0, 1, 1000), 0);
	exchange(bench);
	assert_true(bench->replies[0].body.length >= 1000);
	assert_int_equal(bench->feed_asked, bench->replies[0].body.length / (sizeof(large) + 4) + 1);
}

static void a_feed_that_is_reset_is_closed(void **state)
{
	struct bench *bench = *state;
	struct upload open = { "\0\0\0\0\0", 5, .endless = true };

	request_submit(bench, "POST", "/feed", "application/grpc", &open);
	exchange(bench);
	assert_true(session_has_feeds(bench->session));
	nghttp2_submit_rst_stream(bench->client, 0, 1, NGHTTP2_CANCEL);
	exchange(bench);
	assert_int_equal(bench->feeds_closed, 1);
	assert_false(session_has_feeds(bench->session));
	session_wake(bench->session);
}

static void feeds_end_with_a_word(void **state)
{
	struct bench *bench = *state;
	struct upload open[11];

	for (size_t i = 0; i < COUNT_OF(open); i++) {
		open[i] = (struct upload){ "\0\0\0\0\0", 5, .endless = true };
		request_submit(bench, "POST", "/feed", "application/grpc", &open[i]);
	}
	exchange(bench);
	assert_string_equal(bench->replies[7].code, "8"); /* the eleventh call is refused: RESOURCE_EXHAUSTED */
	assert_string_equal(bench->replies[0].code, "");
	session_feeds_end(bench->session, 14, "closing");
	exchange(bench);
	assert_string_equal(bench->replies[0].code, "14");
	assert_string_equal(bench->replies[0].message, "closing");
}

static void calls_are_answered(void **state)
{
	struct bench *bench = *state;
	struct upload first = { "\0\0\0\0\3abc", 8 }, second = { "\0\0\0\0\0", 5 };

	request_submit(bench, "POST", "/echo", "application/grpc", &first);
	request_submit(bench, "POST", "/echo", "application/grpc+proto", &second);
	exchange(bench);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(bench->replies[i].status, "200");
		assert_string_equal(bench->replies[i].code, "0");
		assert_true(bench->replies[i].closed);
	}
	assert_int_equal(bench->replies[0].body.length, 8);
	assert_memory_equal(bench->replies[0].body.data, "\0\0\0\0\3abc", 8);
	assert_int_equal(bench->replies[1].body.length, 5);
}

static void failures_are_told(void **state)
{
	struct bench *bench = *state;
	struct upload upload = { "\0\0\0\0\0", 5 };

	request_submit(bench, "POST", "/missing", "application/grpc", &upload);
	exchange(bench);
	assert_string_equal(bench->replies[0].code, "5");
	assert_string_equal(bench->replies[0].message, "no %C3%A9 100%25 %0A");
}

static void what_is_no_call_is_refused(void **state)
{
	struct bench *bench = *state;
	struct upload packed = { "\1\0\0\0\0", 5 }, short_one = { "\0\0\0\0\5a", 6 },
		      two = { "\0\0\0\0\0\0\0\0\0\0", 10 };

	request_submit(bench, "GET", "/echo", "application/grpc", NULL);
	request_submit(bench, "POST", "/echo", "application/json", NULL);
	request_submit(bench, "POST", "/echo", "application/grpc", &packed);
	request_submit(bench, "POST", "/echo", "application/grpc", &short_one);
	request_submit(bench, "POST", "/echo", "application/grpc", &two);
	request_submit(bench, "POST", "/echo", "application/grpc", NULL);
	exchange(bench);
	assert_string_equal(bench->replies[0].status, "405");
	assert_string_equal(bench->replies[1].status, "415");
	assert_string_equal(bench->replies[2].code, "12");
	for (int i = 3; i < 6; i++)
		assert_string_equal(bench->replies[i].code, "13");
	assert_int_equal(bench->calls, 0);
}

/* Fails with: on_frame() that asks at the end of the call alone; stream_admit() that lets all in. */
static void a_head_is_asked_for_before_its_body(void **state)
{
	enum { BYTES = 11 << 20 };
	struct bench *bench = *state;
	char *bytes = calloc(1, BYTES);
	struct upload endless = { .endless = true }, large = { bytes, BYTES }, good = { "\0\0\0\0\0", 5 };

	request_submit(bench, "POST", "/closed", "application/grpc", &endless);
	exchange(bench);
	assert_int_equal(bench->heads, 1);
	request_submit(bench, "POST", "/closed", "application/grpc", &large);
	request_submit(bench, "POST", "/closed", "application/grpc", NULL);
	request_submit(bench, "POST", "/echo", "application/grpc", &good);
	exchange(bench);
	for (int i = 1; i < 3; i++) {
		assert_string_equal(bench->replies[i].code, "16");
		assert_string_equal(bench->replies[i].message, "localhost");
		assert_true(bench->replies[i].closed);
	}
	assert_string_equal(bench->replies[3].code, "0");
	assert_int_equal(bench->heads, 4);
	assert_int_equal(bench->calls, 1);
	free(bytes);
}

static void large_bodies_are_refused_and_forgotten(void **state)
{
	enum { BYTES = 11 << 20 };
	struct bench *bench = *state;
	char *bytes = calloc(1, BYTES);
	struct upload large = { bytes, BYTES }, small = { "\0\0\0\0\0", 5 };

	request_submit(bench, "POST", "/echo", "application/grpc", &large);
	exchange(bench);
	assert_string_equal(bench->replies[0].code, "8");
	request_submit(bench, "POST", "/echo", "application/grpc", &small);
	exchange(bench);
	assert_string_equal(bench->replies[1].code, "0");
	free(bytes);
}

/* If other connections hold much memory, only small calls are accepted. Fails with: hold_is_crowded() that returns false;
 * that does not look at the connection's own bytes; teardown(): body_drop() without hold_change(). */
static void all_connections_share_a_pool(void **state)
{
	enum { BYTES = 1 << 20, OTHERS = 200 << 20 };
	struct bench *bench = *state;
	char *bytes = calloc(1, BYTES);
	const uint32_t length = htonl(BYTES - 5);
	struct upload crowded = { bytes, BYTES }, alone = { bytes, BYTES }, small = { "\0\0\0\0\0", 5 };

	memcpy(bytes + 1, &length, sizeof(length));
	atomic_fetch_add(&bench->pool.body_bytes, OTHERS);
	request_submit(bench, "POST", "/echo", "application/grpc", &crowded);
	exchange(bench);
	request_submit(bench, "POST", "/echo", "application/grpc", &small);
	exchange(bench);
	assert_string_equal(bench->replies[0].code, "8");
	assert_string_equal(bench->replies[0].message, "Too many large requests are being received: try again later.");
	assert_string_equal(bench->replies[1].code, "0");
	assert_int_equal(atomic_load(&bench->pool.body_bytes), OTHERS);
	atomic_fetch_sub(&bench->pool.body_bytes, OTHERS);
	request_submit(bench, "POST", "/echo", "application/grpc", &alone);
	exchange(bench);
	assert_string_equal(bench->replies[2].code, "0");
	free(bytes);
}

/* The same for answers that a client does not read. Fails with: hold_is_crowded() that returns false. */
static void all_connections_share_a_pool_of_answers(void **state)
{
	enum { BYTES = 1 << 20, OTHERS = 200 << 20 };
	static const nghttp2_settings_entry no_window = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0 };
	struct bench *bench = *state;
	char *bytes = calloc(1, BYTES);
	const uint32_t length = htonl(BYTES - 5);

	memcpy(bytes + 1, &length, sizeof(length));
	nghttp2_submit_settings(bench->client, 0, &no_window, 1);
	atomic_fetch_add(&bench->pool.answer_bytes, OTHERS);
	for (int i = 0; i < 2; i++) {
		struct upload upload = { bytes, BYTES };

		request_submit(bench, "POST", "/echo", "application/grpc", &upload);
		exchange(bench);
	}
	assert_int_equal(bench->calls, 1);
	assert_string_equal(bench->replies[1].code, "8");
	atomic_fetch_sub(&bench->pool.answer_bytes, OTHERS);
	free(bytes);
}

/* A client that does not read cannot make answers pile up. */
static void unread_answers_are_bounded(void **state)
{
	enum { BYTES = 9 << 20 };
	static const nghttp2_settings_entry no_window = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0 };
	struct bench *bench = *state;
	char *bytes = calloc(1, BYTES);
	const uint32_t length = htonl(BYTES - 5);

	memcpy(bytes + 1, &length, sizeof(length));
	nghttp2_submit_settings(bench->client, 0, &no_window, 1);
	for (int i = 0; i < 5; i++) {
		struct upload upload = { bytes, BYTES };

		request_submit(bench, "POST", "/echo", "application/grpc", &upload);
		exchange(bench);
	}
	assert_int_equal(bench->calls, 4);
	assert_string_equal(bench->replies[4].code, "8");
	assert_string_equal(bench->replies[4].message, "Too many answers wait to be read.");
	free(bytes);
}

/* Trailers after the body are not headers of the call. */
static void trailers_say_nothing(void **state)
{
	static const nghttp2_nv trailers[] = { HEADER("content-type", "text/plain"),
					       HEADER("grpc-encoding", "gzip") };
	struct bench *bench = *state;
	struct upload upload = { "\0\0\0\0\0", 5, trailers, COUNT_OF(trailers) };

	request_submit(bench, "POST", "/echo", "application/grpc", &upload);
	exchange(bench);
	assert_string_equal(bench->replies[0].status, "200");
	assert_string_equal(bench->replies[0].code, "0");
}

static void long_paths_are_none_of_ours(void **state)
{
	struct bench *bench = *state;
	struct upload upload = { .data = "\0\0\0\0\0", .left = 5 };
	char path[1000] = "/";

	memset(path + 1, 'x', sizeof(path) - 2);
	request_submit(bench, "POST", path, "application/grpc", &upload);
	exchange(bench);
	assert_string_equal(bench->replies[0].code, "5"); /* as for any path that does not exist */
}

enum { LONG_VALUE_BYTES = 4000, VALUES = 12 };

/* Sends @count headers of 4,000 bytes each, which nghttp2's client compresses to few bytes. */
static void long_head_submit(struct bench *bench, const char *path, size_t count)
{
	char value[LONG_VALUE_BYTES + 1];
	nghttp2_nv headers[5 + VALUES] = { HEADER(":method", "POST"), HEADER(":scheme", "http"),
					   HEADER(":path", path), HEADER(":authority", "localhost"),
					   HEADER("content-type", "application/grpc") };

	memset(value, 'v', LONG_VALUE_BYTES);
	value[LONG_VALUE_BYTES] = '\0';
	for (size_t i = 0; i < count; i++)
		headers[5 + i] = (nghttp2_nv)HEADER("x", value);
	assert_true(nghttp2_submit_request(bench->client, NULL, headers, 5 + count, NULL, NULL) > 0);
}

/* Fails with: head_count() that returns true. */
static void a_head_that_is_too_long_unpacked_resets_its_stream(void **state)
{
	struct bench *bench = *state;
	struct upload upload = { "\0\0\0\0\0", 5 };

	long_head_submit(bench, "/echo", 9);
	request_submit(bench, "POST", "/echo", "application/grpc", &upload);
	long_head_submit(bench, "/echo", 7);
	exchange(bench);
	assert_true(bench->replies[0].closed);
	assert_int_equal(bench->replies[0].reset, NGHTTP2_ENHANCE_YOUR_CALM);
	assert_string_equal(bench->replies[1].code, "0");
	/* the call was read, but its body is not exactly one message */
	assert_string_equal(bench->replies[2].code, "13");
	assert_int_equal(bench->heads, 2);
}

/* Fails with: stream_admit() without useless_add(); head_count() without it. */
static void heads_that_lead_to_no_call_are_bounded(void **state)
{
	struct bench *bench = *state;
	const struct {
		const char *path;
		size_t values, calls;
	} rows[] = { { "/closed", 7, 1 + 1048576 / (7 * LONG_VALUE_BYTES) },
		     { "/echo", 9, 1 + 1048576 / (9 * LONG_VALUE_BYTES) } };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		size_t calls = 0;

		while (session_lives(bench->session) && calls < 100) {
			long_head_submit(bench, rows[i].path, rows[i].values);
			calls++;
			exchange(bench);
		}
		assert_in_range(calls, rows[i].calls - 2, rows[i].calls);
		teardown(state);
		setup(state);
		bench = *state;
	}
}

/* If a client disconnects during a call, the call is freed with the session. */
static void open_calls_end_with_the_session(void **state)
{
	struct bench *bench = *state;
	struct upload upload = { "\0\0\0\0\3ab", 7 };
	const uint8_t *data;
	ssize_t length;

	request_submit(bench, "POST", "/echo", "application/grpc", &upload);
	length = nghttp2_session_mem_send(bench->client, &data); /* sends the preface, the settings and the head */
	assert_true(session_receive(bench->session, data, (size_t)length));
	assert_int_equal(bench->calls, 0);
}

static void nonsense_ends_the_connection(void **state)
{
	struct bench *bench = *state;
	const uint8_t *data;

	assert_false(session_receive(bench->session, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 35));
	while (session_send(bench->session, &data) > 0)
		;
	assert_int_equal(bench->calls, 0);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_are_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(a_feed_goes_on_while_there_is_something, setup, teardown),
		cmocka_unit_test_setup_teardown(a_feed_takes_one_request, setup, teardown),
		cmocka_unit_test_setup_teardown(a_feed_makes_no_more_than_its_client_takes, setup, teardown),
		cmocka_unit_test_setup_teardown(a_feed_that_is_reset_is_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(feeds_end_with_a_word, setup, teardown),
		cmocka_unit_test_setup_teardown(failures_are_told, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_call_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_head_is_asked_for_before_its_body, setup, teardown),
		cmocka_unit_test_setup_teardown(large_bodies_are_refused_and_forgotten, setup, teardown),
		cmocka_unit_test_setup_teardown(all_connections_share_a_pool, setup, teardown),
		cmocka_unit_test_setup_teardown(all_connections_share_a_pool_of_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(unread_answers_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(trailers_say_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(long_paths_are_none_of_ours, setup, teardown),
		cmocka_unit_test_setup_teardown(a_head_that_is_too_long_unpacked_resets_its_stream, setup,
						teardown),
		cmocka_unit_test_setup_teardown(heads_that_lead_to_no_call_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(open_calls_end_with_the_session, setup, teardown),
		cmocka_unit_test_setup_teardown(nonsense_ends_the_connection, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
