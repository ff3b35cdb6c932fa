/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/job_times.h"

#include "tests/unit/api/message/json_testing.h"

/* Fails with: second_shown() without its look at @before_us */
static void a_second_is_never_before_what_came_first(void **state)
{
	static const struct {
		int64_t time_us, before_us, shown_us;
	} rows[] = {
		{ 0, 0, 0 },
		{ 0, 5000001, 0 },
		{ 5000001, 0, 5000000 },
		{ 5999999, 5000000, 5000000 },
		{ 5999999, 5000001, 6000000 },
		{ 6000000, 5000001, 6000000 },
		{ 7000001, 5000001, 7000000 },
		{ 4000000, 5000000, 5000000 }, /* the clock was set back */
		{ 4000000, 5000001, 6000000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(second_shown(rows[i].time_us, rows[i].before_us), rows[i].shown_us);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_second_is_never_before_what_came_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
