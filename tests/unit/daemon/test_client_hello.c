/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/client_hello.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/text.h"
#include "tests/unit/testing.h"

static void number_put(struct text *text, size_t bytes, size_t number)
{
	while (bytes-- > 0)
		text_putc(text, (char)(number >> 8 * bytes));
}

static void vector_put(struct text *text, size_t bytes, const struct text *part)
{
	number_put(text, bytes, part->length);
	text_append(text, part->data ? part->data : "", part->length);
}

/* The handshake message of a client for @host. @before: bytes of another extension before the name; @protocols: the
 * ALPN list as on the wire; NULL: none. */
static void hello_make(struct text *message, const char *host, size_t host_length, size_t before,
		       const char *protocols)
{
	struct text body AUTO_TEXT = { 0 }, extensions AUTO_TEXT = { 0 }, names AUTO_TEXT = { 0 };

	number_put(&body, 2, 0x0303);
	for (int i = 0; i < 32; i++)
		text_putc(&body, 'r');
	number_put(&body, 1, 0);
	number_put(&body, 4, 2 << 16 | 0x1301);
	number_put(&body, 2, 1 << 8);
	number_put(&extensions, 2, 21);
	number_put(&extensions, 2, before);
	for (size_t i = 0; i < before; i++)
		text_putc(&extensions, 'p');
	if (host) {
		number_put(&names, 2, host_length + 3);
		number_put(&names, 1, 0);
		number_put(&names, 2, host_length);
		text_append(&names, host, host_length);
		number_put(&extensions, 2, 0);
		vector_put(&extensions, 2, &names);
	}
	if (protocols) {
		number_put(&extensions, 2, 16);
		number_put(&extensions, 2, strlen(protocols) + 2);
		number_put(&extensions, 2, strlen(protocols));
		text_puts(&extensions, protocols);
	}
	vector_put(&body, 2, &extensions);
	number_put(message, 1, 1);
	vector_put(message, 3, &body);
}

/* Splits the message into records of @piece bytes. */
static void records_make(struct text *records, const struct text *message, size_t piece)
{
	for (size_t at = 0; at < message->length; at += piece) {
		size_t length = message->length - at < piece ? message->length - at : piece;

		number_put(records, 1, 22);
		number_put(records, 2, 0x0301);
		number_put(records, 2, length);
		text_append(records, message->data + at, length);
	}
}

static void expect(const char *host, size_t host_length, size_t before, size_t piece, enum hello wanted,
		   const char *wanted_name)
{
	struct text message AUTO_TEXT = { 0 }, records AUTO_TEXT = { 0 };
	struct client_hello hello;

	hello_make(&message, host, host_length, before, NULL);
	records_make(&records, &message, piece);
	/* With any incomplete beginning, more bytes are needed. */
	for (size_t i = 0; i < records.length && i < HELLO_MAX_BYTES; i++)
		assert_int_equal(client_hello_read((const uint8_t *)records.data, i, &hello),
				 HELLO_INCOMPLETE);
	assert_int_equal(client_hello_read((const uint8_t *)records.data, records.length, &hello), wanted);
	assert_string_equal(hello.name, wanted_name);
}

static void a_name_is_found_however_it_is_cut(void **state)
{
	static const char host[] = "Storage.GoogleAPIs.com";

	(void)state;
	expect(host, strlen(host), 0, 16384, HELLO_NAMED, "storage.googleapis.com");
	expect(host, strlen(host), 300, 1, HELLO_NAMED, "storage.googleapis.com");
	expect(host, strlen(host), 2000, 512, HELLO_NAMED, "storage.googleapis.com");
}

static void names_have_a_length_and_letters(void **state)
{
	char longest[254];

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[253] = '\0';
	expect(longest, 253, 0, 16384, HELLO_NAMED, longest);
	longest[253] = 'a';
	expect(longest, 254, 0, 16384, HELLO_UNNAMED, "");
	expect("", 0, 0, 16384, HELLO_UNNAMED, "");
	expect("a\0b", 3, 0, 16384, HELLO_UNNAMED, "");
	expect("a\nb", 3, 0, 16384, HELLO_UNNAMED, "");
	expect("\xc3\xa4.de", 5, 0, 16384, HELLO_UNNAMED, "");
	expect(NULL, 0, 5, 16384, HELLO_UNNAMED, "");
}

static void what_is_no_hello_is_not_waited_for(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		enum hello wanted;
	} rows[] = {
		{ "", 0, HELLO_INCOMPLETE },
		{ "G", 1, HELLO_UNNAMED },
		{ "GET / HTTP/1.1\r\n\r\n", 18, HELLO_UNNAMED },
		{ "\x16", 1, HELLO_INCOMPLETE },
		{ "\x16\3\1\0\0", 5, HELLO_UNNAMED },              /* an empty record */
		{ "\x16\2\1\0\1", 5, HELLO_UNNAMED },              /* an unknown version of records */
		{ "\x16\3\1\x40\1", 5, HELLO_UNNAMED },            /* longer than a record may be */
		{ "\x16\3\1\0\4\2\0\0\0", 9, HELLO_UNNAMED },      /* a message of servers */
		{ "\x16\3\1\0\4\1\0\x40\0", 9, HELLO_INCOMPLETE }, /* 16384 bytes follow, the maximum */
		{ "\x16\3\1\0\4\1\0\x40\1", 9, HELLO_UNNAMED },    /* one byte more than that */
		{ "\x16\3\1\0\4\1\0\0\0", 9, HELLO_UNNAMED },      /* an empty message */
	};
	struct client_hello hello;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (client_hello_read((const uint8_t *)rows[i].bytes, rows[i].length, &hello) !=
		    rows[i].wanted)
			fail_msg("row %zu", i);
}

static void a_hello_that_never_ends_is_given_up(void **state)
{
	struct text message AUTO_TEXT = { 0 }, records AUTO_TEXT = { 0 };
	struct client_hello hello;

	(void)state;
	hello_make(&message, "gcr.io", 6, HELLO_MAX_BYTES, NULL);
	records_make(&records, &message, 16384);
	assert_int_equal(client_hello_read((const uint8_t *)records.data, HELLO_MAX_BYTES, &hello),
			 HELLO_UNNAMED);
}

/* Fails with: hello_search() that does not look at protocols. */
static void gRPC_is_told_by_its_protocol(void **state)
{
	static const struct {
		const char *host, *protocols;
		bool wanted;
	} rows[] = {
		{ "gcr.io", NULL, false },
		{ "gcr.io", "\x02h2", true },
		{ "gcr.io", "\x08grpc-exp\x02h2", true },
		{ NULL, "\x02h2", true },
		{ "gcr.io", "\x08http/1.1", false },
		{ "gcr.io", "\x02h2\x08http/1.1", false },
		{ "gcr.io", "\x08http/1.1\x02h2", false },
		{ "gcr.io", "\x03h2c", false },
		{ "gcr.io", "\x09h2", false }, /* incomplete */
		{ "gcr.io", "", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct text message AUTO_TEXT = { 0 }, records AUTO_TEXT = { 0 };
		struct client_hello hello;

		hello_make(&message, rows[i].host, rows[i].host ? strlen(rows[i].host) : 0, 3,
			   rows[i].protocols);
		records_make(&records, &message, 16384);
		client_hello_read((const uint8_t *)records.data, records.length, &hello);
		if (hello.http2_only != rows[i].wanted)
			fail_msg("row %zu", i);
	}
}

/* Each byte in turn is replaced by any other: lengths in the message must not be trusted. */
static void bytes_that_lie_do_no_harm(void **state)
{
	struct text message AUTO_TEXT = { 0 }, records AUTO_TEXT = { 0 };
	struct client_hello hello;

	(void)state;
	hello_make(&message, "gcr.io", 6, 3, "\x08http/1.1\x02h2");
	records_make(&records, &message, 40);
	for (size_t i = 0; i < records.length; i++) {
		for (unsigned byte = 0; byte < 256; byte++) {
			uint8_t *copy = malloc(records.length);

			memcpy(copy, records.data, records.length);
			copy[i] = (uint8_t)byte;
			client_hello_read(copy, records.length, &hello);
			free(copy);
		}
	}
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_found_however_it_is_cut),
		cmocka_unit_test(names_have_a_length_and_letters),
		cmocka_unit_test(what_is_no_hello_is_not_waited_for),
		cmocka_unit_test(a_hello_that_never_ends_is_given_up),
		cmocka_unit_test(gRPC_is_told_by_its_protocol),
		cmocka_unit_test(bytes_that_lie_do_no_harm),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("client_hello", tests, NULL, NULL);
}
