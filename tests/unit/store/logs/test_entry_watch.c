/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logs/entry_watch.h"

#include <sys/eventfd.h>

#include "tests/unit/store/store_testing.h"

#define MS INT64_C(1000000)

static struct entry_watch *watch_of(struct bench *bench, const char *filter, int64_t window_ns, int wake_fd)
{
	static const char *const projects[] = { "demo" };
	struct entry_watch_spec spec = { .projects = projects,
					 .project_count = 1,
					 .filter = filter,
					 .window_ns = window_ns,
					 .wake_fd = wake_fd };
	struct entry_watch *watch = NULL;

	assert_int_equal(entry_watch_open(bench->store, &spec, &watch, &bench->err), STATUS_OK);
	return watch;
}

static void entry_note(void *arg, const struct log_entry *entry)
{
	struct text *text = arg;

	text_puts(text, text->length ? "|" : "");
	text_append(text, entry->payload, entry->payload_length);
}

static void assert_given(struct entry_watch *watch, const char *expected, bool expected_held)
{
	struct text text AUTO_TEXT = { 0 };
	unsigned count;
	bool held = false;

	text_puts(&text, "");
	do
		assert_int_equal(entry_watch_read(watch, entry_note, &text, &count, &held, NULL), STATUS_OK);
	while (count);
	assert_string_equal(text.data, expected);
	assert_int_equal(held, expected_held);
}

static void dated_add(struct bench *bench, struct log_source *source, int64_t time_ns, const char *payload)
{
	struct log_record record = { .source = source,
				     .time_ns = time_ns,
				     .dated = true,
				     .kind = LOG_TEXT,
				     .payload = payload,
				     .payload_length = strlen(payload) };

	assert_true(log_offer(bench->store, &record));
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
}

/* Fails with: no lower bound by received_ns: "before" came as well. */
static void new_entries_are_given_once_and_at_once_without_a_window(void **state)
{
	BENCH(state);
	struct log_source *source = task_source(1, "one", "master");
	const int wake_fd = eventfd(0, EFD_NONBLOCK);
	eventfd_t count;
	AUTO(entry_watch) struct entry_watch *watch = NULL, *errors = NULL;

	dated_add(bench, source, bench->now_ns, "before");
	watch = watch_of(bench, NULL, 0, wake_fd);
	errors = watch_of(bench, "severity>=ERROR", 0, -1);
	assert_given(watch, "", false);
	assert_int_not_equal(eventfd_read(wake_fd, &count), 0);
	bench->now_ns += MS;
	dated_add(bench, source, bench->now_ns, "first");
	assert_int_equal(eventfd_read(wake_fd, &count), 0);
	assert_true(entry_watch_has_news(watch));
	bench->now_ns += MS;
	assert_given(watch, "first", false);
	assert_false(entry_watch_has_news(watch));
	assert_given(watch, "", false);
	dated_add(bench, source, START_NS - INT64_C(3600000) * MS, "of an hour ago");
	line_add(bench, source, bench->now_ns, SEVERITY_ERROR, "wrong");
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	bench->now_ns += MS;
	assert_given(watch, "of an hour ago|wrong", false);
	assert_given(errors, "wrong", false);
	log_source_unref(source);
	close(wake_fd);
}

/* Fails with: entries that were held back are looked for among new ones only: "late" alone came. */
static void a_window_lets_late_entries_come_first(void **state)
{
	BENCH(state);
	struct log_source *source = task_source(1, "one", "master");
	AUTO(entry_watch) struct entry_watch *watch = watch_of(bench, NULL, 1000 * MS, -1);
	const int64_t begin_ns = bench->now_ns;

	dated_add(bench, source, begin_ns, "second");
	bench->now_ns += 200 * MS;
	assert_given(watch, "", true);
	dated_add(bench, source, begin_ns - 100 * MS, "first");
	dated_add(bench, source, begin_ns + 600 * MS, "third");
	bench->now_ns = begin_ns + 1001 * MS;
	assert_given(watch, "first|second", true);
	bench->now_ns = begin_ns + 1100 * MS;
	assert_given(watch, "", true);
	bench->now_ns = begin_ns + 1700 * MS;
	assert_given(watch, "third", false);
	bench->now_ns += 5000 * MS;
	assert_given(watch, "", false);
	log_source_unref(source);
}

/* Fails with: mark that is not kept between pages: the first page came for ever. */
static void more_than_a_page_is_given_in_order(void **state)
{
	BENCH(state);
	struct log_source *source = task_source(1, "one", "master");
	AUTO(entry_watch) struct entry_watch *watch = watch_of(bench, NULL, 0, -1);
	struct text expected AUTO_TEXT = { 0 };

	for (int i = 0; i < ENTRY_WATCH_PAGE * 2 + 1; i++) {
		char line[16];

		snprintf(line, sizeof(line), "%d", i);
		line_add(bench, source, bench->now_ns, SEVERITY_INFO, line);
		text_printf(&expected, "%s%d", i ? "|" : "", i);
	}
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	bench->now_ns += MS;
	assert_given(watch, expected.data, false);
	log_source_unref(source);
}

/* Fails with: ripe of a clock that was put back: nothing came for an hour. */
static void a_clock_that_is_put_back_holds_nothing_back(void **state)
{
	BENCH(state);
	struct log_source *source = task_source(1, "one", "master");
	AUTO(entry_watch) struct entry_watch *watch = watch_of(bench, NULL, 1000 * MS, -1);

	dated_add(bench, source, bench->now_ns, "first");
	bench->now_ns -= INT64_C(3600000) * MS;
	assert_given(watch, "first", false);
	dated_add(bench, source, bench->now_ns, "second");
	assert_given(watch, "second", false);
	assert_given(watch, "", false);
	log_source_unref(source);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(new_entries_are_given_once_and_at_once_without_a_window),
		WITH_BENCH(a_window_lets_late_entries_come_first),
		WITH_BENCH(more_than_a_page_is_given_in_order),
		WITH_BENCH(a_clock_that_is_put_back_holds_nothing_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
