/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/timestamp.h"
#include "tests/unit/store/store_testing.h"

#define SECOND INT64_C(1000000000)

static struct log_source *other_source(void)
{
	return log_source_new(
		&(struct log_source_spec){ .project = "demo",
					   .log_name = "my%2Flog",
					   .resource_type = "global",
					   .resource_labels = "{\"project_id\":\"demo\"}",
					   .labels = "{\"ml.googleapis.com/trial_id\":\"7\",\"k\":\"V\"}" });
}

static void json_add(struct bench *bench, struct log_source *source, int64_t time_ns, int severity,
		     const char *payload, const char *insert_id, const char *extra)
{
	struct log_record record = { .source = source,
				     .time_ns = time_ns,
				     .severity = severity,
				     .kind = LOG_JSON,
				     .payload = payload,
				     .payload_length = strlen(payload),
				     .insert_id = insert_id,
				     .extra = extra };

	assert_true(log_offer(bench->store, &record));
}

/* The first letter of a payload identifies the entry. */
static void entries_make(struct bench *bench)
{
	int64_t my_job = job_add(bench, "my_job"), second = job_add(bench, "stream_job");
	struct log_source *master = task_source(my_job, "my_job", "master-replica-0");
	struct log_source *worker = task_source(my_job, "my_job", "worker-replica-1");
	struct log_source *stream = task_source(second, "stream_job", "master-replica-0");
	struct log_source *other = other_source();

	line_add(bench, master, START_NS, SEVERITY_INFO, "a line 1");
	line_add(bench, worker, START_NS + SECOND, SEVERITY_WARNING, "b Line 2");
	line_add(bench, stream, START_NS + 2 * SECOND, SEVERITY_ERROR, "c line 3");
	json_add(
		bench, master, START_NS + 3 * SECOND, SEVERITY_ERROR,
		"{\"message\":\"d say \\\"hi\\\"\",\"step\":12,\"ok\":true,\"loss\":0.5,\"in\":{\"x y\":\"z\"}}",
		NULL, "{\"trace\":\"t1\",\"labels\":{\"own\":\"yes\"},\"httpRequest\":{\"status\":200,\"latency\":\"10.500s\"}}");
	json_add(bench, other, START_NS + 4 * SECOND, SEVERITY_DEFAULT, "{\"e\":null}", "tie-1", NULL);
	line_add(bench, other, START_NS + 5 * SECOND, SEVERITY_CRITICAL, "f done");
	log_source_unref(master);
	log_source_unref(worker);
	log_source_unref(stream);
	log_source_unref(other);
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
}

static const struct {
	const char *filter, *letters;
} filters[] = {
	{ "", "abcdef" },
	{ "resource.type=\"ml_job\"", "abcd" },
	{ "resource.type=ML_JOB", "abcd" },
	{ "resource.type!=ml_job", "ef" },
	{ "(resource.type=\"ml_job\" OR resource.type=\"cloudml_job\") AND resource.labels.job_id=\"my_job\"",
	  "abd" },
	{ "resource.labels.job_id=\"my_job\" AND (resource.labels.task_name=\"worker-replica-1\" OR"
	  " labels.task_name=\"worker-replica-1\")",
	  "b" },
	{ "resource.labels.job_id=\"MY_JOB\"", "abd" },
	{ "resource.labels.job_id=\"nobody\"", "" },
	{ "resource.labels.job_id=(\"my_job\" OR \"stream_job\")", "abcd" },
	{ "resource.labels.job_id:*", "abcd" },
	{ "NOT resource.labels.job_id:*", "ef" },
	{ "resource.labels.job_id!=my_job", "c" },
	{ "resource.labels.task_name:replica", "abcd" },
	{ "resource.labels.task_name=~\"^worker-.*[0-9]$\"", "b" },
	{ "labels.\"ml.googleapis.com/trial_id\"=7", "ef" },
	{ "labels.k=v", "ef" },
	{ "labels.own=yes", "d" },
	{ "labels:own", "d" },
	{ "NOT labels.own=yes", "abcef" },
	{ "severity>=ERROR", "cdf" },
	{ "severity=warning", "b" },
	{ "severity!=INFO", "bcdef" },
	{ "severity<=DEBUG", "e" },
	{ "severity=(WARNING OR CRITICAL)", "bf" },
	{ "severity>400", "cdf" },
	{ "timestamp>=\"2026-11-20T00:00:02Z\"", "cdef" },
	{ "timestamp<\"2026-11-20T01:00:02+01:00\"", "ab" },
	{ "timestamp>=\"2026-11-20\" AND timestamp<=\"2026-11-20T00:00:01.000000000Z\"", "ab" },
	{ "timestamp=\"2026-11-20T00:00:04.000000000Z\"", "e" },
	{ "timestamp!=\"2026-11-20T00:00:04.000000000Z\"", "abcdf" },
	{ "(timestamp=\"2026-11-20T00:00:04Z\" AND insertId>\"tie-0\") OR timestamp>\"2026-11-20T00:00:04Z\"",
	  "ef" },
	{ "(timestamp=\"2026-11-20T00:00:04Z\" AND insertId>\"tie-1\") OR timestamp>\"2026-11-20T00:00:04Z\"",
	  "f" },
	{ "insertId=\"tie-1\"", "e" },
	{ "insertId=\"0000000000000002\"", "b" },
	{ "insertId>\"0000000000000002\" insertId<\"0000000000000004\"", "c" },
	{ "receiveTimestamp>=\"2026-11-20\"", "abcdef" },
	{ "logName=\"projects/demo/logs/master-replica-0\"", "acd" },
	{ "logName:worker", "b" },
	{ "log_id(\"my/log\")", "ef" },
	{ "log_id(\"my%2Flog\")", "ef" },
	{ "-log_id(\"my/log\")", "abcd" },
	{ "textPayload:\"LINE 2\"", "b" },
	{ "textPayload=\"a line 1\"", "a" },
	{ "textPayload:*", "abcf" },
	{ "textPayload=~\"[Ll]ine [12]\"", "ab" },
	{ "textPayload!~\"line\"", "bf" },
	{ "jsonPayload:*", "de" },
	{ "jsonPayload.step=12", "d" },
	{ "jsonPayload.step>9", "d" },
	{ "jsonPayload.step<9", "" },
	{ "jsonPayload.loss<0.75", "d" },
	{ "jsonPayload.ok=true", "d" },
	{ "jsonPayload.ok=1", "" },
	{ "jsonPayload.in.\"x y\"=Z", "d" },
	{ "jsonPayload.message:\"say \\\"HI\\\"\"", "d" },
	{ "jsonPayload.message=~\"^d say\"", "d" },
	{ "jsonPayload.e:*", "e" },
	{ "jsonPayload.nothing!=1", "" },
	{ "NOT jsonPayload.nothing=1", "abcdef" },
	{ "trace=t1", "d" },
	{ "httpRequest.status>=200", "d" },
	{ "http_request.status=404", "" },
	/* Fails with: json_compare_put() without TRAIT_DURATIONS: "10.500s" is less than "9s". */
	{ "httpRequest.latency>\"9s\"", "d" },
	{ "httpRequest.latency=10.5s", "d" },
	{ "httpRequest.latency<\"10.6s\" httpRequest.latency>=\"10.5s\"", "d" },
	{ "httpRequest.latency>\"11s\"", "" },
	{ "\"line\"", "abc" },
	{ "line 3", "c" },
	{ "\"say \\\"hi\\\"\"", "d" },
	{ "worker-replica-1", "b" },
	{ "stream_job OR done", "cf" },
	{ "resource.labels.job_id=\"my_job\" AND severity>=ERROR", "d" },
	{ "resource.labels.job_id=\"my_job\" timestamp>=\"2026-01-01T00:00:00Z\"", "abd" },
	{ "timestamp>=\"2026-11-19T21:41:24.028499Z\" AND logName=\"projects/demo/logs/master-replica-0\" AND \"line\"",
	  "ac" },
	{ "jsonPayload.\"a\\\"b\"=1", "" },
};

static void filters_find_their_entries(void **state)
{
	BENCH(state);

	entries_make(bench);
	for (size_t i = 0; i < COUNT_OF(filters); i++) {
		for (int descending = 0; descending < 2; descending++) {
			struct gathering gathering = { .count = 0 };
			char letters[16] = "";
			size_t count = 0;

			if (logs_ask(bench, filters[i].filter, descending, 1000, NULL, &gathering))
				fail_msg("%s: %s", filters[i].filter, bench->err.text);
			for (char *entry = gathering.text.data; entry && *entry; count++) {
				letters[count] = *entry == '{' ? entry[2] == 'm' ? 'd' : 'e' : *entry;
				entry = strchr(entry, '|');
				if (entry)
					entry++;
			}
			for (size_t at = 0; descending && at < count / 2; at++) {
				char kept = letters[at];

				letters[at] = letters[count - 1 - at];
				letters[count - 1 - at] = kept;
			}
			if (strcmp(letters, filters[i].letters) != 0)
				fail_msg("%s: %s", filters[i].filter, letters);
			text_deinit(&gathering.text);
		}
	}
}

/* The upper bound of a log stream's filter, this many seconds before now. */
static void margin_ask(struct bench *bench, const char *before, double seconds, bool descending,
		       const char *expected)
{
	struct text filter AUTO_TEXT = { 0 };
	struct gathering gathering = { .count = 0 };

	text_printf(&filter, "%s AND timestamp<\"", before);
	text_time_nanos(&filter, bench->now_ns - (int64_t)(seconds * SECOND));
	text_puts(&filter, "\"");
	assert_int_equal(logs_ask(bench, filter.data, descending, 1000, NULL, &gathering), STATUS_OK);
	if (strcmp(gathering.text.data, expected) != 0)
		fail_msg("%s: %s", filter.data, gathering.text.data);
	text_deinit(&gathering.text);
}

static void a_stream_is_answered_up_to_the_present(void **state)
{
	BENCH(state);
	const char *stream =
		"(resource.type=\"ml_job\" OR resource.type=\"cloudml_job\") AND"
		" resource.labels.job_id=\"my_job\" AND timestamp>=\"1970-01-01T01:00:00.000000000Z\"";
	const char *later = "resource.labels.job_id=\"my_job\" AND ((timestamp=\"2026-11-20T00:00:00Z\" AND"
			    " insertId>\"zz\") OR timestamp>\"2026-11-20T00:00:00Z\")";
	struct log_source *source = task_source(job_add(bench, "my_job"), "my_job", "master-replica-0");

	line_add(bench, source, START_NS, SEVERITY_INFO, "old");
	bench->now_ns = START_NS + 60 * SECOND;
	line_add(bench, source, bench->now_ns - SECOND, SEVERITY_INFO, "new");
	log_source_unref(source);
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	margin_ask(bench, stream, 5, false, "old|new");
	margin_ask(bench, later, 5, false, "new");
	margin_ask(bench, stream, 3.5, false, "old");  /* the user's own bound */
	margin_ask(bench, stream, 12.5, false, "old"); /* the user's own bound */
	margin_ask(bench, stream, 5, true, "old");     /* not the filter of a log stream */
	margin_ask(bench, "resource.labels.job_id=\"my_job\"", 5, false, "old");
	margin_ask(bench, "timestamp>=\"1970-01-01T01:00:00Z\"", 5, false, "old");
	margin_ask(bench, "(severity=DEBUG OR severity=INFO) AND timestamp>=\"1970-01-01T01:00:00Z\"", 5,
		   false, "old");
}

static void what_cannot_be_understood_is_refused(void **state)
{
	BENCH(state);
	static const char *const bad[] = {
		"resource.type= = ((",
		"timestamp>=\"2026-11-19T22:41:25.196044Z\" AND resource.type= = ((",
		"nosuch=1",
		"severity=LOUD",
		"timestamp>now",
		"textPayload=~\"[\"",
		"resource.labels.job_id=",
		"nofunction(\"x\")",
		"resource.labels.job_id=\"nobody\" AND nosuch=1",
	};

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct gathering gathering = { .count = 0 };

		assert_int_equal(logs_ask(bench, bad[i], false, 10, NULL, &gathering),
				 STATUS_INVALID_ARGUMENT);
		assert_non_null(strstr(bench->err.text, "Unparseable filter: "));
		text_deinit(&gathering.text);
	}
}

static void a_costly_expression_ends(void **state)
{
	BENCH(state);
	struct log_source *source = other_source();
	char payload[5001];

	memset(payload, 'a', 5000);
	payload[5000] = '\0';
	line_add(bench, source, START_NS, SEVERITY_INFO, payload);
	log_source_unref(source);
	log_flush(bench->store, NULL);
	assert_logs(bench, "textPayload=~\"^(a+)+$b\"", "");
	assert_logs(bench, "textPayload=~\"(a|a)*(a|a)*(a|a)*b\"", "");
}

static void long_filters_work(void **state)
{
	BENCH(state);
	struct text filter AUTO_TEXT = { 0 };

	entries_make(bench);
	text_puts(&filter, "insertId=(\"tie-1\"");
	for (int i = 0; i < 1400; i++)
		text_printf(&filter, " OR \"x%04d\"", i);
	text_puts(&filter, ")");
	assert_logs(bench, filter.data, "{\"e\":null}");
	text_clear(&filter);
	for (int i = 0; i < 1900; i++)
		text_puts(&filter, "DONE ");
	assert_logs(bench, filter.data, "f done");
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(filters_find_their_entries),
		WITH_BENCH(a_stream_is_answered_up_to_the_present),
		WITH_BENCH(what_cannot_be_understood_is_refused),
		WITH_BENCH(a_costly_expression_ends),
		WITH_BENCH(long_filters_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
