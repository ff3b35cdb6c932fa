/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/job_log.h"

#include "api/emulator/jobs.h"
#include "api/http/exchange.h"
#include "tests/unit/store/store_testing.h"

/* How long the log's writer is blocked: a reader that does not wait for the writer ends long before. */
static void writer_hold(void *arg)
{
	(void)arg;
	usleep(300000);
}

static void job_end(struct bench *bench, int64_t job)
{
	struct job_change change = { .job = job, .from = JOB_QUEUED, .to = JOB_FAILED, .error_message = "x" };

	assert_int_equal(job_apply(bench->store, &change, 1, &bench->err), STATUS_OK);
}

/* Fails with: an end_look() without log_flush(): the last line was missing. */
static void the_log_of_an_ended_job_ends_behind_its_last_line(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "my_job");
	struct log_source *source = task_source(job, "my_job", "master-replica-0");
	struct jobs_context context = { .store = bench->store };
	const atomic_bool closing = false;
	const struct exchange_rules rules = { .closing = &closing };
	struct exchange exchange = { .rules = &rules };
	AUTO(json) json_t *query = json_pack("{s:b}", "follow", 1);
	struct call call = { .context = &context,
			     .route = jobs_routes,
			     .exchange = &exchange,
			     .query = query,
			     .params = { { "job", "my_job" } },
			     .param_count = 1 };
	struct text text AUTO_TEXT = { 0 };
	char piece[4096];
	ssize_t length;

	assert_int_equal(job_log_stream(&call, &bench->err), STATUS_OK);
	log_barrier(bench->store, writer_hold, NULL);
	line_add(bench, source, START_NS, SEVERITY_INFO, "the last line");
	job_end(bench, job);
	while ((length = call.stream.read(call.stream.arg, piece, sizeof(piece))) != STREAM_END) {
		assert_true(length > 0 || length == STREAM_QUIET);
		text_append(&text, piece, length > 0 ? (size_t)length : 0);
	}
	call.stream.close(call.stream.arg);
	assert_non_null(strstr(text.data ? text.data : "", "the last line"));
	log_source_unref(source);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_log_of_an_ended_job_ends_behind_its_last_line, bench_open,
						bench_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
