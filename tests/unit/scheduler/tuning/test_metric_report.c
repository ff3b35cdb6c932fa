/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "daemon/base/text.h"
#include "tests/unit/scheduler/tuning/reader_testing.h"

static struct measurement measurement_of(const struct metric_report *report, int64_t step, double elapsed_s,
					 double accuracy, double loss)
{
	struct measurement measurement = metric_report_start(report, step, STARTED_S + elapsed_s);

	measurement.values[0] = accuracy;
	measurement.values[1] = loss;
	return measurement;
}

static void add(struct metric_report *report, int64_t step, double elapsed_s, double accuracy, double loss)
{
	const struct measurement measurement = measurement_of(report, step, elapsed_s, accuracy, loss);

	metric_report_add(report, &measurement);
}

static void metrics_of_one_step_become_one_measurement(void **state)
{
	static const struct expected expected[] = {
		{ 1, 1.5, 0.1, 0.9 }, { 1, 2, 0.2, NAN },  { 2, 3, NAN, 0.8 },
		{ 3, 4, 0.3, NAN },   { 2, 5, 0.25, NAN },
	};
	struct metric_report report;

	(void)state;
	metric_report_init(&report, two_metrics, 2, STARTED_S);
	add(&report, 1, 1, 0.1, NAN);
	add(&report, 1, 1.5, NAN, 0.9);
	add(&report, 1, 2, 0.2, NAN); /* the accuracy of step 1 is there already */
	add(&report, 2, 3, NAN, 0.8);
	add(&report, 3, 4, 0.3, NAN);
	add(&report, 2, 5, 0.25, NAN); /* step 3 lies between */
	add(&report, 4, 6, NAN, NAN);  /* nothing */
	expect_measurements(&report, expected, COUNT_OF(expected));
	assert_true(report.has_arrived[0] && report.has_arrived[1]);
	metric_report_clear(&report);
	expect_measurements(&report, NULL, 0);
	assert_true(report.has_arrived[0]);
	metric_report_deinit(&report);
	metric_report_deinit(&report);
}

static void times_before_the_start_and_unknown_ones_are_at_the_start(void **state)
{
	static const double times[] = { STARTED_S - 1, STARTED_S, NAN, INFINITY, -INFINITY, -1e308, 0 };
	struct metric_report report;

	(void)state;
	metric_report_init(&report, two_metrics, 2, STARTED_S);
	for (size_t i = 0; i < COUNT_OF(times); i++)
		assert_true(metric_report_start(&report, 1, times[i]).elapsed_s == 0);
	assert_true(metric_report_start(&report, 1, STARTED_S + 0.5).elapsed_s == 0.5);
	metric_report_deinit(&report);
}

static void values_that_are_no_finite_numbers_are_no_report(void **state)
{
	static const double values[] = { NAN, INFINITY, -INFINITY };
	struct metric_report report;

	(void)state;
	metric_report_init(&report, two_metrics, 2, STARTED_S);
	for (size_t i = 0; i < COUNT_OF(values); i++) {
		struct measurement measurement = metric_report_start(&report, 1, STARTED_S);

		metric_report_value(&report, &measurement, "loss", 4, values[i]);
		metric_report_add(&report, &measurement);
	}
	expect_measurements(&report, NULL, 0);
	assert_true(report.is_unusable[1] && !report.is_unusable[0] && !report.has_arrived[1]);
	metric_report_deinit(&report);
}

/* The clock may be put back: step 9 is later than step 5, whatever it says.
 * Fails with: was_taken_before() by time, then step: step 9 is missing, and step 2 is there. */
static void what_an_earlier_life_took_does_not_come_again(void **state)
{
	static const struct expected expected[] = { { 5, 10.5, 0.3, NAN },
						    { 6, 10, 0.6, NAN },
						    { 9, 9.5, 0.1, NAN } };
	struct metric_report report;
	struct measurement last;

	(void)state;
	metric_report_init(&report, two_metrics, 2, STARTED_S);
	last = measurement_of(&report, 5, 10, NAN, 0.5);
	metric_report_resume(&report, &last);
	assert_true(!report.has_arrived[0] && report.has_arrived[1]);
	add(&report, 4, 10, 0.2, NAN);
	add(&report, 5, 10, 0.5, NAN);
	add(&report, 5, 10.5, 0.3, NAN);
	add(&report, 6, 10, 0.6, NAN);
	add(&report, 9, 9.5, 0.1, NAN);
	add(&report, 2, 10.5, 0.7, NAN);
	expect_measurements(&report, expected, COUNT_OF(expected));
	metric_report_deinit(&report);
}

static void see(struct metric_report *report, const char *tag)
{
	struct measurement measurement = metric_report_start(report, 0, STARTED_S);

	metric_report_value(report, &measurement, tag, strlen(tag), 1);
}

static void only_so_many_tags_are_noted_and_of_long_ones_the_beginning(void **state)
{
	struct metric_report report;
	char tag[METRIC_TAG_BYTES_MAX + 10];

	(void)state;
	metric_report_init(&report, two_metrics, 2, STARTED_S);
	memset(tag, 'x', sizeof(tag));
	tag[sizeof(tag) - 1] = '\0';
	see(&report, tag);
	tag[sizeof(tag) - 2] = 'y';
	see(&report, tag);
	see(&report, "accuracy");
	assert_int_equal(report.tag_count, 1);
	assert_int_equal(strlen(report.tags[0]), METRIC_TAG_BYTES_MAX);
	for (unsigned i = 1; i < METRIC_TAGS_SEEN_MAX; i++) {
		snprintf(tag, sizeof(tag), "tag-%u", i);
		see(&report, tag);
		see(&report, tag);
	}
	assert_int_equal(report.tag_count, METRIC_TAGS_SEEN_MAX);
	assert_false(report.has_more_tags);
	see(&report, "another");
	assert_int_equal(report.tag_count, METRIC_TAGS_SEEN_MAX);
	assert_true(report.has_more_tags);
	metric_report_deinit(&report);
}

static void more_metrics_than_there_may_be_are_left_out(void **state)
{
	struct metric metrics[METRICS_MAX + 1];
	struct metric_report report;
	char names[METRICS_MAX + 1][8];

	(void)state;
	for (size_t i = 0; i <= METRICS_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "m%zu", i);
		metrics[i] = (struct metric){ .name = names[i] };
	}
	metric_report_init(&report, metrics, METRICS_MAX + 1, STARTED_S);
	assert_true(metric_report_wants(&report, "m7", 2));
	assert_false(metric_report_wants(&report, "m8", 2));
	assert_false(metric_report_wants(&report, "m", 1));
	assert_false(metric_report_wants(&report, "m77", 3));
	metric_report_deinit(&report);
}

static void expect_absence(const struct metric_report *report, enum metric_source source, const char *cause,
			   const char *expected)
{
	struct text text AUTO_TEXT = { 0 };

	metric_absence_text(&text, report, 0, source, cause);
	assert_string_equal(text.data, expected);
}

static void the_absence_of_a_metric_is_explained(void **state)
{
	struct metric_report report;
	struct measurement measurement;

	(void)state;
	metric_report_init(&report, two_metrics, 2, STARTED_S);
	expect_absence(&report, METRIC_SOURCE_MISSING, NULL,
		       "The metric \"accuracy\" was not reported: the program wrote no metrics.");
	expect_absence(
		&report, METRIC_SOURCE_EMPTY, NULL,
		"The metric \"accuracy\" was not reported: the file of its metrics is empty; the program may "
		"have ended before it was written.");
	expect_absence(
		&report, METRIC_SOURCE_UNREADABLE, NULL,
		"The metric \"accuracy\" was not reported: the file of its metrics could not be read.");
	expect_absence(
		&report, METRIC_SOURCE_UNREADABLE, "is a directory",
		"The metric \"accuracy\" was not reported: the file of its metrics could not be read (is a "
		"directory).");
	expect_absence(&report, METRIC_SOURCE_READ, NULL,
		       "The metric \"accuracy\" was not reported: the file of its metrics holds no reports.");
	report.is_broken = true;
	expect_absence(
		&report, METRIC_SOURCE_READ, NULL,
		"The metric \"accuracy\" was not reported: nothing in the file of its metrics could be read "
		"as a report.");
	see(&report, "Accuracy");
	see(&report, "a\n\"b\"");
	expect_absence(
		&report, METRIC_SOURCE_READ, NULL,
		"The metric \"accuracy\" was not reported: reports came under other tags only: \"Accuracy\", "
		"\"a\\n\\\"b\\\"\".");
	report.has_more_tags = true;
	expect_absence(
		&report, METRIC_SOURCE_MISSING, NULL,
		"The metric \"accuracy\" was not reported: reports came under other tags only: \"Accuracy\", "
		"\"a\\n\\\"b\\\"\" and more.");
	measurement = metric_report_start(&report, 1, STARTED_S);
	metric_report_value(&report, &measurement, "accuracy", 8, NAN);
	expect_absence(
		&report, METRIC_SOURCE_READ, NULL,
		"The metric \"accuracy\" was not reported: its tag came, but never with a finite number.");
	metric_report_deinit(&report);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_of_one_step_become_one_measurement),
		cmocka_unit_test(times_before_the_start_and_unknown_ones_are_at_the_start),
		cmocka_unit_test(values_that_are_no_finite_numbers_are_no_report),
		cmocka_unit_test(what_an_earlier_life_took_does_not_come_again),
		cmocka_unit_test(only_so_many_tags_are_noted_and_of_long_ones_the_beginning),
		cmocka_unit_test(more_metrics_than_there_may_be_are_left_out),
		cmocka_unit_test(the_absence_of_a_metric_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
