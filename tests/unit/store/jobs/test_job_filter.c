/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/store_testing.h"

static void jobs_make(struct bench *bench)
{
	static const struct {
		const char *name, *labels, *error;
		enum job_state state;
	} jobs[] = {
		{ "census_1", "{\"owner\":\"alice\",\"env\":\"dev\"}", NULL, JOB_QUEUED },
		{ "census_2", "{\"owner\":\"bob\"}", NULL, JOB_PREPARING },
		{ "rnn_1", NULL, "The replica master 0 ran out of memory", JOB_FAILED },
		{ "rnn_Census", "{\"team\":\"owner\",\"a.b/c\":\"1\"}", NULL, JOB_CANCELLING },
	};

	for (size_t i = 0; i < COUNT_OF(jobs); i++, bench->now_ns += INT64_C(3600000000000)) {
		struct job job = job_named(jobs[i].name);
		struct job *stored = NULL;
		struct job_change change = { .from = JOB_QUEUED,
					     .to = jobs[i].state,
					     .error_message = jobs[i].error };

		job.labels = LITERAL(jobs[i].labels);
		assert_int_equal(job_insert(bench->store, &job, NULL, 0, &stored, NULL), STATUS_OK);
		change.job = stored->id;
		change.started_us = jobs[i].state == JOB_PREPARING ? bench->now_ns / 1000 + 500000 : 0;
		assert_int_equal(job_apply(bench->store, &change, 1, NULL), STATUS_OK);
		job_free(stored);
	}
}

/* Expected ids, oldest first, by their last characters. */
static const struct {
	const char *filter, *expected;
} filters[] = {
	{ "", "census_1 census_2 rnn_1 rnn_Census" },
	{ "jobId:census*", "census_1 census_2" },
	{ "job_id:census*", "census_1 census_2" },
	{ "jobId=census*", "census_1 census_2" },
	{ "jobId:*1", "census_1 rnn_1" },
	{ "jobId:*_*", "census_1 census_2 rnn_1 rnn_Census" },
	{ "jobId:census", "census_1 census_2 rnn_Census" },
	{ "jobId=rnn_1", "rnn_1" },
	{ "jobId=RNN_1", "" },
	{ "jobId!=rnn_1", "census_1 census_2 rnn_Census" },
	{ "jobId!=rnn*", "census_1 census_2" },
	{ "jobId=~\"^rnn_[0-9]$\"", "rnn_1" },
	{ "jobId!~\"_1$\"", "census_2 rnn_Census" },
	{ "jobId:rnn* AND state:FAILED", "rnn_1" },
	{ "state=FAILED", "rnn_1" },
	{ "state=failed", "rnn_1" },
	{ "state!=FAILED", "census_1 census_2 rnn_Census" },
	{ "NOT state=FAILED", "census_1 census_2 rnn_Census" },
	{ "state=(QUEUED OR PREPARING)", "census_1 census_2" },
	{ "state:QUEUED OR state:FAILED", "census_1 rnn_1" },
	{ "createTime>=2026-11-20T02:00:00Z", "rnn_1 rnn_Census" },
	{ "createTime>\"2026-11-20T02:00:00Z\"", "rnn_Census" },
	{ "createTime=2026-11-20T02:00", "rnn_1" },
	{ "createTime<2026-11-20T03:00:00+01:00", "census_1 census_2" },
	{ "create_time<=2026-11-20T00:00:00Z", "census_1" },
	{ "createTime<2026-11-20", "" },
	{ "createTime>2026-11-20T00:30:00Z createTime<2026-11-20T01:30:00Z", "census_2" },
	{ "startTime:*", "census_2" },
	{ "startTime>2020-01-01", "census_2" },
	{ "startTime=2026-11-20T01:00:00Z", "census_2" },
	{ "NOT startTime:*", "census_1 rnn_1 rnn_Census" },
	{ "endTime>2020-01-01", "" },
	{ "labels.owner=alice", "census_1" },
	{ "labels.owner!=alice", "census_2" },
	{ "NOT labels.owner=alice", "census_2 rnn_1 rnn_Census" },
	{ "labels.owner:*", "census_1 census_2" },
	{ "labels:owner", "census_1 census_2" },
	{ "labels.owner:a*", "census_1" },
	{ "labels.\"a.b/c\"=1", "rnn_Census" },
	{ "labels.env=dev AND state=SUCCEEDED", "" },
	{ "errorMessage:memory", "rnn_1" },
	{ "errorMessage:MEMORY", "rnn_1" },
	{ "-errorMessage:memory", "census_1 census_2 rnn_Census" },
	{ "trainingInput.scaleTier=BASIC", "census_1 census_2 rnn_1 rnn_Census" },
	{ "training_input.scale_tier=basic state=FAILED", "rnn_1" },
	{ "trainingInput.workerCount>9", "census_1 census_2 rnn_1 rnn_Census" },
	{ "trainingInput.workerCount>100", "" },
	{ "trainingInput.region:*", "" },
	{ "alice", "census_1" },
	{ "census_1 OR bob", "census_1 census_2" },
};

static void filters_find_their_jobs(void **state)
{
	BENCH(state);

	jobs_make(bench);
	for (size_t i = 0; i < COUNT_OF(filters); i++) {
		struct job_list list AUTO_JOB_LIST = { 0 };
		struct text text AUTO_TEXT = { 0 };

		if (job_list_page(bench->store, "demo", filters[i].filter, 100, NULL, &list, &bench->err))
			fail_msg("%s: %s", filters[i].filter, bench->err.text);
		text_puts(&text, "");
		for (size_t at = list.count; at-- > 0;)
			text_printf(&text, "%s%s", list.jobs[at].job_id, at ? " " : "");
		if (strcmp(text.data, filters[i].expected) != 0)
			fail_msg("%s: %s", filters[i].filter, text.data);
	}
}

static void pages_of_a_filter_join_without_a_gap(void **state)
{
	BENCH(state);
	AUTO(string) char *token = NULL;
	size_t count = 0;

	jobs_make(bench);
	do {
		struct job_list list AUTO_JOB_LIST = { 0 };

		assert_int_equal(job_list_page(bench->store, "demo",
					       "createTime>=2026-11-20 createTime<2026-11-21", 1, token,
					       &list, &bench->err),
				 STATUS_OK);
		assert_int_equal(list.count, 1);
		count++;
		free(token);
		token = TAKE(list.next_page_token);
	} while (token);
	assert_int_equal(count, 4);
}

static void what_cannot_be_understood_is_refused(void **state)
{
	BENCH(state);
	static const char *const bad[] = {
		"nosuch=1",  "state=NOSUCH",           "createTime>yesterday",
		"jobId=",    "createTime=~x",          "jobId=~\"(\"",
		"log_id(x)", "state=FAILED log_id(x)", "trainingInputs.x=1",
		"jobId.x=1", "(state=FAILED",
	};
	struct job_list list = { 0 };

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		assert_int_equal(job_list_page(bench->store, "demo", bad[i], 10, NULL, &list, &bench->err),
				 STATUS_INVALID_ARGUMENT);
		assert_string_equal(bench->err.violations[0].field, "filter");
		assert_non_null(strstr(bench->err.text, "line 1, column "));
	}
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(filters_find_their_jobs),
		WITH_BENCH(pages_of_a_filter_join_without_a_gap),
		WITH_BENCH(what_cannot_be_understood_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
