/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_progress.h"

#include <string.h>

#include "daemon/base/text.h"
#include "store/jobs/summaries.h"
#include "store/store.h"
#include "tests/unit/store/store_testing.h"

static void assert_line(struct progress_board *board, int64_t job, const char *expected)
{
	struct job_progress progress = { 0 };

	assert_true(progress_get(board, job, &progress));
	assert_string_equal(progress.line, expected);
}

/* Fails with: line_clip() without one of its three steps. */
static void a_line_is_the_last_one_that_is_seen_of_a_text(void **state)
{
	AUTO(progress_board) struct progress_board *board = progress_board_new();
	struct text text AUTO_TEXT = { 0 };
	struct job_progress progress;

	(void)state;
	assert_false(progress_get(board, 7, &progress));
	progress_line_set(board, 7, "epoch 1", 7);
	assert_line(board, 7, "epoch 1");
	progress_line_set(board, 7, " \r\n\t", 4);
	assert_line(board, 7, "epoch 1");
	progress_line_set(board, 7, "Traceback:\n  File\nValueError: bad\n\n", 35);
	assert_line(board, 7, "ValueError: bad");
	progress_line_set(board, 7, " 10%|#   |\r 50%|##  |\r100%|####|\r", 33);
	assert_line(board, 7, "100%|####|");
	text_puts(&text, "x");
	while (text.length <= PROGRESS_LINE_BYTES)
		text_puts(&text, "\xc3\xa4");
	progress_line_set(board, 7, text.data, text.length); /* cut after a whole character of two bytes */
	assert_true(progress_get(board, 7, &progress));
	assert_int_equal(strlen(progress.line), PROGRESS_LINE_BYTES - 1);
	assert_true(utf8_valid(progress.line, strlen(progress.line)));
}

/* Fails with: progress_line_found() that sets it; progress_line_set() that tells of the same line again. */
static void news_are_numbered_and_an_older_line_is_none(void **state)
{
	AUTO(progress_board) struct progress_board *board = progress_board_new();

	(void)state;
	assert_int_equal(progress_last(board), 0);
	progress_line_found(board, 3, "stored", 6);
	assert_line(board, 3, "stored");
	assert_int_equal(progress_last(board), 0);
	progress_line_set(board, 3, "new", 3);
	progress_line_found(board, 3, "stored", 6);
	assert_line(board, 3, "new");
	progress_line_set(board, 3, "new", 3);
	assert_int_equal(progress_last(board), 1);
	progress_line_found(board, 4, "", 0);
	assert_line(board, 4, "");
}

static void assert_pull(struct progress_board *board, int64_t job, const char *image, int64_t pulled, int64_t all)
{
	struct job_progress progress = { 0 };

	assert_true(progress_get(board, job, &progress));
	assert_string_equal(progress.image, image);
	assert_int_equal(progress.pulled_bytes, pulled);
	assert_int_equal(progress.image_bytes, all);
}

/* Fails with: progress_pull_set() that takes each; progress_pull_end() of one job, or without news. */
static void the_pull_with_most_left_is_told_until_it_ends(void **state)
{
	AUTO(progress_board) struct progress_board *board = progress_board_new();
	uint64_t before;

	(void)state;
	progress_pull_set(board, 1, &(struct image_pull){ "train:1", 10, 100 });
	progress_pull_set(board, 2, &(struct image_pull){ "train:1", 10, 100 });
	progress_pull_set(board, 1, &(struct image_pull){ "small:1", 10, 20 });
	assert_pull(board, 1, "train:1", 10, 100);
	progress_pull_set(board, 1, &(struct image_pull){ "train:1", 95, 100 });
	assert_pull(board, 1, "train:1", 95, 100);
	progress_pull_set(board, 1, &(struct image_pull){ "small:1", 11, 20 });
	assert_pull(board, 1, "small:1", 11, 20);
	before = progress_last(board);
	progress_pull_end(board, "train:1");
	assert_pull(board, 1, "small:1", 11, 20);
	assert_pull(board, 2, "", 0, 0);
	assert_int_equal(progress_last(board), before + 1);
}

/* Fails with: progress_of() that takes the first place. */
static void the_jobs_with_the_latest_news_are_kept(void **state)
{
	AUTO(progress_board) struct progress_board *board = progress_board_new();
	struct job_progress progress;

	(void)state;
	for (int64_t job = 1; job <= PROGRESS_JOBS; job++)
		progress_line_set(board, job, "a", 1);
	progress_line_set(board, 1, "b", 1);
	progress_line_set(board, PROGRESS_JOBS + 1, "c", 1);
	assert_line(board, 1, "b");
	assert_line(board, PROGRESS_JOBS + 1, "c");
	assert_false(progress_get(board, 2, &progress));
	assert_true(progress_get(board, 3, &progress));
}

static void line_offer(struct bench *bench, struct log_source *source, enum log_payload kind, const char *payload)
{
	assert_true(log_offer(bench->store, &(struct log_record){ .source = source,
								  .time_ns = ++bench->now_ns,
								  .severity = 200,
								  .kind = kind,
								  .payload = payload,
								  .payload_length = strlen(payload) }));
}

/* Fails with: lines_report() without records; line_note() that takes no message; last_lines_add() that keeps the first. */
static void a_stored_line_is_told(void **state)
{
	BENCH(state);
	struct log_source *source = task_source(5, "train", "master-replica-0");
	struct progress_board *board = store_progress(bench->store);

	line_offer(bench, source, LOG_TEXT, "first");
	line_offer(bench, source, LOG_TEXT, "second");
	assert_int_equal(log_flush(bench->store, &bench->err), STATUS_OK);
	assert_line(board, 5, "second");
	line_offer(bench, source, LOG_JSON, "{\"message\":\"third\",\"loss\":1}");
	assert_int_equal(log_flush(bench->store, &bench->err), STATUS_OK);
	assert_line(board, 5, "third");
	line_offer(bench, source, LOG_JSON, "{\"loss\":1}");
	assert_int_equal(log_flush(bench->store, &bench->err), STATUS_OK);
	assert_line(board, 5, "third");
	log_source_unref(source);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_the_last_one_that_is_seen_of_a_text),
		cmocka_unit_test(news_are_numbered_and_an_older_line_is_none),
		cmocka_unit_test(the_pull_with_most_left_is_told_until_it_ends),
		cmocka_unit_test(the_jobs_with_the_latest_news_are_kept),
		WITH_BENCH(a_stored_line_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
