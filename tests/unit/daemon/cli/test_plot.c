/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/plot.h"

#include <math.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "tests/unit/testing.h"

static const struct plot_point rising[] = { { 1, NAN, NAN }, { 3, 3, 1 }, { 2, NAN, NAN } };

/* Fails with: row_of() that counts from below: the best was drawn at the bottom. */
static void values_are_drawn_with_the_best_so_far(void **state)
{
	struct text text AUTO_TEXT = { 0 };

	(void)state;
	plot_write(&text, rising, COUNT_OF(rising), true, 40, 4);
	assert_string_equal(text.data, "         4 ┤      ┊\n"
				       "           │      ★──────\n"
				       "         2 ┤      ┊     ●\n"
				       "         1 ┤●─────\n"
				       "           └─────────────\n"
				       "            1           3\n");
}

/* Fails with: is_better() without @maximize: the worst was the best. */
static void the_least_is_the_best_of_what_is_minimized(void **state)
{
	struct text text AUTO_TEXT = { 0 };

	(void)state;
	plot_write(&text, rising, 1, false, 40, 2);
	assert_non_null(strstr(text.data, "★"));
	text_clear(&text);
	plot_write(&text, rising, COUNT_OF(rising), false, 40, 4);
	assert_non_null(strstr(text.data, "1 ┤★────────────\n"));
}

/* Fails with: row_write() that writes the rest of an inexact range: -5e-05. */
static void a_label_has_no_digits_that_cannot_be_seen(void **state)
{
	static const struct plot_point around[] = { { -3.0001, NAN, NAN }, { 3, NAN, NAN } };
	struct text text AUTO_TEXT = { 0 };

	(void)state;
	plot_write(&text, around, COUNT_OF(around), true, 40, 3);
	assert_non_null(strstr(text.data, "\n         0 ┤"));
}

static void nothing_is_drawn_of_nothing(void **state)
{
	static const struct plot_point unknown[] = { { NAN, NAN, NAN }, { INFINITY, NAN, NAN } };
	struct text text AUTO_TEXT = { 0 };

	(void)state;
	plot_write(&text, unknown, COUNT_OF(unknown), true, 80, 10);
	plot_write(&text, unknown, 0, true, 80, 10);
	plot_write(&text, rising, COUNT_OF(rising), true, 5, 10);
	assert_int_equal(text.length, 0);
}

/* Fails with: column_of() without the case of many: marks were written beyond the row. */
static void many_trials_share_columns(void **state)
{
	struct plot_point points[1000];
	struct text text AUTO_TEXT = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(points); i++)
		points[i] = (struct plot_point){ (double)(i * i % 97), (double)(i % 50), (double)(i % 7) };
	plot_write(&text, points, COUNT_OF(points), true, 60, 8);
	for (const char *at = text.data; *at; at += strcspn(at, "\n") + 1) {
		AUTO(string) char *row = strndup(at, strcspn(at, "\n"));

		assert_true(utf8_count(row) <= 60);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_drawn_with_the_best_so_far),
		cmocka_unit_test(the_least_is_the_best_of_what_is_minimized),
		cmocka_unit_test(a_label_has_no_digits_that_cannot_be_seen),
		cmocka_unit_test(nothing_is_drawn_of_nothing),
		cmocka_unit_test(many_trials_share_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
