/* SPDX-License-Identifier: Apache-2.0 */
#include "api/logging/entry_tail.h"

#include "tests/unit/api/logging/logging_testing.h"

enum { A_MINUTE = 60000 /* entries: what a session gives in it */ };

#define S INT64_C(1000000000)

static void *tail_begin(struct bench *bench)
{
	struct logging_context context = { bench->store, &bench->clock, "demo", "123456789", writer_find, NULL };
	AUTO(json)
	json_t *request = json_pack("{s:[s], s:s}", "resourceNames", "projects/demo", "bufferWindow", "0s");
	void *tail = NULL;

	assert_int_equal(entry_tail_feed.open(&context, request, -1, &tail, &bench->err), STATUS_OK);
	return tail;
}

static void entries_add(struct bench *bench, unsigned count)
{
	struct log_source *source = task_source(1, "my_job", "master-replica-0");

	for (unsigned i = 0; i < count; i++) {
		line_add(bench, source, bench->now_ns, SEVERITY_INFO, "x");
		if (i % 10000 == 9999)
			log_flush(bench->store, NULL); /* the queue holds at most 65,536 entries */
	}
	log_flush(bench->store, NULL);
	log_source_unref(source);
}

/* Reads all pending messages; returns the number of entries in them. ret_left_out: why and how many entries were
 * suppressed. */
static unsigned messages_read(struct bench *bench, void *tail, char ret_left_out[64])
{
	unsigned count = 0;

	*ret_left_out = '\0';
	for (;;) {
		struct text text AUTO_TEXT = { 0 };
		AUTO(json) json_t *message = NULL;
		const json_t *info;
		int64_t wake_us = 0;

		assert_int_equal(entry_tail_feed.next(tail, &text, &wake_us, &bench->err), STATUS_OK);
		if (!text.length)
			return count;
		message = json_loadb(text.data, text.length, JSON_REJECT_DUPLICATES, NULL);
		count += (unsigned)json_array_size(json_object_get(message, "entries"));
		info = json_array_get(json_object_get(message, "suppressionInfo"), 0);
		if (info)
			snprintf(ret_left_out, 64, "%s %lld", json_text_at(info, "reason"),
				 (long long)json_int_at(info, "suppressedCount", 0));
	}
}

/* Fails with: no RATE_MAX, or a count that the next minute does not begin anew. */
static void a_minute_has_60000_entries_and_those_left_out_are_counted(void **state)
{
	BENCH(state);
	void *tail = tail_begin(bench);
	char left_out[64];

	entries_add(bench, A_MINUTE + 7);
	assert_int_equal(messages_read(bench, tail, left_out), A_MINUTE);
	assert_string_equal(left_out, "RATE_LIMIT 7");
	bench->now_ns += 61 * S;
	entries_add(bench, 5);
	assert_int_equal(messages_read(bench, tail, left_out), 5);
	assert_string_equal(left_out, "");
	entry_tail_feed.close(tail);
}

/* Fails with: a tail_next() that sets no consumed_ns: the client got what is a minute old. */
static void a_client_that_takes_none_for_long_gets_only_what_is_young(void **state)
{
	BENCH(state);
	void *tail = tail_begin(bench);
	char left_out[64];

	messages_read(bench, tail, left_out);
	entries_add(bench, 3);
	bench->now_ns += 5 * S;
	assert_int_equal(messages_read(bench, tail, left_out), 3);
	assert_string_equal(left_out, "");
	entries_add(bench, 4);
	assert_int_equal(messages_read(bench, tail, left_out), 4); /* the next look is due at once */
	entries_add(bench, 11);
	bench->now_ns += 60 * S;
	entries_add(bench, 2);
	assert_int_equal(messages_read(bench, tail, left_out), 2);
	assert_string_equal(left_out, "NOT_CONSUMED 11");
	entry_tail_feed.close(tail);
}

/* Fails with: a SESSION_US that is not looked at; a wake-up that is later than it. */
static void a_session_ends_after_an_hour(void **state)
{
	BENCH(state);
	void *tail = tail_begin(bench);
	const int64_t begun_us = clock_mono_us(&bench->clock);
	struct text text AUTO_TEXT = { 0 };
	int64_t wake_us = 0;

	bench->now_ns += 3599 * S;
	assert_int_equal(entry_tail_feed.next(tail, &text, &wake_us, &bench->err), STATUS_OK);
	assert_true(wake_us <= begun_us + 3600 * S / 1000);
	bench->now_ns += S;
	assert_int_equal(entry_tail_feed.next(tail, &text, &wake_us, &bench->err), STATUS_OUT_OF_RANGE);
	assert_int_equal(text.length, 0);
	entry_tail_feed.close(tail);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(a_minute_has_60000_entries_and_those_left_out_are_counted),
		WITH_BENCH(a_client_that_takes_none_for_long_gets_only_what_is_young),
		WITH_BENCH(a_session_ends_after_an_hour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
