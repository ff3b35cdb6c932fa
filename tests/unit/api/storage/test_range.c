/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/range.h"
#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)

TEST(a_range_picks_bytes_or_is_passed_over)
{
	static const struct {
		const char *header;
		int64_t size_bytes;
		enum range_outcome outcome;
		int64_t first, length;
	} cases[] = {
		{ "", 10, RANGE_WHOLE, 0, 10 },
		{ "bytes=0-0", 10, RANGE_PART, 0, 1 },
		{ "bytes=0-9", 10, RANGE_PART, 0, 10 },
		{ "bytes=0-10", 10, RANGE_PART, 0, 10 },
		{ "bytes=9-9", 10, RANGE_PART, 9, 1 },
		{ "BYTES=3-", 10, RANGE_PART, 3, 7 },
		{ "bytes=9-99999999999999999999999", 10, RANGE_PART, 9, 1 },
		{ "bytes=-1", 10, RANGE_PART, 9, 1 },
		{ "bytes=-10", 10, RANGE_PART, 0, 10 },
		{ "bytes=-11", 10, RANGE_PART, 0, 10 },
		{ "bytes=-99999999999999999999999", 10, RANGE_PART, 0, 10 },
		{ "bytes=10-", 10, RANGE_UNSATISFIABLE, 0, 10 },
		{ "bytes=10-20", 10, RANGE_UNSATISFIABLE, 0, 10 },
		{ "bytes=99999999999999999999-", 10, RANGE_UNSATISFIABLE, 0, 10 },
		{ "bytes=-0", 10, RANGE_UNSATISFIABLE, 0, 10 },
		{ "bytes=0-", 0, RANGE_UNSATISFIABLE, 0, 0 },
		{ "bytes=-1", 0, RANGE_UNSATISFIABLE, 0, 0 },
		{ "bytes=3-2", 10, RANGE_WHOLE, 0, 10 },
		{ "bytes=0-1,3-4", 10, RANGE_WHOLE, 0, 10 },
		{ "bytes=-1,-2", 10, RANGE_WHOLE, 0, 10 },
		{ "bytes=", 10, RANGE_WHOLE, 0, 10 },
		{ "bytes=-", 10, RANGE_WHOLE, 0, 10 },
		{ "bytes=a-b", 10, RANGE_WHOLE, 0, 10 },
		{ "bytes=0-1x", 10, RANGE_WHOLE, 0, 10 },
		{ "items=0-1", 10, RANGE_WHOLE, 0, 10 },
		{ "bytes 0-1", 10, RANGE_WHOLE, 0, 10 },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct byte_range range;
		enum range_outcome outcome = range_choose(cases[i].header, cases[i].size_bytes, &range);

		if (outcome != cases[i].outcome || range.first != cases[i].first ||
		    range.length != cases[i].length)
			fail_msg("\"%s\" of %ld: %d, %ld, %ld", cases[i].header, (long)cases[i].size_bytes,
				 outcome, (long)range.first, (long)range.length);
	}
}

TEST(a_content_range_tells_what_comes)
{
	static const struct {
		const char *value;
		struct content_range range;
	} cases[] = {
		{ "bytes 0-99/200", { true, 0, 99, 200 } },
		{ "bytes 0-0/1", { true, 0, 0, 1 } },
		{ "Bytes 262144-524287/*", { true, 262144, 524287, -1 } },
		{ "bytes 5-*/*", { true, 5, -1, -1 } },
		{ "bytes 5-*/10", { true, 5, -1, 10 } },
		{ "bytes 10-*/10", { true, 10, -1, 10 } },
		{ "bytes */10", { false, 0, -1, 10 } },
		{ "bytes */0", { false, 0, -1, 0 } },
		{ "bytes */*", { false, 0, -1, -1 } },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct content_range range = { .first = -2 };

		if (!content_range_parse(cases[i].value, &range))
			fail_msg("\"%s\" was refused", cases[i].value);
		assert_int_equal(range.brings_bytes, cases[i].range.brings_bytes);
		assert_int_equal(range.first, cases[i].range.first);
		assert_int_equal(range.last, cases[i].range.last);
		assert_int_equal(range.total, cases[i].range.total);
	}
}

TEST(a_content_range_that_cannot_be_is_refused)
{
	static const char *const values[] = {
		"",
		"bytes",
		"bytes ",
		"bytes=0-1/2",
		"items 0-1/2",
		"bytes 0-1",
		"bytes 0-1/",
		"bytes 0-1/2x",
		"bytes 0-/2",
		"bytes -1/2",
		"bytes 2-1/3",
		"bytes 0-2/2",
		"bytes 3-*/2",
		"bytes 0-1/-1",
		"bytes *",
		"bytes */",
		"bytes **/2",
		"bytes 0-1/99999999999999999999",
		"bytes 99999999999999999999-*/*",
		"bytes 0-99999999999999999999/*",
		"bytes 0x1-2/3",
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(values); i++) {
		struct content_range range;

		if (content_range_parse(values[i], &range))
			fail_msg("\"%s\" was taken", values[i]);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_picks_bytes_or_is_passed_over),
		cmocka_unit_test(a_content_range_tells_what_comes),
		cmocka_unit_test(a_content_range_that_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
