/* SPDX-License-Identifier: Apache-2.0 */
/* The service's lines reach the log exactly once, wherever the process is killed: at every step the files are copied,
 * which is their state after kill -9, and each copy is opened. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/unit/store/store_testing.h"

static void file_copy(const char *from_dir, const char *to_dir, const char *name)
{
	char path[256], buffer[65536];
	FILE *from, *to;
	size_t length;

	snprintf(path, sizeof(path), "%s/%s", from_dir, name);
	from = fopen(path, "r");
	if (!from)
		return;
	snprintf(path, sizeof(path), "%s/%s", to_dir, name);
	to = fopen(path, "w");
	assert_non_null(to);
	while ((length = fread(buffer, 1, sizeof(buffer), from)) > 0)
		assert_int_equal(fwrite(buffer, 1, length, to), length);
	fclose(from);
	fclose(to);
}

/* Copies the files as a kill at this moment would leave them. The log is copied first: a kill between the two commits
 * leaves a later state.db with an earlier log, never the reverse. */
static void directory_copy(const struct bench *bench, char copy[64], const char *const *names)
{
	snprintf(copy, 64, "/tmp/trainyard-test-XXXXXX");
	assert_non_null(mkdtemp(copy));
	for (; *names; names++)
		file_copy(bench->dir, copy, *names);
}

static const char *const all[] = { "logs.db", "logs.db-wal", "state.db", "state.db-wal", NULL };
static const char *const state_alone[] = { "state.db", "state.db-wal", NULL };

/* Opens a directory and reads all service lines. */
static void lines_check(const struct bench *bench, const char *dir, const char *expected)
{
	struct bench copy = { .now_ns = bench->now_ns };
	struct gathering gathering = { .count = 0 };

	copy.clock = (struct clock){ bench_wall_ns, bench_mono_us, &copy };
	snprintf(copy.dir, sizeof(copy.dir), "%s", dir);
	assert_int_equal(store_open(dir, &copy.clock, &copy.store, &copy.err), STATUS_OK);
	/* A commit also removes lines that were handed over; then once more. */
	for (int times = 0; times < 2; times++) {
		struct job *job = NULL;

		job_set_labels(copy.store, "demo", "a", NULL, NULL, &job, NULL);
		job_free(job);
		assert_int_equal(log_flush(copy.store, NULL), STATUS_OK);
		assert_int_equal(logs_ask(&copy, "", false, 1000, NULL, &gathering), STATUS_OK);
		assert_string_equal(gathering.text.data, expected);
		bench_reopen(&copy);
	}
	store_close(copy.store);
	text_deinit(&gathering.text);
	error_deinit(&copy.err);
	directory_remove(dir);
}

static void lines_arrive_once_after_a_kill_at_any_step(void **state)
{
	BENCH(state);
	struct text expected AUTO_TEXT = { 0 };
	int64_t job = 0;

	for (int step = 0; step < 12; step++) {
		char dir[64], line[16];
		struct service_line lines[2] = { { SEVERITY_INFO, line }, { SEVERITY_ERROR, "also" } };

		snprintf(line, sizeof(line), "line %d", step);
		if (step == 0) {
			struct job named = job_named("a");
			struct job *stored = NULL;

			assert_int_equal(job_insert(bench->store, &named, lines, 2, &stored, NULL),
					 STATUS_OK);
			job = stored->id;
			job_free(stored);
		} else {
			struct job_change change = { .job = job,
						     .from = JOB_QUEUED,
						     .to = JOB_QUEUED,
						     .lines = lines,
						     .line_count = 2 };

			assert_int_equal(job_apply(bench->store, &change, 1, NULL), STATUS_OK);
		}
		text_printf(&expected, "%s%s|also", step ? "|" : "", line);
		/* Acknowledged, but not in the log yet. */
		directory_copy(bench, dir, all);
		lines_check(bench, dir, expected.data);
		if (step % 3 == 2)
			assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
		if (step == 7)
			bench_reopen(bench);
		/* In the log. */
		directory_copy(bench, dir, all);
		lines_check(bench, dir, expected.data);
	}
}

static void lost_logs_cost_no_line_that_was_not_trimmed(void **state)
{
	BENCH(state);
	struct job named = job_named("a");
	struct service_line line = { SEVERITY_INFO, "kept" };
	char dir[64];

	assert_int_equal(job_insert(bench->store, &named, &line, 1, NULL, NULL), STATUS_OK);
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	directory_copy(bench, dir, state_alone);
	lines_check(bench, dir, "kept");
}

/* A project's name is chosen by clients: characters that JSON escapes must not lose lines. */
static void lines_of_any_project_arrive(void **state)
{
	BENCH(state);
	struct gathering gathering = { .count = 0 };
	struct job plain = job_named("a"), odd = job_named("b");
	struct service_line line = { SEVERITY_INFO, "kept" };

	odd.project = LITERAL("p\"\\\n");
	assert_int_equal(job_insert(bench->store, &odd, &line, 1, NULL, NULL), STATUS_OK);
	assert_int_equal(job_insert(bench->store, &plain, &line, 1, NULL, NULL), STATUS_OK);
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	assert_int_equal(logs_ask(bench, "", false, 1000, NULL, &gathering), STATUS_OK);
	assert_string_equal(gathering.text.data, "kept");
	text_deinit(&gathering.text);
}

/* The same with real kills: a child writes, reports what was acknowledged, and is killed. */
static void child_write(const char *dir, int tell)
{
	struct bench child = { .now_ns = START_NS };
	char name[32];

	child.clock = (struct clock){ bench_wall_ns, bench_mono_us, &child };
	if (store_open(dir, &child.clock, &child.store, NULL))
		_exit(1);
	for (unsigned i = 0;; i++) {
		struct job job = job_named(name);
		struct service_line line = { SEVERITY_INFO, name };

		snprintf(name, sizeof(name), "j%d_%u", (int)getpid(), i);
		if (job_insert(child.store, &job, &line, 1, NULL, NULL) || write(tell, "x", 1) != 1)
			_exit(1);
	}
}

static void a_killed_process_loses_and_doubles_nothing(void **state)
{
	BENCH(state);
	unsigned acknowledged = 0;

	store_close(bench->store);
	bench->store = NULL;
	for (int round = 0; round < 6; round++) {
		int pipe_ends[2], status;
		char told[64];
		ssize_t length;
		pid_t child;
		unsigned wanted = 1 + (unsigned)round * 7, seen = 0;

		assert_int_equal(pipe(pipe_ends), 0);
		child = fork();
		if (child == 0)
			child_write(bench->dir, pipe_ends[1]);
		close(pipe_ends[1]);
		while (seen < wanted && (length = read(pipe_ends[0], told, sizeof(told))) > 0)
			seen += (unsigned)length;
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		while ((length = read(pipe_ends[0], told, sizeof(told))) > 0)
			seen += (unsigned)length;
		close(pipe_ends[0]);
		assert_true(seen >= wanted);
		acknowledged += seen;
	}
	assert_int_equal(store_open(bench->dir, &bench->clock, &bench->store, &bench->err), STATUS_OK);
	struct job_list list AUTO_JOB_LIST = { 0 };
	struct gathering gathering = { .count = 0 };

	assert_int_equal(job_list_unfinished(bench->store, &list, NULL), STATUS_OK);
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	assert_int_equal(logs_ask(bench, "", false, 1000, NULL, &gathering), STATUS_OK);
	assert_true(list.count >= acknowledged && list.count <= acknowledged + 6); /* stored, but not reported yet */
	assert_int_equal(gathering.count, list.count);
	text_deinit(&gathering.text);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(lines_arrive_once_after_a_kill_at_any_step),
		WITH_BENCH(lost_logs_cost_no_line_that_was_not_trimmed),
		WITH_BENCH(lines_of_any_project_arrive),
		WITH_BENCH(a_killed_process_loses_and_doubles_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
