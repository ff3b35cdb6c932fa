/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/summaries.h"

#include "store/jobs/pipelines.h"
#include "store/jobs/resources.h"
#include "tests/unit/store/store_testing.h"

static int64_t custom_add(struct bench *bench, const char *id, const char *name, const char *labels)
{
	struct job job = job_named(id), *stored = NULL;
	int64_t number;

	job.kind = KIND_CUSTOM;
	job.location = LITERAL("us-central1");
	job.display_name = LITERAL(name);
	job.labels = LITERAL(labels);
	job.replica_count = 5;
	job.gpu_count = 2;
	bench->now_ns += 1000000;
	assert_int_equal(job_insert(bench->store, &job, NULL, 0, &stored, &bench->err), STATUS_OK);
	number = stored->id;
	job_free(stored);
	return number;
}

static int64_t pipeline_add(struct bench *bench, const char *id)
{
	struct job job = job_named("777");
	struct pipeline line AUTO_PIPELINE = { 0 };

	job.kind = KIND_CUSTOM;
	job.location = LITERAL("us-central1");
	job.display_name = LITERAL("line-custom-job");
	bench->now_ns += 1000000;
	assert_int_equal(pipeline_insert(bench->store,
					 &(struct pipeline_draft){ .pipeline_id = id,
								   .display_name = "line",
								   .labels = "{\"team\":\"red\"}",
								   .input = "{}",
								   .job = &job },
					 &line, &bench->err),
			 STATUS_OK);
	return line.job->id;
}

/* "ID ID …" of all pages of two items. */
static void listed(struct bench *bench, const char *project, const char *filter, struct text *ids)
{
	AUTO(string) char *token = NULL;

	text_clear(ids);
	text_puts(ids, "");
	do {
		struct summary_list list AUTO_SUMMARY_LIST = { 0 };

		if (summary_list_page(bench->store, project, filter, 2, token, &list, &bench->err))
			fail_msg("%s: %s", filter, bench->err.text);
		for (size_t i = 0; i < list.count; i++)
			text_printf(ids, "%s%s", ids->length ? " " : "",
				    list.jobs[i].pipeline_id ? list.jobs[i].pipeline_id
							     : list.jobs[i].job_id);
		free(token);
		token = TAKE(list.next_page_token);
	} while (token);
}

#define assert_listed(bench, project, filter, expected)                                                      \
	do {                                                                                                 \
		struct text ids_ AUTO_TEXT = { 0 };                                                          \
		listed(bench, project, filter, &ids_);                                                       \
		assert_string_equal(ids_.data, expected);                                                    \
	} while (0)

static void some_add(struct bench *bench)
{
	int64_t started;

	job_add(bench, "train_1");
	custom_add(bench, "1234567", "train", "{\"team\":\"red\"}");
	started = custom_add(bench, "1299999", "other", NULL);
	pipeline_add(bench, "88");
	assert_int_equal(job_apply(bench->store,
				   &(struct job_change){ .job = started,
							 .from = JOB_QUEUED,
							 .to = JOB_PREPARING,
							 .started_us = bench->now_ns / 1000 },
				   1, &bench->err),
			 STATUS_OK);
}

static void all_kinds_are_one_list(void **state)
{
	BENCH(state);

	some_add(bench);
	assert_listed(bench, NULL, NULL, "88 1299999 1234567 train_1");
	assert_listed(bench, "demo", NULL, "88 1299999 1234567 train_1");
	assert_listed(bench, "elsewhere", NULL, "");
	assert_listed(bench, NULL, "state = \"preparing\"", "1299999");
	assert_listed(bench, NULL, "labels.team = red", "88 1234567");
	assert_listed(bench, NULL, "family = trainingPipelines OR family = jobs", "88 train_1");
	assert_listed(bench, NULL, "displayName = \"line\"", "88");
	assert_listed(bench, NULL, "location = us-central1 AND NOT id = 88", "1299999 1234567");
}

static void a_summary_tells_what_a_job_is(void **state)
{
	BENCH(state);
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	struct service_line line = { SEVERITY_INFO, "The job is queued: it waits for GPUs." };
	struct job job = job_named("waits");

	some_add(bench);
	bench->now_ns += 1000000;
	assert_int_equal(job_insert(bench->store, &job, &line, 1, NULL, &bench->err), STATUS_OK);
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	assert_int_equal(summary_list_page(bench->store, NULL, NULL, 10, NULL, &list, &bench->err),
			 STATUS_OK);
	assert_int_equal(list.count, 5);
	assert_string_equal(list.jobs[0].waits_for, "The job is queued: it waits for GPUs.");
	assert_string_equal(summary_family(&list.jobs[1]), "trainingPipelines");
	assert_string_equal(list.jobs[1].display_name, "line");
	assert_string_equal(list.jobs[1].job_id, "777");
	assert_int_equal(list.jobs[2].replica_count, 5);
	assert_int_equal(list.jobs[2].gpu_count, 2);
	assert_true(list.jobs[2].started_us > 0);
	assert_string_equal(summary_family(&list.jobs[3]), "customJobs");
	assert_string_equal(list.jobs[3].labels, "{\"team\":\"red\"}");
}

/* Fails with: last_lines_read() that takes all jobs: one that has ended told of its wait. */
static void an_ended_job_waits_for_nothing(void **state)
{
	BENCH(state);
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	struct service_line line = { SEVERITY_INFO, "The job is queued: it waits for GPUs." };
	struct job waits = job_named("waits"), over = job_named("over"), *stored = NULL;
	struct job_change change = {
		.from = JOB_QUEUED, .to = JOB_FAILED, .ended_us = 1, .error_message = "the reason\n\nthe pointer",
		.reason_bytes = strlen("the reason")
	};

	assert_int_equal(job_insert(bench->store, &waits, &line, 1, NULL, &bench->err), STATUS_OK);
	bench->now_ns += 1000000;
	assert_int_equal(job_insert(bench->store, &over, &line, 1, &stored, &bench->err), STATUS_OK);
	change.job = stored->id;
	job_free(stored);
	assert_int_equal(job_apply(bench->store, &change, 1, &bench->err), STATUS_OK);
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	assert_int_equal(summary_list_page(bench->store, NULL, NULL, 10, NULL, &list, &bench->err),
			 STATUS_OK);
	assert_int_equal(list.count, 2);
	assert_null(list.jobs[0].waits_for);
	assert_string_equal(list.jobs[0].reason, "the reason");
	assert_string_equal(list.jobs[1].waits_for, "The job is queued: it waits for GPUs.");
}

/* *ret_id: the id found, or "" with the error in bench->err. */
static enum status found(struct bench *bench, const char *project, const char *reference, char ret_id[32])
{
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	enum status rc;

	error_deinit(&bench->err);
	rc = summary_find(bench->store, project, reference, &list, &bench->err);
	snprintf(ret_id, 32, "%s",
		 rc                         ? ""
		 : list.jobs[0].pipeline_id ? list.jobs[0].pipeline_id
					    : list.jobs[0].job_id);
	assert_int_equal(list.count, !rc);
	return rc;
}

static void a_job_is_found_by_whatever_it_is_called(void **state)
{
	BENCH(state);
	static const struct {
		const char *reference, *id;
	} cases[] = {
		{ "1234567", "1234567" }, { "123", "1234567" }, { "train", "1234567" },
		{ "train_", "train_1" },  { "oth", "1299999" }, { "777", "88" },
		{ "88", "88" },           { "lin", "88" },      { "@last", "88" },
	};
	char id[32];

	some_add(bench);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		if (found(bench, NULL, cases[i].reference, id))
			fail_msg("%s: %s", cases[i].reference, bench->err.text);
		assert_string_equal(id, cases[i].id);
	}
	assert_int_equal(found(bench, NULL, "12", id), STATUS_FAILED_PRECONDITION);
	assert_string_equal(bench->err.text,
			    "\"12\" fits 2 jobs:\n"
			    "  1299999  customJobs, project demo, us-central1, PREPARING, \"other\"\n"
			    "  1234567  customJobs, project demo, us-central1, QUEUED, \"train\"");
	assert_int_equal(found(bench, NULL, "nothing", id), STATUS_NOT_FOUND);
	assert_int_equal(found(bench, "elsewhere", "@last", id), STATUS_NOT_FOUND);
	assert_int_equal(found(bench, NULL, "", id), STATUS_NOT_FOUND);
}

static void what_was_deleted_is_not_there(void **state)
{
	BENCH(state);
	struct operation operation AUTO_OPERATION = { 0 };
	const int64_t number = custom_add(bench, "1234567", "train", NULL);
	struct job_change change = { .job = number, .from = JOB_QUEUED, .to = JOB_FAILED, .ended_us = 1 };
	char id[32];

	assert_int_equal(job_apply(bench->store, &change, 1, &bench->err), STATUS_OK);
	assert_int_equal(resource_delete(bench->store,
					 &(struct resource){ KIND_CUSTOM, "demo", "us-central1", "1234567" },
					 &operation, &bench->err),
			 STATUS_OK);
	assert_listed(bench, NULL, NULL, "");
	assert_int_equal(found(bench, NULL, "1234567", id), STATUS_NOT_FOUND);
	assert_int_equal(found(bench, NULL, "@last", id), STATUS_NOT_FOUND);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(all_kinds_are_one_list),
		WITH_BENCH(a_summary_tells_what_a_job_is),
		WITH_BENCH(an_ended_job_waits_for_nothing),
		WITH_BENCH(a_job_is_found_by_whatever_it_is_called),
		WITH_BENCH(what_was_deleted_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
