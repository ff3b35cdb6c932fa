/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sqlite3.h>

#include "store/jobs/faults.h"
#include "store/jobs/journal.h"
#include "tests/unit/store/store_testing.h"

static void a_job_is_stored_and_found(void **state)
{
	BENCH(state);
	struct job job = { .project = LITERAL("demo"),
			   .job_id = LITERAL("a"),
			   .labels = LITERAL("{\"k\":\"v\"}"),
			   .input = LITERAL("{\"x\":1}"),
			   .output = LITERAL("{}"),
			   .plan = LITERAL("{\"p\":2}") };
	struct job *stored = NULL, *found = NULL;
	char etag[16], again[16];

	assert_int_equal(job_insert(bench->store, &job, NULL, 0, &stored, &bench->err), STATUS_OK);
	assert_int_equal(stored->state, JOB_QUEUED);
	assert_int_equal(stored->created_us, START_NS / 1000);
	assert_int_equal(stored->attempt, 1);
	assert_int_equal(stored->position, 0); /* the position in the queue is not computed here */
	assert_int_equal(job_get(bench->store, "demo", "a", &found, &bench->err), STATUS_OK);
	assert_string_equal(found->input, "{\"x\":1}");
	assert_string_equal(found->labels, "{\"k\":\"v\"}");
	assert_string_equal(found->plan, "{\"p\":2}");
	assert_null(found->error_message);
	job_etag(stored, etag);
	job_etag(found, again);
	assert_string_equal(etag, again);
	assert_int_equal(strlen(etag), 12);
	job_free(stored);
	job_free(found);
	assert_int_equal(job_get(bench->store, "demo", "A", &found, &bench->err), STATUS_NOT_FOUND);
	assert_string_equal(bench->err.violations[0].field, "name");
	assert_int_equal(job_get(bench->store, "other", "a", &found, NULL), STATUS_NOT_FOUND);
}

static void an_id_is_given_once(void **state)
{
	BENCH(state);
	struct job job = job_named("a");
	struct service_line line = { SEVERITY_INFO, "never seen" };

	job_add(bench, "a");
	assert_int_equal(job_insert(bench->store, &job, &line, 1, NULL, &bench->err), STATUS_ALREADY_EXISTS);
	assert_string_equal(bench->err.text, "Field: job.job_id Error: A job with this id already exists.");
	log_flush(bench->store, NULL);
	assert_logs(bench, "", "");
	job.project = LITERAL("other");
	assert_int_equal(job_insert(bench->store, &job, NULL, 0, NULL, &bench->err), STATUS_OK);
}

/* Fails with: job_row_add() that looks at no flag. */
static void no_job_is_taken_once_jobs_end(void **state)
{
	BENCH(state);
	struct job job = job_named("late");
	struct job_list list AUTO_JOB_LIST = { 0 };

	job_add(bench, "a");
	assert_int_equal(jobs_end(bench->store, NULL), STATUS_OK);
	assert_int_equal(job_insert(bench->store, &job, NULL, 0, NULL, &bench->err), STATUS_UNAVAILABLE);
	assert_string_equal(bench->err.text, "trainyard is shutting down.");
	assert_int_equal(job_list_unfinished(bench->store, &list, NULL), STATUS_OK);
	assert_int_equal(list.count, 1);
}

/* Moves a job to any state by legal transitions. */
static void job_take_to(struct bench *bench, int64_t job, enum job_state to)
{
	static const enum job_state via[JOB_STATE_COUNT][4] = {
		[JOB_QUEUED] = { 0 },
		[JOB_PREPARING] = { JOB_PREPARING },
		[JOB_RUNNING] = { JOB_PREPARING, JOB_RUNNING },
		[JOB_SUCCEEDED] = { JOB_PREPARING, JOB_RUNNING, JOB_SUCCEEDED },
		[JOB_FAILED] = { JOB_FAILED },
		[JOB_CANCELLING] = { JOB_CANCELLING },
		[JOB_CANCELLED] = { JOB_CANCELLING, JOB_CANCELLED },
	};
	enum job_state from = JOB_QUEUED;

	for (int i = 0; i < 4 && via[to][i]; i++) {
		struct job_change change = { .job = job, .from = from, .to = via[to][i] };

		assert_int_equal(job_apply(bench->store, &change, 1, &bench->err), STATUS_OK);
		assert_true(change.applied);
		from = via[to][i];
	}
}

static void each_edge_is_legal_or_refused(void **state)
{
	BENCH(state);
	int number = 0;

	for (int from = JOB_QUEUED; from < JOB_STATE_COUNT; from++) {
		for (int to = JOB_QUEUED; to < JOB_STATE_COUNT; to++) {
			char name[16];
			struct job_change change = { .from = (enum job_state)from, .to = (enum job_state)to };
			struct job *job = NULL;
			bool legal =
				from == to || job_state_may_follow((enum job_state)from, (enum job_state)to);

			snprintf(name, sizeof(name), "j%d", number++);
			change.job = job_add(bench, name);
			job_take_to(bench, change.job, (enum job_state)from);
			assert_int_equal(job_apply(bench->store, &change, 1, NULL),
					 legal ? STATUS_OK : STATUS_INTERNAL);
			assert_int_equal(change.applied, legal);
			assert_int_equal(job_get_by_id(bench->store, change.job, &job, NULL), STATUS_OK);
			assert_int_equal(job->state, legal ? to : from);
			job_free(job);
		}
	}
}

/* Refuses each UPDATE of a job's row from now on. */
static void rows_freeze(const struct bench *bench)
{
	static const char sql[] = "CREATE TRIGGER frozen BEFORE UPDATE ON job BEGIN SELECT RAISE(ABORT, ''); END";
	char path[128];
	sqlite3 *db = NULL;

	snprintf(path, sizeof(path), "%s/state.db", bench->dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* Fails with: JOB_ADVANCE for each change. */
static void a_change_of_lines_alone_leaves_the_row(void **state)
{
	BENCH(state);
	struct service_line line = { SEVERITY_INFO, "waiting" };
	struct job_change changes[] = {
		{ .from = JOB_QUEUED, .to = JOB_QUEUED, .lines = &line, .line_count = 1 },
		{ .from = JOB_RUNNING, .to = JOB_RUNNING, .lines = &line, .line_count = 1 },
	};
	struct job_change step = { .from = JOB_QUEUED, .to = JOB_PREPARING };

	changes[0].job = changes[1].job = step.job = job_add(bench, "a");
	rows_freeze(bench);
	assert_int_equal(job_apply(bench->store, changes, 2, &bench->err), STATUS_OK);
	assert_true(changes[0].applied);
	assert_false(changes[1].applied); /* the job is in another state by then */
	log_flush(bench->store, NULL);
	assert_logs(bench, "", "waiting");
	assert_int_not_equal(job_apply(bench->store, &step, 1, NULL), STATUS_OK);
}

static void a_late_step_is_not_applied(void **state)
{
	BENCH(state);
	struct service_line line = { SEVERITY_INFO, "late" };
	struct job_change change = {
		.from = JOB_RUNNING, .to = JOB_SUCCEEDED, .lines = &line, .line_count = 1
	};
	struct job *job = NULL;

	change.job = job_add(bench, "a");
	assert_int_equal(job_cancel(bench->store, "demo", "a", "stop", &bench->err), STATUS_OK);
	assert_int_equal(job_apply(bench->store, &change, 1, &bench->err), STATUS_OK);
	assert_false(change.applied);
	assert_int_equal(job_get(bench->store, "demo", "a", &job, NULL), STATUS_OK);
	assert_int_equal(job->state, JOB_CANCELLING);
	assert_int_equal(job->outcome, JOB_CANCELLED);
	assert_string_equal(job->outcome_message, "stop");
	job_free(job);
	log_flush(bench->store, NULL);
	assert_logs(bench, "", "");
}

/* Fails with: application_run() that does not ask for fault_injections_stand(): a rule struck after it was taken back. */
static void a_injection_whose_rule_was_taken_back_is_not_applied(void **state)
{
	BENCH(state);
	struct service_line line = { SEVERITY_WARNING, "hit" };
	struct fault_injection injections[2] = {
		{ .key.attempt = 1, .line = LITERAL("hit") },
		{ .key.attempt = 1, .key.index = 1, .line = LITERAL("hit") }
	};
	struct job_change change = {
		.lines = &line, .line_count = 1, .injections = injections, .injection_count = 2
	};
	struct fault_injection_list list AUTO_FAULT_INJECTION_LIST = { 0 };

	change.job = injections[0].key.job = injections[1].key.job = job_add(bench, "a");
	change.from = change.to = JOB_QUEUED;
	for (int i = 0; i < 2; i++)
		assert_int_equal(fault_insert(bench->store, "{}", false, &injections[i].fault, &bench->err),
				 STATUS_OK);
	assert_int_equal(fault_delete(bench->store, injections[1].fault, &bench->err), STATUS_OK);
	assert_int_equal(job_apply(bench->store, &change, 1, &bench->err), STATUS_OK);
	assert_false(change.applied);
	change.injection_count = 1;
	assert_int_equal(job_apply(bench->store, &change, 1, &bench->err), STATUS_OK);
	assert_true(change.applied);
	assert_int_equal(fault_injections_of_job(bench->store, change.job, &list, &bench->err), STATUS_OK);
	assert_int_equal(list.count, 1);
	log_flush(bench->store, NULL);
	assert_logs(bench, "", "hit");
}

static void one_illegal_step_refuses_the_whole_call(void **state)
{
	BENCH(state);
	struct job_change changes[2] = { { .from = JOB_QUEUED, .to = JOB_PREPARING },
					 { .from = JOB_QUEUED, .to = JOB_RUNNING } };
	struct job *job = NULL;

	changes[0].job = job_add(bench, "a");
	changes[1].job = job_add(bench, "b");
	assert_int_equal(job_apply(bench->store, changes, 2, &bench->err), STATUS_INTERNAL);
	assert_false(changes[0].applied);
	job_get(bench->store, "demo", "a", &job, NULL);
	assert_int_equal(job->state, JOB_QUEUED);
	job_free(job);
}

/* Fails with: job_row_cancel() that takes any outcome for an end: the cancel was answered, and the job tried again. */
static void a_job_that_is_about_to_be_tried_again_can_be_cancelled(void **state)
{
	BENCH(state);
	int64_t id = job_add(bench, "a");
	struct job_change again = {
		.job = id, .from = JOB_RUNNING, .to = JOB_RUNNING, .decides = true, .outcome = JOB_PREPARING
	};
	struct job *job = NULL;

	job_take_to(bench, id, JOB_RUNNING);
	assert_int_equal(job_apply(bench->store, &again, 1, NULL), STATUS_OK);
	assert_int_equal(job_cancel(bench->store, "demo", "a", "stop", NULL), STATUS_OK);
	job_get(bench->store, "demo", "a", &job, NULL);
	assert_int_equal(job->state, JOB_CANCELLING);
	assert_int_equal(job->outcome, JOB_CANCELLED);
	job_free(job);
}

static void an_outcome_is_decided_once_and_cleared_by_a_retry(void **state)
{
	BENCH(state);
	int64_t id = job_add(bench, "a");
	struct job_change first = { .job = id,
				    .from = JOB_RUNNING,
				    .to = JOB_RUNNING,
				    .decides = true,
				    .outcome = JOB_FAILED,
				    .outcome_message = "one" };
	struct job_change second = first,
			  retry = { .job = id, .from = JOB_RUNNING, .to = JOB_PREPARING, .retries = true };
	struct job_change torn = { .job = id, .from = JOB_RUNNING, .to = JOB_RUNNING, .tears_down = true };
	struct job *job = NULL;

	job_take_to(bench, id, JOB_RUNNING);
	second.outcome_message = "two";
	assert_int_equal(job_apply(bench->store, &first, 1, NULL), STATUS_OK);
	assert_int_equal(job_apply(bench->store, &second, 1, NULL), STATUS_OK);
	assert_true(first.applied);
	assert_false(second.applied);
	assert_int_equal(job_apply(bench->store, &torn, 1, NULL), STATUS_OK);
	assert_int_equal(job_cancel(bench->store, "demo", "a", "no", NULL), STATUS_OK);
	job_get(bench->store, "demo", "a", &job, NULL);
	assert_int_equal(job->state, JOB_RUNNING);
	assert_string_equal(job->outcome_message, "one");
	assert_true(job->torn_down);
	job_free(job);
	assert_int_equal(job_apply(bench->store, &retry, 1, NULL), STATUS_OK);
	job_get(bench->store, "demo", "a", &job, NULL);
	assert_int_equal(job->outcome, JOB_STATE_UNSPECIFIED);
	assert_null(job->outcome_message);
	assert_int_equal(job->attempt, 2);
	assert_false(job->torn_down);
	job_free(job);
}

/* The reason is before the change; a change that was not applied has no journal rows. */
static void the_journal_tells_each_change_once(void **state)
{
	static const struct journal_row end = { .time_us = 5,
						.kind = JOURNAL_ENDED,
						.attempt = 1,
						.of_replica = true,
						.role = 2,
						.index = 3,
						.restart = 1,
						.cause = 1,
						.number = 139,
						.flags = JOURNAL_OF_ITSELF },
					blame[] = { { .kind = JOURNAL_BLAME,
						      .attempt = 1,
						      .of_replica = true,
						      .role = 2,
						      .index = 3,
						      .restart = 1 },
						    /* Of another start. */
						    { .kind = JOURNAL_BLAME,
						      .attempt = 1,
						      .of_replica = true,
						      .role = 2,
						      .index = 3 } };
	BENCH(state);
	struct job_change changes[] = {
		{ .from = JOB_QUEUED, .to = JOB_PREPARING },
		{ .from = JOB_PREPARING, .to = JOB_PREPARING, .journal = &end, .journal_count = 1 },
		{ .from = JOB_PREPARING,
		  .to = JOB_PREPARING,
		  .decides = true,
		  .outcome = JOB_PREPARING,
		  .outcome_message = "again",
		  .outcome_code = 13,
		  .journal = blame,
		  .journal_count = COUNT_OF(blame) },
		{ .from = JOB_RUNNING, .to = JOB_RUNNING, .journal = &end, .journal_count = 1 }, /* too late */
		{ .from = JOB_PREPARING, .to = JOB_PREPARING, .retries = true },
	};
	static const struct journal_row expected[] = {
		{ .kind = JOURNAL_STATE, .attempt = 1, .cause = JOB_QUEUED },
		{ .kind = JOURNAL_STATE, .attempt = 1, .cause = JOB_PREPARING, .number = JOB_QUEUED },
		{ .kind = JOURNAL_ENDED, .attempt = 1, .cause = 1, .number = 139 },
		{ .kind = JOURNAL_DECIDED, .attempt = 1, .cause = JOB_PREPARING, .number = 13 },
		{ .kind = JOURNAL_RETRIED, .attempt = 2 },
		{ .kind = JOURNAL_DECIDED, .attempt = 2, .cause = JOB_CANCELLED, .number = STATUS_CANCELLED },
		{ .kind = JOURNAL_STATE, .attempt = 2, .cause = JOB_CANCELLING, .number = JOB_PREPARING },
	};
	struct journal journal AUTO_JOURNAL = { 0 };
	const int64_t id = job_add(bench, "told");

	job_add(bench, "another");
	for (size_t i = 0; i < COUNT_OF(changes); i++) {
		changes[i].job = id;
		assert_int_equal(job_apply(bench->store, &changes[i], 1, NULL), STATUS_OK);
	}
	assert_int_equal(job_cancel(bench->store, "demo", "told", "Because.", NULL), STATUS_OK);
	assert_int_equal(journal_read(bench->store, id, &journal, NULL), STATUS_OK);
	assert_int_equal(journal.count, COUNT_OF(expected));
	for (size_t i = 0; i < journal.count; i++) {
		assert_int_equal(journal.rows[i].kind, expected[i].kind);
		assert_int_equal(journal.rows[i].attempt, expected[i].attempt);
		assert_int_equal(journal.rows[i].cause, expected[i].cause);
		assert_int_equal(journal.rows[i].number, expected[i].number);
		assert_int_equal(journal.rows[i].of_replica, i == 2);
		assert_true(i == 2 || journal.rows[i].time_us > 5);
	}
	assert_int_equal(journal.rows[2].time_us, 5);
	assert_int_equal(journal.rows[2].role, 2);
	assert_int_equal(journal.rows[2].index, 3);
	assert_int_equal(journal.rows[2].restart, 1);
	assert_int_equal(journal.rows[2].flags, JOURNAL_OF_ITSELF | JOURNAL_BLAMED);
}

static void labels_change_while_the_etag_is_right(void **state)
{
	BENCH(state);
	struct job *before = NULL, *after = NULL, *none = NULL;
	char etag[16], newer[16];

	job_add(bench, "a");
	job_get(bench->store, "demo", "a", &before, NULL);
	job_etag(before, etag);
	assert_int_equal(
		job_set_labels(bench->store, "demo", "a", "{\"x\":\"y\"}", etag, &after, &bench->err),
		STATUS_OK);
	assert_string_equal(after->labels, "{\"x\":\"y\"}");
	job_etag(after, newer);
	assert_string_not_equal(etag, newer);
	assert_int_equal(job_set_labels(bench->store, "demo", "a", NULL, etag, &none, &bench->err),
			 STATUS_ABORTED);
	assert_int_equal(job_set_labels(bench->store, "demo", "b", NULL, NULL, &none, &bench->err),
			 STATUS_NOT_FOUND);
	assert_null(none);
	assert_int_equal(job_set_labels(bench->store, "demo", "a", NULL, NULL, &none, &bench->err),
			 STATUS_OK);
	assert_null(none->labels);
	job_free(before);
	job_free(after);
	job_free(none);
}

static void wakes_count(void *arg, int64_t job)
{
	assert_int_equal(job, 1);
	__atomic_add_fetch((int *)arg, 1, __ATOMIC_RELAXED);
}

static void intents_wake_the_scheduler(void **state)
{
	BENCH(state);
	struct job_change change = { .from = JOB_QUEUED, .to = JOB_PREPARING };
	int wakes = 0;

	store_on_intent(bench->store, wakes_count, &wakes);
	change.job = job_add(bench, "a");
	job_apply(bench->store, &change, 1, NULL);
	job_cancel(bench->store, "demo", "a", "", NULL);
	job_cancel(bench->store, "demo", "a", "", NULL); /* waits until there is nothing more to do */
	bench_reopen(bench);                             /* the writer has finished */
	assert_int_equal(wakes, 2);
}

enum { THREADS = 32, JOBS_EACH = 20 };

static void *jobs_insert(void *arg)
{
	struct bench *bench = arg;
	unsigned thread = __atomic_fetch_add(&bench->counter, 1, __ATOMIC_RELAXED);

	for (unsigned i = 0; i < JOBS_EACH; i++) {
		char name[32];
		struct job job = job_named(name);
		struct service_line line = { SEVERITY_INFO, name };
		struct job *found = NULL;

		snprintf(name, sizeof(name), "t%u_%u", thread, i);
		if (job_insert(bench->store, &job, &line, 1, NULL, NULL) ||
		    job_get(bench->store, "demo", name, &found, NULL))
			return LITERAL("failed");
		job_free(found);
		/* Every other name is used a second time: one failing change must not affect the others. */
		if (i % 2 && job_insert(bench->store, &job, &line, 1, NULL, NULL) != STATUS_ALREADY_EXISTS)
			return LITERAL("inserted twice");
	}
	return NULL;
}

static void many_threads_share_commits(void **state)
{
	BENCH(state);
	pthread_t threads[THREADS];
	struct job_list list AUTO_JOB_LIST = { 0 };
	struct gathering gathering = { .count = 0 };

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, jobs_insert, bench);
	for (int i = 0; i < THREADS; i++) {
		void *result;

		pthread_join(threads[i], &result);
		assert_null(result);
	}
	assert_int_equal(job_list_unfinished(bench->store, &list, &bench->err), STATUS_OK);
	assert_int_equal(list.count, THREADS * JOBS_EACH);
	for (size_t i = 0; i < list.count; i++)
		assert_int_equal(list.jobs[i].position, i + 1);
	log_flush(bench->store, NULL);
	assert_int_equal(logs_ask(bench, "", false, 1000, NULL, &gathering), STATUS_OK);
	assert_int_equal(gathering.count, THREADS * JOBS_EACH);
	text_deinit(&gathering.text);
	free(gathering.next);
}

static void pages_stay_right_while_jobs_are_added(void **state)
{
	BENCH(state);
	char *token = NULL;
	unsigned seen = 0;
	char name[32];

	for (int i = 0; i < 25; i++) {
		snprintf(name, sizeof(name), "old_%02d", i);
		bench->now_ns += i % 3 ? 0 : 1000000; /* some have the same time */
		job_add(bench, name);
	}
	for (int page = 0; page == 0 || token; page++) {
		struct job_list list AUTO_JOB_LIST = { 0 };

		assert_int_equal(job_list_page(bench->store, "demo", NULL, 10, token, &list, &bench->err),
				 STATUS_OK);
		for (size_t i = 0; i < list.count; i++, seen++) {
			snprintf(name, sizeof(name), "old_%02u", 24 - seen);
			assert_string_equal(list.jobs[i].job_id, name);
		}
		free(token);
		token = list.next_page_token ? strdup(list.next_page_token) : NULL;
		snprintf(name, sizeof(name), "new_%d", page);
		bench->now_ns += 1000;
		job_add(bench, name);
	}
	assert_int_equal(seen, 25);
}

static void a_token_is_bound_to_its_list(void **state)
{
	BENCH(state);
	struct job_list list AUTO_JOB_LIST = { 0 }, none = { 0 };

	job_add(bench, "a");
	job_add(bench, "b");
	assert_int_equal(job_list_page(bench->store, "demo", "state=QUEUED", 1, "", &list, NULL), STATUS_OK);
	assert_non_null(list.next_page_token);
	assert_int_equal(job_list_page(bench->store, "demo", "", 1, list.next_page_token, &none, &bench->err),
			 STATUS_INVALID_ARGUMENT);
	assert_string_equal(bench->err.violations[0].field, "page_token");
	assert_int_equal(
		job_list_page(bench->store, "other", "state=QUEUED", 1, list.next_page_token, &none, NULL),
		STATUS_INVALID_ARGUMENT);
	bench_reopen(bench); /* the key stays with the directory */
	assert_int_equal(
		job_list_page(bench->store, "demo", "state=QUEUED", 1, list.next_page_token, &none, NULL),
		STATUS_OK);
	assert_string_equal(none.jobs[0].job_id, "a");
	assert_null(none.next_page_token);
	job_list_deinit(&none);
}

static void the_queue_goes_by_priority_then_age(void **state)
{
	BENCH(state);
	static const struct {
		const char *name;
		int priority;
		int64_t place;
	} jobs[] = {
		{ "a", 0, 3 }, { "b", 5, 1 }, { "c", 0, 4 }, { "d", 5, 2 }, { "e", -1, 5 },
	};
	struct job_list list AUTO_JOB_LIST = { 0 };

	for (size_t i = 0; i < COUNT_OF(jobs); i++) {
		struct job job = job_named(jobs[i].name);

		job.priority = jobs[i].priority;
		assert_int_equal(job_insert(bench->store, &job, NULL, 0, NULL, NULL), STATUS_OK);
	}
	assert_int_equal(job_list_page(bench->store, "demo", "", 10, NULL, &list, NULL), STATUS_OK);
	for (size_t i = 0; i < COUNT_OF(jobs); i++) {
		struct job *job = NULL;

		assert_int_equal(job_get(bench->store, "demo", jobs[i].name, &job, NULL), STATUS_OK);
		assert_int_equal(job->position, jobs[i].place);
		assert_int_equal(list.jobs[COUNT_OF(jobs) - 1 - i].position, jobs[i].place);
		job_free(job);
	}
}

static void waiting_write(void *arg, const struct waiting_job *job)
{
	text_printf(arg, "%lld %s %d %u %lld; ", (long long)job->id, job->project, job->priority, job->gpu_count,
		    (long long)job->max_wait_us);
}

/* Fails with: JOB_WAITS without one of its terms; JOB_ATTENDED without its NOT. */
static void jobs_that_merely_wait_are_read_apart(void **state)
{
	BENCH(state);
	struct job_change started = {
		.job = 3, .from = JOB_QUEUED, .to = JOB_PREPARING, .started_us = 1
	};
	struct job_list list AUTO_JOB_LIST = { 0 };
	struct text waiting AUTO_TEXT = { 0 };
	struct job low = job_named("low"), high = job_named("high"), search = job_named("search");

	low.max_wait_us = 7;
	high.priority = 5;
	high.gpu_count = 2;
	search.traits = JOB_TRAIT_SEARCH;
	assert_int_equal(job_insert(bench->store, &low, NULL, 0, NULL, NULL), STATUS_OK);
	assert_int_equal(job_insert(bench->store, &high, NULL, 0, NULL, NULL), STATUS_OK);
	job_add(bench, "started");
	job_add(bench, "cancelled");
	assert_int_equal(job_insert(bench->store, &search, NULL, 0, NULL, NULL), STATUS_OK);
	assert_int_equal(job_apply(bench->store, &started, 1, NULL), STATUS_OK);
	assert_int_equal(job_cancel(bench->store, "demo", "cancelled", "", NULL), STATUS_OK);
	assert_int_equal(job_each_waiting(bench->store, waiting_write, &waiting, &bench->err), STATUS_OK);
	assert_string_equal(waiting.data, "2 demo 5 2 0; 1 demo 0 0 7; ");
	assert_int_equal(job_list_attended(bench->store, &list, &bench->err), STATUS_OK);
	assert_int_equal(list.count, 3);
	for (size_t i = 0; i < list.count; i++)
		assert_int_equal(list.jobs[i].id, i + 3);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(a_job_is_stored_and_found),
		WITH_BENCH(an_id_is_given_once),
		WITH_BENCH(no_job_is_taken_once_jobs_end),
		WITH_BENCH(each_edge_is_legal_or_refused),
		WITH_BENCH(a_change_of_lines_alone_leaves_the_row),
		WITH_BENCH(a_late_step_is_not_applied),
		WITH_BENCH(a_injection_whose_rule_was_taken_back_is_not_applied),
		WITH_BENCH(one_illegal_step_refuses_the_whole_call),
		WITH_BENCH(a_job_that_is_about_to_be_tried_again_can_be_cancelled),
		WITH_BENCH(an_outcome_is_decided_once_and_cleared_by_a_retry),
		WITH_BENCH(the_journal_tells_each_change_once),
		WITH_BENCH(labels_change_while_the_etag_is_right),
		WITH_BENCH(intents_wake_the_scheduler),
		WITH_BENCH(many_threads_share_commits),
		WITH_BENCH(pages_stay_right_while_jobs_are_added),
		WITH_BENCH(a_token_is_bound_to_its_list),
		WITH_BENCH(the_queue_goes_by_priority_then_age),
		WITH_BENCH(jobs_that_merely_wait_are_read_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
