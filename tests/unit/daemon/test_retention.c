/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/retention.h"

#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "store/jobs/job_purge.h"
#include "store/jobs/jobs.h"
#include "tests/unit/store/store_testing.h"

enum { ENDED = 12, LOOKS_MAX = 60000, LOOK_US = 1000, HOUR_S = 3600 };

static void job_fail(struct bench *bench, int64_t job)
{
	struct job_change change = { .job = job,
				     .from = JOB_QUEUED,
				     .to = JOB_FAILED,
				     .tears_down = true,
				     .ended_us = START_NS / 1000 };

	assert_int_equal(job_apply(bench->store, &change, 1, &bench->err), STATUS_OK);
	assert_true(change.applied);
}

static int64_t removed(struct retention *retention)
{
	AUTO(json) json_t *told = retention_report(retention);

	assert_string_equal(json_text_at(told, "keep"), "30m");
	return json_int_at(told, "removedJobs", -1);
}

/* While its thread removes jobs, others are made and read. Fails with: one_remove() that counts without the lock:
 * ThreadSanitizer told of it. */
static void jobs_that_ended_long_ago_go_while_others_are_made(void **state)
{
	BENCH(state);
	struct retention *retention = NULL;
	char name[32];

	for (int i = 0; i < ENDED; i++) {
		snprintf(name, sizeof(name), "ended_%d", i);
		job_fail(bench, job_add(bench, name));
	}
	bench->now_ns += HOUR_S * INT64_C(1000000000);
	assert_int_equal(retention_open(&(struct retention_options){ .store = bench->store,
								     .clock = &bench->clock,
								     .keep = "30m" },
					&retention, &bench->err),
			 STATUS_OK);
	for (int made = 0, looks = 0; removed(retention) < ENDED; looks++) {
		struct job_list list AUTO_JOB_LIST = { 0 };

		if (made < ENDED) {
			snprintf(name, sizeof(name), "made_%d", made++);
			job_add(bench, name);
		}
		assert_int_equal(job_list_unfinished(bench->store, &list, &bench->err), STATUS_OK);
		assert_int_equal(list.count, made);
		assert_true(looks < LOOKS_MAX);
		usleep(LOOK_US);
	}
	retention_close(retention);
}

/* With the store reopened, which empties the write-ahead log into the file. */
static int64_t logs_bytes(struct bench *bench)
{
	char path[256];
	struct stat about;

	bench_reopen(bench);
	snprintf(path, sizeof(path), "%s/logs.db", bench->dir);
	assert_int_equal(stat(path, &about), 0);
	return about.st_size;
}

/* Fails with: connection_shrink() left out of log_batch_purge(): the file kept its size. KEPT_PAGES 0: each job that came after
 * made it grow again. */
static void a_removed_log_gives_its_room_back(void **state)
{
	BENCH(state);
	enum { LINES = 20, LINE_BYTES = 1 << 20 };
	const int64_t job = job_add(bench, "large");
	struct log_source *source = task_source(job, "large", "master-replica-0");
	char *line = malloc(LINE_BYTES);
	int64_t left;

	memset(line, 'x', LINE_BYTES - 1);
	line[LINE_BYTES - 1] = '\0';
	for (int i = 0; i < LINES; i++) {
		line_add(bench, source, START_NS + i, 0, line);
		assert_int_equal(log_flush(bench->store, &bench->err), STATUS_OK);
	}
	assert_in_range(logs_bytes(bench), LINES * LINE_BYTES, 2 * LINES * LINE_BYTES);
	job_fail(bench, job);
	assert_int_equal(job_purge(bench->store, job, &bench->err), STATUS_OK);
	left = logs_bytes(bench);
	assert_in_range(left, 4 << 20, 8 << 20);
	log_source_unref(source);
	free(line);
}

static void without_a_limit_nothing_is_removed(void **state)
{
	BENCH(state);
	struct retention *retention = NULL;

	assert_int_equal(retention_open(&(struct retention_options){ .store = bench->store, .clock = &bench->clock },
					&retention, &bench->err),
			 STATUS_OK);
	assert_null(retention);
	assert_null(retention_report(retention));
	retention_close(retention);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(jobs_that_ended_long_ago_go_while_others_are_made),
		WITH_BENCH(a_removed_log_gives_its_room_back),
		WITH_BENCH(without_a_limit_nothing_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
