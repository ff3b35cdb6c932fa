/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/text.h"
#include "scheduler/plan/command_line.h"
#include "tests/unit/testing.h"

/* Fails with: a command's other words left out; no quotes; args before the image. */
static void a_line_can_be_typed(void **state)
{
	static const struct {
		const char *command, *args, *line;
	} rows[] = {
		{ NULL, NULL, "docker run i:1" },
		{ "[]", "[]", "docker run i:1" },
		{ NULL, "[\"--x\", \"\"]", "docker run i:1 --x ''" },
		{ "[\"python3\"]", NULL, "docker run --entrypoint python3 i:1" },
		{ "[\"sh\", \"-c\", \"echo $X\"]", "[\"a b\", \"c\"]",
		  "docker run --entrypoint sh i:1 -c 'echo $X' 'a b' c" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(json) json_t *command = rows[i].command ? json_loads(rows[i].command, 0, NULL) : NULL;
		AUTO(json) json_t *args = rows[i].args ? json_loads(rows[i].args, 0, NULL) : NULL;
		AUTO(string) char *line = command_line_text("i:1", command, args);

		assert_string_equal(line, rows[i].line);
	}
}

/* Fails with: text_cut() not called; the loop over a character's bytes left out. */
static void a_long_line_is_cut_between_characters(void **state)
{
	char word[COMMAND_LINE_MAX * 2 + 1];

	(void)state;
	for (size_t offset = 0; offset < 2; offset++) {
		memset(word, 'x', offset);
		for (size_t at = offset; at + 2 < sizeof(word); at += 2)
			memcpy(word + at, "ä", 3);
		AUTO(json) json_t *args = json_pack("[s, s]", word, word);
		AUTO(string) char *line = command_line_text("i", NULL, args);

		assert_in_range(strlen(line), COMMAND_LINE_MAX, COMMAND_LINE_MAX + 3);
		assert_string_equal(line + strlen(line) - 3, "…");
		assert_true(utf8_valid(line, strlen(line)));
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_can_be_typed),
		cmocka_unit_test(a_long_line_is_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
