/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <time.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/timestamp.h"
#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)

static const int64_t SECOND = 1000000000;

TEST(times_are_written_in_their_two_forms)
{
	struct text text AUTO_TEXT = { 0 };

	(void)state_;
	text_time_seconds(&text, 0);
	text_putc(&text, ' ');
	text_time_seconds(&text, 1795210191999999);
	text_putc(&text, ' ');
	text_time_micros(&text, 1795210191000010);
	text_putc(&text, ' ');
	text_time_nanos(&text, 1795210191000000001);
	text_putc(&text, ' ');
	text_time_nanos(&text, -1);
	assert_string_equal(text.data,
			    "1970-01-01T00:00:00Z 2026-11-20T21:29:51Z 2026-11-20T21:29:51.000010Z "
			    "2026-11-20T21:29:51.000000001Z 1969-12-31T23:59:59.999999999Z");
}

/* Fails with: day_from_seconds() without the 146096, or with 3 for the 2 of its month. */
TEST(each_day_is_written_as_the_c_library_knows_it)
{
	enum { DAY_S = 86400 };

	(void)state_;
	for (int64_t seconds = INT64_MIN / 1000000000; seconds < INT64_MAX / 1000000000; seconds += DAY_S + 1) {
		struct text text AUTO_TEXT = { 0 };
		const time_t time = (time_t)seconds;
		char expected[32];
		struct tm day;

		assert_non_null(gmtime_r(&time, &day));
		strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%SZ", &day);
		text_time_seconds(&text, seconds * 1000000);
		assert_string_equal(text.data, expected);
	}
}

TEST(a_time_is_read_in_its_forms)
{
	static const struct {
		const char *string;
		int64_t seconds, nanos;
		bool strict; /* protobuf takes it too */
	} cases[] = {
		{ "1970-01-01T00:00:00Z", 0, 0, true },
		{ "1970-01-01t00:00:01z", 1, 0, true },
		{ "2026-11-20T21:29:51Z", 1795210191, 0, true },
		{ "2026-11-20T21:29:51.5Z", 1795210191, 500000000, true },
		{ "2026-11-20T21:29:51.000000001Z", 1795210191, 1, true },
		{ "2026-11-20T22:29:51+01:00", 1795210191, 0, true },
		{ "2026-11-20T15:59:51-05:30", 1795210191, 0, true },
		{ "2024-02-29T00:00:00Z", 1709164800, 0, true },
		{ "1969-12-31T23:59:59.9Z", -1, 900000000, true },
		{ "2026-11-20", 1795132800, 0, false },
		{ "2026-11-20T21:29:51", 1795210191, 0, false },
		{ "2026-11-20T21:29", 1795210140, 0, false },
		{ "2026-11-20T21:29Z", 1795210140, 0, false },
		{ "2026-11-20T21:29:51.0000000019Z", 1795210191, 1, false },
		{ "2026-11-20T22:29:51.5+0100", 1795210191, 500000000, false },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		int64_t wall_ns = 0;

		assert_true(time_parse(cases[i].string, &wall_ns));
		assert_true(wall_ns == cases[i].seconds * SECOND + cases[i].nanos);
		if (time_parse_strict(cases[i].string, &wall_ns) != cases[i].strict)
			fail_msg("strictly, %s", cases[i].string);
	}
}

TEST(what_is_no_time_is_refused)
{
	static const char *const cases[] = {
		"",
		"now",
		"2026",
		"2026-11",
		"2026-13-01",
		"2026-00-01",
		"2026-11-31",
		"2026-02-29",
		"2026-11-00",
		"26-11-20",
		"2026-11-20 21:29:51Z",
		"2026-11-20T24:00:00Z",
		"2026-11-20T21:60:00Z",
		"2026-11-20T21:29:61Z",
		"2026-11-20T21:29:51.Z",
		"2026-11-20T21:29.5Z",
		"2026-11-20T21:29:51+25:00",
		"2026-11-20T21:29:51Zx",
		"2026-11-20Z",
		"2026-11-20T",
		"2026-11-20T2:29:51Z",
		" 2026-11-20",
		"0000-01-01",
		"12026-01-01T00:00:00Z",
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		int64_t wall_ns;

		if (time_parse(cases[i], &wall_ns))
			fail_msg("%s was read", cases[i]);
		assert_false(time_parse_strict(cases[i], &wall_ns));
	}
}

TEST(a_time_far_away_is_before_or_after_everything)
{
	int64_t wall_ns;

	(void)state_;
	assert_true(time_parse("0001-01-01T00:00:00Z", &wall_ns));
	assert_true(wall_ns == INT64_MIN);
	assert_true(time_parse("9999-12-31T23:59:59.999999999Z", &wall_ns));
	assert_true(wall_ns == INT64_MAX);
	assert_true(time_parse("1678-01-01T00:00:00+23:59", &wall_ns));
	assert_true(time_parse("2261-12-31T23:59:59-23:59", &wall_ns));
}

TEST(a_duration_is_read)
{
	static const struct {
		const char *string;
		int64_t us;
	} cases[] = {
		{ "0s", 0 },
		{ "3.5s", 3500000 },
		{ "-3.5s", -3500000 },
		{ "-0.000001s", -1 },
		{ "1.000000001s", 1000000 },
		{ "7200s", 7200000000 },
		{ "315576000000s", 315576000000000000 },
		{ "-315576000000s", -315576000000000000 },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		int64_t us = 0;

		assert_true(duration_parse(cases[i].string, &us));
		assert_true(us == cases[i].us);
	}
}

TEST(what_is_no_duration_is_refused)
{
	static const char *const cases[] = {
		"",
		"s",
		"1",
		"1m",
		"1 s",
		" 1s",
		"+1s",
		"1.s",
		".5s",
		"--1s",
		"1.0000000001s",
		"315576000001s",
		"315576000000.5s",
		"99999999999999999999s",
		"1ss",
		"1e3s",
		"-s",
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		int64_t us;

		if (duration_parse(cases[i], &us))
			fail_msg("%s was read", cases[i]);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_written_in_their_two_forms),
		cmocka_unit_test(each_day_is_written_as_the_c_library_knows_it),
		cmocka_unit_test(a_time_is_read_in_its_forms),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(a_time_far_away_is_before_or_after_everything),
		cmocka_unit_test(a_duration_is_read),
		cmocka_unit_test(what_is_no_duration_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
