/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/objects.h"
#include "store/objects/objects_parts.h"
#include "tests/unit/testing.h"

static void conditions_are_a_table(void **state)
{
	(void)state;
	/* The object has generation 10 and metageneration 3; "none": there is no object. */
	static const struct {
		struct conditions conditions;
		enum condition_outcome there, none;
	} rows[] = {
		{ { -1, -1, -1, -1 }, CONDITIONS_HOLD, CONDITIONS_HOLD },
		{ { 10, -1, -1, -1 }, CONDITIONS_HOLD, CONDITIONS_FAILED },
		{ { 11, -1, -1, -1 }, CONDITIONS_FAILED, CONDITIONS_FAILED },
		{ { 0, -1, -1, -1 }, CONDITIONS_FAILED, CONDITIONS_HOLD },
		{ { -1, 10, -1, -1 }, CONDITIONS_UNCHANGED, CONDITIONS_HOLD },
		{ { -1, 11, -1, -1 }, CONDITIONS_HOLD, CONDITIONS_HOLD },
		{ { -1, 0, -1, -1 }, CONDITIONS_HOLD, CONDITIONS_UNCHANGED },
		{ { -1, -1, 3, -1 }, CONDITIONS_HOLD, CONDITIONS_FAILED },
		{ { -1, -1, 4, -1 }, CONDITIONS_FAILED, CONDITIONS_FAILED },
		{ { -1, -1, -1, 3 }, CONDITIONS_UNCHANGED, CONDITIONS_HOLD },
		{ { -1, -1, -1, 4 }, CONDITIONS_HOLD, CONDITIONS_HOLD },
		{ { 10, -1, 3, -1 }, CONDITIONS_HOLD, CONDITIONS_FAILED },
		{ { 10, -1, -1, 3 }, CONDITIONS_UNCHANGED, CONDITIONS_FAILED },
		{ { 11, 10, -1, -1 }, CONDITIONS_FAILED, CONDITIONS_FAILED },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(conditions_check(&rows[i].conditions, 10, 3), rows[i].there);
		assert_int_equal(conditions_check(&rows[i].conditions, 0, 0), rows[i].none);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_are_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
