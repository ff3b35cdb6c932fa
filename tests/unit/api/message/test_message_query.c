/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/message.h"

#include "tests/unit/api/message/json_testing.h"
#include "tests/unit/api/message/sample_message.h"

#define UNKNOWN(name)                                                                                        \
	"Invalid JSON payload received. Unknown name \"" name "\": Cannot bind query parameter. "            \
	"Field '" name "' could not be found in request message."
#define NO_PRIMITIVE(name)                                                                                   \
	"Invalid JSON payload received. Unknown name \"" name "\": Cannot bind query parameter. '" name      \
	"' is a message type. Parameters can only be bound to primitive types."

static const struct {
	const char *pairs, *canonical;
} good[] = {
	{ "[]", "{}" },
	{ "[['smallCount','5']]", "{'smallCount':5}" },
	{ "[['small_count','5'],['largeCount','7']]", "{'smallCount':5,'largeCount':'7'}" },
	{ "[['smallCount','5'],['small_count','6']]", "{'smallCount':6}" },
	{ "[['flag','True']]", "{'flag':true}" },
	{ "[['flag','False']]", "{}" },
	{ "[['flag','true'],['ratio','1.5'],['color','RED']]", "{'flag':true,'ratio':1.5,'color':'RED'}" },
	{ "[['flag','false'],['color','4']]", "{'color':'BLUE'}" },
	{ "[['text','']]", "{}" },
	{ "[['words','a'],['words','b']]", "{'words':['a','b']}" },
	{ "[['child.smallCount','3'],['child.text','x']]", "{'child':{'text':'x','smallCount':3}}" },
	{ "[['child.child.text','x']]", "{'child':{'child':{'text':'x'}}}" },
	{ "[['updateMask','labels,training_input']]", "{'updateMask':'labels,trainingInput'}" },
	{ "[['waitTime','5s']]", "{'waitTime':'5s'}" },
};

static void parameters_are_read_as_fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		AUTO(json) json_t *pairs = json_of(good[i].pairs);
		AUTO(json) json_t *canonical = NULL;
		struct error err AUTO_ERROR = { 0 };

		if (message_read_query(&sample_message, pairs, &canonical, &err))
			fail_msg("%s: %s", good[i].pairs, err.text);
		assert_json_text(canonical, good[i].canonical);
	}
}

static const struct {
	const char *pairs, *text;
} bad[] = {
	{ "[['nope','1']]", UNKNOWN("nope") },
	{ "[['nope','1'],['','2']]", UNKNOWN("nope") "\n" UNKNOWN("") },
	{ "[['child','x']]", NO_PRIMITIVE("child") },
	{ "[['labels','x']]", NO_PRIMITIVE("labels") },
	{ "[['bag','x']]", NO_PRIMITIVE("bag") },
	{ "[['child.nope','x']]", UNKNOWN("child.nope") },
	{ "[['text.child','x']]", UNKNOWN("text.child") },
	{ "[['children.text','x']]", UNKNOWN("children.text") },
	{ "[['child.','x']]", UNKNOWN("child.") },
	{ "[['.','x']]", UNKNOWN(".") },
	{ "[['smallCount','x']]", "Invalid value at 'small_count' (TYPE_INT32), \"x\"" },
	{ "[['smallCount','']]", "Invalid value at 'small_count' (TYPE_INT32), \"\"" },
	{ "[['child.flag','2']]", "Invalid value at 'child.flag' (TYPE_BOOL), \"2\"" },
};

static void wrong_parameters_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		AUTO(json) json_t *pairs = json_of(bad[i].pairs);
		AUTO(json) json_t *canonical = NULL;
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(message_read_query(&sample_message, pairs, &canonical, &err),
				 STATUS_INVALID_ARGUMENT);
		assert_string_equal(err.text, bad[i].text);
		assert_null(canonical);
	}
}

static void unknown_parameters_have_no_field(void **state)
{
	AUTO(json) json_t *pairs = json_of("[['nope','1']]");
	AUTO(json) json_t *canonical = NULL;
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	message_read_query(&sample_message, pairs, &canonical, &err);
	assert_int_equal(err.violation_count, 1);
	assert_null(err.violations[0].field);
}

static void names_of_many_parts_name_nothing(void **state)
{
	struct text name = { 0 };
	AUTO(json) json_t *pairs = NULL;
	AUTO(json) json_t *canonical = NULL;

	(void)state;
	for (int i = 0; i < 10000; i++)
		text_puts(&name, "child.");
	text_puts(&name, "text");
	pairs = json_pack("[[s, s]]", name.data, "x");
	assert_int_equal(message_read_query(&sample_message, pairs, &canonical, NULL),
			 STATUS_INVALID_ARGUMENT);
	text_deinit(&name);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_are_read_as_fields),
		cmocka_unit_test(wrong_parameters_are_refused),
		cmocka_unit_test(unknown_parameters_have_no_field),
		cmocka_unit_test(names_of_many_parts_name_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
