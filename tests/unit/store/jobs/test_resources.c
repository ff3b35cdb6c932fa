/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/operations.h"
#include "store/jobs/resources.h"
#include "tests/unit/store/store_testing.h"

static struct resource named(const char *id)
{
	return (struct resource){ KIND_CUSTOM, "demo", "us-central1", id };
}

static int64_t resource_add(struct bench *bench, const char *id, const char *display_name, const char *labels,
			    unsigned traits)
{
	struct job job = job_named(id);
	struct job *stored = NULL;
	int64_t number;

	job.kind = KIND_CUSTOM;
	job.location = LITERAL("us-central1");
	job.display_name = LITERAL(display_name);
	job.labels = LITERAL(labels);
	job.traits = traits;
	assert_int_equal(job_insert(bench->store, &job, NULL, 0, &stored, &bench->err), STATUS_OK);
	number = stored->id;
	job_free(stored);
	return number;
}

static void move(struct bench *bench, int64_t id, enum job_state from, enum job_state to)
{
	struct job_change change = { .job = id, .from = from, .to = to };

	if (to == JOB_RUNNING)
		change.running_us = bench->now_ns / 1000;
	if (job_state_is_final(to))
		change.ended_us = bench->now_ns / 1000;
	assert_int_equal(job_apply(bench->store, &change, 1, NULL), STATUS_OK);
	assert_true(change.applied);
}

/* Five jobs, an hour apart: queued, waiting for capacity, running, succeeded, failed. */
static void jobs_make(struct bench *bench)
{
	static const struct {
		const char *id, *name, *labels;
		unsigned traits;
		enum job_state states[3];
	} jobs[] = {
		{ "1", "my_job_a", "{\"team\":\"red\"}", 0, { 0 } },
		{ "2", "my_job_b", "{\"team\":\"blue\"}", JOB_TRAIT_FLEX_START, { 0 } },
		{ "3", "other", NULL, JOB_TRAIT_SEARCH, { JOB_PREPARING, JOB_RUNNING } },
		{ "4", "other", "{\"team\":\"red\"}", 0, { JOB_PREPARING, JOB_RUNNING, JOB_SUCCEEDED } },
		{ "5", "a*b", NULL, 0, { JOB_FAILED } },
	};

	for (size_t i = 0; i < COUNT_OF(jobs); i++, bench->now_ns += INT64_C(3600000000000)) {
		int64_t id = resource_add(bench, jobs[i].id, jobs[i].name, jobs[i].labels, jobs[i].traits);
		enum job_state from = JOB_QUEUED;

		for (size_t at = 0; at < COUNT_OF(jobs[i].states) && jobs[i].states[at]; at++) {
			move(bench, id, from, jobs[i].states[at]);
			from = jobs[i].states[at];
		}
	}
	job_add(bench, "an_ml_job");
}

static const struct filter_row {
	const char *filter, *expected;
} filters[] = {
	{ "", "1 2 3 4 5" },
	{ "display_name=\"my_job_a\"", "1" },
	{ "displayName=\"my_job_a\"", "1" },
	{ "display_name=\"my_job_*\"", "" },
	{ "display_name=\"a*b\"", "5" },
	{ "display_name!=\"other\"", "1 2 5" },
	{ "display_name:\"my_job_*\"", "1 2" },
	{ "display_name:my_job_*", "1 2" },
	{ "display_name:\"*job*\"", "1 2" },
	{ "display_name:\"job\"", "" },
	{ "display_name:\"other\"", "3 4" },
	{ "state=\"JOB_STATE_PENDING\"", "1" },
	{ "state=JOB_STATE_QUEUED", "2" },
	{ "state=JOB_STATE_RUNNING", "3" },
	{ "state!=\"JOB_STATE_FAILED\"", "1 2 3 4" },
	{ "state=JOB_STATE_PAUSED", "" },
	{ "state=\"JOB_STATE_SUCCEEDED\" AND display_name:\"oth*\"", "4" },
	{ "state=\"JOB_STATE_SUCCEEDED\" OR display_name=\"my_job_a\"", "1 4" },
	{ "NOT display_name=\"other\"", "1 2 5" },
	{ "-display_name=\"other\"", "1 2 5" },
	{ "state=JOB_STATE_RUNNING OR state=JOB_STATE_FAILED AND display_name=other", "3" },
	{ "(state=JOB_STATE_SUCCEEDED AND labels.team=red) OR display_name=\"a*b\"", "4 5" },
	{ "create_time>\"2026-11-20T02:00:00Z\"", "4 5" },
	{ "create_time>=\"2026-11-20T02:00:00.000000Z\"", "3 4 5" },
	{ "create_time=\"2026-11-20T02:00:00.000001Z\"", "" },
	{ "createTime<\"2026-11-20T01:00:00Z\"", "1" },
	{ "update_time<\"2026-11-20T01:00:00Z\"", "1" },
	{ "start_time:*", "3 4" },
	{ "end_time>\"2026-11-20T03:30:00Z\"", "5" },
	{ "labels.team=red", "1 4" },
	{ "labels.team=\"blue\"", "2" },
	{ "labels.team:*", "1 2 4" },
	{ "NOT labels.team:*", "3 5" },
	{ "labels.none:*", "" },
};

static void ids_write(struct text *text, const struct job_list *list)
{
	text_puts(text, "");
	for (size_t at = list->count; at-- > 0;)
		text_printf(text, "%s%s", list->jobs[at].job_id, at ? " " : "");
}

static void rows_find(struct bench *bench, const struct filter_row *rows, size_t count)
{
	const struct resource all = named(NULL);

	for (size_t i = 0; i < count; i++) {
		struct job_list list AUTO_JOB_LIST = { 0 };
		struct text text AUTO_TEXT = { 0 };

		if (resource_list_page(bench->store, &all, rows[i].filter, 100, NULL, &list, &bench->err))
			fail_msg("%s: %s", rows[i].filter, bench->err.text);
		ids_write(&text, &list);
		if (strcmp(text.data, rows[i].expected) != 0)
			fail_msg("%s: %s", rows[i].filter, text.data);
	}
}

static void filters_find_their_resources(void **state)
{
	BENCH(state);

	jobs_make(bench);
	rows_find(bench, filters, COUNT_OF(filters));
}

/* Created, running and ended within one second: the times are shown in consecutive seconds. */
static void times_are_found_as_they_are_shown(void **state)
{
	BENCH(state);
	static const struct filter_row rows[] = {
		{ "create_time=\"2026-11-20T00:00:00.25Z\"", "1 2" },
		/* Fails with: START_SECOND and END_SECOND without CREATED_SECOND */
		{ "start_time=\"2026-11-20T00:00:01Z\"", "1" },
		{ "start_time<\"2026-11-20T00:00:01Z\"", "" },
		{ "end_time=\"2026-11-20T00:00:01Z\"", "1 2" },
		/* Fails with: SHOWN_UPDATE is updated_us alone */
		{ "update_time=\"2026-11-20T00:00:01Z\"", "1 2" },
	};
	int64_t ran, refused;

	bench->now_ns += 250000000;
	ran = resource_add(bench, "1", "ran", NULL, 0);
	refused = resource_add(bench, "2", "refused", NULL, 0);
	bench->now_ns += 250000000;
	move(bench, ran, JOB_QUEUED, JOB_PREPARING);
	move(bench, ran, JOB_PREPARING, JOB_RUNNING);
	bench->now_ns += 250000000;
	move(bench, ran, JOB_RUNNING, JOB_SUCCEEDED);
	move(bench, refused, JOB_QUEUED, JOB_FAILED);
	rows_find(bench, rows, COUNT_OF(rows));
}

static void bad_filters_are_refused(void **state)
{
	BENCH(state);
	static const char *const bad[] = {
		"nosuch=1",          "state=RUNNING",
		"state=3",           "create_time>yesterday",
		"display_name=",     "(state=JOB_STATE_RUNNING",
		"trainingInput.x=1", "jobId=1",
	};
	const struct resource all = named(NULL);

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct job_list list AUTO_JOB_LIST = { 0 };

		error_deinit(&bench->err);
		if (resource_list_page(bench->store, &all, bad[i], 100, NULL, &list, &bench->err) !=
		    STATUS_INVALID_ARGUMENT)
			fail_msg("%s was taken", bad[i]);
	}
}

static void pages_join_and_tokens_are_bound_to_place_and_filter(void **state)
{
	BENCH(state);
	const struct resource all = named(NULL), elsewhere = { KIND_CUSTOM, "demo", "europe-west1", NULL };
	const struct resource other_kind = { KIND_TUNING, "demo", "us-central1", NULL };
	struct job_list list AUTO_JOB_LIST = { 0 };
	struct job_list rest AUTO_JOB_LIST = { 0 };

	jobs_make(bench);
	assert_int_equal(resource_list_page(bench->store, &all, NULL, 3, NULL, &list, NULL), STATUS_OK);
	assert_int_equal(list.count, 3);
	assert_string_equal(list.jobs[0].job_id, "5");
	assert_string_equal(list.jobs[0].display_name, "a*b");
	assert_non_null(list.next_page_token);
	assert_int_equal(
		resource_list_page(bench->store, &elsewhere, NULL, 3, list.next_page_token, &rest, NULL),
		STATUS_INVALID_ARGUMENT);
	assert_int_equal(
		resource_list_page(bench->store, &other_kind, NULL, 3, list.next_page_token, &rest, NULL),
		STATUS_INVALID_ARGUMENT);
	assert_int_equal(resource_list_page(bench->store, &all, "state=JOB_STATE_PENDING", 3,
					    list.next_page_token, &rest, NULL),
			 STATUS_INVALID_ARGUMENT);
	assert_int_equal(job_list_page(bench->store, "demo", NULL, 3, list.next_page_token, &rest, NULL),
			 STATUS_INVALID_ARGUMENT);
	assert_int_equal(resource_list_page(bench->store, &all, NULL, 3, list.next_page_token, &rest, NULL),
			 STATUS_OK);
	assert_int_equal(rest.count, 2);
	assert_string_equal(rest.jobs[1].job_id, "1");
	assert_null(rest.next_page_token);
}

static void families_do_not_see_each_other(void **state)
{
	BENCH(state);
	const struct resource ml = named("an_ml_job"), tuning = { KIND_TUNING, "demo", "us-central1", "1" };
	const struct resource elsewhere = { KIND_CUSTOM, "demo", "us-east1", "1" };
	struct job_list list AUTO_JOB_LIST = { 0 };
	struct job *job = NULL;

	jobs_make(bench);
	assert_int_equal(job_get(bench->store, "demo", "1", &job, NULL), STATUS_NOT_FOUND);
	assert_int_equal(job_cancel(bench->store, "demo", "1", "no", NULL), STATUS_NOT_FOUND);
	assert_int_equal(job_list_page(bench->store, "demo", NULL, 10, NULL, &list, NULL), STATUS_OK);
	assert_int_equal(list.count, 1);
	assert_int_equal(resource_get(bench->store, &ml, &job, NULL), STATUS_NOT_FOUND);
	assert_int_equal(resource_get(bench->store, &elsewhere, &job, NULL), STATUS_NOT_FOUND);
	assert_int_equal(resource_get(bench->store, &tuning, &job, &bench->err), STATUS_NOT_FOUND);
	assert_string_equal(bench->err.text,
			    "The HyperparameterTuningJob \"projects/demo/locations/us-central1/"
			    "hyperparameterTuningJobs/1\" does not exist.");
}

static void state_is(struct bench *bench, const char *id, const char *expected)
{
	const struct resource resource = named(id);
	AUTO(job) struct job *job = NULL;

	assert_int_equal(resource_get(bench->store, &resource, &job, NULL), STATUS_OK);
	assert_string_equal(resource_state_name(job), expected);
}

static void states_have_their_names(void **state)
{
	BENCH(state);

	jobs_make(bench);
	state_is(bench, "1", "JOB_STATE_PENDING");
	state_is(bench, "2", "JOB_STATE_QUEUED");
	state_is(bench, "3", "JOB_STATE_RUNNING");
	state_is(bench, "4", "JOB_STATE_SUCCEEDED");
	state_is(bench, "5", "JOB_STATE_FAILED");
}

static void a_cancel_may_come_twice_or_late(void **state)
{
	BENCH(state);
	const struct resource running = named("3"), ended = named("4"), none = named("9");

	jobs_make(bench);
	for (int i = 0; i < 2; i++)
		assert_int_equal(resource_cancel(bench->store, &running, "enough", NULL), STATUS_OK);
	state_is(bench, "3", "JOB_STATE_CANCELLING");
	assert_int_equal(resource_cancel(bench->store, &ended, "enough", NULL), STATUS_OK);
	state_is(bench, "4", "JOB_STATE_SUCCEEDED");
	assert_int_equal(resource_cancel(bench->store, &none, "enough", NULL), STATUS_NOT_FOUND);
}

static void what_runs_is_not_deleted(void **state)
{
	BENCH(state);
	const struct resource running = named("3");
	struct operation operation AUTO_OPERATION = { 0 };

	jobs_make(bench);
	assert_int_equal(resource_delete(bench->store, &running, &operation, &bench->err),
			 STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(bench->err.text, "JOB_STATE_RUNNING"));
	state_is(bench, "3", "JOB_STATE_RUNNING");
}

static void a_deletion_leaves_an_operation(void **state)
{
	BENCH(state);
	const struct resource ended = named("4"), all = named(NULL);
	struct operation made AUTO_OPERATION = { 0 };
	struct operation found AUTO_OPERATION = { 0 };
	struct operation again AUTO_OPERATION = { 0 };
	struct job_list list AUTO_JOB_LIST = { 0 };
	struct job *job = NULL;

	jobs_make(bench);
	assert_int_equal(resource_delete(bench->store, &ended, &made, NULL), STATUS_OK);
	assert_string_equal(made.target, "customJobs/4");
	assert_int_equal(resource_get(bench->store, &ended, &job, NULL), STATUS_NOT_FOUND);
	assert_int_equal(resource_delete(bench->store, &ended, &again, NULL), STATUS_NOT_FOUND);
	assert_int_equal(resource_cancel(bench->store, &ended, "enough", NULL), STATUS_NOT_FOUND);
	assert_int_equal(resource_list_page(bench->store, &all, NULL, 10, NULL, &list, NULL), STATUS_OK);
	assert_int_equal(list.count, 4);
	bench_reopen(bench);
	struct operation_name name = { "demo", "us-central1", NULL, made.operation_id };

	assert_int_equal(operation_get(bench->store, &name, &found, NULL), STATUS_OK);
	assert_string_equal(found.target, "customJobs/4");
	assert_int_equal(found.created_us, made.created_us);
	name.target = "customJobs/5";
	assert_int_equal(operation_get(bench->store, &name, &again, &bench->err), STATUS_NOT_FOUND);
	name.target = NULL;
	name.location = "us-east1";
	assert_int_equal(operation_get(bench->store, &name, &again, NULL), STATUS_NOT_FOUND);
}

static void operations_are_listed_and_forgotten(void **state)
{
	BENCH(state);
	const struct resource first = named("4"), second = named("5");
	struct operation made[2] = { { 0 }, { 0 } };
	struct operation_name name = { "demo", "us-central1", NULL, NULL };
	struct operation_list all AUTO_OPERATION_LIST = { 0 };
	struct operation_list page AUTO_OPERATION_LIST = { 0 };
	struct operation_list one AUTO_OPERATION_LIST = { 0 };
	struct operation_list none AUTO_OPERATION_LIST = { 0 };
	struct operation_list left AUTO_OPERATION_LIST = { 0 };

	jobs_make(bench);
	assert_int_equal(resource_delete(bench->store, &first, &made[0], NULL), STATUS_OK);
	bench->now_ns += 1000;
	assert_int_equal(resource_delete(bench->store, &second, &made[1], NULL), STATUS_OK);
	assert_int_equal(operation_list_page(bench->store, &name, "done:true", 1, NULL, &all, NULL),
			 STATUS_OK);
	assert_int_equal(all.count, 1);
	assert_string_equal(all.operations[0].target, "customJobs/5");
	assert_int_equal(
		operation_list_page(bench->store, &name, "done:true", 1, all.next_page_token, &page, NULL),
		STATUS_OK);
	assert_string_equal(page.operations[0].target, "customJobs/4");
	assert_null(page.next_page_token);
	assert_int_equal(operation_list_page(bench->store, &name, "done=false", 9, NULL, &none, NULL),
			 STATUS_OK);
	assert_int_equal(none.count, 0);
	name.target = "customJobs/4";
	assert_int_equal(operation_list_page(bench->store, &name, NULL, 9, NULL, &one, NULL), STATUS_OK);
	assert_int_equal(one.count, 1);
	name = (struct operation_name){ "demo", "us-central1", NULL, made[0].operation_id };
	assert_int_equal(operation_delete(bench->store, &name, NULL), STATUS_OK);
	assert_int_equal(operation_delete(bench->store, &name, NULL), STATUS_NOT_FOUND);
	name.id = NULL;
	assert_int_equal(operation_list_page(bench->store, &name, NULL, 9, NULL, &left, NULL), STATUS_OK);
	assert_int_equal(left.count, 1);
	operation_deinit(&made[0]);
	operation_deinit(&made[1]);
}

static void old_operations_are_dropped(void **state)
{
	BENCH(state);
	const struct resource first = named("4"), second = named("5");
	struct operation old AUTO_OPERATION = { 0 };
	struct operation fresh AUTO_OPERATION = { 0 };
	struct operation_list left AUTO_OPERATION_LIST = { 0 };
	const struct operation_name all = { "demo", "us-central1", NULL, NULL };

	jobs_make(bench);
	assert_int_equal(resource_delete(bench->store, &first, &old, NULL), STATUS_OK);
	bench->now_ns += INT64_C(31) * 86400 * 1000000000;
	assert_int_equal(resource_delete(bench->store, &second, &fresh, NULL), STATUS_OK);
	assert_int_equal(operation_list_page(bench->store, &all, NULL, 9, NULL, &left, NULL), STATUS_OK);
	assert_int_equal(left.count, 1);
	assert_string_equal(left.operations[0].operation_id, fresh.operation_id);
}

static void ids_are_long_numbers(void **state)
{
	(void)state;
	char id[RESOURCE_ID_SIZE];

	for (int i = 0; i < 1000; i++) {
		resource_id_draw(RANDOM_RESOURCE, id);
		assert_true(strlen(id) == 18 || strlen(id) == 19);
		assert_int_equal(strspn(id, "0123456789"), strlen(id));
		assert_int_not_equal(id[0], '0');
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(filters_find_their_resources, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(times_are_found_as_they_are_shown, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(bad_filters_are_refused, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(pages_join_and_tokens_are_bound_to_place_and_filter,
						bench_open, bench_close),
		cmocka_unit_test_setup_teardown(families_do_not_see_each_other, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(states_have_their_names, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(a_cancel_may_come_twice_or_late, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(what_runs_is_not_deleted, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(a_deletion_leaves_an_operation, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(operations_are_listed_and_forgotten, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(old_operations_are_dropped, bench_open, bench_close),
		cmocka_unit_test(ids_are_long_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
