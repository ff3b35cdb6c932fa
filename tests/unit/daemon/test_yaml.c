/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/yaml.h"

#include <string.h>

#include "daemon/base/json.h"
#include "tests/unit/testing.h"

static void yaml_is_json(void **state)
{
	(void)state;
	static const struct {
		const char *yaml, *json;
	} cases[] = {
		{ "a: 1\nb: [x, 'y', \"z\\n\"]\n", "{\"a\":1,\"b\":[\"x\",\"y\",\"z\\n\"]}" },
		{ "a:\n- b: {}\n  c: []\n- ~\n", "{\"a\":[{\"b\":{},\"c\":[]},null]}" },
		{ "[1.5, -2, 1e3, '1', yes, true, FALSE, null, '', 1.2.3, 007, e, -]",
		  "[1.5,-2,1000.0,\"1\",\"yes\",true,false,null,\"\",\"1.2.3\",7,\"e\",\"-\"]" },
		{ "a: &x {b: 1}\nc: *x\n", "{\"a\":{\"b\":1},\"c\":{\"b\":1}}" },
		{ "a: |\n  one\n  two\n", "{\"a\":\"one\\ntwo\\n\"}" },
		{ "99999999999999999999: 1e999", "{\"99999999999999999999\":\"1e999\"}" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error err AUTO_ERROR = { 0 };
		AUTO(json) json_t *value = NULL;

		if (yaml_read(cases[i].yaml, strlen(cases[i].yaml), &value, &err))
			fail_msg("%s: %s", cases[i].yaml, err.text);
		AUTO(string) char *text = json_dump_compact(value);

		assert_string_equal(text, cases[i].json);
	}
}

static void what_is_none_is_told_with_its_line(void **state)
{
	(void)state;
	static const struct {
		const char *yaml, *fault;
	} cases[] = {
		{ "a: 1\n b: 2\n", "line 2: " },
		{ "", "there is nothing in it" },
		{ "a: 1\n[x]: 2\n", "line 2: the name of a member is no text" },
		{ "a: &x [*x]", "there is too much in it" },
		{ "a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
		  "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
		  "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n",
		  "there is too much in it" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error err AUTO_ERROR = { 0 };
		AUTO(json) json_t *value = NULL;

		assert_int_equal(yaml_read(cases[i].yaml, strlen(cases[i].yaml), &value, &err),
				 STATUS_INVALID_ARGUMENT);
		if (!strstr(err.text, cases[i].fault))
			fail_msg("%s: %s", cases[i].yaml, err.text);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(yaml_is_json),
		cmocka_unit_test(what_is_none_is_told_with_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
