/* SPDX-License-Identifier: Apache-2.0 */
/* Event files below a trial's job directory, read while they are written. */
#include "scheduler/search/trial_events.h"
#include "scheduler/tuning/metric_report.h"
#include "store/statements.h"
#include "tests/support/event_writing.h"
#include "tests/unit/scheduler/tuning/reader_testing.h"
#include "tests/unit/store/objects/objects_testing.h"

#define FILE_A "out/1/events.out.tfevents.1.host"
#define FILE_B "out/1/eval/deeper/events.out.tfevents.2.host"

struct bench {
	struct yard *yard;
	struct metric_report report;
	struct trial_events *events;
};

static void bench_begin(struct bench *bench)
{
	metric_report_init(&bench->report, two_metrics, 2, STARTED_S);
	bench->events = trial_events_new(bench->yard->objects, "gs://bucket/out/1", START_NS / 1000);
	assert_non_null(bench->events);
}

static void bench_end(struct bench *bench)
{
	trial_events_free(bench->events);
	metric_report_deinit(&bench->report);
}

static int setup(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	void *yard;

	if (yard_open(&yard))
		return -1;
	bench->yard = yard;
	*state = bench;
	bench_begin(bench);
	return 0;
}

static int teardown(void **state)
{
	struct bench *bench = *state;
	void *yard = bench->yard;

	bench_end(bench);
	free(bench);
	return yard_close(&yard);
}

static void put(struct bench *bench, const char *name, const struct text *text, size_t length)
{
	struct yard *yard = bench->yard;
	const struct object_target target = target_of(name);

	OK(target_put(yard, &target, text->data, length, NULL));
}

/* Writes steps @from to @to, one each second; @tag has @base + step / 1024. */
static void steps_write(struct text *text, int from, int to, const char *tag, double base)
{
	if (!text->length)
		version_write(text);
	for (int step = from; step <= to; step++)
		scalar_event_write(text, STARTED_S + step, step, tag, (float)(base + step / 1024.0));
}

/* Checks that a reading finds the steps @from to @to with @base + step / 1024. */
static void expect_steps(struct bench *bench, int from, int to, double base)
{
	const struct measurement_list *all;

	trial_events_read(bench->events, &bench->report);
	all = trial_events_all(bench->events);
	assert_int_equal(all->count, to - from + 1);
	for (int step = from; step <= to; step++) {
		assert_int_equal(all->all[step - from].step, step);
		assert_true(all->all[step - from].values[0] == (float)(base + step / 1024.0));
	}
}

static void expect_remark(struct bench *bench, const char *words)
{
	struct text text AUTO_TEXT = { 0 };

	trial_events_remark(bench->events, &text);
	if (!strstr(text.data, words))
		fail_msg("%s", text.data);
}

static void nothing_there_is_nothing_found(void **state)
{
	struct bench *bench = *state;

	expect_steps(bench, 1, 0, 0);
	expect_remark(bench, " There is no event file below gs://bucket/out/1.");
	assert_false(trial_events_is_partial(bench->events));
	text_put(bench->yard, "out/1/model.txt", "x");
	expect_steps(bench, 1, 0, 0);
	expect_remark(bench, " There is no event file");
}

static void a_file_is_followed_at_every_length(void **state)
{
	struct bench *bench = *state;
	struct text text AUTO_TEXT = { 0 };
	size_t lengths[5] = { 0 };

	for (int step = 1; step <= 4; step++) {
		steps_write(&text, step, step, "accuracy", 1);
		lengths[step] = text.length;
	}
	for (size_t length = 0, whole = 0; length <= text.length; length += 7) {
		while (whole < 4 && lengths[whole + 1] <= length)
			whole++;
		put(bench, FILE_A, &text, length);
		expect_steps(bench, 1, (int)whole, 1);
	}
	put(bench, FILE_A, &text, text.length);
	expect_steps(bench, 1, 4, 1);
	assert_false(trial_events_is_partial(bench->events));
	expect_remark(bench, " 1 event file below gs://bucket/out/1 was read.");
}

static void what_was_found_does_not_depend_on_when_it_was_looked_at(void **state)
{
	struct bench *bench = *state;
	struct text text AUTO_TEXT = { 0 };

	for (int step = 1; step <= 30; step++) {
		steps_write(&text, step, step, "accuracy", 1);
		put(bench, FILE_A, &text, text.length);
		if (step % 7 == 0)
			expect_steps(bench, 1, step, 1);
	}
	expect_steps(bench, 1, 30, 1);
	bench_end(bench);
	bench_begin(bench);
	expect_steps(bench, 1, 30, 1);
}

static void an_object_that_is_written_again_alike_doubles_nothing(void **state)
{
	struct bench *bench = *state;
	struct text text AUTO_TEXT = { 0 };

	steps_write(&text, 1, 5, "accuracy", 1);
	for (int i = 0; i < 3; i++) {
		put(bench, FILE_A, &text, text.length);
		expect_steps(bench, 1, 5, 1);
	}
}

static void another_file_of_the_same_name_is_read_anew(void **state)
{
	struct bench *bench = *state;
	struct text text AUTO_TEXT = { 0 }, longer AUTO_TEXT = { 0 }, shorter AUTO_TEXT = { 0 };

	steps_write(&text, 1, 5, "accuracy", 1);
	put(bench, FILE_A, &text, text.length);
	expect_steps(bench, 1, 5, 1);
	steps_write(&longer, 1, 9, "accuracy", 2);
	put(bench, FILE_A, &longer, longer.length);
	expect_steps(bench, 1, 9, 2);
	steps_write(&shorter, 1, 2, "accuracy", 3);
	put(bench, FILE_A, &shorter, shorter.length);
	expect_steps(bench, 1, 2, 3);
}

static void a_broken_record_ends_a_file_until_it_is_replaced(void **state)
{
	struct bench *bench = *state;
	struct text text AUTO_TEXT = { 0 };
	size_t whole;

	steps_write(&text, 1, 3, "accuracy", 1);
	whole = text.length;
	steps_write(&text, 4, 5, "accuracy", 1);
	text.data[whole + 14] ^= 1;
	put(bench, FILE_A, &text, text.length);
	expect_steps(bench, 1, 3, 1);
	assert_true(trial_events_is_partial(bench->events));
	expect_remark(bench, " In the event file gs://bucket/" FILE_A " the record at byte ");
	expect_remark(bench, "wrong checksum.");
	assert_false(bench->report.is_broken);
	steps_write(&text, 6, 6, "accuracy", 1);
	put(bench, FILE_A, &text, text.length);
	expect_steps(bench, 1, 3, 1);
	text.data[whole + 14] ^= 1;
	put(bench, FILE_A, &text, text.length);
	expect_steps(bench, 1, 6, 1);
	assert_false(trial_events_is_partial(bench->events));
}

static void a_broken_file_does_not_hide_the_others(void **state)
{
	struct bench *bench = *state;
	struct text text AUTO_TEXT = { 0 };

	text_put(bench->yard, "out/1/a.tfevents", "this is no event file at all");
	steps_write(&text, 1, 3, "accuracy", 1);
	put(bench, FILE_A, &text, text.length);
	expect_steps(bench, 1, 3, 1);
	expect_remark(
		bench,
		"gs://bucket/out/1/a.tfevents the record at byte 0 has a length with a wrong checksum.");
}

static void files_at_any_depth_are_one_curve(void **state)
{
	struct bench *bench = *state;
	struct text text AUTO_TEXT = { 0 }, other AUTO_TEXT = { 0 };

	steps_write(&text, 1, 3, "accuracy", 1);
	put(bench, FILE_A, &text, text.length);
	expect_steps(bench, 1, 3, 1);
	steps_write(&other, 4, 6, "accuracy", 1);
	put(bench, FILE_B, &other, other.length);
	expect_steps(bench, 1, 6, 1);
	expect_remark(bench, " 2 event files below gs://bucket/out/1 were read.");
}

static void of_one_step_the_later_value_counts(void **state)
{
	struct bench *bench = *state;
	struct text train AUTO_TEXT = { 0 }, eval AUTO_TEXT = { 0 };
	const struct measurement_list *all;

	version_write(&train);
	version_write(&eval);
	for (int step = 1; step <= 3; step++) {
		scalar_event_write(&train, STARTED_S + 10 * step, step, "accuracy", 0.25F);
		scalar_event_write(&eval, STARTED_S + 10 * step + 1, step, "accuracy", 0.5F);
		scalar_event_write(&train, STARTED_S + 10 * step, step, "loss", 4);
	}
	/* Neither the order of the names nor the order of reading may matter. */
	put(bench, "out/1/b.tfevents", &train, train.length);
	trial_events_read(bench->events, &bench->report);
	put(bench, "out/1/a.tfevents", &eval, eval.length);
	trial_events_read(bench->events, &bench->report);
	all = trial_events_all(bench->events);
	assert_int_equal(all->count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_true(all->all[i].values[0] == 0.5 && all->all[i].values[1] == 4);
		assert_true(all->all[i].elapsed_s == 10 * (double)(i + 1) + 1);
	}
}

static void what_is_elsewhere_or_named_otherwise_is_not_read(void **state)
{
	static const char *const names[] = { "out/10/events.out.tfevents.1",
					     "out/2/events.out.tfevents.1",
					     "out/events.out.tfevents.1",
					     "out/1/tfevents/model.ckpt",
					     "out/1.tfevents",
					     "out/1/events.out.1" };
	struct bench *bench = *state;
	struct text text AUTO_TEXT = { 0 };

	steps_write(&text, 1, 3, "accuracy", 1);
	for (size_t i = 0; i < COUNT_OF(names); i++)
		put(bench, names[i], &text, text.length);
	expect_steps(bench, 1, 0, 0);
	expect_remark(bench, " There is no event file");
}

static void what_was_there_before_the_job_is_not_its_own(void **state)
{
	struct bench *bench = *state;
	struct text text AUTO_TEXT = { 0 };

	steps_write(&text, 1, 3, "accuracy", 1);
	yard_step(bench->yard, -1000000);
	put(bench, FILE_A, &text, text.length);
	expect_steps(bench, 1, 0, 0);
	yard_step(bench->yard, 1000000);
	put(bench, FILE_A, &text, text.length);
	expect_steps(bench, 1, 3, 1);
}

static void a_removed_file_leaves_what_it_said(void **state)
{
	struct bench *bench = *state;
	struct yard *yard = bench->yard;
	struct text text AUTO_TEXT = { 0 };

	steps_write(&text, 1, 3, "accuracy", 1);
	put(bench, FILE_A, &text, text.length);
	expect_steps(bench, 1, 3, 1);
	OK(object_delete(yard->objects, "bucket", FILE_A, 0, &no_conditions, &yard->err));
	expect_steps(bench, 1, 3, 1);
}

static void other_tags_are_noted(void **state)
{
	struct bench *bench = *state;
	struct text text AUTO_TEXT = { 0 };

	steps_write(&text, 1, 3, "epoch_accuracy", 1);
	put(bench, FILE_A, &text, text.length);
	expect_steps(bench, 1, 0, 0);
	assert_int_equal(bench->report.tag_count, 1);
	assert_string_equal(bench->report.tags[0], "epoch_accuracy");
}

static void no_more_than_so_many_files_are_read(void **state)
{
	struct bench *bench = *state;
	struct text text AUTO_TEXT = { 0 };
	char name[64];

	for (int i = 1; i <= EVENT_FILES_MAX + 1; i++) {
		text_clear(&text);
		steps_write(&text, i, i, "accuracy", 1);
		snprintf(name, sizeof(name), "out/1/%03d.tfevents", i);
		put(bench, name, &text, text.length);
	}
	expect_steps(bench, 1, EVENT_FILES_MAX, 1);
	assert_true(trial_events_is_partial(bench->events));
	expect_remark(bench, " Of the event files below gs://bucket/out/1 the first 64 were read.");
}

/* The database is not read if no object was written since. */
static void a_look_without_a_change_costs_nothing(void **state)
{
	struct bench *bench = *state;
	struct text text AUTO_TEXT = { 0 };

	steps_write(&text, 1, 3, "accuracy", 1);
	put(bench, FILE_A, &text, text.length);
	expect_steps(bench, 1, 3, 1);
	for (int i = 0; i < 1000; i++)
		trial_events_read(bench->events, &bench->report);
	bench->yard->objects->is_open = false; /* a look would then open it again */
	trial_events_read(bench->events, &bench->report);
	assert_false(bench->yard->objects->is_open);
	bench->yard->objects->is_open = true;
}

static void a_job_directory_may_be_a_bucket(void **state)
{
	struct bench *bench = *state;
	struct text text AUTO_TEXT = { 0 };

	trial_events_free(bench->events);
	bench->events = trial_events_new(bench->yard->objects, "gs://bucket/1", START_NS / 1000);
	steps_write(&text, 1, 3, "accuracy", 1);
	put(bench, "1/x.tfevents.y", &text, text.length);
	expect_steps(bench, 1, 3, 1);
}

static void what_is_new_is_said_once(void **state)
{
	struct bench *bench = *state;
	struct text text AUTO_TEXT = { 0 };

	assert_false(trial_events_read(bench->events, &bench->report));
	steps_write(&text, 1, 3, "accuracy", 1);
	put(bench, FILE_A, &text, text.length);
	assert_true(trial_events_read(bench->events, &bench->report));
	assert_false(trial_events_read(bench->events, &bench->report));
	put(bench, "elsewhere/x.tfevents", &text, text.length);
	assert_false(trial_events_read(bench->events, &bench->report));
	steps_write(&text, 4, 5, "accuracy", 1);
	put(bench, FILE_A, &text, text.length);
	assert_true(trial_events_read(bench->events, &bench->report));
	assert_int_equal(trial_events_all(bench->events)->count, 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_there_is_nothing_found),
		TEST(a_file_is_followed_at_every_length),
		TEST(what_was_found_does_not_depend_on_when_it_was_looked_at),
		TEST(an_object_that_is_written_again_alike_doubles_nothing),
		TEST(another_file_of_the_same_name_is_read_anew),
		TEST(a_broken_record_ends_a_file_until_it_is_replaced),
		TEST(a_broken_file_does_not_hide_the_others),
		TEST(files_at_any_depth_are_one_curve),
		TEST(of_one_step_the_later_value_counts),
		TEST(what_is_elsewhere_or_named_otherwise_is_not_read),
		TEST(what_was_there_before_the_job_is_not_its_own),
		TEST(a_removed_file_leaves_what_it_said),
		TEST(other_tags_are_noted),
		TEST(no_more_than_so_many_files_are_read),
		TEST(a_look_without_a_change_costs_nothing),
		TEST(a_job_directory_may_be_a_bucket),
		TEST(what_is_new_is_said_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
