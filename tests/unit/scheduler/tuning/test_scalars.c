/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/scalars.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scheduler/tuning/event_file.h"
#include "tests/support/event_writing.h"
#include "tests/unit/testing.h"

static void text_take_all(struct scalars *scalars, const struct text *text)
{
	struct event_file file;

	event_file_init(&file, 0);
	assert_int_equal(event_file_read(&file, scalars_take, scalars, 0, text->data, text->length, NULL),
			 STATUS_OK);
	event_file_deinit(&file);
}

/* Steps from @first up to @end, each the value of its own. */
static void steps_take(struct scalars *scalars, const char *tag, int64_t first, int64_t end)
{
	struct text text AUTO_TEXT = { 0 };

	version_write(&text);
	for (int64_t step = first; step < end; step++)
		scalar_event_write(&text, 1.7e9 + (double)step, step, tag, (float)step);
	text_take_all(scalars, &text);
}

static void assert_steps(const struct scalar_curve *curve, const char *steps)
{
	struct text text AUTO_TEXT = { 0 };

	for (size_t i = 0; i < curve->point_count; i++) {
		text_printf(&text, "%s%lld", i ? " " : "", (long long)curve->points[i].step);
		assert_true(curve->points[i].value == (double)curve->points[i].step);
		assert_true(curve->points[i].time_s == 1.7e9 + (double)curve->points[i].step);
	}
	assert_string_equal(text.data, steps);
}

/* Fails with: curve_thin() that leaves the stride: later points came twice as close as earlier ones. */
static void a_long_curve_is_thinned_evenly_and_keeps_its_ends(void **state)
{
	(void)state;
	static const struct {
		int64_t count;
		const char *steps;
	} cases[] = {
		{ 1, "0" },     { 4, "0 1 2 3" }, { 5, "0 2 4" },     { 6, "0 2 4 5" },
		{ 8, "0 4 7" }, { 9, "0 4 8" },   { 100, "0 64 99" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct scalars scalars AUTO_SCALARS = { 0 };

		scalars_init(&scalars, 4);
		steps_take(&scalars, "loss", 0, cases[i].count);
		assert_int_equal(scalars.curve_count, 1);
		assert_int_equal(scalars.curves[0].whole_count, cases[i].count);
		assert_steps(&scalars.curves[0], cases[i].steps);
	}
}

/* Fails with: curve_find() that compares tags alone. */
static void each_run_and_tag_is_a_curve(void **state)
{
	(void)state;
	struct scalars scalars AUTO_SCALARS = { 0 };

	scalars_init(&scalars, 10);
	scalars.run = "train";
	steps_take(&scalars, "loss", 0, 2);
	steps_take(&scalars, "accuracy", 0, 1);
	scalars.run = "eval";
	steps_take(&scalars, "loss", 5, 6);
	scalars.run = "train";
	steps_take(&scalars, "loss", 2, 3);
	assert_int_equal(scalars.curve_count, 3);
	assert_string_equal(scalars.curves[0].run, "train");
	assert_steps(&scalars.curves[0], "0 1 2");
	assert_string_equal(scalars.curves[1].tag, "accuracy");
	assert_string_equal(scalars.curves[2].run, "eval");
	assert_steps(&scalars.curves[2], "5");
}

/* Fails with: curve_go_back() that does nothing: the line went back on itself. */
static void steps_that_a_restart_has_given_up_are_gone(void **state)
{
	(void)state;
	struct scalars scalars AUTO_SCALARS = { 0 };

	scalars_init(&scalars, 100);
	steps_take(&scalars, "loss", 0, 10);
	steps_take(&scalars, "loss", 5, 7);
	assert_steps(&scalars.curves[0], "0 1 2 3 4 5 6");
	assert_int_equal(scalars.curves[0].whole_count, 7);
}

static void what_is_no_finite_number_is_counted(void **state)
{
	(void)state;
	struct scalars scalars AUTO_SCALARS = { 0 };
	struct text text AUTO_TEXT = { 0 };

	scalars_init(&scalars, 10);
	version_write(&text);
	scalar_event_write(&text, 1, 1, "loss", NAN);
	scalar_event_write(&text, INFINITY, 2, "loss", 2);
	scalar_event_write(&text, 3, 3, "loss", -INFINITY);
	record_write(&text, "\x2a\x7f", 2); /* a summary that is cut off */
	text_take_all(&scalars, &text);
	assert_int_equal(scalars.curves[0].not_finite_count, 2);
	assert_int_equal(scalars.curves[0].point_count, 1);
	assert_true(scalars.curves[0].points[0].time_s == 0);
	assert_int_equal(scalars.malformed_count, 1);
}

static void curves_are_bounded(void **state)
{
	(void)state;
	struct scalars scalars AUTO_SCALARS = { 0 };
	char tag[2 * SCALAR_TAG_BYTES_MAX];

	scalars_init(&scalars, 2);
	for (int i = 0; i <= SCALAR_CURVES_MAX; i++) {
		snprintf(tag, sizeof(tag), "%d", i);
		assert_false(scalars.has_more_curves);
		steps_take(&scalars, tag, 0, 3);
	}
	assert_true(scalars.has_more_curves);
	assert_int_equal(scalars.curve_count, SCALAR_CURVES_MAX);
	scalars_deinit(&scalars);
	scalars_init(&scalars, 2);
	memset(tag, 'a', sizeof(tag) - 1);
	tag[sizeof(tag) - 1] = 0;
	steps_take(&scalars, tag, 0, 1);
	assert_int_equal(strlen(scalars.curves[0].tag), SCALAR_TAG_BYTES_MAX);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_curve_is_thinned_evenly_and_keeps_its_ends),
		cmocka_unit_test(each_run_and_tag_is_a_curve),
		cmocka_unit_test(steps_that_a_restart_has_given_up_are_gone),
		cmocka_unit_test(what_is_no_finite_number_is_counted),
		cmocka_unit_test(curves_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
