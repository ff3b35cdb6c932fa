/* SPDX-License-Identifier: Apache-2.0 */
/* Logs that a client deletes, while other logs of the same jobs exist. */
#include <sqlite3.h>

#include "daemon/base/work.h"
#include "store/logs/logs_writer.h"
#include "store/store_parts.h"
#include "tests/unit/store/store_testing.h"

#define SECOND INT64_C(1000000000)
/* More than two slices. */
enum { LINES = 11000 };

static int64_t number_of(struct bench *bench, const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *row = NULL;
	char path[128];
	int64_t number;

	snprintf(path, sizeof(path), "%s/logs.db", bench->dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(row), SQLITE_ROW);
	number = sqlite3_column_int64(row, 0);
	sqlite3_finalize(row);
	sqlite3_close(db);
	return number;
}

/* Fails with: log_purge_slice() that says after the first slice that none is left: 5000 of 16500 entries were removed.
 * LOG_ENTRY_PURGE without the log's sources: b was empty too. */
static void a_log_of_many_slices_goes_and_the_others_of_its_job_stay(void **state)
{
	BENCH(state);
	struct log_source *a = task_source(1, "j", "a"), *b = task_source(1, "j", "b");

	for (int i = 0; i < LINES; i++)
		line_add(bench, i % 2 ? a : b, START_NS + i, SEVERITY_INFO, i % 2 ? "a" : "b");
	for (int i = 0; i < LINES; i++)
		line_add(bench, a, START_NS + LINES + i, SEVERITY_INFO, "a");
	assert_int_equal(log_purge(bench->store, "demo", "a", &bench->err), STATUS_OK);
	assert_int_equal(number_of(bench, "SELECT count(*) FROM entry WHERE payload = 'a'"), 0);
	assert_int_equal(number_of(bench, "SELECT count(*) FROM entry WHERE payload = 'b'"), LINES / 2);
	assert_int_equal(number_of(bench, "SELECT count(*) FROM source"), 1);
	log_source_unref(a);
	log_source_unref(b);
}

/* Fails with: log_purge() that ends with the first job: a was still listed. log_forget() that keeps the batch's numbering: "again"
 * was stored for a source that is gone, and never read. */
static void it_goes_from_all_jobs_and_comes_again_with_the_next_entry(void **state)
{
	BENCH(state);
	struct log_source *sources[] = { task_source(1, "j", "a"), task_source(2, "k", "a"),
					 task_source(0, "k", "a"), task_source(1, "j", "b") };
	AUTO(string) char *names = NULL;
	AUTO(string) char *token = NULL;

	for (size_t i = 0; i < COUNT_OF(sources); i++)
		line_add(bench, sources[i], START_NS, SEVERITY_INFO, "x");
	assert_int_equal(log_purge(bench->store, "other", "a", &bench->err), STATUS_NOT_FOUND);
	assert_int_equal(log_purge(bench->store, "demo", "a", &bench->err), STATUS_OK);
	assert_int_equal(log_names_page(bench->store, "demo", 9, NULL, &names, &token, NULL), STATUS_OK);
	assert_string_equal(names, "[\"projects/demo/logs/b\"]");
	assert_logs(bench, "", "x");
	assert_int_equal(log_purge(bench->store, "demo", "a", &bench->err), STATUS_NOT_FOUND);
	line_add(bench, sources[0], START_NS + SECOND, SEVERITY_INFO, "again");
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	assert_logs(bench, "logName=\"projects/demo/logs/a\"", "again");
	for (size_t i = 0; i < COUNT_OF(sources); i++)
		log_source_unref(sources[i]);
}

/* A program that prints during the whole call: after each stored batch, more lines than a slice removes. */
struct program {
	struct bench *bench;
	struct log_source *source;
	unsigned rounds; /* a limit, so that it ends in any case */
	bool stops, ended;
};

static void program_print(void *arg)
{
	struct program *program = arg;

	if (program->rounds-- == 0 || __atomic_load_n(&program->stops, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&program->ended, true, __ATOMIC_RELEASE);
		return;
	}
	for (int i = 0; i < LINES / 2; i++)
		line_add(program->bench, program->source, START_NS + SECOND, SEVERITY_INFO, "later");
	log_barrier(program->bench->store, program_print, program);
}

/* Fails with: log_purge() without a bound: it went on until the program ended, and "later" was gone. log_forget() that
 * removes all sources of the log: its later entries were not found. */
static void entries_that_come_during_the_call_stay(void **state)
{
	BENCH(state);
	struct log_source *a = task_source(1, "j", "a");
	struct program program = { .bench = bench, .source = a, .rounds = 40 };
	bool went_on;

	for (int i = 0; i < LINES; i++)
		line_add(bench, a, START_NS, SEVERITY_INFO, "a");
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	log_barrier(bench->store, program_print, &program);
	assert_int_equal(log_purge(bench->store, "demo", "a", &bench->err), STATUS_OK);
	went_on = !__atomic_load_n(&program.ended, __ATOMIC_ACQUIRE);
	__atomic_store_n(&program.stops, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&program.ended, __ATOMIC_ACQUIRE))
		assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	assert_true(went_on);
	assert_int_equal(number_of(bench, "SELECT count(*) FROM entry WHERE payload = 'a'"), 0);
	assert_true(number_of(bench, "SELECT count(*) FROM entry JOIN source ON source.id = source") > 0);
	assert_int_equal(number_of(bench, "SELECT count(*) FROM entry WHERE source NOT IN (SELECT id FROM source)"), 0);
	assert_int_equal(log_purge(bench->store, "demo", "a", &bench->err), STATUS_OK);
	assert_int_equal(number_of(bench, "SELECT count(*) FROM entry"), 0);
	assert_int_equal(number_of(bench, "SELECT count(*) FROM source"), 0);
	log_source_unref(a);
}

/* The client disconnects once the first entries are removed. */
static bool is_begun(void *arg)
{
	return number_of(arg, "SELECT count(*) FROM entry") < 3 * LINES;
}

/* Fails with: log_purge() without work_check(): it removed all entries for a client that was gone. */
static void a_call_that_is_not_waited_for_leaves_the_rest_to_the_next(void **state)
{
	BENCH(state);
	struct log_source *a = task_source(1, "j", "a");

	for (int i = 0; i < 3 * LINES; i++)
		line_add(bench, a, START_NS + i, SEVERITY_INFO, "a");
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	work_begin(&(struct work){ is_begun, bench, 0 });
	assert_int_equal(log_purge(bench->store, "demo", "a", &bench->err), STATUS_CANCELLED);
	work_end();
	assert_true(number_of(bench, "SELECT count(*) FROM entry") > 0);
	assert_int_equal(number_of(bench, "SELECT count(*) FROM source"), 1);
	assert_int_equal(log_purge(bench->store, "demo", "a", NULL), STATUS_OK);
	assert_int_equal(number_of(bench, "SELECT count(*) FROM entry"), 0);
	assert_int_equal(number_of(bench, "SELECT count(*) FROM source"), 0);
	log_source_unref(a);
}

/* Fails with: a slice that begins at the time alone, or behind it: the entries of one time were read for ever, or left. A
 * slice without PURGE_READ: one read all 99,001 entries. */
static void a_log_behind_many_entries_of_another_with_the_same_time_goes(void **state)
{
	BENCH(state);
	struct log_source *a = task_source(0, "j", "a"), *b = task_source(0, "j", "b");
	uint64_t stored;

	for (int i = 0; i < 9 * LINES; i++) {
		line_add(bench, i % LINES ? b : a, START_NS, SEVERITY_INFO, i % LINES ? "b" : "a");
		if (i % LINES == 0)
			assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	}
	line_add(bench, a, START_NS, SEVERITY_INFO, "a");
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	stored = logs_writer_stored(bench->store->logs);
	assert_int_equal(log_purge(bench->store, "demo", "a", &bench->err), STATUS_OK);
	assert_true(logs_writer_stored(bench->store->logs) >= stored + 3); /* log_flush(), and two slices */
	assert_int_equal(number_of(bench, "SELECT count(*) FROM entry WHERE payload = 'a'"), 0);
	assert_int_equal(number_of(bench, "SELECT count(*) FROM entry"), 9 * LINES - 9);
	log_source_unref(a);
	log_source_unref(b);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(a_log_of_many_slices_goes_and_the_others_of_its_job_stay),
		WITH_BENCH(it_goes_from_all_jobs_and_comes_again_with_the_next_entry),
		WITH_BENCH(entries_that_come_during_the_call_stay),
		WITH_BENCH(a_call_that_is_not_waited_for_leaves_the_rest_to_the_next),
		WITH_BENCH(a_log_behind_many_entries_of_another_with_the_same_time_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
