/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/host_header.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/testing.h"

static enum hello read_text(const char *text, struct client_hello *hello)
{
	return host_header_read((const uint8_t *)text, strlen(text), hello);
}

static void a_name_is_read_without_port_dot_and_capitals(void **state)
{
	static const char *const heads[] = {
		"GET / HTTP/1.1\r\nHost: pubsub.googleapis.com\r\n",
		"GET / HTTP/1.1\nhost:pubsub.googleapis.com:80\n",
		"POST /host: HTTP/1.1\r\nAccept: */*\r\nHOST: \t PubSub.GoogleApis.com. \r\n\r\nhost: a\r\n",
		"GET / HTTP/1.1\r\nHost: pubsub.googleapis.com\r\nHost: other\r\n\r\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(heads); i++) {
		struct client_hello hello;

		assert_int_equal(read_text(heads[i], &hello), HELLO_NAMED);
		assert_string_equal(hello.name, "pubsub.googleapis.com");
		assert_false(hello.http2_only);
	}
}

/* Fails with: host_header_read() that takes a line without its end. */
static void every_part_of_a_head_is_incomplete(void **state)
{
	static const char head[] = "GET / HTTP/1.1\r\nHost: a.b\r\n";

	(void)state;
	for (size_t length = 0; length < sizeof(head) - 1; length++) {
		struct client_hello hello;

		assert_int_equal(host_header_read((const uint8_t *)head, length, &hello), HELLO_INCOMPLETE);
	}
}

static void what_names_no_host_is_unnamed(void **state)
{
	static const char *const heads[] = {
		"GET / HTTP/1.0\r\n\r\nHost: a\r\n",
		"Host: a\r\n\r\n", /* for HTTP, this is the request line */
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"GET / HTTP/1.1\r\nHost:\r\n",
		"GET / HTTP/1.1\r\nHost: [::1]:80\r\n",
		"GET / HTTP/1.1\r\nHost: a/b\r\n",
		"GET / HTTP/1.1\r\nHost: .\r\n",
		"\x16\x03\x01",
	};
	struct client_hello hello;
	char *long_head = calloc(1, HELLO_MAX_BYTES + 1);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(heads); i++) {
		assert_int_equal(read_text(heads[i], &hello), HELLO_UNNAMED);
		assert_string_equal(hello.name, "");
	}
	memset(long_head, 'a', HELLO_MAX_BYTES);
	assert_int_equal(read_text(long_head, &hello), HELLO_UNNAMED);
	long_head[HELLO_MAX_BYTES - 1] = '\0';
	assert_int_equal(read_text(long_head, &hello), HELLO_INCOMPLETE);
	free(long_head);
}

static void a_name_has_at_most_253_letters(void **state)
{
	char head[400] = "GET / HTTP/1.1\r\nHost: ";
	const size_t begin = strlen(head);
	struct client_hello hello;

	(void)state;
	for (size_t length = 253; length <= 254; length++) {
		memset(head + begin, 'a', length);
		strcpy(head + begin + length, "\r\n");
		assert_int_equal(read_text(head, &hello), length == 253 ? HELLO_NAMED : HELLO_UNNAMED);
	}
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_read_without_port_dot_and_capitals),
		cmocka_unit_test(every_part_of_a_head_is_incomplete),
		cmocka_unit_test(what_names_no_host_is_unnamed),
		cmocka_unit_test(a_name_has_at_most_253_letters),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("host_header", tests, NULL, NULL);
}
