/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_changes.h"

#include <pthread.h>


#include "store/jobs/pipelines.h"
#include "store/jobs/resources.h"
#include "store/jobs/summaries.h"
#include "tests/unit/store/store_testing.h"

/* "1 2": jobs that changed after *after, which is advanced; or "lost". */
static char *changed(struct job_changes *changes, uint64_t *after)
{
	int64_t jobs[JOB_CHANGES_KEPT];
	struct text told AUTO_TEXT = { 0 };
	size_t count = 0;
	uint64_t last = 0;

	text_puts(&told, "");
	if (!job_changes_read(changes, *after, jobs, &count, &last))
		text_puts(&told, "lost");
	else
		for (size_t i = 0; i < count; i++)
			text_printf(&told, "%s%lld", i ? " " : "", (long long)jobs[i]);
	*after = last;
	return text_take(&told);
}

static void assert_changed(struct job_changes *changes, uint64_t *after, const char *expected)
{
	AUTO(string) char *told = changed(changes, after);

	assert_string_equal(told, expected);
}

/* Fails with: the kept range one longer than the ring has room for. */
static void the_last_changes_are_kept_and_each_job_comes_once(void **state)
{
	(void)state;
	AUTO(job_changes) struct job_changes *changes = job_changes_new();
	uint64_t begin = 0, early = 0, late;

	assert_changed(changes, &begin, "");
	job_changes_add(changes, 7);
	job_changes_add(changes, 3);
	job_changes_add(changes, 7);
	assert_changed(changes, &begin, "3 7");
	assert_int_equal(begin, 3);
	assert_changed(changes, &begin, "");
	for (int i = 0; i < JOB_CHANGES_KEPT - 3; i++)
		job_changes_add(changes, 9);
	assert_changed(changes, &early, "3 7 9");
	early = 0;
	late = 1;
	job_changes_add(changes, 5);
	assert_changed(changes, &late, "3 5 7 9");
	assert_changed(changes, &early, "lost");
	late = early + 1; /* not yet */
	assert_changed(changes, &late, "lost");
	job_changes_lose(changes);
	assert_changed(changes, &early, "lost");
	assert_changed(changes, &early, "");
}

static void *adder_main(void *arg)
{
	job_changes_add(arg, 4);
	return NULL;
}

static void a_change_ends_a_wait(void **state)
{
	(void)state;
	AUTO(job_changes) struct job_changes *changes = job_changes_new();
	pthread_t thread;

	assert_false(job_changes_await(changes, 0, 1000));
	assert_int_equal(pthread_create(&thread, NULL, adder_main, changes), 0);
	assert_true(job_changes_await(changes, 0, INT64_C(60000000)));
	pthread_join(thread, NULL);
}

/* Fails with: no update hook; lines of the service that tell of nothing. */
static void each_commit_tells_of_its_jobs(void **state)
{
	BENCH(state);
	struct job_changes *changes = store_job_changes(bench->store);
	const struct service_line line = { SEVERITY_INFO, "It waits." };
	struct job job = job_named("second"), *stored = NULL;
	uint64_t after = 0;

	assert_int_equal(job_add(bench, "first"), 1);
	assert_changed(changes, &after, "1");
	assert_int_equal(job_cancel(bench->store, "demo", "first", "", &bench->err), STATUS_OK);
	assert_changed(changes, &after, "1");
	assert_int_not_equal(job_cancel(bench->store, "demo", "none", "", &bench->err), STATUS_OK);
	assert_changed(changes, &after, "");
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	after = job_changes_last(changes);
	assert_int_equal(job_insert(bench->store, &job, &line, 1, &stored, &bench->err), STATUS_OK);
	job_free(stored);
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	/* a change of its row, and of the line that was stored later */
	assert_int_equal(job_changes_last(changes), after + 2);
	assert_changed(changes, &after, "2");
}

static void assert_some(struct bench *bench, const char *project, const char *filter, const char *expected,
			size_t left)
{
	int64_t jobs[] = { 1, 2, 3, 99 };
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	struct text ids AUTO_TEXT = { 0 };
	size_t count = COUNT_OF(jobs);

	assert_int_equal(summary_list_some(bench->store, project, filter, jobs, &count, &list, &bench->err),
			 STATUS_OK);
	text_puts(&ids, "");
	for (size_t i = 0; i < list.count; i++)
		text_printf(&ids, "%s%s", i ? " " : "", list.jobs[i].job_id);
	assert_string_equal(ids.data, expected);
	assert_int_equal(count, left);
}

static void some_jobs_are_those_that_the_list_has(void **state)
{
	BENCH(state);
	struct job trial = job_named("trial"), *stored = NULL;

	job_add(bench, "first");
	bench->now_ns += 1000000000;
	job_add(bench, "second");
	trial.parent = 1;
	trial.trial = 1;
	assert_int_equal(job_insert(bench->store, &trial, NULL, 0, &stored, &bench->err), STATUS_OK);
	job_free(stored);
	assert_some(bench, NULL, NULL, "second first", 3);
	assert_some(bench, "demo", NULL, "second first", 3);
	assert_some(bench, "other", NULL, "", 3);
	assert_some(bench, NULL, "id=first", "first", 3);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_changes_are_kept_and_each_job_comes_once),
		cmocka_unit_test(a_change_ends_a_wait),
		WITH_BENCH(each_commit_tells_of_its_jobs),
		WITH_BENCH(some_jobs_are_those_that_the_list_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
