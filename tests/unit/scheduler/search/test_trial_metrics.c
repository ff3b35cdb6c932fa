/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "scheduler/search/trial_metrics.h"
#include "scheduler/tuning/measurements.h"
#include "tests/support/event_writing.h"
#include "tests/unit/store/objects/objects_testing.h"
#include "tests/unit/testing.h"

struct bench {
	char directory[64], path[96];
	struct yard *yard; /* NULL: no storage */
	struct trial_metrics *metrics;
	int64_t since; /* 0: the default */
};

static struct metric metric = { .name = (char *)"accuracy" };
static const struct study study = { .metrics = &metric, .metric_count = 1 };

/* Reports are written to the directory, and to job directory @job_dir in the storage of @yard; both may be NULL. */
static void bench_begin(struct bench *bench, struct yard *yard, const char *job_dir)
{
	const struct trial_source place = { .directory = bench->directory,
					    .objects = yard ? yard->objects : NULL,
					    .job_dir = job_dir,
					    .number = 3,
					    .since = bench->since ? bench->since : START_NS / 1000 };

	trial_metrics_free(bench->metrics);
	bench->metrics = trial_metrics_new(&study, &place, 1000);
	assert_non_null(bench->metrics);
}

static int setup(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	strcpy(bench->directory, "/tmp/trainyard-test-XXXXXX");
	assert_non_null(mkdtemp(bench->directory));
	snprintf(bench->path, sizeof(bench->path), "%s/output.metrics", bench->directory);
	bench_begin(bench, NULL, NULL);
	*state = bench;
	return 0;
}

static int teardown(void **state)
{
	struct bench *bench = *state;

	trial_metrics_free(bench->metrics);
	unlink(bench->path);
	rmdir(bench->path);
	rmdir(bench->directory);
	free(bench);
	return 0;
}

static void lines_write(struct bench *bench, const char *mode, int from, int to)
{
	FILE *file = fopen(bench->path, mode);

	assert_non_null(file);
	for (int i = from; i <= to; i++)
		fprintf(file, "{\"global_step\":\"%d\",\"timestamp\":%d,\"accuracy\":\"0.5\"}\n", i,
			1000 + i);
	fclose(file);
}

static size_t count_read(struct bench *bench)
{
	trial_metrics_read(bench->metrics);
	return trial_metrics_all(bench->metrics)->count;
}

static void assert_absence(struct bench *bench, const char *part)
{
	struct text text AUTO_TEXT = { 0 };

	assert_int_equal(count_read(bench), 0);
	trial_metrics_absence(bench->metrics, &text);
	if (!strstr(text.data, part))
		fail_msg("%s", text.data);
}

static char *absence(struct bench *bench)
{
	struct text text AUTO_TEXT = { 0 };

	assert_int_equal(count_read(bench), 0);
	trial_metrics_absence(bench->metrics, &text);
	return text_take(&text);
}

static void a_file_that_is_missing_and_one_that_is_empty_differ(void **state)
{
	struct bench *bench = *state;
	char *missing = absence(bench), *empty;

	lines_write(bench, "w", 1, 0);
	empty = absence(bench);
	assert_string_not_equal(missing, empty);
	free(missing);
	free(empty);
}

static void reports_are_taken_as_they_come(void **state)
{
	struct bench *bench = *state;
	const struct measurement *all;

	lines_write(bench, "w", 1, 3);
	assert_int_equal(count_read(bench), 3);
	assert_int_equal(count_read(bench), 3);
	lines_write(bench, "a", 4, 5);
	assert_int_equal(count_read(bench), 5);
	all = trial_metrics_all(bench->metrics)->all;
	assert_int_equal(all[4].step, 5);
	assert_true(all[4].values[0] == 0.5 && all[4].elapsed_s == 5);
}

static void a_file_that_is_written_again_gives_what_is_new(void **state)
{
	struct bench *bench = *state;

	lines_write(bench, "w", 1, 150);
	assert_int_equal(count_read(bench), 150);
	lines_write(bench, "w", 101, 200);
	assert_int_equal(count_read(bench), 200);
	unlink(bench->path);
	assert_int_equal(count_read(bench), 200);
	lines_write(bench, "w", 1, 0);
	assert_int_equal(count_read(bench), 200);
}

static void no_link_is_followed(void **state)
{
	struct bench *bench = *state;
	char other[96];

	snprintf(other, sizeof(other), "%s/other", bench->directory);
	lines_write(bench, "w", 1, 3);
	assert_int_equal(rename(bench->path, other), 0);
	assert_int_equal(symlink(other, bench->path), 0);
	assert_absence(bench, "symbolic links");
	unlink(other);
}

static void a_pipe_and_a_directory_are_no_files(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(mkfifo(bench->path, 0600), 0);
	assert_absence(bench, "it is no plain file");
	unlink(bench->path);
	assert_int_equal(mkdir(bench->path, 0700), 0);
	assert_absence(bench, "it is no plain file");
}

static void of_a_huge_file_the_end_is_read(void **state)
{
	struct bench *bench = *state;

	lines_write(bench, "w", 1, 1);
	assert_int_equal(truncate(bench->path, (off_t)1 << 40), 0);
	lines_write(bench, "a", 2, 4);
	assert_true(count_read(bench) >= 2);
	assert_true(count_read(bench) <= 3);
}

static void what_is_settled_stays(void **state)
{
	struct bench *bench = *state;

	lines_write(bench, "w", 1, 3);
	assert_int_equal(count_read(bench), 3);
	trial_metrics_finish(bench->metrics);
	trial_metrics_finish(bench->metrics);
	lines_write(bench, "a", 4, 5);
	assert_int_equal(count_read(bench), 3);
}

static void nothing_can_be_settled(void **state)
{
	struct bench *bench = *state;

	trial_metrics_finish(bench->metrics);
	assert_int_equal(count_read(bench), 0);
}

static void what_was_stored_is_not_read_again(void **state)
{
	struct bench *bench = *state;
	AUTO(string) char *text = NULL;

	lines_write(bench, "w", 1, 150);
	assert_false(trial_metrics_changed(bench->metrics));
	assert_int_equal(count_read(bench), 150);
	assert_true(trial_metrics_changed(bench->metrics));
	text = trial_metrics_text(bench->metrics);
	trial_metrics_stored(bench->metrics);
	assert_int_equal(count_read(bench), 150);
	assert_false(trial_metrics_changed(bench->metrics));
	bench_begin(bench, NULL, NULL);
	assert_int_equal(trial_metrics_resume(bench->metrics, text, NULL), STATUS_OK);
	lines_write(bench, "w", 101, 200);
	assert_int_equal(count_read(bench), 200);
	for (int i = 0; i < 200; i++)
		assert_int_equal(trial_metrics_all(bench->metrics)->all[i].step, i + 1);
}

static void what_cannot_be_gone_on_from_is_refused(void **state)
{
	struct bench *bench = *state;

	assert_int_not_equal(trial_metrics_resume(bench->metrics, "{", NULL), STATUS_OK);
	assert_int_not_equal(trial_metrics_resume(bench->metrics, "{}", NULL), STATUS_OK);
}

/* ---- event files ---- */

/* The same, with a storage of its own. */
static int storage_setup(void **state)
{
	struct bench *bench;
	void *yard;

	if (setup(state) || yard_open(&yard))
		return -1;
	bench = *state;
	bench->yard = yard;
	bench_begin(bench, bench->yard, "gs://bucket/out/");
	return 0;
}

static int storage_teardown(void **state)
{
	struct bench *bench = *state;
	void *yard = bench->yard;

	teardown(state);
	return yard_close(&yard);
}

/* Writes steps @from to @to with @value under @tag. */
static void file_put(struct bench *bench, const char *name, const char *tag, int from, int to, float value)
{
	struct yard *yard = bench->yard;
	const struct object_target target = target_of(name);
	struct text text AUTO_TEXT = { 0 };

	version_write(&text);
	for (int step = from; step <= to; step++)
		scalar_event_write(&text, 1000 + step, step, tag, value);
	OK(target_put(yard, &target, text.data, text.length, NULL));
}

static void events_put(struct bench *bench, const char *tag, int from, int to, float value)
{
	file_put(bench, "out/3/events.out.tfevents.1", tag, from, to, value);
}

/* Another job has written there; then this one begins, and the clock is put back.
 * Fails with: object_look() by created_us: there are no events. Fails with: without the comparison: those of the other job, too. */
static void only_event_files_of_the_jobs_time_are_read_though_the_clock_is_put_back(void **state)
{
	struct bench *bench = *state;

	file_put(bench, "out/3/events.out.tfevents.0", "accuracy", 1, 9, 0.125F);
	bench->since = objects_next_generation(bench->yard->objects);
	bench_begin(bench, bench->yard, "gs://bucket/out");
	yard_step(bench->yard, -INT64_C(3600000000000));
	assert_int_equal(count_read(bench), 0);
	events_put(bench, "accuracy", 1, 3, 0.25F);
	assert_int_equal(count_read(bench), 3);
	assert_true(trial_metrics_all(bench->metrics)->all[2].values[0] == 0.25);
}

static void events_are_taken_where_no_file_is(void **state)
{
	struct bench *bench = *state;
	const struct measurement *all;

	events_put(bench, "accuracy", 1, 3, 0.25F);
	assert_int_equal(count_read(bench), 3);
	assert_true(trial_metrics_from_events(bench->metrics));
	events_put(bench, "accuracy", 1, 5, 0.25F);
	assert_int_equal(count_read(bench), 5);
	all = trial_metrics_all(bench->metrics)->all;
	assert_true(all[4].step == 5 && all[4].values[0] == 0.25 && all[4].elapsed_s == 5);
}

static void the_metric_file_comes_before_events(void **state)
{
	struct bench *bench = *state;
	const struct measurement *all;

	events_put(bench, "accuracy", 1, 9, 0.25F);
	lines_write(bench, "w", 1, 0);
	assert_int_equal(count_read(bench), 9);
	lines_write(bench, "w", 1, 2);
	assert_int_equal(count_read(bench), 2);
	assert_false(trial_metrics_from_events(bench->metrics));
	all = trial_metrics_all(bench->metrics)->all;
	assert_true(all[1].values[0] == 0.5);
}

static void settled_events_stay(void **state)
{
	struct bench *bench = *state;

	events_put(bench, "accuracy", 1, 3, 0.25F);
	assert_int_equal(count_read(bench), 3);
	trial_metrics_finish(bench->metrics);
	trial_metrics_finish(bench->metrics);
	events_put(bench, "accuracy", 1, 5, 0.25F);
	assert_int_equal(count_read(bench), 3);
}

static void tags_of_events_and_file_are_told(void **state)
{
	struct bench *bench = *state;

	events_put(bench, "epoch_accuracy", 1, 3, 0.25F);
	assert_absence(
		bench,
		"under other tags only: \"epoch_accuracy\". 1 event file below gs://bucket/out/3 was read.");
}

static void where_events_were_looked_for_is_told(void **state)
{
	struct bench *bench = *state;

	assert_absence(bench,
		       "the program wrote no metrics. There is no event file below gs://bucket/out/3.");
	bench_begin(bench, NULL, "gs://bucket/out");
	assert_absence(
		bench,
		"Event files below gs://bucket/out/3 were not looked for: they are with another emulator");
	bench_begin(bench, NULL, NULL);
	assert_absence(bench, "Event files were not looked for: the job has no jobDir.");
}

static void a_value_of_broken_events_has_a_caveat(void **state)
{
	struct bench *bench = *state;
	struct text text AUTO_TEXT = { 0 };

	events_put(bench, "accuracy", 1, 3, 0.25F);
	assert_int_equal(count_read(bench), 3);
	trial_metrics_caveat(bench->metrics, &text);
	assert_int_equal(text.length, 0);
	text_put(bench->yard, "out/3/x.tfevents", "no event file, but long enough");
	assert_int_equal(count_read(bench), 3);
	trial_metrics_caveat(bench->metrics, &text);
	assert_non_null(strstr(text.data, "x.tfevents the record at byte 0"));
}

static void a_curve_of_events_is_gone_on_from_as_such(void **state)
{
	struct bench *bench = *state;
	AUTO(string) char *text = NULL;

	events_put(bench, "accuracy", 1, 3, 0.25F);
	assert_int_equal(count_read(bench), 3);
	assert_true(trial_metrics_changed(bench->metrics));
	text = trial_metrics_text(bench->metrics);
	trial_metrics_stored(bench->metrics);
	text_put(bench->yard, "elsewhere", "x");
	assert_int_equal(count_read(bench), 3);
	assert_false(trial_metrics_changed(bench->metrics));
	/* The storage can no longer be read. */
	bench_begin(bench, NULL, "gs://bucket/out/");
	assert_int_equal(trial_metrics_resume(bench->metrics, text, NULL), STATUS_OK);
	assert_int_equal(count_read(bench), 3);
	assert_true(trial_metrics_from_events(bench->metrics));
	/* The files have grown since then. */
	bench_begin(bench, bench->yard, "gs://bucket/out/");
	assert_int_equal(trial_metrics_resume(bench->metrics, text, NULL), STATUS_OK);
	events_put(bench, "accuracy", 1, 5, 0.25F);
	assert_int_equal(count_read(bench), 5);
	assert_true(trial_metrics_changed(bench->metrics));
	/* The metric file still has precedence. */
	lines_write(bench, "w", 1, 2);
	assert_int_equal(count_read(bench), 2);
	free(text);
	text = trial_metrics_text(bench->metrics);
	bench_begin(bench, bench->yard, "gs://bucket/out/");
	assert_int_equal(trial_metrics_resume(bench->metrics, text, NULL), STATUS_OK);
	assert_false(trial_metrics_from_events(bench->metrics));
}

#define TEST(name)         cmocka_unit_test_setup_teardown(name, setup, teardown)
#define STORAGE_TEST(name) cmocka_unit_test_setup_teardown(name, storage_setup, storage_teardown)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_that_is_missing_and_one_that_is_empty_differ),
		TEST(reports_are_taken_as_they_come),
		TEST(a_file_that_is_written_again_gives_what_is_new),
		TEST(no_link_is_followed),
		TEST(a_pipe_and_a_directory_are_no_files),
		TEST(of_a_huge_file_the_end_is_read),
		TEST(what_is_settled_stays),
		TEST(nothing_can_be_settled),
		TEST(what_was_stored_is_not_read_again),
		TEST(what_cannot_be_gone_on_from_is_refused),
		STORAGE_TEST(only_event_files_of_the_jobs_time_are_read_though_the_clock_is_put_back),
		STORAGE_TEST(events_are_taken_where_no_file_is),
		STORAGE_TEST(the_metric_file_comes_before_events),
		STORAGE_TEST(settled_events_stay),
		STORAGE_TEST(tags_of_events_and_file_are_told),
		STORAGE_TEST(where_events_were_looked_for_is_told),
		STORAGE_TEST(a_value_of_broken_events_has_a_caveat),
		STORAGE_TEST(a_curve_of_events_is_gone_on_from_as_such),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
