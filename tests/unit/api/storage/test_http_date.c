/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/http_date.h"
#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)

TEST(a_date_is_written_and_read)
{
	static const struct {
		int64_t wall_s;
		const char *date;
	} cases[] = {
		{ 784111777, "Sun, 06 Nov 1994 08:49:37 GMT" },
		{ 0, "Thu, 01 Jan 1970 00:00:00 GMT" },
		{ 951782400, "Tue, 29 Feb 2000 00:00:00 GMT" },
		{ 253402300799, "Fri, 31 Dec 9999 23:59:59 GMT" },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char date[HTTP_DATE_SIZE];
		int64_t wall_s = -1;

		http_date_write(cases[i].wall_s * 1000000 + 999999, date);
		assert_string_equal(date, cases[i].date);
		assert_true(http_date_read(date, &wall_s));
		assert_int_equal(wall_s, cases[i].wall_s);
	}
}

TEST(what_is_no_date_is_refused)
{
	static const char *const dates[] = {
		"",
		"now",
		"Sunday, 06-Nov-94 08:49:37 GMT",
		"Sun Nov  6 08:49:37 1994",
		"Sun, 06 Nov 1994 08:49:37",
		"Sun, 06 Nov 1994 08:49:37 CET",
		"Sun, 06 Nov 1994 08:49:37 GMT+1",
		"Sun, 06 Foo 1994 08:49:37 GMT",
		"Sun, 00 Nov 1994 08:49:37 GMT",
		"Sun, 32 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 24:49:37 GMT",
		"Sun, 06 Nov 1994 08:60:37 GMT",
		"Sun, 06 Nov 1994 08:49:-1 GMT",
		"Sun, 06 Nov 1994 08:49:37 GMT ",
	};
	char date[HTTP_DATE_SIZE];

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(dates); i++) {
		int64_t wall_s;

		if (http_date_read(dates[i], &wall_s))
			fail_msg("\"%s\" was taken", dates[i]);
	}
	http_date_write(INT64_MAX, date);
	assert_string_equal(date, "");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_date_is_written_and_read),
		cmocka_unit_test(what_is_no_date_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
