/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scheduler/trial_metrics.h"
#include "tests/unit/testing.h"

struct bench {
	char directory[64], path[96];
	struct trial_metrics *metrics;
};

static struct metric metric = { .name = (char *)"accuracy" };
static const struct study study = { .metrics = &metric, .metric_count = 1 };

static int setup(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	strcpy(bench->directory, "/tmp/trainyard-test-XXXXXX");
	assert_non_null(mkdtemp(bench->directory));
	snprintf(bench->path, sizeof(bench->path), "%s/output.metrics", bench->directory);
	bench->metrics = trial_metrics_new(&study, bench->directory, 1000);
	assert_non_null(bench->metrics);
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
	size_t count;

	trial_metrics_read(bench->metrics);
	trial_metrics_all(bench->metrics, &count);
	return count;
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
	size_t count;

	lines_write(bench, "w", 1, 3);
	assert_int_equal(count_read(bench), 3);
	assert_int_equal(count_read(bench), 3);
	lines_write(bench, "a", 4, 5);
	assert_int_equal(count_read(bench), 5);
	all = trial_metrics_all(bench->metrics, &count);
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
	trial_metrics_settle(bench->metrics);
	trial_metrics_settle(bench->metrics);
	lines_write(bench, "a", 4, 5);
	assert_int_equal(count_read(bench), 3);
}

static void nothing_can_be_settled(void **state)
{
	struct bench *bench = *state;

	trial_metrics_settle(bench->metrics);
	assert_int_equal(count_read(bench), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
