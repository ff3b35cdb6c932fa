/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/measurement_list.h"

#include <math.h>

#include "tests/unit/testing.h"

static struct measurement measured(int64_t step, double elapsed_s, double first, double second)
{
	struct measurement measurement = { .step = step, .elapsed_s = elapsed_s };

	for (size_t i = 0; i < METRICS_MAX; i++)
		measurement.values[i] = NAN;
	measurement.values[0] = first;
	measurement.values[1] = second;
	return measurement;
}

static void append(struct measurement_list *list, int64_t step, double elapsed_s, double first, double second)
{
	const struct measurement measurement = measured(step, elapsed_s, first, second);

	measurement_list_append(list, &measurement);
}

static void a_long_list_is_thinned_and_keeps_its_last(void **state)
{
	struct measurement_list list = { 0 };

	(void)state;
	for (int step = 1; step <= 5 * MEASUREMENTS_KEPT_MAX; step++) {
		append(&list, step, step, step, NAN);
		assert_true(list.count <= MEASUREMENTS_KEPT_MAX);
		assert_int_equal(list.all[0].step, 1);
		assert_int_equal(list.all[list.count - 1].step, step);
	}
	assert_true(list.count > MEASUREMENTS_KEPT_MAX / 2);
	for (size_t i = 1; i + 1 < list.count; i++)
		assert_int_equal(list.all[i].step - list.all[i - 1].step, 8);
	measurement_list_deinit(&list);
}

static void lists_become_one_by_step(void **state)
{
	struct measurement_list a = { 0 }, b = { 0 }, merged = { 0 };
	const struct measurement_list *const lists[] = { &a, &b };

	(void)state;
	append(&a, 1, 1, 0.1, NAN);
	append(&a, 3, 3, 0.3, NAN);
	append(&a, 2, 9, 0.25, NAN); /* it went back to an earlier step, later */
	append(&b, 2, 2, 0.2, 7);
	append(&b, 3, 3, 0.35, NAN); /* at the same moment: the later list's */
	append(&merged, 99, 0, 0, 0);
	measurement_lists_merge(lists, 2, 2, &merged);
	assert_int_equal(merged.count, 3);
	assert_true(merged.all[0].step == 1 && merged.all[0].values[0] == 0.1);
	assert_true(merged.all[1].step == 2 && merged.all[1].values[0] == 0.25 &&
		    merged.all[1].values[1] == 7 && merged.all[1].elapsed_s == 9);
	assert_true(merged.all[2].step == 3 && merged.all[2].values[0] == 0.35);
	measurement_list_deinit(&a);
	measurement_list_deinit(&b);
	measurement_list_deinit(&merged);
}

static void no_lists_are_an_empty_one(void **state)
{
	struct measurement_list merged = { 0 };

	(void)state;
	append(&merged, 1, 0, 0, 0);
	measurement_lists_merge(NULL, 0, 1, &merged);
	assert_int_equal(merged.count, 0);
	measurement_list_deinit(&merged);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_list_is_thinned_and_keeps_its_last),
		cmocka_unit_test(lists_become_one_by_step),
		cmocka_unit_test(no_lists_are_an_empty_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
