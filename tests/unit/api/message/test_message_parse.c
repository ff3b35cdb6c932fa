/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/message.h"
#include "api/message/syntax.h"

#include <stdio.h>

#include "tests/unit/api/message/json_testing.h"

#define PREFIX "Invalid JSON payload received. "

static const struct {
	const char *body, *value;
} good[] = {
	{ "", "{}" },
	{ "{}", "{}" },
	{ " \r\n\t{ } ", "{}" },
	{ "{'a':1,'a':2}", "{'a':2}" },
	{ "{'a':[1,-2,0,-0,1.5,1e3,-0.0,true,false,null,'x',{}]}",
	  "{'a':[1,-2,0,0,1.5,1000.0,-0.0,true,false,null,'x',{}]}" },
	{ "{'a':9223372036854775807,'b':-9223372036854775808}",
	  "{'a':9223372036854775807,'b':-9223372036854775808}" },
	/* Fails with: json_loadb() in place of json_parse_foreign(): refused. */
	{ "{'a':18446744073709551615,'b':-99999999999999999999}", "{'a':1.8446744073709552e+19,'b':-1e+20}" },
	{ "{'a':'\\u00e9\\ud83d\\ude00\\n'}", "{'a':'\xc3\xa9\xf0\x9f\x98\x80\\n'}" },
};

/* Used unchanged, without quoted(). Fails with: a message_parse_body() that reads @data instead of what syntax_check()
 * wrote. */
static const struct {
	const char *body, *value;
} loose[] = {
	{ "{'a':'b'}", "{\"a\":\"b\"}" },
	{ "{'a':'say \"x\"'}", "{\"a\":\"say \\\"x\\\"\"}" },
	{ "{'a':'it\\'s'}", "{\"a\":\"it's\"}" },
	{ "{\"a\":\"it's\"}", "{\"a\":\"it's\"}" },
	{ "{a:1,$b_2:{c:[]}}", "{\"a\":1,\"$b_2\":{\"c\":[]}}" },
	{ "{truely:true,nullable : null}", "{\"truely\":true,\"nullable\":null}" },
	{ "{\"a\":1,}", "{\"a\":1}" },
	{ "{\"a\":[1,2 , ] , }", "{\"a\":[1,2]}" },
	{ "{\"a\":[[],\v\f],\n}", "{\"a\":[[]]}" },
	{ "\v{\f\"a\"\v:\f1\v}\f", "{\"a\":1}" },
	{ "{\"a\":\"x\ty\nz\x01\"}", "{\"a\":\"x\\ty\\nz\\u0001\"}" },
	{ "{\"a\":\"\\q\\v\\'\\\xc3\xa9\\\n\"}", "{\"a\":\"q\\u000b'\xc3\xa9\\n\"}" },
	{ "{\"a\":\"\\U\\/\\\\\"}", "{\"a\":\"U/\\\\\"}" },
	{ "{\"a\":1.,\"b\":-2.e1}", "{\"a\":1.0,\"b\":-20.0}" },
	{ "{a:18446744073709551615,}", "{\"a\":1.8446744073709552e19}" },
};

static void what_the_front_end_takes_besides_json_is_taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(loose); i++) {
		AUTO(json) json_t *value = NULL;
		AUTO(json) json_t *wanted = json_loads(loose[i].value, 0, NULL);
		struct error err AUTO_ERROR = { 0 };

		if (message_parse_body(loose[i].body, strlen(loose[i].body), &value, &err))
			fail_msg("%s: %s", loose[i].body, err.text);
		if (!json_equal(value, wanted))
			fail_msg("%s: %s", loose[i].body, loose[i].value);
	}
}

static void json_is_taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		AUTO(string) char *body = quoted(good[i].body);
		AUTO(json) json_t *value = NULL;

		assert_int_equal(message_parse_body(body, strlen(body), &value, NULL), STATUS_OK);
		assert_json_text(value, good[i].value);
	}
}

static const struct {
	const char *body, *text;
} bad[] = {
	{ " ", "Unexpected end of string. Expected a value.\n \n ^" },
	{ "{", "Unexpected end of string. Expected an object key or }.\n{\n ^" },
	{ "nope", "Unexpected token.\nnope\n^" },
	{ "{'a': nope}", "Unexpected token.\n{'a': nope}\n      ^" },
	{ "{'a':NaN}", "Unexpected token.\n{'a':NaN}\n     ^" },
	{ "{'a':}", "Unexpected token.\n{'a':}\n     ^" },
	{ "{'a':+1}", "Expected a value.\n{'a':+1}\n     ^" },
	{ "{'a':[.5]}", "Expected a value or ] within an array.\n{'a':[.5]}\n      ^" },
	{ "{'a':[,]}", "Unexpected token.\n{'a':[,]}\n      ^" },
	{ "{'a':[1,,]}", "Unexpected token.\n{'a':[1,,]}\n        ^" },
	{ "{'a':[1,",
	  "Unexpected end of string. Expected a value or ] within an array.\n{'a':[1,\n        ^" },
	{ "{,}", "Expected an object key or }.\n{,}\n ^" },
	{ "{'a':1,,}", "Expected an object key or }.\n{'a':1,,}\n       ^" },
	{ "{true:1}", "Expected an object key or }.\n{true:1}\n     ^" },
	{ "{a-b:1}", "Expected : between key:value pair.\n{a-b:1}\n  ^" },
	{ "{'a' 1}", "Expected : between key:value pair.\n{'a' 1}\n     ^" },
	{ "{'a'", "Unexpected end of string. Expected : between key:value pair.\n{'a'\n    ^" },
	{ "{'a':1", "Unexpected end of string. Expected , or } after key:value pair.\n{'a':1\n      ^" },
	{ "{'a':1 'b':2}", "Expected , or } after key:value pair.\n{'a':1 'b':2}\n       ^" },
	{ "{5:1}", "Expected an object key or }.\n{5:1}\n ^" },
	{ "{'a':[1 2]}", "Expected , or ] after array value.\n{'a':[1 2]}\n        ^" },
	{ "{'a':[1", "Unexpected end of string. Expected , or ] after array value.\n{'a':[1\n       ^" },
	{ "{'a':'x", "Closing quote expected in string.\n{'a':'x\n     ^" },
	{ "{'a':'\\u12g4'}", "Invalid escape sequence.\n{'a':'\\u12g4'}\n      ^" },
	{ "{'a':'\\u12", "Illegal hex string.\n{'a':'\\u12\n      ^" },
	{ "{'a':'\\ud800'}", "Missing low surrogate.\n{'a':'\\ud800'}\n      ^" },
	{ "{'a':'\\ud800\\u0041'}", "Invalid low surrogate.\n{'a':'\\ud800\\u0041'}\n      ^" },
	{ "{'a':'\\udc00'}", "Invalid unicode code point.\n{'a':'\\udc00'}\n      ^" },
	{ "{'a':'\\u0000'}", "Invalid unicode code point.\n{'a':'\\u0000'}\n      ^" },
	{ "{'a':'\xff'}", "Encountered non UTF-8 code points.\n{'a':'\xff'}\n      ^" },
	{ "{'a':01}", "Octal/hex numbers are not valid JSON values.\n{'a':01}\n     ^" },
	{ "{'a':-}", "Unable to parse number.\n{'a':-}\n      ^" },
	{ "{'a':1e}", "Unable to parse number.\n{'a':1e}\n       ^" },
	{ "{'a':1e999}", "Number exceeds the range of double.\n{'a':1e999}\n     ^" },
	{ "{'a':-1.0e400}", "Number exceeds the range of double.\n{'a':-1.0e400}\n     ^" },
	{ "{} x", "Parsing terminated before end of input.\n{} x\n   ^" },
	/* Only the wrong line is shown, with twenty bytes on either side of the error. */
	{ "{\n  'a': nope\n}", "Unexpected token.\n  'a': nope\n       ^" },
	{ "{'a':'0123456789012345678901234567890123456789', @:'0123456789012345678901234567890123456789'}",
	  "Expected an object key or }.\n34567890123456789', @:'01234567890123456\n                    ^" },
};

static void faults_are_shown_with_their_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		AUTO(string) char *body = quoted(bad[i].body);
		AUTO(string) char *text = quoted(bad[i].text);
		AUTO(string) char *whole = NULL;
		AUTO(json) json_t *value = NULL;
		struct error err AUTO_ERROR = { 0 };

		assert_true(asprintf(&whole, PREFIX "%s", text) > 0);
		assert_int_equal(message_parse_body(body, strlen(body), &value, &err),
				 STATUS_INVALID_ARGUMENT);
		assert_null(value);
		assert_string_equal(err.text, whole);
		assert_int_equal(err.violation_count, 0);
	}
}

static void only_an_object_is_a_message(void **state)
{
	static const char *const bodies[] = { "[]", "1", "\"x\"", "null", "true" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(bodies); i++) {
		struct error err AUTO_ERROR = { 0 };
		json_t *value = NULL;

		assert_int_equal(message_parse_body(bodies[i], strlen(bodies[i]), &value, &err),
				 STATUS_INVALID_ARGUMENT);
		assert_string_equal(err.text, PREFIX "Unknown name \"\": Root element must be a message.");
		assert_int_equal(err.violation_count, 1);
		assert_null(err.violations[0].field);
	}
}

/* {"a":{"a":… }} with @depth nested objects */
static char *nested(unsigned depth)
{
	struct text text = { 0 };

	for (unsigned i = 1; i < depth; i++)
		text_puts(&text, "{\"a\":");
	text_puts(&text, "{}");
	for (unsigned i = 1; i < depth; i++)
		text_putc(&text, '}');
	return text_take(&text);
}

static void a_hundred_levels_are_the_most(void **state)
{
	AUTO(string) char *most = nested(100);
	AUTO(string) char *more = nested(101);
	AUTO(string) char *many = nested(500000);
	AUTO(json) json_t *value = NULL;
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(message_parse_body(most, strlen(most), &value, &err), STATUS_OK);
	assert_int_equal(message_parse_body(more, strlen(more), &value, &err), STATUS_INVALID_ARGUMENT);
	assert_non_null(strstr(err.text, PREFIX "Message too deep."));
	assert_int_equal(message_parse_body(many, strlen(many), &value, &err), STATUS_INVALID_ARGUMENT);
}

/* "[{},{},...]" of @count objects as the member of an object. */
static char *crowd(size_t count)
{
	struct text text AUTO_TEXT = { 0 };

	text_puts(&text, "{\"a\":[{}");
	for (size_t i = 1; i < count; i++)
		text_puts(&text, ",{}");
	text_puts(&text, "]}");
	return text_take(&text);
}

static void more_values_than_memory_should_hold_are_refused(void **state)
{
	AUTO(string) char *most = crowd(SYNTAX_VALUES_MAX - 2);
	AUTO(string) char *more = crowd(SYNTAX_VALUES_MAX - 1);
	AUTO(json) json_t *value = NULL;
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(message_parse_body(most, strlen(most), &value, &err), STATUS_OK);
	assert_int_equal(message_parse_body(more, strlen(more), &value, &err), STATUS_INVALID_ARGUMENT);
	assert_non_null(strstr(err.text, PREFIX "Message too large."));
}

static void every_truncation_is_refused_and_none_crashes(void **state)
{
	AUTO(string)
	char *body = quoted("{'a':[1,-2.5e+3,'\\u00e9\\ud83d\\ude00',true,{'b':null}],'c':'\xc3\xa9'}");
	size_t length = strlen(body);

	(void)state;
	for (size_t cut = 1; cut < length; cut++) {
		/* allocated without a byte after the end, so that sanitizers find a read beyond it */
		AUTO(string) char *part = malloc(cut);
		AUTO(json) json_t *value = NULL;
		struct error err AUTO_ERROR = { 0 };

		memcpy(part, body, cut);
		assert_int_equal(message_parse_body(part, cut, &value, &err), STATUS_INVALID_ARGUMENT);
		assert_non_null(err.text);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_taken),
		cmocka_unit_test(what_the_front_end_takes_besides_json_is_taken),
		cmocka_unit_test(faults_are_shown_with_their_place),
		cmocka_unit_test(only_an_object_is_a_message),
		cmocka_unit_test(a_hundred_levels_are_the_most),
		cmocka_unit_test(more_values_than_memory_should_hold_are_refused),
		cmocka_unit_test(every_truncation_is_refused_and_none_crashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
