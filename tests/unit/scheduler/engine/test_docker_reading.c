/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines of an output are new, given the position that was stored. test_docker_logs.c tests this with streams that
 * break. */
#include "scheduler/engine/docker_reading.h"

#include <string.h>

#include "tests/unit/testing.h"

/* Lines of stdout with their times; one of them has three parts. */
static const struct frames_line output[] = {
	{ 1, 10, "a", 1, false }, { 1, 20, "x", 1, true },  { 1, 20, "y", 1, true },
	{ 1, 20, "z", 1, false }, { 1, 30, "b", 1, false },
};

/* Reads the first @count lines; ret_new: the new ones. */
static void output_read(struct reading *reading, size_t count, char *ret_new)
{
	reading_begin(reading);
	for (size_t i = 0; i < count; i++) {
		if (reading_knows(reading, &output[i]))
			continue;
		*ret_new++ = *output[i].data;
		reading_advance(reading, &output[i]);
	}
	*ret_new = '\0';
}

/* Fails with: reading_init() that forgets parts, as it was: those that were stored came twice when the daemon was killed.
 * Fails with: reading_knows() that does not look at the time of the line that they are of. */
static void parts_that_were_stored_are_not_read_again(void **state)
{
	static const struct {
		struct log_reach reach;
		const char *expected;
	} cases[] = {
		{ { 0, 0, 0, 0 }, "axyzb" },
		{ { 10, 0, 0, 0 }, "xyzb" },
		{ { 10, 0, 1, 20 }, "yzb" },
		{ { 10, 0, 2, 20 }, "zb" },
		{ { 20, 0, 0, 0 }, "b" },
		{ { 10, 0, 2, 15 }, "xyzb" }, /* a line that the engine has already rotated away */
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct log_position from = { .streams = { cases[i].reach } };
		struct reading reading;
		char new[COUNT_OF(output) + 1];

		reading_init(&reading, &from);
		output_read(&reading, COUNT_OF(output), new);
		assert_string_equal(new, cases[i].expected);
	}
}

/* Fails with: reading_advance() without `seen`: the second part was taken for the first, and left out.
 * Fails with: reading_begin() without it: the parts of another reading came again. */
static void what_a_reading_told_is_known_to_the_next(void **state)
{
	(void)state;
	for (size_t first = 0; first <= COUNT_OF(output); first++) {
		static const struct log_position beginning;
		struct reading reading;
		char new[2 * COUNT_OF(output) + 1];

		reading_init(&reading, &beginning);
		output_read(&reading, first, new);
		output_read(&reading, COUNT_OF(output), new + first);
		assert_string_equal(new, "axyzb");
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_that_were_stored_are_not_read_again),
		cmocka_unit_test(what_a_reading_told_is_known_to_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
