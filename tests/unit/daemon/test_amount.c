/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/amount.h"

#include "tests/unit/testing.h"

static void times_are_read(void **state)
{
	static const struct {
		const char *text;
		int64_t us; /* -1: not an amount */
	} cases[] = {
		{ "90", 90000000 },
		{ "1.5m", 90000000 },
		{ "2h", INT64_C(7200000000) },
		{ "30d", INT64_C(2592000000000) },
		{ "0s", 0 },
		{ "", -1 },
		{ "d", -1 },
		{ "-1s", -1 },
		{ "1w", -1 },
		{ "1dd", -1 },
		{ "1e12", -1 },
		{ "nan", -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		int64_t us = -1;

		if (duration_read(cases[i].text, &us) != (cases[i].us >= 0) || us != cases[i].us)
			fail_msg("%s: %lld", cases[i].text, (long long)us);
	}
}

/* Fails with: a factor of 1000 for each unit. */
static void sizes_are_read(void **state)
{
	static const struct {
		const char *text;
		int64_t bytes; /* -1: not an amount */
	} cases[] = {
		{ "1M", 1 << 20 },
		{ "0.5G", 512 << 20 },
		{ "20G", INT64_C(20) << 30 },
		{ "1T", INT64_C(1) << 40 },
		{ "0.5M", -1 },
		{ "1", -1 },
		{ "1Q", -1 },
		{ "1GB", -1 },
		{ "-1G", -1 },
		{ "", -1 },
		{ "G", -1 },
		{ "1e6T", -1 },
		{ "nanG", -1 },
		{ "infT", -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		int64_t bytes = -1;
		const bool is_size = size_read(cases[i].text, &bytes);

		if (is_size != (cases[i].bytes >= 0) || (is_size && bytes != cases[i].bytes))
			fail_msg("%s: %lld", cases[i].text, (long long)bytes);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_read),
		cmocka_unit_test(sizes_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
