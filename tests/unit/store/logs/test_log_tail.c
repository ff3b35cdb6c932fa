/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logs/log_tail.h"

#include "tests/unit/store/store_testing.h"

#define SECOND INT64_C(1000000000)

static void line_gather(void *arg, const struct tail_line *line)
{
	struct text *text = arg;

	text_puts(text, text->length ? "|" : "");
	text_append(text, line->payload, line->payload_length);
}

static void assert_read(struct log_tail *tail, bool last_read, const char *expected)
{
	struct text text AUTO_TEXT = { 0 };
	unsigned count;

	text_puts(&text, "");
	do
		assert_int_equal(log_tail_read(tail, last_read, line_gather, &text, &count, NULL), STATUS_OK);
	while (count);
	assert_string_equal(text.data, expected);
}

static struct log_tail *tail_of(struct bench *bench, int64_t job, const char *filter, int64_t last)
{
	struct log_tail_spec spec = {
		.job = job, .filter = filter, .since_ns = INT64_MIN, .last = last, .follows = true
	};
	struct log_tail *tail = NULL;

	assert_int_equal(log_tail_open(bench->store, &spec, &tail, &bench->err), STATUS_OK);
	return tail;
}

static void plain_add(struct bench *bench, struct log_source *source, const char *payload)
{
	line_add(bench, source, START_NS, SEVERITY_INFO, payload);
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
}

static void dated_add(struct bench *bench, struct log_source *source, int64_t time_ns, const char *id,
		      const char *payload)
{
	struct log_record record = { .source = source,
				     .time_ns = time_ns,
				     .dated = true,
				     .insert_id = id,
				     .payload = payload,
				     .payload_length = strlen(payload) };

	assert_true(log_offer(bench->store, &record));
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
}

static void new_entries_follow_those_that_were_there(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "a"), other = job_add(bench, "b");
	struct log_source *source = task_source(job, "a", "master-replica-0");
	struct log_source *others = task_source(other, "b", "master-replica-0");

	plain_add(bench, source, "1");
	AUTO(log_tail) struct log_tail *tail = tail_of(bench, job, NULL, -1);

	assert_read(tail, false, "1");
	plain_add(bench, others, "another job's");
	assert_read(tail, false, "");
	plain_add(bench, source, "2");
	assert_true(log_tail_wait(tail, 0));
	assert_read(tail, false, "2");
	assert_false(log_tail_wait(tail, 1000));
	log_source_unref(source);
	log_source_unref(others);
}

/* Fails with: view_give() that takes LOOK_NEW of a dated job: "late" was missing. */
static void entries_that_a_program_dates_come_once(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "a");
	struct log_source *source = task_source(job, "a", "master-replica-0");

	plain_add(bench, source, "now");
	AUTO(log_tail) struct log_tail *fresh = tail_of(bench, job, NULL, -1);

	assert_read(fresh, true, "now");
	dated_add(bench, source, START_NS - 5 * SECOND, NULL, "late");
	dated_add(bench, source, START_NS + 5 * SECOND, "id", "ahead");
	assert_read(fresh, true, "late|ahead");
	plain_add(bench, source, "between");
	dated_add(bench, source, START_NS - 9 * SECOND, "id2", "0");
	assert_read(fresh, true, "between|0");
	AUTO(log_tail) struct log_tail *again = tail_of(bench, job, NULL, -1);

	assert_read(again, true, "0|late|now|between|ahead");
	dated_add(bench, source, START_NS - 7 * SECOND, NULL, "1");
	assert_read(again, true, "1");
	assert_read(fresh, true, "1");
	log_source_unref(source);
}

static void a_long_log_is_read_by_pages_while_it_grows(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "a");
	struct log_source *source = task_source(job, "a", "master-replica-0");
	struct text all AUTO_TEXT = { 0 }, expected AUTO_TEXT = { 0 };
	unsigned count;
	int sent = 0;

	AUTO(log_tail) struct log_tail *tail = tail_of(bench, job, NULL, -1);

	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 700; i++, sent++) {
			char line[16];

			snprintf(line, sizeof(line), "%d", sent);
			text_printf(&expected, "%s%d", sent ? "|" : "", sent);
			line_add(bench, source, START_NS, SEVERITY_INFO, line);
		}
		assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
		if (round == 2)
			dated_add(bench, source, START_NS - SECOND, NULL, "x");
		assert_int_equal(log_tail_read(tail, true, line_gather, &all, &count, NULL), STATUS_OK);
	}
	do
		assert_int_equal(log_tail_read(tail, true, line_gather, &all, &count, NULL), STATUS_OK);
	while (count);
	char *late = strstr(all.data, "|x");

	assert_non_null(late);
	memmove(late, late + 2, strlen(late + 2) + 1);
	assert_string_equal(all.data, expected.data);
	log_source_unref(source);
}

/* Fails with: LOOK_STORED without the floor: "new" came twice, as it was ahead of the place and received since. */
static void what_comes_while_the_stored_is_read_comes_once(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "a");
	struct log_source *source = task_source(job, "a", "master-replica-0");
	struct text all AUTO_TEXT = { 0 };
	unsigned count;

	for (int i = 0; i < 1500; i++)
		line_add(bench, source, START_NS, SEVERITY_INFO, "old");
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	AUTO(log_tail) struct log_tail *tail = tail_of(bench, job, NULL, -1);

	assert_int_equal(log_tail_read(tail, true, line_gather, &all, &count, NULL), STATUS_OK);
	assert_int_equal(count, 1000);
	dated_add(bench, source, START_NS - SECOND, NULL, "late");
	dated_add(bench, source, START_NS + SECOND, NULL, "new");
	do
		assert_int_equal(log_tail_read(tail, true, line_gather, &all, &count, NULL), STATUS_OK);
	while (count);
	assert_string_equal(all.data + all.length - strlen("old|late|new"), "old|late|new");
	assert_int_equal(all.length, strlen("old|") * 1500 + strlen("late|new"));
	log_source_unref(source);
}

static void a_tail_begins_where_it_is_told(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "a");
	struct log_source *source = task_source(job, "a", "master-replica-0");
	struct log_source *worker = task_source(job, "a", "worker-replica-0");
	struct log_tail *tail = NULL;

	plain_add(bench, source, "1");
	plain_add(bench, worker, "2");
	plain_add(bench, source, "3");
	static const struct {
		const char *filter, *expected;
		int64_t last;
	} cases[] = {
		{ NULL, "2|3", 2 },
		{ NULL, "", 0 },
		{ NULL, "1|2|3", 9 },
		{ "resource.labels.task_name=master-replica-0", "3", 1 },
		{ "resource.labels.task_name=master-replica-0", "1|3", -1 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		tail = tail_of(bench, job, cases[i].filter, cases[i].last);
		assert_read(tail, false, cases[i].expected);
		log_tail_close(tail);
	}
	struct log_tail_spec spec = { .job = job, .since_ns = START_NS + SECOND, .last = -1 };

	assert_int_equal(log_tail_open(bench->store, &spec, &tail, NULL), STATUS_OK);
	assert_read(tail, false, "");
	log_tail_close(tail);
	spec.filter = "nosuch=";
	assert_int_equal(log_tail_open(bench->store, &spec, &tail, NULL), STATUS_INVALID_ARGUMENT);
	log_source_unref(source);
	log_source_unref(worker);
}

/* Fails with: log_batch_write() that numbers by the clock alone: what came after it was put back was never new. */
static void a_clock_that_is_put_back_hides_nothing(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "a");
	struct log_source *source = task_source(job, "a", "master-replica-0");

	dated_add(bench, source, START_NS, NULL, "1");
	AUTO(log_tail) struct log_tail *tail = tail_of(bench, job, NULL, -1);

	assert_read(tail, true, "1");
	bench->now_ns -= 3600 * SECOND;
	dated_add(bench, source, START_NS - SECOND, NULL, "2");
	assert_read(tail, true, "2");
	log_source_unref(source);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(new_entries_follow_those_that_were_there),
		WITH_BENCH(entries_that_a_program_dates_come_once),
		WITH_BENCH(a_long_log_is_read_by_pages_while_it_grows),
		WITH_BENCH(what_comes_while_the_stored_is_read_comes_once),
		WITH_BENCH(a_tail_begins_where_it_is_told),
		WITH_BENCH(a_clock_that_is_put_back_hides_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
