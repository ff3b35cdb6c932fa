/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)

TEST(a_double_is_written_in_the_fewest_digits_that_read_back)
{
	static const struct {
		double real;
		const char *text;
	} cases[] = {
		{ 0.1, "0.1" },
		{ 64, "64.0" },
		{ -0.0, "-0.0" },
		{ 1e22, "1e+22" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 5e-324, NULL },
		{ DBL_MAX, NULL },
		{ 123456789012345.678, NULL },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		AUTO(json) json_t *value = json_real(cases[i].real);
		AUTO(string) char *text = json_dump_compact(value);

		assert_true(strtod(text, NULL) == cases[i].real);
		if (cases[i].text)
			assert_string_equal(text, cases[i].text);
	}
}

TEST(a_document_is_written_compactly_and_in_order)
{
	static const char document[] = "{\"z\":[1,-2,true,false,null,\"a\\n\",{}],\"a\":{\"b\":[]}}";
	AUTO(json) json_t *value = json_loads(document, 0, NULL);
	AUTO(string) char *text = json_dump_compact(value);

	(void)state_;
	assert_string_equal(text, document);
}

TEST(no_value_makes_no_text)
{
	(void)state_;
	assert_null(json_dump_compact(NULL));
}

TEST(an_integer_is_read_as_a_number_or_a_string)
{
	AUTO(json)
	json_t *object = json_loads(
		"{\"a\":5,\"b\":\"-6\",\"c\":\"x\",\"d\":\"\",\"e\":1.5,\"f\":\"9223372036854775808\","
		"\"g\":\"9223372036854775807\",\"h\":\"7x\",\"i\":null}",
		0, NULL);

	(void)state_;
	assert_int_equal(json_int_at(object, "a", 0), 5);
	assert_int_equal(json_int_at(object, "b", 0), -6);
	assert_true(json_int_at(object, "g", 0) == INT64_MAX);
	for (const char *key = "cdefhi"; *key; key++)
		assert_int_equal(json_int_at(object, (char[]){ *key, '\0' }, 77), 77);
	assert_int_equal(json_int_at(object, "missing", 77), 77);
	assert_int_equal(json_int_at(NULL, "a", 77), 77);
}

TEST(texts_and_truths_are_read_or_absent)
{
	AUTO(json) json_t *object = json_loads("{\"s\":\"x\",\"t\":true,\"f\":false,\"n\":1}", 0, NULL);

	(void)state_;
	assert_string_equal(json_text_at(object, "s"), "x");
	assert_null(json_text_at(object, "n"));
	assert_null(json_text_at(object, "missing"));
	assert_true(json_true_at(object, "t"));
	assert_false(json_true_at(object, "f"));
	assert_false(json_true_at(object, "s"));
}

TEST(our_own_text_that_cannot_be_read_is_an_internal_error)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(json) json_t *value = NULL;

	(void)state_;
	assert_int_equal(json_parse_own("\"scalar\"", &value, &err), STATUS_OK);
	assert_int_equal(json_parse_own("{", &(json_t *){ NULL }, &err), STATUS_INTERNAL);
	assert_int_equal(json_parse_own(NULL, &(json_t *){ NULL }, &err), STATUS_INTERNAL);
}

/* Fails with: json_parse_foreign() that is json_loadb(): all but the last two rows were no JSON. */
TEST(what_jansson_refuses_and_others_take_is_read)
{
	static const struct {
		const char *text;
		size_t length; /* 0: up to the NUL */
		const char *read;
	} cases[] = {
		{ "{\"a\":18446744073709551615,\"b\":1}", 0, "{\"a\":1.8446744073709552e+19,\"b\":1}" },
		{ "[-9223372036854775809,9223372036854775808,9223372036854775807]", 0,
		  "[-9.223372036854776e+18,9.223372036854776e+18,9223372036854775807]" },
		{ "[1e400,-1e400,1e-400,9007199254740993]", 0,
		  "[\"Infinity\",\"-Infinity\",0.0,9007199254740993]" },
		{ "{\"a\\u0000b\":\"\\u0000\"}", 0, "{\"a\xef\xbf\xbd\x62\":\"\xef\xbf\xbd\"}" },
		{ "[\"\\ud800\",\"\\udc00x\",\"\\ud800\\ud83d\\ude00\",\"\\ud800\\u0041\"]", 0,
		  "[\"\xef\xbf\xbd\",\"\xef\xbf\xbdx\",\"\xef\xbf\xbd\xf0\x9f\x98\x80\",\"\xef\xbf\xbd"
		  "A\"]" },
		{ "[\"caf\xe9\",\"\0\"]", 12, "[\"caf\xef\xbf\xbd\",\"\xef\xbf\xbd\"]" },
		{ "[\"\xff\\u0000\",1e999]", 0, "[\"\xef\xbf\xbd\xef\xbf\xbd\",\"Infinity\"]" },
		/* Digits inside a string are not a number. */
		{ "[\"99999999999999999999 \\\" 1e999\",\"\\\\u0000\"]", 0,
		  "[\"99999999999999999999 \\\" 1e999\",\"\\\\u0000\"]" },
		{ "{\"a\":1,\"a\":2} \n", 0, "{\"a\":2}" },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		AUTO(json)
		json_t *value = json_parse_foreign(
			cases[i].text, cases[i].length ? cases[i].length : strlen(cases[i].text), 0, NULL);
		AUTO(string) char *text = json_dump_compact(value);

		if (!text || strcmp(text, cases[i].read) != 0)
			fail_msg("%s: %s, not %s", cases[i].text, text ? text : "none", cases[i].read);
	}
}

TEST(what_is_no_json_stays_none)
{
	static const char *const texts[] = { "",         "{",       "{\"a\":99999999999999999999",
					     "[1e400,]", "\"\\u00", "[\"\\ud800\\",
					     "[NaN]",    "[01]",    "[1.]",
					     "[-]",      "\xff" };

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		size_t length = strlen(texts[i]);
		/* allocated without a byte after the end, so that sanitizers find a read beyond it */
		char *copy = malloc(length + 1);
		json_error_t problem;

		memcpy(copy, texts[i], length);
		copy = realloc(copy, length ? length : 1);
		assert_null(json_parse_foreign(copy, length, 0, &problem));
		assert_true(*problem.text);
		free(copy);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_double_is_written_in_the_fewest_digits_that_read_back),
		cmocka_unit_test(a_document_is_written_compactly_and_in_order),
		cmocka_unit_test(no_value_makes_no_text),
		cmocka_unit_test(an_integer_is_read_as_a_number_or_a_string),
		cmocka_unit_test(texts_and_truths_are_read_or_absent),
		cmocka_unit_test(what_jansson_refuses_and_others_take_is_read),
		cmocka_unit_test(what_is_no_json_stays_none),
		cmocka_unit_test(our_own_text_that_cannot_be_read_is_an_internal_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
