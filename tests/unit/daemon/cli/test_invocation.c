/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/cli/invocation.h"
#include "tests/unit/testing.h"

static const struct verb_option own_options[] = {
	{ .name = "follow", .letter = 'f', .help = "" },
	{ .name = "tail", .letter = 'n', .hint = "N", .help = "" },
	{ .name = "replica", .hint = "NAME", .help = "", .repeats = true },
	{ .name = NULL },
};
static const struct verb logs = {
	.name = "logs",
	.words = "JOB",
	.options = own_options,
	.calls = true,
	.lists = true,
	.least = 1,
	.most = 2,
	.command = true,
};

#define READ(...) read_words((const char *[]){ __VA_ARGS__, NULL })

static struct invocation read_words(const char *const *words)
{
	struct invocation invocation;

	assert_int_equal(invocation_read(&logs, words, &invocation, NULL), STATUS_OK);
	return invocation;
}

/* Fails with: option_find() without its letters; without what stands behind "=". */
static void options_and_words_may_be_mixed(void **state)
{
	struct invocation invocation AUTO_INVOCATION =
		READ("-f", "one", "--tail=3", "--replica", "a", "-n5", "--replica=b", "two", "-ojson", "--",
		     "ls", "--tail", "9");
	size_t at = 0;

	(void)state;
	assert_true(invocation_flag(&invocation, "follow"));
	assert_string_equal(invocation_value(&invocation, "tail"), "5");
	assert_string_equal(invocation_next(&invocation, "replica", &at), "a");
	assert_string_equal(invocation_next(&invocation, "replica", &at), "b");
	assert_null(invocation_next(&invocation, "replica", &at));
	assert_string_equal(invocation_value(&invocation, "output"), "json");
	assert_null(invocation_value(&invocation, "endpoint"));
	assert_int_equal(invocation.word_count, 2);
	assert_string_equal(invocation.words[1], "two");
	assert_string_equal(invocation.command[2], "9");
}

static void refused(const char *const *words, const char *text)
{
	struct invocation invocation = { 0 };
	struct error err AUTO_ERROR = { 0 };

	assert_int_equal(invocation_read(&logs, words, &invocation, &err), STATUS_INVALID_ARGUMENT);
	assert_string_equal(err.text, text);
}

#define REFUSED(TEXT, ...) refused((const char *[]){ __VA_ARGS__, NULL }, TEXT)

static void wrong_words_are_named(void **state)
{
	(void)state;
	REFUSED("unknown option \"--tial\"; did you mean --tail?", "one", "--tial", "3");
	REFUSED("--tail needs a value: N", "one", "--tail");
	REFUSED("--follow takes no value", "one", "--follow=yes");
	REFUSED("--output: \"tree\" is not one of table, json, name", "one", "-o", "tree");
	REFUSED("--output: \"table json\" is not one of table, json, name", "one", "-o", "table json");
	REFUSED("unexpected argument \"three\"; -- comes before the words that are passed on", "one", "two", "three");
	REFUSED("JOB is missing", "-f");
	REFUSED("unknown option \"-x\"", "one", "-x");
}

/* Fails with: option_take() that takes "-fn3" for -f with a value: it was refused. */
static void letters_may_be_joined(void **state)
{
	struct invocation joined AUTO_INVOCATION = READ("one", "-fn3"),
				 apart AUTO_INVOCATION = READ("one", "-fn", "4");

	(void)state;
	assert_true(invocation_flag(&joined, "follow"));
	assert_string_equal(invocation_value(&joined, "tail"), "3");
	assert_string_equal(invocation_value(&apart, "tail"), "4");
	REFUSED("unknown option \"-fx\"", "one", "-fx");
}

static void numbers_and_durations_are_whole(void **state)
{
	static const struct {
		const char *word;
		int64_t us;
	} good[] = {
		{ "90", 90000000 }, { "1.5s", 1500000 }, { "2m", 120000000 }, { "7d", INT64_C(604800000000) }
	};
	static const char *const bad[] = { "", "x", "-1s", "5w", "1e30d", "nan" };
	int64_t number = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct invocation invocation AUTO_INVOCATION = READ("one", "--tail", good[i].word);
		int64_t us = 0;

		assert_int_equal(invocation_duration(&invocation, "tail", &us, NULL), STATUS_OK);
		assert_int_equal(us, good[i].us);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct invocation invocation AUTO_INVOCATION = READ("one", "--tail", bad[i]);
		int64_t us = 0;

		assert_int_equal(invocation_duration(&invocation, "tail", &us, NULL),
				 STATUS_INVALID_ARGUMENT);
		assert_int_equal(invocation_number(&invocation, "tail", 0, &number, NULL),
				 STATUS_INVALID_ARGUMENT);
	}
	assert_int_equal(number, 1);
}

/* Fails with: config_take() without the names beside: no option of the verb's was suggested. */
static void options_of_the_configuration_stand_among_a_verbs_own(void **state)
{
	static const struct verb env = {
		.name = "env", .words = "", .options = own_options, .config = CONFIG_ENV
	};
	struct invocation invocation AUTO_INVOCATION = { 0 };
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(invocation_read(&env,
					 (const char *[]){ "--region", "here", "-f", "--tail=2",
							   "--project=there", NULL },
					 &invocation, NULL),
			 STATUS_OK);
	assert_string_equal(invocation.config.region, "here");
	assert_string_equal(invocation.config.project, "there");
	assert_string_equal(invocation_value(&invocation, "tail"), "2");
	invocation_deinit(&invocation);
	invocation = (struct invocation){ 0 };
	assert_int_equal(invocation_read(&env, (const char *[]){ "--replca=b", NULL }, &invocation, &err),
			 STATUS_INVALID_ARGUMENT);
	assert_string_equal(err.text, "unknown option \"--replca\"; did you mean --replica?");
}

static void lines_fit_80_columns(const char *help)
{
	while (*help) {
		const size_t length = strcspn(help, "\n");

		assert_in_range(length, 0, 80);
		help += length + (help[length] == '\n');
	}
}

/* Each verb's help shows its options in lines that fit a terminal.
 * Fails with: help_entry_write() that writes the whole help in one line: lines had 180 characters. */
static void each_verb_is_a_whole_row(void **state)
{
	const struct verb *verb;

	(void)state;
	for (size_t i = 0; (verb = verb_at(i)) != NULL; i++) {
		struct text help AUTO_TEXT = { 0 };

		assert_non_null(verb->run);
		assert_true(verb->least <= verb->most);
		if (!verb->summary)
			continue;
		verb_help_write(&help, verb);
		assert_memory_equal(help.data, "usage: trainyard ", strlen("usage: trainyard "));
		lines_fit_80_columns(help.data);
		for (const struct verb_option *option = verb->options; option && option->name; option++) {
			assert_non_null(strstr(help.data, option->name));
			assert_non_null(option->help);
		}
	}
}

/* Words after such an option may be its value. */
static void words_stand_before_options_of_the_configuration(void **state)
{
	static const struct verb swarm = {
		.name = "swarm", .most = 1, .lists = true, .config = CONFIG_CLEAN
	};
	const char *const good[] = { "-o", "json", "status", "--engine", "unix:///e", NULL };
	const char *const late[] = { "--engine", "unix:///e", "status", NULL };
	struct invocation invocation AUTO_INVOCATION = { 0 }, none = { 0 };
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(invocation_read(&swarm, good, &invocation, NULL), STATUS_OK);
	assert_int_equal(invocation.word_count, 1);
	assert_string_equal(invocation.words[0], "status");
	assert_string_equal(invocation.config.engine, "unix:///e");
	assert_int_equal(invocation_read(&swarm, late, &none, &err), STATUS_INVALID_ARGUMENT);
	assert_string_equal(err.text, "unexpected argument \"status\"");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_and_words_may_be_mixed),
		cmocka_unit_test(wrong_words_are_named),
		cmocka_unit_test(letters_may_be_joined),
		cmocka_unit_test(numbers_and_durations_are_whole),
		cmocka_unit_test(options_of_the_configuration_stand_among_a_verbs_own),
		cmocka_unit_test(words_stand_before_options_of_the_configuration),
		cmocka_unit_test(each_verb_is_a_whole_row),
	};

	return cmocka_run_group_tests_name("invocation", tests, NULL, NULL);
}
