/* SPDX-License-Identifier: Apache-2.0 */
#include <sqlite3.h>

#include "store/jobs/policies.h"
#include "store/jobs/trials.h"
#include "store/migrations.h"
#include "tests/unit/store/store_testing.h"

/* Starts @count trials of a job with numbers from @first; returns their runs. */
static enum status trials_add(struct bench *bench, int64_t job, unsigned first, size_t count,
			      int64_t *ret_runs)
{
	struct trial_start starts[8];
	struct job runs[8];
	char names[8][32];
	enum status rc;

	assert_true(count <= 8);
	for (size_t i = 0; i < count; i++) {
		snprintf(names[i], sizeof(names[i]), "tuned.%u", first + (unsigned)i);
		runs[i] = job_named(names[i]);
		runs[i].parent = job;
		runs[i].trial = first + (unsigned)i;
		starts[i] = (struct trial_start){
			.number = first + (unsigned)i, .known = 2, .parameters = "[1.5,null]", .run = &runs[i]
		};
	}
	rc = trials_start(bench->store, job, starts, count, &bench->err);
	for (size_t i = 0; !rc && ret_runs && i < count; i++)
		ret_runs[i] = starts[i].run_id;
	return rc;
}

static enum status trial_ends(struct bench *bench, int64_t job, unsigned number, enum trial_outcome outcome,
			      const char *final)
{
	const struct trial_ending ending = {
		.job = job, .number = number, .outcome = outcome, .final_step = final ? 5 : 0, .final = final
	};

	return trial_end(bench->store, &ending, &bench->err);
}

static enum status trial_stops(struct bench *bench, int64_t job, unsigned number, int64_t run)
{
	const struct service_line line = { SEVERITY_INFO, "stopped" };

	return trial_stop(
		bench->store,
		&(struct trial_stopping){
			.job = job, .number = number, .run = run, .message = "Stopped.", .line = &line },
		&bench->err);
}

static size_t trials_count(struct bench *bench, int64_t job)
{
	struct trial_list list AUTO_TRIAL_LIST = { 0 };

	assert_int_equal(trial_list_read(bench->store, job, &list, &bench->err), STATUS_OK);
	return list.count;
}

static void trials_are_stored_with_the_jobs_that_run_them(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "tuned");
	int64_t runs[2];
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	AUTO(job) struct job *run = NULL;

	assert_int_equal(trials_add(bench, job, 1, 2, runs), STATUS_OK);
	bench_reopen(bench);
	assert_int_equal(trial_list_read(bench->store, job, &list, &bench->err), STATUS_OK);
	assert_int_equal(list.count, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(list.trials[i].number, i + 1);
		assert_int_equal(list.trials[i].run, runs[i]);
		assert_int_equal(list.trials[i].outcome, OUTCOME_OPEN);
		assert_int_equal(list.trials[i].known, 2);
		assert_int_equal(list.trials[i].ended_as, 0);
		assert_false(list.trials[i].stopped_early);
		assert_string_equal(list.trials[i].parameters, "[1.5,null]");
		assert_null(list.trials[i].final);
		assert_int_equal(list.trials[i].state, JOB_QUEUED);
	}
	assert_int_equal(job_get_by_id(bench->store, runs[1], &run, &bench->err), STATUS_OK);
	assert_int_equal(run->parent, job);
	assert_int_equal(run->trial, 2);
	assert_string_equal(run->job_id, "tuned.2");
	assert_int_equal(trials_count(bench, runs[0]), 0);
}

static void one_that_cannot_be_stored_refuses_them_all(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "tuned");
	struct job_list unfinished AUTO_JOB_LIST = { 0 };

	assert_int_equal(trials_add(bench, job, 3, 1, NULL), STATUS_OK);
	assert_int_equal(trials_add(bench, job, 1, 3, NULL), STATUS_ALREADY_EXISTS);
	assert_int_equal(trials_count(bench, job), 1);
	assert_int_equal(job_list_unfinished(bench->store, &unfinished, &bench->err), STATUS_OK);
	assert_int_equal(unfinished.count, 2);
}

static void a_job_that_is_about_to_end_gets_no_more(void **state)
{
	BENCH(state);
	const int64_t cancelled = job_add(bench, "tuned");
	struct job_change change = { .job = job_add(bench, "failed"), .from = JOB_QUEUED, .to = JOB_FAILED };

	assert_int_equal(job_cancel(bench->store, "demo", "tuned", "stop", &bench->err), STATUS_OK);
	assert_int_equal(trials_add(bench, cancelled, 1, 1, NULL), STATUS_ABORTED);
	assert_int_equal(job_apply(bench->store, &change, 1, &bench->err), STATUS_OK);
	assert_int_equal(trials_add(bench, change.job, 1, 1, NULL), STATUS_ABORTED);
	assert_int_equal(trials_add(bench, 4711, 1, 1, NULL), STATUS_ABORTED);
	assert_int_equal(trials_count(bench, cancelled), 0);
}

static void clients_see_no_trial(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "tuned");
	static const char *const filters[] = { NULL,
					       "state=QUEUED",
					       "jobId:tuned*",
					       "jobId=tuned OR jobId=tuned.1",
					       "createTime>\"2000-01-01T00:00:00Z\"",
					       "NOT jobId=other" };
	AUTO(job) struct job *found = NULL;
	AUTO(string) char *policy = NULL;
	AUTO(string) char *etag = NULL;

	assert_int_equal(trials_add(bench, job, 1, 3, NULL), STATUS_OK);
	for (size_t i = 0; i < COUNT_OF(filters); i++) {
		struct job_list list AUTO_JOB_LIST = { 0 };

		if (job_list_page(bench->store, "demo", filters[i], 2, NULL, &list, &bench->err))
			fail_msg("%s: %s", filters[i], bench->err.text);
		assert_int_equal(list.count, 1);
		assert_string_equal(list.jobs[0].job_id, "tuned");
		assert_null(list.next_page_token);
	}
	assert_int_equal(job_get(bench->store, "demo", "tuned.1", &found, NULL), STATUS_NOT_FOUND);
	assert_int_equal(job_cancel(bench->store, "demo", "tuned.1", "x", NULL), STATUS_NOT_FOUND);
	assert_int_equal(job_set_labels(bench->store, "demo", "tuned.1", "{}", NULL, NULL, NULL),
			 STATUS_NOT_FOUND);
	assert_int_equal(policy_get(bench->store, "demo", "tuned.1", &policy, &etag, NULL), STATUS_NOT_FOUND);
}

static void pages_and_places_in_the_queue_hold_no_trials(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "tuned");
	struct job_list first AUTO_JOB_LIST = { 0 };
	struct job_list second AUTO_JOB_LIST = { 0 };
	AUTO(job) struct job *last = NULL;

	assert_int_equal(trials_add(bench, job, 1, 4, NULL), STATUS_OK);
	job_add(bench, "b");
	assert_int_equal(trials_add(bench, job, 5, 4, NULL), STATUS_OK);
	job_add(bench, "c");
	assert_int_equal(job_list_page(bench->store, "demo", NULL, 2, NULL, &first, &bench->err), STATUS_OK);
	assert_int_equal(first.count, 2);
	assert_string_equal(first.jobs[0].job_id, "c");
	assert_int_equal(first.jobs[0].position, 3);
	assert_string_equal(first.jobs[1].job_id, "b");
	assert_int_equal(first.jobs[1].position, 2);
	assert_int_equal(
		job_list_page(bench->store, "demo", NULL, 2, first.next_page_token, &second, &bench->err),
		STATUS_OK);
	assert_int_equal(second.count, 1);
	assert_null(second.next_page_token);
	assert_int_equal(job_get(bench->store, "demo", "c", &last, &bench->err), STATUS_OK);
	assert_int_equal(last->position, 3);
}

static void a_trial_ends_once_and_its_place_is_kept(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "tuned");
	const int64_t other = job_add(bench, "other");
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	int64_t runs[3];

	assert_int_equal(trials_add(bench, job, 1, 3, runs), STATUS_OK);
	assert_int_equal(trials_add(bench, other, 4, 1, NULL), STATUS_OK);
	assert_int_equal(trial_ends(bench, other, 4, OUTCOME_CANCELLED, NULL), STATUS_OK);
	assert_int_equal(trial_ends(bench, job, 2, OUTCOME_COMPLETED, "[0.5]"), STATUS_OK);
	assert_int_equal(trial_ends(bench, job, 2, OUTCOME_INFEASIBLE, NULL), STATUS_OK);
	assert_int_equal(trial_stops(bench, job, 2, runs[1]), STATUS_OK);
	assert_int_equal(trial_stops(bench, job, 1, runs[0]), STATUS_OK);
	assert_int_equal(trial_ends(bench, job, 1, OUTCOME_INFEASIBLE, NULL), STATUS_OK);
	assert_int_equal(trial_list_read(bench->store, job, &list, &bench->err), STATUS_OK);
	assert_int_equal(list.trials[0].outcome, OUTCOME_INFEASIBLE);
	assert_int_equal(list.trials[0].ended_as, 2);
	assert_true(list.trials[0].stopped_early);
	assert_null(list.trials[0].final);
	assert_int_equal(list.trials[1].outcome, OUTCOME_COMPLETED);
	assert_int_equal(list.trials[1].ended_as, 1);
	assert_false(list.trials[1].stopped_early);
	assert_int_equal(list.trials[1].final_step, 5);
	assert_string_equal(list.trials[1].final, "[0.5]");
	assert_int_equal(list.trials[2].ended_as, 0);
}

/* Fails with: the lines added whether the row changed or not: each was there twice. */
static void what_is_said_of_a_trial_is_said_when_it_changes(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "tuned");
	const struct service_line line = { SEVERITY_WARNING, "ended" };
	const struct trial_ending ending = {
		.job = job, .number = 1, .outcome = OUTCOME_COMPLETED, .lines = &line, .line_count = 1
	};
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	int64_t runs[1];

	assert_int_equal(trials_add(bench, job, 1, 1, runs), STATUS_OK);
	for (int i = 0; i < 2; i++)
		assert_int_equal(trial_stops(bench, job, 1, runs[0]), STATUS_OK);
	for (int i = 0; i < 2; i++)
		assert_int_equal(trial_end(bench->store, &ending, &bench->err), STATUS_OK);
	assert_int_equal(trial_list_read(bench->store, job, &list, &bench->err), STATUS_OK);
	assert_int_equal(list.trials[0].state, JOB_CANCELLING);
	assert_int_equal(log_flush(bench->store, &bench->err), STATUS_OK);
	assert_logs(bench, "resource.labels.job_id=\"tuned\"", "stopped|ended");
}

/* Otherwise it would count as completed, and its job's log would say that it was stopped. Fails with: stopping_run() that
 * does not look at the job. */
static void a_trial_whose_end_is_decided_is_not_stopped(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "tuned");
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	int64_t runs[2];

	assert_int_equal(trials_add(bench, job, 1, 2, runs), STATUS_OK);
	struct job_change fails = {
		.job = runs[0], .from = JOB_QUEUED, .to = JOB_QUEUED, .decides = true, .outcome = JOB_FAILED
	};

	assert_int_equal(job_apply(bench->store, &fails, 1, &bench->err), STATUS_OK);
	assert_int_equal(job_cancel_by_id(bench->store, runs[1], "Cancelled.", &bench->err), STATUS_OK);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(trial_stops(bench, job, i + 1, runs[i]), STATUS_OK);
	assert_int_equal(trial_list_read(bench->store, job, &list, &bench->err), STATUS_OK);
	assert_int_equal(list.trials[0].state, JOB_QUEUED);
	assert_false(list.trials[0].stopped_early);
	assert_false(list.trials[1].stopped_early);
	assert_int_equal(log_flush(bench->store, &bench->err), STATUS_OK);
	assert_logs(bench, "resource.labels.job_id=\"tuned\"", "");
}

static enum status curve_write(void *arg, const struct trial_curve *curve, struct error *err)
{
	struct text *text = arg;

	(void)err;
	text_printf(text, "%u %s %d;", curve->number, curve->points, (int)curve->outcome);
	return STATUS_OK;
}

static void assert_curves(struct bench *bench, int64_t job, const char *expected)
{
	struct text text AUTO_TEXT = { 0 };

	assert_int_equal(trial_curves_visit(bench->store, job, curve_write, &text, &bench->err), STATUS_OK);
	assert_string_equal(text.data ? text.data : "", expected);
}

static void what_trials_report_is_kept_beside_them(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "tuned");
	const int64_t other = job_add(bench, "other");
	int64_t runs[3];

	assert_int_equal(trials_add(bench, job, 1, 3, runs), STATUS_OK);
	assert_curves(bench, job, "");
	assert_int_equal(trial_curves_put(bench->store,
					  (const struct trial_curve[]){ { .run = runs[2], .points = "[3]" },
									{ .run = runs[0], .points = "[1]" } },
					  2, &bench->err),
			 STATUS_OK);
	assert_curves(bench, job, "1 [1] 0;3 [3] 0;");
	assert_int_equal(trial_end(bench->store,
				   &(struct trial_ending){ .job = job,
							   .number = 1,
							   .run = runs[0],
							   .outcome = OUTCOME_COMPLETED,
							   .curve = "[1,2]" },
				   &bench->err),
			 STATUS_OK);
	assert_int_equal(trial_ends(bench, job, 3, OUTCOME_INFEASIBLE, NULL), STATUS_OK);
	bench_reopen(bench);
	assert_curves(bench, job, "1 [1,2] 1;3 [3] 2;");
	assert_curves(bench, other, "");
	/* If one of the runs does not exist, all are refused. */
	assert_int_not_equal(
		trial_curves_put(bench->store,
				 (const struct trial_curve[]){ { .run = runs[1], .points = "[2]" },
							       { .run = 4711, .points = "[4]" } },
				 2, NULL),
		STATUS_OK);
	assert_curves(bench, job, "1 [1,2] 1;3 [3] 2;");
}

static enum status curve_refuse(void *arg, const struct trial_curve *curve, struct error *err)
{
	(void)curve;
	++*(int *)arg;
	return error_set(err, STATUS_ABORTED, NULL, "enough");
}

static void a_visit_of_curves_ends_with_an_error(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "tuned");
	int64_t runs[2];
	int calls = 0;

	assert_int_equal(trials_add(bench, job, 1, 2, runs), STATUS_OK);
	for (int i = 0; i < 2; i++)
		assert_int_equal(trial_curves_put(bench->store,
						  &(struct trial_curve){ .run = runs[i], .points = "[]" }, 1,
						  &bench->err),
				 STATUS_OK);
	assert_int_equal(trial_curves_visit(bench->store, job, curve_refuse, &calls, &bench->err),
			 STATUS_ABORTED);
	assert_int_equal(calls, 1);
}

static void a_trial_is_cancelled_by_its_number(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "tuned");
	int64_t run;
	struct trial_list list AUTO_TRIAL_LIST = { 0 };

	assert_int_equal(trials_add(bench, job, 1, 1, &run), STATUS_OK);
	assert_int_equal(job_cancel_by_id(bench->store, run, "enough", &bench->err), STATUS_OK);
	assert_int_equal(job_cancel_by_id(bench->store, 4711, "enough", NULL), STATUS_NOT_FOUND);
	assert_int_equal(trial_list_read(bench->store, job, &list, &bench->err), STATUS_OK);
	assert_int_equal(list.trials[0].state, JOB_CANCELLING);
}

static void a_trials_lines_are_its_tuning_jobs(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "tuned");
	struct service_line line = { SEVERITY_INFO, "begun" };
	struct job_change change = {
		.from = JOB_QUEUED, .to = JOB_PREPARING, .lines = &line, .line_count = 1
	};

	assert_int_equal(trials_add(bench, job, 1, 1, &change.job), STATUS_OK);
	assert_int_equal(job_apply(bench->store, &change, 1, &bench->err), STATUS_OK);
	assert_int_equal(log_flush(bench->store, &bench->err), STATUS_OK);
	assert_logs(bench, "resource.labels.job_id=\"tuned\" AND labels.\"ml.googleapis.com/trial_id\"=\"1\"",
		    "begun");
	assert_logs(bench, "resource.labels.job_id=\"tuned.1\"", "");
}

static void who_asks_for_a_trials_own_job_finds_its_lines(void **state)
{
	BENCH(state);
	static const char *const ids[] = { "4444444444444444441", "4444444444444444442" };
	struct job tuning = job_named("3333333333333333333"), runs[2];
	struct service_line lines[] = { { SEVERITY_INFO, "first" }, { SEVERITY_INFO, "second" } };
	struct trial_start starts[2];
	AUTO(job) struct job *stored = NULL;
	struct log_source *own = NULL;

	tuning.kind = KIND_TUNING;
	assert_int_equal(job_insert(bench->store, &tuning, NULL, 0, &stored, &bench->err), STATUS_OK);
	for (unsigned i = 0; i < 2; i++) {
		runs[i] = job_named(ids[i]);
		runs[i].kind = KIND_CUSTOM;
		runs[i].parent = stored->id;
		runs[i].trial = i + 1;
		starts[i] = (struct trial_start){ .number = i + 1, .parameters = "[]", .run = &runs[i] };
	}
	assert_int_equal(trials_start(bench->store, stored->id, starts, 2, &bench->err), STATUS_OK);
	for (unsigned i = 0; i < 2; i++) {
		struct job_change change = { .job = starts[i].run_id,
					     .from = JOB_QUEUED,
					     .to = JOB_PREPARING,
					     .lines = &lines[i],
					     .line_count = 1 };

		assert_int_equal(job_apply(bench->store, &change, 1, &bench->err), STATUS_OK);
	}
	/* A program may write log entries with the id that it was given. */
	own = task_source(0, ids[0], "workerpool0-0");
	line_add(bench, own, ++bench->now_ns, SEVERITY_INFO, "by itself");
	log_source_unref(own);
	assert_int_equal(log_flush(bench->store, &bench->err), STATUS_OK);
	assert_logs(bench, "resource.labels.job_id=\"3333333333333333333\"", "first|second");
	assert_logs(bench, "resource.labels.job_id=\"4444444444444444441\"", "first|by itself");
	assert_logs(bench, "resource.labels.job_id=4444444444444444442", "second");
	assert_logs(
		bench,
		"resource.type=\"ml_job\" AND resource.labels.job_id=\"4444444444444444441\" AND"
		" resource.labels.task_name=\"service\" AND timestamp>=\"1970-01-01T01:00:00.000000000Z\"",
		"first");
	assert_logs(bench, "resource.labels.job_id=\"4444444444444444443\"", "");
}

static void trial_line_add(struct bench *bench, int64_t job, unsigned trial, const char *line)
{
	AUTO(string) char *labels = log_labels("host", trial, NULL, NULL);
	struct log_source *source = log_source_new(&(struct log_source_spec){
		.job = job,
		.project = "demo",
		.log_name = "master-replica-0",
		.resource_type = "ml_job",
		.resource_labels =
			"{\"project_id\":\"demo\",\"job_id\":\"tuned\",\"task_name\":\"master-replica-0\"}",
		.labels = labels });
	const struct log_record record = { .source = source,
					   .time_ns = ++bench->now_ns,
					   .position = { .key.job = job, .key.attempt = 1, .stream = 2 },
					   .kind = LOG_TEXT,
					   .payload = line,
					   .payload_length = strlen(line) };

	assert_true(log_offer(bench->store, &record));
	log_source_unref(source);
}

static void the_tail_of_stderr_is_the_trials_own(void **state)
{
	BENCH(state);
	const int64_t job = job_add(bench, "tuned");
	static const struct {
		unsigned trial;
		const char *tail;
	} cases[] = { { 1, "a\nc" }, { 12, "b" }, { 2, "" }, { 0, "d" } };

	trial_line_add(bench, job, 1, "a");
	trial_line_add(bench, job, 12, "b");
	trial_line_add(bench, job, 1, "c");
	trial_line_add(bench, job, 0, "d");
	assert_int_equal(log_flush(bench->store, &bench->err), STATUS_OK);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		AUTO(string) char *tail = NULL;

		assert_int_equal(log_stderr_tail(bench->store, job, cases[i].trial, "master-replica-0", 5,
						 &tail, &bench->err),
				 STATUS_OK);
		assert_string_equal(tail, cases[i].tail);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		TEST(trials_are_stored_with_the_jobs_that_run_them),
		TEST(one_that_cannot_be_stored_refuses_them_all),
		TEST(a_job_that_is_about_to_end_gets_no_more),
		TEST(clients_see_no_trial),
		TEST(pages_and_places_in_the_queue_hold_no_trials),
		TEST(a_trial_ends_once_and_its_place_is_kept),
		TEST(what_is_said_of_a_trial_is_said_when_it_changes),
		TEST(a_trial_whose_end_is_decided_is_not_stopped),
		TEST(what_trials_report_is_kept_beside_them),
		TEST(a_visit_of_curves_ends_with_an_error),
		TEST(a_trial_is_cancelled_by_its_number),
		TEST(who_asks_for_a_trials_own_job_finds_its_lines),
		TEST(a_trials_lines_are_its_tuning_jobs),
		TEST(the_tail_of_stderr_is_the_trials_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
