/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/json.h"
#include "scheduler/plan/expansion.h"
#include "tests/unit/testing.h"

/* The rows follow Kubernetes' own tests of the same syntax. */
static void words_are_filled_in(void **state)
{
	static const struct {
		const char *word, *expanded;
	} rows[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "$(A)", "one" },
		{ "gs://b/$(A)/$(B)/", "gs://b/one/two/" },
		{ "$(A)$(A)", "oneone" },
		{ "$(EMPTY)", "" },
		{ "$(NONE)", "$(NONE)" },
		{ "$()", "$()" },
		{ "$$(A)", "$(A)" },
		{ "$$$(A)", "$one" },
		{ "$$$$(A)", "$$(A)" },
		{ "$$(A)_$(A)", "$(A)_one" },
		{ "$(NESTED)", "$(A)" }, /* values are not expanded again */
		{ "$(A$(B))", "$(A$(B))" },
		{ "$A ${A} $", "$A ${A} $" },
		{ "$(A", "$(A" },
		{ "$(A $(B)", "$(A $(B)" },
		{ "a)$(B)", "a)two" },
		{ "$( A )", "$( A )" },
		{ "$(TWICE)", "last" },
		{ "$(EQUALS)", "x=y" },
		{ "$$", "$" },
	};
	AUTO(json)
	json_t *environment = json_pack("[s, s, s, s, s, s, s]", "A=one", "B=two", "EMPTY=", "NESTED=$(A)",
					"TWICE=first", "TWICE=last", "EQUALS=x=y");

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct text text AUTO_TEXT = { 0 };

		assert_true(text_expand(rows[i].word, environment, 100, &text));
		assert_string_equal(text.data, rows[i].expanded);
	}
}

static void what_grows_too_long_is_told_early(void **state)
{
	AUTO(json) json_t *environment = json_pack("[s]", "A=0123456789");
	struct text text AUTO_TEXT = { 0 };
	struct text fits AUTO_TEXT = { 0 };

	(void)state;
	assert_true(text_expand("$(A)$(A)", environment, 21, &fits));
	assert_false(text_expand("$(A)$(A)", environment, 20, &text));
	text_clear(&text);
	assert_false(text_expand("$(A)$(A)$(A)$(A)$(A)$(A)$(A)$(A)$(A)$(A)$(A)", environment, 20, &text));
	assert_true(text.length < 40);
}

/* Each "$(" could search for a ")" that is missing. */
static void a_word_of_beginnings_costs_no_more_than_its_length(void **state)
{
	enum { PAIRS = 1000000 };
	AUTO(json) json_t *environment = json_array();
	AUTO(string) char *word = malloc(2 * PAIRS + 1);
	struct text text AUTO_TEXT = { 0 };

	(void)state;
	for (size_t i = 0; i < PAIRS; i++)
		memcpy(word + 2 * i, "$(", 2);
	word[2 * PAIRS] = '\0';
	assert_true(text_expand(word, environment, SIZE_MAX, &text));
	assert_int_equal(text.length, 2 * PAIRS);
}

static void a_variable_takes_the_place_of_its_name(void **state)
{
	AUTO(json) json_t *environment = json_pack("[s, s]", "A=1", "AB=2");

	(void)state;
	environment_set(environment, "A=3");
	environment_set(environment, "C=4");
	environment_set(environment, "C=$(D)");
	{
		AUTO(json) json_t *expected = json_pack("[s, s, s]", "A=3", "AB=2", "C=$(D)");

		assert_true(json_equal(environment, expected));
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_filled_in),
		cmocka_unit_test(what_grows_too_long_is_told_early),
		cmocka_unit_test(a_word_of_beginnings_costs_no_more_than_its_length),
		cmocka_unit_test(a_variable_takes_the_place_of_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
