/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)

/* The line that log_event() writes for @text. */
static void line_of(const char *text, enum log_format format, char line[4096])
{
	int ends[2];
	int saved = dup(STDERR_FILENO);
	ssize_t length;

	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	log_configure(LOG_INFO, format);
	log_event(LOG_INFO, "event", "error=\"%s\"", text);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[1]);
	length = read(ends[0], line, 4095);
	close(ends[0]);
	assert_true(length > 0);
	line[length] = '\0';
}

TEST(texts_from_outside_start_no_line_and_drive_no_terminal)
{
	static const char *const texts[] = {
		"\x1b]0;owned\a",
		"a\r\nb",
		"a\nforged",
		"\x7f",
		"\xc2\x9b"
		"31m", /* CSI as a single Unicode character */
		"\x9b"
		"31m",
		"\t\v\f",
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		for (enum log_format format = LOG_FORMAT_TEXT; format <= LOG_FORMAT_JSON; format++) {
			char line[4096];
			size_t length;

			line_of(texts[i], format, line);
			length = strlen(line);
			assert_int_equal(line[length - 1], '\n');
			for (const char *c = line; c < line + length - 1; c++)
				if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
					fail_msg("text %zu: %s", i, line);
		}
	}
}

TEST(letters_of_other_scripts_stay)
{
	char line[4096];

	(void)state_;
	line_of("größe \xe6\xa8\xa1", LOG_FORMAT_TEXT, line);
	assert_non_null(strstr(line, "größe \xe6\xa8\xa1"));
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_from_outside_start_no_line_and_drive_no_terminal),
		cmocka_unit_test(letters_of_other_scripts_stay),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
