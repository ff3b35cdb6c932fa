/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/warp.h"

#include "tests/unit/scheduler/tuning/tuning_testing.h"

static double mean_of(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

static void labels_keep_the_order_and_nothing_else_of_bad_values(void **state)
{
	double one[] = { 5, 1, 4, 2, 3, 3 }, other[] = { 5, -1e9, 4, -7, 3, 3 };

	(void)state;
	labels_warp(one, 6);
	labels_warp(other, 6);
	for (size_t i = 0; i < 6; i++)
		assert_true(fabs(one[i] - other[i]) < 1e-12);
	assert_true(one[0] > one[2] && one[2] > one[4] && one[4] == one[5] && one[4] > one[3] &&
		    one[3] > one[1]);
}

static void the_best_lie_farther_apart_than_the_bad(void **state)
{
	double values[9];

	(void)state;
	for (size_t i = 0; i < 9; i++)
		values[i] = (double)i;
	labels_warp(values, 9);
	assert_true(values[8] - values[7] > values[5] - values[4]);
	assert_true(fabs(values[8] - values[0] - 1) < 1e-12);
}

/* The mean of the labels, each success weighed by its share and a failure to come by the rest, is 0. */
static void failures_lie_below_every_success(void **state)
{
	double values[] = { 3, NAN, 1, 2, NAN, INFINITY };
	double low = INFINITY, successes[3], share = 3.5 / 7;

	(void)state;
	labels_warp(values, 6);
	for (size_t i = 0; i < 6; i++)
		assert_true(isfinite(values[i]));
	successes[0] = values[0];
	successes[1] = values[2];
	successes[2] = values[3];
	for (size_t i = 0; i < 3; i++)
		low = fmin(low, successes[i]);
	assert_true(values[1] < low && values[1] == values[4] && values[4] == values[5]);
	assert_true(fabs(mean_of(successes, 3) * share + values[1] * (1 - share)) < 1e-12);
}

static void what_teaches_nothing_has_one_label(void **state)
{
	double same[] = { 2, 2, 2 }, failed[] = { NAN, NAN }, single[] = { -7 };

	(void)state;
	labels_warp(same, 3);
	labels_warp(failed, 2);
	labels_warp(single, 1);
	assert_true(same[0] == 0 && same[2] == 0 && failed[0] == -1 && failed[1] == -1 && single[0] == 0);
}

static void extreme_values_stay_finite(void **state)
{
	double values[] = { 1.7e308, -1.7e308, 0, 1e-308, -1e300, 1e300, NAN };

	(void)state;
	labels_warp(values, 7);
	for (size_t i = 0; i < 7; i++)
		assert_true(isfinite(values[i]) && fabs(values[i]) < 3);
	assert_true(values[0] > values[5] && values[5] > values[2] && values[4] > values[1]);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_keep_the_order_and_nothing_else_of_bad_values),
		cmocka_unit_test(the_best_lie_farther_apart_than_the_bad),
		cmocka_unit_test(failures_lie_below_every_success),
		cmocka_unit_test(what_teaches_nothing_has_one_label),
		cmocka_unit_test(extreme_values_stay_finite),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
