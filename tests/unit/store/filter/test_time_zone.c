/* SPDX-License-Identifier: Apache-2.0 */
#include "store/filter/time_zone.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/testing.h"

static const struct {
	const char *zone;
	int64_t unix_s;
	int offset_s;
} moments[] = {
	{ "UTC", 0, 0 },
	{ "America/New_York", 1783000800, -14400 }, /* 2026-07-02 */
	{ "America/New_York", 1768000000, -18000 }, /* 2026-01-09 */
	{ "America/New_York", 1772953199, -18000 }, /* the second before summer time, and its first */
	{ "America/New_York", 1772953200, -14400 },
	/* Later than the transitions in the file: computed by its rule. */
	{ "America/New_York", 4086720000, -14400 }, /* 2099-07-03 */
	{ "America/New_York", 4070908800, -18000 }, /* 2099-01-01 */
	{ "Europe/Berlin", 4086720000, 7200 },
	{ "Australia/Sydney", 4070908800, 39600 },
	{ "Australia/Sydney", 4086720000, 36000 },
	{ "Asia/Kolkata", 4086720000, 19800 },
	{ "Asia/Kolkata", 1768000000, 19800 },
	{ "Etc/GMT+5", 1768000000, -18000 },
};

/* Fails with: rule_offset_s() left out: New York's summers of 2099 were winters. */
static void moments_have_the_offset_of_their_zone(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(moments); i++) {
		struct time_zone *zone = time_zone_read(moments[i].zone);

		if (!zone)
			skip(); /* this machine has no tzdata */
		if (time_zone_offset_s(zone, moments[i].unix_s) != moments[i].offset_s)
			fail_msg("%s at %lld: %d", moments[i].zone, (long long)moments[i].unix_s,
				 time_zone_offset_s(zone, moments[i].unix_s));
		time_zone_offset_s(zone, INT64_MAX / 1000000000);
		time_zone_offset_s(zone, INT64_MIN / 1000000000);
		time_zone_free(zone);
	}
}

static void other_names_are_no_zones(void **state)
{
	static const char *const names[] = { "",     "Atlantis", "..",        "../zoneinfo/UTC",
					     "/etc", "America",  "tzdata.zi", "America/New York" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(names); i++)
		assert_null(time_zone_read(names[i]));
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moments_have_the_offset_of_their_zone),
		cmocka_unit_test(other_names_are_no_zones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
