/* SPDX-License-Identifier: Apache-2.0 */
#include <sqlite3.h>
#include <sys/stat.h>

#include "store/connection.h"
#include "store/migrations.h"
#include "tests/unit/store/store_testing.h"

static void the_directory_is_the_owners_alone(void **state)
{
	(void)state;
	struct stat info;
	struct store *store = NULL;
	struct error err AUTO_ERROR = { 0 };
	char top[] = "/tmp/trainyard-test-XXXXXX";
	char dir[128];

	assert_non_null(mkdtemp(top));
	snprintf(dir, sizeof(dir), "%s/a/b", top);
	assert_int_equal(store_open(dir, &system_clock, &store, &err), STATUS_OK);
	assert_int_equal(stat(dir, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	store_close(store);
	directory_remove(dir);
	snprintf(dir, sizeof(dir), "%s/a", top);
	rmdir(dir);
	rmdir(top);
}

static unsigned syncs;

/* Replaces the C library's function, also for SQLite's calls. */
int fdatasync(int fd)
{
	syncs++;
	return fsync(fd);
}

/* Two files, their write-ahead logs and directories, and the first commit: making a schema is not synced. */
static void a_new_store_is_synced_seven_times(void **state)
{
	enum { FILES = 2, LOGS = 2, DIRECTORIES = 2, COMMIT = 1 };

	syncs = 0;
	assert_int_equal(bench_open(state), 0);
	assert_int_equal(syncs, FILES + LOGS + DIRECTORIES + COMMIT);
}

/* Fails with: orphans_remove() that does nothing: the new database has the job of the old one. */
static void a_log_of_a_file_that_is_gone_is_not_the_new_ones(void **state)
{
	BENCH(state);
	static const char *const files[] = { "state.db", "logs.db" };
	char kept[2][128], path[128], log[160], command[600];

	job_add(bench, "one");
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", bench->dir, files[i]);
		snprintf(kept[i], sizeof(kept[i]), "%s/kept-%zu", bench->dir, i);
		snprintf(command, sizeof(command), "cp %s-wal %s", path, kept[i]);
		assert_int_equal(system(command), 0); /* closing removes the file */
	}
	store_close(bench->store);
	bench->store = NULL;
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", bench->dir, files[i]);
		snprintf(log, sizeof(log), "%s-wal", path);
		assert_int_equal(unlink(path), 0);
		assert_int_equal(rename(kept[i], log), 0);
	}
	bench_reopen(bench);
	job_add(bench, "one");
}

static mode_t mode_of(const struct bench *bench, const char *file)
{
	struct stat facts;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", bench->dir, file);
	assert_int_equal(stat(path, &facts), 0);
	return facts.st_mode & 0777;
}

static void the_files_are_the_owners_alone_in_whatever_directory(void **state)
{
	BENCH(state);
	static const char *const files[] = { "state.db", "state.db-wal", "logs.db", "logs.db-wal" };
	char path[128];

	for (size_t i = 0; i < COUNT_OF(files); i++)
		assert_int_equal(mode_of(bench, files[i]), 0600);
	store_close(bench->store);
	bench->store = NULL;
	snprintf(path, sizeof(path), "%s/state.db", bench->dir);
	assert_int_equal(chmod(path, 0644), 0); /* as an earlier release made it */
	bench_reopen(bench);
	assert_int_equal(mode_of(bench, "state.db"), 0600);
	assert_int_equal(mode_of(bench, "state.db-wal"), 0600);
}

/* Fails with: files_keep_private() that follows links. */
static void what_a_link_leads_to_keeps_its_mode(void **state)
{
	BENCH(state);
	char target[128], link[128];
	struct stat facts;
	FILE *file;

	store_close(bench->store);
	bench->store = NULL;
	snprintf(target, sizeof(target), "%s/elsewhere", bench->dir);
	snprintf(link, sizeof(link), "%s/logs.db-shm", bench->dir);
	file = fopen(target, "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(chmod(target, 0644), 0);
	unlink(link);
	assert_int_equal(symlink(target, link), 0);
	if (!store_open(bench->dir, &bench->clock, &bench->store, &bench->err)) {
		store_close(bench->store);
		bench->store = NULL;
	}
	assert_int_equal(stat(target, &facts), 0);
	assert_int_equal(facts.st_mode & 0777, 0644);
	unlink(link);
	bench_reopen(bench);
}

static void a_second_store_on_the_directory_is_refused(void **state)
{
	BENCH(state);
	struct store *second = NULL;
	char pid[32];

	assert_int_equal(store_open(bench->dir, &bench->clock, &second, &bench->err),
			 STATUS_FAILED_PRECONDITION);
	snprintf(pid, sizeof(pid), "in use by process %d", (int)getpid());
	assert_non_null(strstr(bench->err.text, pid));
	assert_null(second);
	store_close(bench->store);
	bench->store = NULL;
	assert_int_equal(store_open(bench->dir, &bench->clock, &bench->store, &bench->err), STATUS_OK);
}

static void the_instance_stays(void **state)
{
	BENCH(state);
	char name[16];

	snprintf(name, sizeof(name), "%s", store_instance(bench->store));
	assert_int_equal(strlen(name), 8);
	assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789"), 8);
	bench_reopen(bench);
	assert_string_equal(store_instance(bench->store), name);
}

static void a_directory_that_cannot_be_made_is_told(void **state)
{
	(void)state;
	struct store *store = NULL;
	struct error err AUTO_ERROR = { 0 };

	assert_int_equal(store_open("/proc/nothing/here", &system_clock, &store, &err),
			 STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(err.text, "/proc/nothing/here"));
}

static void sql_run(struct bench *bench, const char *file, const char *sql)
{
	char path[128];
	sqlite3 *db = NULL;

	snprintf(path, sizeof(path), "%s/%s", bench->dir, file);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_busy_timeout(db, 20000), SQLITE_OK); /* the store may be writing */
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void files_of_others_are_refused(void **state)
{
	BENCH(state);
	struct error err AUTO_ERROR = { 0 };

	store_close(bench->store);
	bench->store = NULL;
	sql_run(bench, "state.db", "PRAGMA user_version = 99");
	assert_int_equal(store_open(bench->dir, &bench->clock, &bench->store, &err),
			 STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(err.text, "newer"));
	error_deinit(&err);
	sql_run(bench, "state.db", "PRAGMA user_version = 10");
	assert_int_equal(store_open(bench->dir, &bench->clock, &bench->store, &err),
			 STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(err.text, "before 0.2.0 (schema 10)"));
	error_deinit(&err);
	sql_run(bench, "state.db", "PRAGMA user_version = 1; PRAGMA application_id = 7");
	assert_int_equal(store_open(bench->dir, &bench->clock, &bench->store, &err),
			 STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(err.text, "not a database of trainyard"));
}

/* Fails with: open_fail() that does not look what is there: "unable to open database file (SQLite 14)". */
static void a_directory_in_the_place_of_a_file_is_told(void **state)
{
	struct error err AUTO_ERROR = { 0 };
	char path[128];

	BENCH(state);
	store_close(bench->store);
	bench->store = NULL;
	snprintf(path, sizeof(path), "%s/logs.db", bench->dir);
	assert_int_equal(remove(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_not_equal(store_open(bench->dir, &bench->clock, &bench->store, &err), STATUS_OK);
	assert_non_null(strstr(err.text, "logs.db: Is a directory: a database is expected there"));
}

/* Files cannot grow beyond their size: for SQLite this is a full disk. */
static void a_full_disk_refuses_changes_and_no_more(void **state)
{
	BENCH(state);
	struct service_line line = { SEVERITY_INFO, "later" };
	struct job job = job_named("b");
	struct job *found = NULL;
	enum status rc;

	job_add(bench, "a");
	disk_set_full(true);
	rc = job_insert(bench->store, &job, &line, 1, NULL, &bench->err);
	assert_int_equal(rc, STATUS_UNAVAILABLE);
	assert_non_null(bench->err.text);
	assert_int_equal(job_get(bench->store, "demo", "a", &found, NULL), STATUS_OK);
	job_free(found);
	assert_int_equal(job_get(bench->store, "demo", "b", &found, NULL), STATUS_NOT_FOUND);
	struct log_source *source = task_source(1, "a", "master-replica-0");

	line_add(bench, source, START_NS, SEVERITY_INFO, "kept until there is room");
	log_source_unref(source);
	assert_int_equal(log_flush(bench->store, NULL), STATUS_UNAVAILABLE);
	disk_set_full(false);
	assert_int_equal(job_insert(bench->store, &job, &line, 1, NULL, &bench->err), STATUS_OK);
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	assert_logs(bench, "", "kept until there is room|later");
}

static void logs_of_another_state_are_set_aside(void **state)
{
	BENCH(state);
	char path[128];

	store_close(bench->store);
	bench->store = NULL;
	snprintf(path, sizeof(path), "%s/state.db", bench->dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(store_open(bench->dir, &bench->clock, &bench->store, &bench->err), STATUS_OK);
	snprintf(path, sizeof(path), "%s/logs.db.other", bench->dir);
	assert_int_equal(access(path, F_OK), 0);
}

static void plan_read(sqlite3 *db, const char *sql, struct text *plan)
{
	struct text explain AUTO_TEXT = { 0 };
	AUTO(query) sqlite3_stmt *query = NULL;

	text_printf(&explain, "EXPLAIN QUERY PLAN %s", sql);
	if (sqlite3_prepare_v2(db, explain.data, -1, &query, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	text_puts(plan, "");
	while (sqlite3_step(query) == SQLITE_ROW)
		text_printf(plan, "%s; ", sqlite3_column_text(query, 3));
}

/* Each statement, with the migrated schema: none scans a whole table. */
static void each_statement_uses_its_index(void **state)
{
	BENCH(state);
	static const char *const files[CONNECTION_ROLE_COUNT] = {
		[STATE_WRITER] = "state.db", [STATE_READER] = "state.db",     [LOGS_WRITER] = "logs.db",
		[LOGS_READER] = "logs.db",   [OBJECTS_WRITER] = "storage.db", [OBJECTS_READER] = "storage.db",
	};

	for (int role = 0; role < CONNECTION_ROLE_COUNT; role++) {
		char path[128];
		AUTO(connection) struct connection *connection = NULL;

		snprintf(path, sizeof(path), "%s/%s", bench->dir, files[role]);
		assert_int_equal(connection_open(path, (enum connection_role)role, &connection, &bench->err),
				 STATUS_OK);
		for (int id = 0; id < STATEMENT_COUNT; id++) {
			struct text plan AUTO_TEXT = { 0 };
			const char *scan;

			if (!(statements[id].roles & 1u << role))
				continue;
			plan_read(connection->db, statements[id].sql, &plan);
			scan = strstr(plan.data, "SCAN ");
			/* A scan along an index, or over a bounded subquery, is intended; sorting its rows is
			 * allowed. */
			if (scan && !strstr(scan, "USING INDEX") && !strstr(scan, "USING COVERING INDEX") &&
			    !strstr(scan, "SCAN (subquery") && !strstr(scan, "SCAN json_each") &&
			    !strstr(scan, "CONSTANT ROWS") && !strstr(scan, "-ROW VALUES CLAUSE"))
				fail_msg("%s: %s", statements[id].sql, plan.data);
			if (strstr(plan.data, "TEMP B-TREE") && !strstr(plan.data, "SCAN (subquery"))
				fail_msg("%s: %s", statements[id].sql, plan.data);
		}
	}
}

/* Fails with: connection_open() without sqlite3_db_release_memory(): 196 KiB of state.db. */
static void a_new_database_leaves_no_pages_in_memory(void **state)
{
	BENCH(state);
	static const enum connection_role writers[] = { STATE_WRITER, LOGS_WRITER, OBJECTS_WRITER };
	enum { LEAST_BYTES = 20 << 10 }; /* memory of SQLite for an empty cache, and the first page */

	for (size_t i = 0; i < COUNT_OF(writers); i++) {
		AUTO(connection) struct connection *connection = NULL;
		int held = 0, most = 0;
		char path[128];

		snprintf(path, sizeof(path), "%s/new-%zu.db", bench->dir, i);
		assert_int_equal(connection_open(path, writers[i], &connection, &bench->err), STATUS_OK);
		assert_int_equal(
			sqlite3_db_status(connection->db, SQLITE_DBSTATUS_CACHE_USED, &held, &most, 0),
			SQLITE_OK);
		assert_in_range(held, 0, LEAST_BYTES);
	}
}

static void each_statement_belongs_to_a_file(void **state)
{
	(void)state;
	for (int id = 0; id < STATEMENT_COUNT; id++) {
		assert_non_null(statements[id].sql);
		assert_int_not_equal(statements[id].roles, 0);
	}
}

/* The queries for filtered pages use the index that is made for them. */
static void pages_use_the_indexes(void **state)
{
	BENCH(state);
	static const char jobs[] = "job WHERE kind = 0 AND parent IS NULL AND project = :project";
	static const char resources[] = "job WHERE kind = 1 AND deleted = 0 AND project = :project"
					" AND location = :location";
	static const char operations[] = "operation WHERE project = :project AND location = :location";
	static const char targets[] = "operation WHERE project = :project AND location = :location"
				      " AND target = :target";
	static const char pipelines[] =
		"pipeline WHERE deleted = 0 AND project = :project AND location = :location";
	static const char models[] =
		"model WHERE deleted = 0 AND created_us > 0 AND project = :project AND location = :location";
	static const char summaries[] = "job WHERE parent IS NULL AND (deleted = 0 OR (SELECT 1 FROM pipeline"
					" WHERE pipeline.job = job.id AND pipeline.deleted = 0))";
	static const struct {
		const char *from, *where, *index;
	} pages[] = {
		{ summaries, "", "SCAN job USING COVERING INDEX job_any" },
		{ summaries, " AND +project = :project AND ((state = :f0))",
		  "SCAN job USING COVERING INDEX job_any" },
		{ summaries, " AND (created_us, id) < (:a, :b) AND ((state = :f0))",
		  "SEARCH job USING COVERING INDEX job_any (created_us<?)" },
		{ jobs, "", "job_newest (project=?)" },
		{ jobs, " AND (created_us, id) < (:a, :b)", "job_newest (project=? AND created_us<?)" },
		{ jobs, " AND created_us <= :a AND created_us >= :b",
		  "job_newest (project=? AND created_us>? AND created_us<?)" },
		{ jobs, " AND ((state = :f0))", "job_by_state (project=? AND state=?)" },
		{ jobs, " AND (created_us, id) < (:a, :b) AND ((state = :f0))",
		  "job_by_state (project=? AND state=? AND created_us<?)" },
		{ jobs, " AND ((job_id >= :f0 AND job_id < :f1))", "(project=? AND job_id>? AND job_id<?)" },
		{ jobs, " AND ((job_id = :f0))", "(project=? AND job_id=?)" },
		{ resources, "", "job_custom (project=? AND location=?)" },
		{ resources, " AND (created_us, id) < (:a, :b) AND ((display_name = :f0))",
		  "job_custom (project=? AND location=? AND created_us<?)" },
		{ operations, " AND created_us <= :a",
		  "operation_newest (project=? AND location=? AND created_us<?)" },
		{ pipelines, "", "pipeline_newest (project=? AND location=?)" },
		{ pipelines, " AND (created_us, id) < (:a, :b)",
		  "pipeline_newest (project=? AND location=? AND created_us<?)" },
		{ models,
		  " AND version = (SELECT version FROM model_alias WHERE project = model.project"
		  " AND location = model.location AND model_id = model.model_id AND alias = 'default')",
		  "model_newest (project=? AND location=? AND created_us>?)" },
		{ models, " AND model_id = :model_id",
		  "model_version_newest (project=? AND location=? AND model_id=? AND created_us>?)" },
		{ targets, "", "operation_of_target (project=? AND location=? AND target=?)" },
	};
	char path[128];
	AUTO(connection) struct connection *connection = NULL;

	snprintf(path, sizeof(path), "%s/state.db", bench->dir);
	assert_int_equal(connection_open(path, STATE_READER, &connection, &bench->err), STATUS_OK);
	for (size_t i = 0; i < COUNT_OF(pages); i++) {
		struct text sql AUTO_TEXT = { 0 };
		struct text plan AUTO_TEXT = { 0 };

		text_printf(&sql,
			    "SELECT id, created_us FROM %s%s ORDER BY created_us DESC, id DESC LIMIT :count",
			    pages[i].from, pages[i].where);
		plan_read(connection->db, sql.data, &plan);
		if (!strstr(plan.data, pages[i].index))
			fail_msg("%s: %s", sql.data, plan.data);
	}
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_directory_is_the_owners_alone),
		cmocka_unit_test_teardown(a_new_store_is_synced_seven_times, bench_close),
		cmocka_unit_test_setup_teardown(a_log_of_a_file_that_is_gone_is_not_the_new_ones, bench_open,
						bench_close),
		WITH_BENCH(the_files_are_the_owners_alone_in_whatever_directory),
		WITH_BENCH(what_a_link_leads_to_keeps_its_mode),
		WITH_BENCH(a_second_store_on_the_directory_is_refused),
		WITH_BENCH(the_instance_stays),
		cmocka_unit_test(a_directory_that_cannot_be_made_is_told),
		WITH_BENCH(files_of_others_are_refused),
		WITH_BENCH(a_directory_in_the_place_of_a_file_is_told),
		WITH_BENCH(a_full_disk_refuses_changes_and_no_more),
		WITH_BENCH(logs_of_another_state_are_set_aside),
		WITH_BENCH(each_statement_uses_its_index),
		WITH_BENCH(a_new_database_leaves_no_pages_in_memory),
		cmocka_unit_test(each_statement_belongs_to_a_file),
		WITH_BENCH(pages_use_the_indexes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
