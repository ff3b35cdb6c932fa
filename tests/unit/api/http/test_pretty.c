/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/testing.h"

#include "api/http/pretty.h"
#include "daemon/base/json.h"

#define TEST(name) static void name(void **state_)

static void shows(const char *compact, const char *expected)
{
	struct text text AUTO_TEXT = { 0 };

	pretty_write(&text, compact, strlen(compact));
	assert_string_equal(text.data, expected);
}

TEST(empty_ones_stay_closed)
{
	(void)state_;
	shows("{}", "{}\n");
	shows("[]", "[]\n");
	shows("{\"a\":{},\"b\":[]}", "{\n  \"a\": {},\n  \"b\": []\n}\n");
	shows("[[[]]]", "[\n  [\n    []\n  ]\n]\n");
}

TEST(each_member_and_each_element_has_its_line)
{
	(void)state_;
	shows("{\"jobs\":[{\"jobId\":\"a\",\"n\":-1.5e3},true],\"next\":null}",
	      "{\n  \"jobs\": [\n    {\n      \"jobId\": \"a\",\n      \"n\": -1.5e3\n    },\n    true\n  "
	      "],\n  \"next\": null\n}\n");
}

TEST(strings_are_left_as_they_are)
{
	(void)state_;
	shows("{\"a,b:{}[]\":\"\\\"x\\\\\",\"c\":\"\\\\\\\"\"}",
	      "{\n  \"a,b:{}[]\": \"\\\"x\\\\\",\n  \"c\": \"\\\\\\\"\"\n}\n");
}

TEST(white_space_between_tokens_is_dropped)
{
	(void)state_;
	shows(" { \"a\" : [ ] ,\n\t\"b\" : { \r\n } , \"c\" : [ 1 , 2 ] } ",
	      "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    2\n  ]\n}\n");
}

TEST(what_is_no_json_does_no_harm)
{
	static const char *const cases[] = { "",  "}",  "]]]", "\"",   "\"\\", "{",
					     "[", "{ ", ",:",  "\xff", "tru",  "{\"a" };

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct text text AUTO_TEXT = { 0 };
		/* Allocated with its exact size, so that a sanitizer finds a read beyond the end. */
		AUTO(string) char *exact = malloc(strlen(cases[i]) + 1);

		memcpy(exact, cases[i], strlen(cases[i]));
		pretty_write(&text, exact, strlen(cases[i]));
		assert_false(text.failed);
	}
}

TEST(depth_does_not_make_the_text_explode)
{
	struct text text AUTO_TEXT = { 0 };
	char deep[10000];

	(void)state_;
	memset(deep, '[', sizeof(deep));
	pretty_write(&text, deep, sizeof(deep));
	assert_true(text.length < 300 * sizeof(deep));
}

static json_t *random_value(unsigned *seed, unsigned depth)
{
	unsigned kind = (unsigned)rand_r(seed) % (depth < 5 ? 8 : 6);
	unsigned count = (unsigned)rand_r(seed) % 5;
	char key[16];
	json_t *value;

	switch (kind) {
	case 0:
		return json_null();
	case 1:
		return json_boolean(count % 2);
	case 2:
		return json_integer(rand_r(seed));
	case 3:
		return json_string("a \"quote\", a {brace}");
	case 4:
		return json_object();
	case 5:
		return json_array();
	case 6:
		value = json_object();
		for (unsigned i = 0; i < count; i++) {
			snprintf(key, sizeof(key), "k%u", i);
			json_object_set_new(value, key, random_value(seed, depth + 1));
		}
		return value;
	default:
		value = json_array();
		for (unsigned i = 0; i < count; i++)
			json_array_append_new(value, random_value(seed, depth + 1));
		return value;
	}
}

TEST(random_documents_look_as_a_tree_printer_shows_them)
{
	unsigned seed = 1;

	(void)state_;
	for (int i = 0; i < 500; i++) {
		AUTO(json) json_t *value = json_pack("[o]", random_value(&seed, 0));
		AUTO(string) char *compact = json_dumps(value, JSON_COMPACT);
		AUTO(string) char *expected = json_dumps(value, JSON_INDENT(2));
		struct text text AUTO_TEXT = { 0 };

		pretty_write(&text, compact, strlen(compact));
		assert_int_equal(text.length, strlen(expected) + 1);
		assert_memory_equal(text.data, expected, strlen(expected));
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_ones_stay_closed),
		cmocka_unit_test(each_member_and_each_element_has_its_line),
		cmocka_unit_test(strings_are_left_as_they_are),
		cmocka_unit_test(white_space_between_tokens_is_dropped),
		cmocka_unit_test(what_is_no_json_does_no_harm),
		cmocka_unit_test(depth_does_not_make_the_text_explode),
		cmocka_unit_test(random_documents_look_as_a_tree_printer_shows_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
