/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/deviation.h"

#include <string.h>

#include "daemon/base/json.h"
#include "tests/unit/testing.h"

static void a_deviation_is_added_once_for_a_code_and_field(void **state)
{
	AUTO(json) json_t *list = json_array();
	AUTO(string) char *text = NULL;

	(void)state;
	deviation_add(list, DONE_OTHERWISE, "a-b", "x.y", "It has %u.", 2u);
	deviation_add(list, WITHOUT_EFFECT, "a-b", NULL, "None.");
	deviation_add(list, REFUSED_BY_CLOUD, "c", NULL, "Refused.");
	deviation_add(list, IN_DOUBT_IN_CLOUD, "c", "x.y", "In doubt.");
	deviation_add(list, DONE_OTHERWISE, "a-b", "x.y", "Again.");
	deviation_add(list, DONE_OTHERWISE, "a-b", NULL, "Again.");
	text = json_dump_compact(list);
	assert_string_equal(
		text, "[{\"kind\":\"DONE_OTHERWISE\",\"code\":\"a-b\",\"field\":\"x.y\",\"text\":\"It has "
		      "2.\"},"
		      "{\"kind\":\"WITHOUT_EFFECT\",\"code\":\"a-b\",\"text\":\"None.\"},"
		      "{\"kind\":\"REFUSED_BY_CLOUD\",\"code\":\"c\",\"text\":\"Refused.\"},"
		      "{\"kind\":\"IN_DOUBT_IN_CLOUD\",\"code\":\"c\",\"field\":\"x.y\",\"text\":\"In "
		      "doubt.\"}]");
	assert_true(deviations_valid(list));
}

/* Fails with: alike_find() that finds none: the sentence is there three times; that looks at no kind. */
static void a_sentence_about_several_fields_is_there_once(void **state)
{
	AUTO(json) json_t *list = json_array();
	AUTO(string) char *text = NULL;
	AUTO(string) char *line = NULL;

	(void)state;
	for (int i = 0; i < 2; i++) {
		deviation_add(list, WITHOUT_EFFECT, "disk", "pools[0].disk", "It has none.");
		deviation_add(list, WITHOUT_EFFECT, "disk", "pools[1].disk", "It has none.");
		deviation_add(list, WITHOUT_EFFECT, "disk", "pools[2].disk", "It has none.");
	}
	deviation_add(list, WITHOUT_EFFECT, "image", "pools[0].image", "It has none.");
	deviation_add(list, DONE_OTHERWISE, "image", "pools[1].image", "It has none.");
	text = json_dump_compact(list);
	line = deviations_line(list, NULL);
	assert_string_equal(
		text,
		"[{\"kind\":\"WITHOUT_EFFECT\",\"code\":\"disk\",\"field\":\"pools[0].disk\",\"text\":\"It "
		"has none.\",\"fields\":[\"pools[0].disk\",\"pools[1].disk\",\"pools[2].disk\"]},"
		"{\"kind\":\"WITHOUT_EFFECT\",\"code\":\"image\",\"field\":\"pools[0].image\",\"text\":\"It "
		"has none.\"},"
		"{\"kind\":\"DONE_OTHERWISE\",\"code\":\"image\",\"field\":\"pools[1].image\",\"text\":\"It "
		"has none.\"}]");
	assert_string_equal(line, "Unlike in the cloud: It has none (pools[0].disk, pools[1].disk, "
				  "pools[2].disk). It has none. It has none.");
	assert_true(deviations_valid(list));
}

static void other_json_is_no_list_of_deviations(void **state)
{
	static const struct {
		const char *text;
		bool valid;
	} rows[] = {
		{ "[]", true },
		{ "[{\"kind\":\"DONE_OTHERWISE\",\"code\":\"a\",\"text\":\"T.\"}]", true },
		{ "[{\"kind\":\"DONE_OTHERWISE\",\"code\":\"a-1\",\"field\":\"f\",\"text\":\"T.\"}]", true },
		{ "{}", false },
		{ "null", false },
		{ "[1]", false },
		{ "[\"text\"]", false },
		{ "[{}]", false },
		{ "[{\"kind\":\"OTHER\",\"code\":\"a\",\"text\":\"T.\"}]", false },
		{ "[{\"kind\":1,\"code\":\"a\",\"text\":\"T.\"}]", false },
		{ "[{\"kind\":\"DONE_OTHERWISE\",\"code\":\"\",\"text\":\"T.\"}]", false },
		{ "[{\"kind\":\"DONE_OTHERWISE\",\"code\":\"A B\",\"text\":\"T.\"}]", false },
		{ "[{\"kind\":\"DONE_OTHERWISE\",\"text\":\"T.\"}]", false },
		{ "[{\"kind\":\"DONE_OTHERWISE\",\"code\":\"a\"}]", false },
		{ "[{\"kind\":\"DONE_OTHERWISE\",\"code\":\"a\",\"text\":\"\"}]", false },
		{ "[{\"kind\":\"DONE_OTHERWISE\",\"code\":\"a\",\"field\":null,\"text\":\"T.\"}]", false },
	};

	(void)state;
	assert_false(deviations_valid(NULL));
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(json) json_t *list = json_loads(rows[i].text, JSON_DECODE_ANY, NULL);

		assert_int_equal(deviations_valid(list), rows[i].valid);
	}
}

static void the_texts_of_two_lists_make_one_line(void **state)
{
	AUTO(json) json_t *none = json_array();
	AUTO(json) json_t *first = json_array();
	AUTO(json) json_t *second = json_array();
	AUTO(string) char *both = NULL;
	AUTO(string) char *one = NULL;

	(void)state;
	deviation_add(first, DONE_OTHERWISE, "a", NULL, "One.");
	deviation_add(first, DONE_OTHERWISE, "b", NULL, "Two.");
	deviation_add(second, DONE_OTHERWISE, "a", NULL, "Three.");
	both = deviations_line(first, second);
	one = deviations_line(none, second);
	assert_string_equal(both, "Unlike in the cloud: One. Two. Three.");
	assert_string_equal(one, "Unlike in the cloud: Three.");
	assert_null(deviations_line(none, NULL));
	assert_null(deviations_line(NULL, NULL));
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deviation_is_added_once_for_a_code_and_field),
		cmocka_unit_test(a_sentence_about_several_fields_is_there_once),
		cmocka_unit_test(other_json_is_no_list_of_deviations),
		cmocka_unit_test(the_texts_of_two_lists_make_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
