/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the Logging query language, applied to stored entries. */
#include <time.h>

#include "store/filter/filter_values.h"
#include "tests/unit/store/store_testing.h"

#define SECOND INT64_C(1000000000)

static void entry_add(struct bench *bench, struct log_source *source, int64_t second, enum log_payload kind,
		      const char *payload)
{
	struct log_record record = {
		.source = source,
		.time_ns = START_NS + second * SECOND,
		.severity = second == 1 ? SEVERITY_WARNING : SEVERITY_INFO,
		.kind = kind,
		.payload = payload,
		.payload_length = strlen(payload),
		.extra = second == 2 ? "{\"labels\":{\"own\":\"Yes Sir\"},\"trace\":\"t/77\"}" : NULL
	};

	assert_true(log_offer(bench->store, &record));
}

/* Stores one entry per second; the second letter of JSON payloads and the first of texts identify them. */
static void entries_make(struct bench *bench)
{
	struct log_source *source = task_source(job_add(bench, "my_job"), "my_job", "worker-replica-1");

	entry_add(bench, source, 0, LOG_TEXT, "a Needle in hay-stack, user_7 10.0.0.1");
	entry_add(bench, source, 1, LOG_TEXT, "b needles");
	entry_add(
		bench, source, 2, LOG_JSON,
		"{\"c\":\"line\\nneedle\",\"ip\":\"10.1.2.3\",\"ips\":[7,\"192.168.0.1\",\"2001:db8::5\"],\"n\":\"42\","
		"\"ratio\":0.30000000000000004,\"took\":\"2.5s\",\"ok\":true,\"at\":\"2026-11-20T00:00:01Z\","
		"\"z\":null,\"key\":{\"deep\":[\"v\\u00e4lue\",{\"x\":17}]}}");
	entry_add(bench, source, 3, LOG_TEXT, "d a%20needle%3Bx");
	log_source_unref(source);
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
}

/* Each row was wrong with a fault of its own in the function that it names; those of SEARCH with text_has() for words. */
static const struct {
	const char *filter, *letters;
} filters[] = {
	{ "SEARCH(\"needle\")", "acd" },
	{ "search(needle)", "acd" },
	{ "SEARCH(\"STACK needle\")", "a" },
	{ "SEARCH(\"needle stack nothing\")", "" },
	{ "SEARCH(\"`needle in hay-`\")", "a" },
	{ "SEARCH(\"`needle  in`\")", "" },
	{ "SEARCH(\"`in needle`\")", "" },
	{ "SEARCH(\"`eedle in`\")", "" },
	{ "SEARCH(\"`needle i`\")", "" },
	{ "SEARCH(\"`10.0.0.1` user\")", "a" },
	{ "SEARCH(\"10.0.0.99\")", "" },
	{ "SEARCH(\"user_7\")", "a" },
	{ "NOT SEARCH(\"needle\")", "b" },
	{ "SEARCH(\"needle\") OR SEARCH(\"needles\")", "abcd" },
	{ "SEARCH(\"worker-replica-1\")", "abcd" }, /* found in the log's name */
	{ "SEARCH(\"my_job needles\")", "b" },
	{ "SEARCH(\"c line\")", "" }, /* c is found as a name */
	{ "SEARCH(\"v\xc3\xa4lue 17\")", "c" },
	{ "SEARCH(\"sir 77\")", "c" },
	{ "SEARCH(textPayload, \"needle\")", "ad" },
	{ "SEARCH(jsonPayload, \"needle\")", "c" },
	{ "SEARCH(jsonPayload.key, \"17\")", "c" },
	{ "SEARCH(jsonPayload.c, \"needle line\")", "c" },
	{ "SEARCH(jsonPayload.n, \"needle\")", "" },
	{ "SEARCH(labels, \"yes\")", "c" },
	{ "SEARCH(labels.own, \"sir\")", "c" },
	{ "SEARCH(resource.labels.task_name, \"worker\")", "abcd" },
	{ "SEARCH(logName, \"replica demo\")", "abcd" },
	{ "SEARCH(severity, \"warning\")", "b" },
	{ "SEARCH(timestamp, \"`2026-11-20T00:00:01`\")", "b" },
	{ "resource.labels.job_id=my_job SEARCH(\"needles\")", "b" },
	{ "ip_in_net(jsonPayload.ip, \"10.1.2.0/24\")", "c" },
	{ "ip_in_net(jsonPayload.ip, \"10.1.2.2/31\")", "c" },
	{ "ip_in_net(jsonPayload.ip, \"10.1.2.4/31\")", "" },
	{ "ip_in_net(jsonPayload.ip, \"0.0.0.0/0\")", "c" },
	{ "ip_in_net(jsonPayload.ip, \"10.1.2.3\")", "c" },
	{ "ip_in_net(jsonPayload.ips, \"2001:db8::/32\")", "c" },
	{ "ip_in_net(jsonPayload.ips, \"10.0.0.0/8\")", "" },
	{ "NOT ip_in_net(jsonPayload.ip, \"10.0.0.0/8\")", "abd" },
	{ "ip_in_net(regexp_extract(textPayload, \"([0-9.]+)$\"), \"10.0.0.0/8\")", "a" },
	{ "sample(insertId, 1)", "abcd" },
	{ "sample(jsonPayload.n, 1.0)", "c" },
	{ "sample(insertId, 0.0000001)", "" },
	{ "log_id(\"worker-replica-1\") LOG_ID(\"worker-replica-1\")", "abcd" },
	{ "source(projects/demo)", "abcd" },
	{ "source(\"projects/other\")", "" },
	{ "source(folders/folder_123)", "" },
	{ "NOT source(organizations/1)", "abcd" },
	{ "cast(jsonPayload.n, INT64) > 9", "c" },
	{ "cast(jsonPayload.n, INT64) > 42", "" },
	{ "cast(jsonPayload.n, INT64)=(41 OR 42)", "c" },
	{ "cast(jsonPayload.n, INT64):*", "c" },
	{ "cast(jsonPayload.took, INT64):*", "" },
	{ "NOT cast(jsonPayload.n, INT64) > 9", "abd" },
	{ "cast(jsonPayload.ratio, FLOAT64)=0.30000000000000004", "c" },
	{ "jsonPayload.ratio=0.30000000000000004", "c" },
	{ "jsonPayload.ratio=0.3", "" },
	{ "cast(jsonPayload.ok, BOOL)=true", "c" },
	{ "cast(jsonPayload.ok, STRING)=\"TRUE\"", "c" },
	{ "cast(jsonPayload.took, DURATION)<\"3s\"", "c" },
	{ "cast(jsonPayload.took, DURATION)>2.5", "" },
	{ "cast(jsonPayload.at, TIMESTAMP)>=\"2026-11-20T00:00:01Z\"", "c" },
	{ "cast(jsonPayload.at, TIMESTAMP)>\"2026-11-20T00:00:01Z\"", "" },
	{ "cast(timestamp, TIMESTAMP)>\"2026-11-20T00:00:01Z\"", "cd" },
	{ "cast(severity, STRING)=~\"^WARN\"", "b" },
	{ "cast(labels.own, STRING)!~\"^yes\"", "c" },
	{ "cast(timestamp, STRING)=~\"T00:00:0[12]\\\\..*Z$\"", "bc" },
	{ "cast(timestamp, STRING, TIMEZONE(\"UTC\"))=~\"T00:00:00\"", "a" },
	{ "CAST(REGEXP_EXTRACT(CAST(timestamp, STRING), \"\\\\d+:\\\\d+:(\\\\d+)\"), INT64) < 2", "ab" },
	{ "regexp_extract(textPayload, \"user_(\\\\d+)\") = \"7\"", "a" },
	{ "regexp_extract(textPayload, \"need[a-z]+\") = needles", "b" },
	{ "regexp_extract(textPayload, \"(x)?needles\"):*", "" },
	{ "jsonPayload.z = NULL_VALUE", "c" },
	{ "jsonPayload.z != NULL_VALUE", "" },
	{ "NOT jsonPayload.z = NULL_VALUE", "abd" },
};

static void functions_find_their_entries(void **state)
{
	BENCH(state);

	entries_make(bench);
	for (size_t i = 0; i < COUNT_OF(filters); i++) {
		struct gathering gathering = { .count = 0 };
		char letters[8] = "";
		size_t count = 0;

		if (logs_ask(bench, filters[i].filter, false, 1000, NULL, &gathering))
			fail_msg("%s: %s", filters[i].filter, bench->err.text);
		for (char *entry = gathering.text.data; entry && *entry; count++) {
			letters[count] = *entry == '{' ? entry[2] : *entry;
			entry = strchr(entry, '|');
			if (entry)
				entry++;
		}
		if (strcmp(letters, filters[i].letters) != 0)
			fail_msg("%s: %s", filters[i].filter, letters);
		text_deinit(&gathering.text);
	}
}

static void a_moment_is_shown_in_a_time_zone(void **state)
{
	BENCH(state);
	if (!filter_zone_known("America/New_York"))
		skip(); /* this machine has no tzdata */
	entries_make(bench);
	assert_logs(
		bench,
		"cast(timestamp, STRING, TIMEZONE(\"America/New_York\"))=~\"^2026-11-19T19:00:01.*-05:00$\"",
		"b needles");
	assert_logs(
		bench,
		"cast(timestamp, STRING, TIME_ZONE(\"Asia/Kolkata\"))=~\"^2026-11-20T05:30:01.*[+]05:30$\"",
		"b needles");
}

static void a_sample_is_such_a_part_and_always_the_same(void **state)
{
	BENCH(state);
	struct log_source *source = task_source(job_add(bench, "a"), "a", "master-replica-0");
	struct gathering first = { .count = 0 }, again = { .count = 0 };

	for (int i = 0; i < 1000; i++)
		entry_add(bench, source, i + 10, LOG_TEXT, "x");
	log_source_unref(source);
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	assert_int_equal(logs_ask(bench, "sample(insertId, 0.25)", false, 1000, NULL, &first), STATUS_OK);
	assert_in_range(first.count, 200, 300);
	assert_int_equal(logs_ask(bench, "sample(insertId, 0.5)", false, 1000, NULL, &again), STATUS_OK);
	assert_in_range(again.count, 440, 560);
	assert_int_equal(
		logs_ask(bench, "sample(insertId, 0.25) sample(insertId, 0.5)", false, 1000, NULL, &again),
		STATUS_OK);
	assert_int_equal(again.count, first.count);
	text_deinit(&first.text);
	text_deinit(&again.text);
}

static void what_no_function_takes_is_refused(void **state)
{
	BENCH(state);
	static const char *const bad[] = {
		"SEARCH(\"\")",
		"SEARCH(\" -.,\")",
		"SEARCH(\"`open\")",
		"SEARCH(\"``\")",
		"SEARCH(nosuch, \"x\")",
		"ip_in_net(jsonPayload.ip, \"10.1.2.0/33\")",
		"ip_in_net(jsonPayload.ip, \"10.1.2/24\")",
		"ip_in_net(jsonPayload.ip, \"10.1.2.0/\")",
		"ip_in_net(jsonPayload.ip, \"10.1.2.0/-1\")",
		"sample(insertId, 0)",
		"sample(insertId, 1.1)",
		"sample(insertId, nan)",
		"sample(insertId, half)",
		"source(demo)",
		"source(projects/)",
		"cast(nosuch, INT64)=1",
		"cast(jsonPayload.n, INT64)=x",
		"cast(jsonPayload.n, INT64)=~\"1\"",
		"cast(jsonPayload.n, BOOL)=1",
		"cast(jsonPayload.n, TIMESTAMP)>now",
		"cast(timestamp, STRING, TIMEZONE(\"Atlantis\"))=x",
		"cast(timestamp, STRING, TIMEZONE(\"../../../etc/passwd\"))=x",
		"regexp_extract(textPayload, \"[\")=x",
	};
	struct text many AUTO_TEXT = { 0 };
	struct gathering gathering = { .count = 0 };

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		if (logs_ask(bench, bad[i], false, 10, NULL, &gathering) != STATUS_INVALID_ARGUMENT)
			fail_msg("%s is taken", bad[i]);
		assert_non_null(strstr(bench->err.text, "Unparseable filter: "));
		error_deinit(&bench->err);
	}
	text_puts(&many, "SEARCH(\"");
	for (int i = 0; i < 65; i++)
		text_printf(&many, "w%d ", i);
	text_puts(&many, "\")");
	assert_int_equal(logs_ask(bench, many.data, false, 10, NULL, &gathering), STATUS_INVALID_ARGUMENT);
	text_deinit(&gathering.text);
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Fails with: text_find_folded() by short_find() alone: the first took over ten seconds.
 * Fails with: phrase_is_in() without PHRASE_TRIES_MAX: so did the second. */
static void a_long_search_costs_no_more_than_its_length(void **state)
{
	BENCH(state);
	enum { BYTES = 250000, NEEDLE_BYTES = 9000, ENTRIES = 8 };
	struct log_source *source = task_source(job_add(bench, "a"), "a", "master-replica-0");
	AUTO(string) char *payload = calloc(1, BYTES + 1);
	AUTO(string) char *needle = calloc(1, NEEDLE_BYTES + 1);
	struct text filter AUTO_TEXT = { 0 };
	const double begin = seconds_now();

	memset(payload, 'a', BYTES);
	memset(needle, 'a', NEEDLE_BYTES);
	needle[NEEDLE_BYTES - 1] = 'b';
	for (int i = 0; i < ENTRIES; i++)
		entry_add(bench, source, i + 10, LOG_TEXT, payload);
	log_source_unref(source);
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	text_printf(&filter, "\"%s\"", needle);
	assert_logs(bench, filter.data, "");
	needle[NEEDLE_BYTES - 1] = 'a';
	text_clear(&filter);
	text_printf(&filter, "SEARCH(\"`%s`\")", needle);
	assert_logs(bench, filter.data, "");
	assert_true(seconds_now() - begin < 5);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(functions_find_their_entries),
		WITH_BENCH(a_moment_is_shown_in_a_time_zone),
		WITH_BENCH(a_sample_is_such_a_part_and_always_the_same),
		WITH_BENCH(what_no_function_takes_is_refused),
		WITH_BENCH(a_long_search_costs_no_more_than_its_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
