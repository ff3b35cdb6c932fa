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
		  "[1.5,-2,1000.0,\"1\",true,true,false,null,\"\",\"1.2.3\",7,\"e\",\"-\"]" },
		{ "a: &x {b: 1}\nc: *x\n", "{\"a\":{\"b\":1},\"c\":{\"b\":1}}" },
		{ "a: |\n  one\n  two\n", "{\"a\":\"one\\ntwo\\n\"}" },
		{ "99999999999999999999: 1e999", "{\"99999999999999999999\":\"1e999\"}" },
		{ "[yes, Yes, YES, on, On, ON, y, Y, 'yes', \"on\", yEs, oN]",
		  "[true,true,true,true,true,true,true,true,\"yes\",\"on\",\"yEs\",\"oN\"]" },
		{ "[no, No, NO, off, Off, OFF, n, N, nO]",
		  "[false,false,false,false,false,false,false,false,\"nO\"]" },
		{ "[012, +012, 0777, 0_7, 00, 08, 089, 0o12, 1_000, 1__0, _1, -1_, 0, -0]",
		  "[10,10,511,7,0,\"08\",\"089\",\"0o12\",1000,10,\"_1\",-1,0,0]" },
		{ "[0x1F, -0x1f, 0xe_1, 0xfg, 0x, 0X1, 0b101, 0b2, 0b]",
		  "[31,-31,225,\"0xfg\",\"0x\",\"0X1\",5,\"0b2\",\"0b\"]" },
		{ "[1:30, -1:30, 190:20:30, 190:20:30.5, 1:99, 0:30, 8080:80, '1:30', 1:2x]",
		  "[90,-90,685230,685230.5,\"1:99\",\"0:30\",\"8080:80\",\"1:30\",\"1:2x\"]" },
		{ "[.5, -.5, +.5, 1., .5e3, .5e+3, 1_0.5, 1_0e3, 1e1_0, .inf, -.Inf, .nan, ., +, 1e, 1.2e+, 1+1]",
		  "[0.5,\"-.5\",\"+.5\",1.0,\".5e3\",500.0,10.5,10000.0,\"1e1_0\",\".inf\",\"-.Inf\",\".nan\",\".\",\"+\","
		  "\"1e\",\"1.2e+\",\"1+1\"]" },
		{ "[12345678901234567890, -12345678901234567890, 9223372036854775807]",
		  "[1.2345678901234567e+19,-1.2345678901234567e+19,9223372036854775807]" },
		{ "on: 1\ny: 2\n2020-01-01: 2020-01-01\n",
		  "{\"on\":1,\"y\":2,\"2020-01-01\":\"2020-01-01\"}" },
		{ "a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  y: 3\nc:\n  y: 4\n  <<: [{z: 5}, {z: 6, w: 7}]\n",
		  "{\"a\":{\"x\":1,\"y\":2},\"b\":{\"y\":3,\"x\":1},\"c\":{\"y\":4,\"z\":5,\"w\":7}}" },
		{ "'<<': 1", "{\"<<\":1}" },
		{ "--- \na: 1\n...\n", "{\"a\":1}" },
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
		{ "", "it is empty" },
		{ "a: 1\n[x]: 2\n", "line 2: the name of a member is no text" },
		{ "a: 1\nb: 2\na: 3\n", "line 3: duplicate object key near 'a'" },
		{ "a:\n  <<: 5\n", "line 2: << wants a mapping" },
		{ "a:\n  <<: [5]\n", "line 2: << wants a mapping" },
		{ "a: 1\n---\nb: 2\n", "line 3: a second document begins" },
		{ "a: 1\n---\n]\n", "line 3: " },
		{ "a: &x [*x]", "there are too many or too deeply nested values in it" },
		{ "a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
		  "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
		  "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n",
		  "there are too many or too deeply nested values in it" },
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
