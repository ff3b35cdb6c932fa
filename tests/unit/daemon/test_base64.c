/* SPDX-License-Identifier: Apache-2.0 */
#include <sodium.h>
#include <string.h>

#include "daemon/base/base64.h"
#include "tests/unit/testing.h"

enum { PLAIN = sodium_base64_VARIANT_ORIGINAL, URLSAFE = sodium_base64_VARIANT_URLSAFE_NO_PADDING };

static void bytes_are_read(void **state)
{
	static const struct {
		const char *text, *bytes;
		int variant;
	} rows[] = {
		{ "", "", PLAIN },          { "YQ==", "a", PLAIN }, { "Pz8/", "???", PLAIN },
		{ "Y\r\nQ==", "a", PLAIN }, { "YQ", "a", URLSAFE }, { "Pz8_", "???", URLSAFE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char bytes[8] = "";
		size_t length = 99;

		assert_true(base64_decode(rows[i].text, strlen(rows[i].text), "\r\n", rows[i].variant, bytes,
					  sizeof(bytes) - 1, &length));
		assert_int_equal(length, strlen(rows[i].bytes));
		assert_string_equal(bytes, rows[i].bytes);
	}
}

static void all_else_is_refused(void **state)
{
	static const char *const texts[] = { "YQ", "YQ=", "YR==", "Y Q==", "Pz8_", "AAAAAAAAAAAAAAAA" };
	char bytes[8];
	size_t length;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		assert_false(base64_decode(texts[i], strlen(texts[i]), NULL, PLAIN, bytes, sizeof(bytes),
					   &length));
}

/* Fails with: without the look at each byte, libsodium took all of these. */
static void there_are_no_letters_beyond_ascii(void **state)
{
	char bytes[8];
	size_t length;

	(void)state;
	for (int byte = 0x80; byte <= 0xff; byte++) {
		const char text[] = { (char)byte, 'A', 'A', 'A' };

		assert_false(base64_decode(text, sizeof(text), NULL, PLAIN, bytes, sizeof(bytes), &length));
		assert_false(base64_decode(text, sizeof(text), NULL, URLSAFE, bytes, sizeof(bytes), &length));
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_read),
		cmocka_unit_test(all_else_is_refused),
		cmocka_unit_test(there_are_no_letters_beyond_ascii),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
